"""From preferences between two answers at a time to the strength of each model. scipy is loaded when it is called."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.statistics.shares import Z95

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Values = NDArray[numpy.float64]

Choice = Literal["a", "b", "tie", "both_bad"]


class Preference(NamedTuple):
    """One person's choice between an answer of `a` and one of `b`. Both bad is no preference, as a tie is."""

    a: str
    b: str
    choice: Choice


class Estimate(NamedTuple):
    """A difference on the scale of log odds, with its 95% interval: 0 is even, 1 means preferred in 73 of 100."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Strength:
    """How often a model was preferred, and how strong that makes it against the mean of all models; `estimate` is None
    where there is not enough data."""

    model: str
    wins: int
    losses: int
    ties: int
    both_bad: int
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Models from the strongest to the weakest; where `lacking` says what is missing, by wins less losses.

    `tie_odds` is Davidson's ν: the odds of no preference between two equal models, over the geometric mean of their
    strengths. `covariance` is that of the estimates, by model.
    """

    strengths: tuple[Strength, ...]
    lacking: str = ""
    tie_odds: float = 0.0
    covariance: Mapping[tuple[str, str], float] | None = None

    def difference(self, a: str, b: str) -> Estimate | None:
        """How much stronger `a` is than `b`; None where there is not enough data. KeyError for an unknown model."""
        found = {strength.model: strength.estimate for strength in self.strengths}
        one, other, shared = found[a], found[b], self.covariance
        if one is None or other is None or shared is None:
            return None
        return _estimate(one.value - other.value, shared[a, a] + shared[b, b] - 2 * shared[a, b])


def rank_preferences(preferences: Iterable[Preference]) -> Ranking:
    """The Bradley–Terry model with ties by Davidson (1970), fitted by maximum likelihood; the intervals are Wald's, the
    choices count as independent.

    There is enough data where no part of the models was always preferred to the rest, or never compared with it:
    otherwise the likelihood has no maximum (Ford 1957).
    """
    counts = Counter(preferences)
    models = sorted({name for each in counts for name in (each.a, each.b)})
    tallies = {model: _tally(model, counts) for model in models}
    lacking = _lacking(models, counts)
    if lacking:
        strengths = [Strength(model, *tallies[model], None) for model in models]
        strengths.sort(key=lambda each: each.losses - each.wins)
        return Ranking(tuple(strengths), lacking)
    values, covariance, tie_odds = _fit(models, counts)
    strengths = [
        Strength(model, *tallies[model], _estimate(float(values[at]), float(covariance[at, at])))
        for at, model in enumerate(models)
    ]
    strengths.sort(key=lambda each: -each.estimate.value if each.estimate else 0.0)
    shared = {
        (one, other): float(covariance[at, beside])
        for at, one in enumerate(models)
        for beside, other in enumerate(models)
    }
    return Ranking(tuple(strengths), "", tie_odds, shared)


def _estimate(value: float, variance: float) -> Estimate:
    spread = Z95 * math.sqrt(max(0.0, variance))
    return Estimate(value, value - spread, value + spread)


def _tally(model: str, counts: Counter[Preference]) -> tuple[int, int, int, int]:
    wins = losses = ties = both_bad = 0
    for each, number in counts.items():
        if model not in (each.a, each.b):
            continue
        if each.choice == "tie":
            ties += number
        elif each.choice == "both_bad":
            both_bad += number
        elif (each.choice == "a") == (each.a == model):
            wins += number
        else:
            losses += number
    return wins, losses, ties, both_bad


def _lacking(models: Sequence[str], counts: Counter[Preference]) -> str:
    """Why there is no estimate; empty where there is one."""
    if len(models) < 2:
        return "no preference between two models was given"
    beaten: dict[str, set[str]] = {model: set() for model in models}
    for each in counts:
        if each.choice in ("a", "b") and each.a != each.b:
            winner, loser = (each.a, each.b) if each.choice == "a" else (each.b, each.a)
            beaten[winner].add(loser)
    for model in models:
        reached, waiting = {model}, [model]
        while waiting:
            fresh = beaten[waiting.pop()] - reached
            reached |= fresh
            waiting += fresh
        missed = [other for other in models if other not in reached]
        if missed:
            return f"{model} was never preferred to {missed[0]}, directly or through others"
    return ""


def _fit(models: Sequence[str], counts: Counter[Preference]) -> tuple["Values", "Values", float]:
    """Strengths that add up to 0, their covariance, and Davidson's ν."""
    import numpy
    from scipy.optimize import minimize

    place = {model: at for at, model in enumerate(models)}
    features, weights = _outcomes(place, counts)
    asked = weights.sum(axis=1)

    def shares(point: "Values") -> "Values":
        logs = features @ point
        logs -= logs.max(axis=1, keepdims=True)
        odds = numpy.exp(logs)
        found: Values = odds / odds.sum(axis=1, keepdims=True)
        return found

    def surprise(point: "Values") -> float:
        return -float((weights * numpy.log(numpy.maximum(shares(point), 1e-300))).sum())

    def slope(point: "Values") -> "Values":
        found: Values = numpy.einsum("po,pof->f", asked[:, None] * shares(point) - weights, features)
        return found

    def information(point: "Values") -> "Values":
        chances = shares(point)
        mean = numpy.einsum("po,pof->pf", chances, features)
        squares = numpy.einsum("p,po,pof,pog->fg", asked, chances, features, features)
        found: Values = squares - numpy.einsum("p,pf,pg->fg", asked, mean, mean)
        return found

    start = numpy.zeros(features.shape[2])
    fitted = minimize(surprise, start, jac=slope, hess=information, method="trust-exact", options={"gtol": 1e-8})
    point: Values = fitted.x
    size = len(models)
    inverse = numpy.linalg.pinv(information(point), rcond=1e-10, hermitian=True)
    covariance = numpy.asarray(inverse[:size, :size], dtype=numpy.float64)
    values = point[:size] - point[:size].mean()
    return values, covariance, math.exp(point[size]) if len(point) > size else 0.0


def _outcomes(place: Mapping[str, int], counts: Counter[Preference]) -> tuple["Values", "Values"]:
    """For each pair of models what its outcomes (first, second, none) add to their log odds, and how often each came.

    The last feature is the tie's; it is left out where nothing tied.
    """
    import numpy

    pairs: dict[tuple[int, int], list[int]] = {}
    for each, number in counts.items():
        first, second = sorted((place[each.a], place[each.b]))
        if first == second:
            continue
        seen = pairs.setdefault((first, second), [0, 0, 0])
        winner = {"a": place[each.a], "b": place[each.b]}.get(each.choice)
        seen[2 if winner is None else int(winner == second)] += number
    weights = numpy.array([*pairs.values()], dtype=float)
    features = numpy.zeros((len(pairs), 3, len(place) + 1))
    for at, (first, second) in enumerate(pairs):
        features[at, 0, first] = features[at, 1, second] = 1.0
        features[at, 2, [first, second, -1]] = 0.5, 0.5, 1.0
    if weights[:, 2].any():
        return features, weights
    return features[:, :2, :-1], weights[:, :2]
