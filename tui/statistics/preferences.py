"""The strength of models from preferences between pairs of answers. numpy is imported on first use."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from tui.statistics.student import t_quantile

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Values = NDArray[numpy.float64]

Choice = Literal["a", "b", "tie", "both_bad"]
_SAMPLES = 1_000
_SEED = 20_261_120
_MOST_AT_ONCE = 1_000_000
_MOST_STEPS = 100
_LARGEST_STEP = 2.0  # on the scale of log odds


class Preference(NamedTuple):
    """One reviewer's choice between an answer of `a` and one of `b` to the same case.

    Both bad is no preference, like a tie. Choices without a reviewer count as those of one person.
    """

    a: str
    b: str
    choice: Choice
    case: str
    reviewer: str = ""


class Estimate(NamedTuple):
    """A difference in log odds: 0 is even, 1 means preferred in 73 of 100 choices.

    `low` and `high` are its 95% interval for other cases and, with several reviewers, for other reviewers;
    `same_people` is the interval for other cases judged by the same reviewers.
    """

    value: float
    low: float
    high: float
    same_people: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Strength:
    """How often a model was preferred, and its strength relative to the mean of all models.

    `estimate` is None without enough data.
    """

    model: str
    wins: int
    losses: int
    ties: int
    both_bad: int
    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Models from the strongest to the weakest; by wins minus losses if `lacking` names missing data.

    `tie_odds` is Davidson's ν: the odds of no preference between two equal models, over the geometric mean of their
    strengths. `pairs` has the difference of each pair of models in both directions; `cases` and `people` are the
    numbers of cases and reviewers.
    """

    strengths: tuple[Strength, ...]
    lacking: str = ""
    tie_odds: float = 0.0
    pairs: Mapping[tuple[str, str], Estimate] | None = None
    cases: int = 0
    people: int = 0

    def difference(self, a: str, b: str) -> Estimate | None:
        """Return how much stronger `a` is than `b`, or None without enough data.

        Raises KeyError for an unknown model.
        """
        if self.pairs is None:
            if {a, b} - {strength.model for strength in self.strengths}:
                raise KeyError(a, b)
            return None
        return self.pairs[a, b]


def rank_preferences(preferences: Iterable[Preference]) -> Ranking:
    """Return the ranking by the Bradley–Terry model with ties by Davidson (1970), fitted by maximum likelihood.

    The intervals are bootstraps, because neither the choices about one case nor those of one reviewer are independent:
    the Bayesian bootstrap over cases (Rubin 1981; 1,000 samples from a fixed seed, in which each case has a random
    weight), and over reviewers if there are several, combined as by Cameron, Gelbach & Miller (2011): the variance over
    cases, plus that over reviewers, minus that over their cells. They use Student's t with the degrees of freedom of
    Satterthwaite (1946), so they are wide with three reviewers who differ.

    There is enough data if the choices cover at least two cases, and if no group of models was always preferred to the
    others or never compared with them: otherwise the likelihood has no maximum (Ford 1957).
    """
    # Sorted, so that the draws do not depend on the order of the choices.
    given = Counter(sorted(preferences))
    counts: Counter[tuple[str, str, Choice]] = Counter()
    for each, number in given.items():
        counts[each[:3]] += number
    models = sorted({name for a, b, _ in counts for name in (a, b)})
    tallies = {model: _tally(model, counts) for model in models}
    cases, people = len({each.case for each in given}), len({each.reviewer for each in given})
    lacking = _lacking(models, counts) or ("all preferences are for one case" if cases < 2 else "")
    if lacking:
        strengths = [Strength(model, *tallies[model], None) for model in models]
        strengths.sort(key=lambda each: each.losses - each.wins)
        return Ranking(tuple(strengths), lacking, cases=cases, people=people)
    estimate, tie_odds = _fit_all(models, {each: number for each, number in given.items() if each.a != each.b})
    size = len(models)
    strengths = [
        Strength(model, *tallies[model], estimate([(at == other) - 1 / size for other in range(size)]))
        for at, model in enumerate(models)
    ]
    strengths.sort(key=lambda each: -each.estimate.value if each.estimate else 0.0)
    pairs = {
        (one, other): estimate([(place == at) - (place == beside) for place in range(size)])
        for at, one in enumerate(models)
        for beside, other in enumerate(models)
        if at != beside
    }
    return Ranking(tuple(strengths), "", tie_odds, pairs, cases, people)


def _tally(model: str, counts: Mapping[tuple[str, str, Choice], int]) -> tuple[int, int, int, int]:
    wins = losses = ties = both_bad = 0
    for (a, b, choice), number in counts.items():
        if model not in (a, b):
            continue
        if choice == "tie":
            ties += number
        elif choice == "both_bad":
            both_bad += number
        elif (choice == "a") == (a == model):
            wins += number
        else:
            losses += number
    return wins, losses, ties, both_bad


def _lacking(models: Sequence[str], counts: Iterable[tuple[str, str, Choice]]) -> str:
    """Return why there is no estimate; empty if there is one."""
    if len(models) < 2:
        return "no preference between two models recorded"
    beaten: dict[str, set[str]] = {model: set() for model in models}
    for a, b, choice in counts:
        if choice in ("a", "b") and a != b:
            winner, loser = (a, b) if choice == "a" else (b, a)
            beaten[winner].add(loser)
    for model in models:
        reached, waiting = {model}, [model]
        while waiting:
            fresh = beaten[waiting.pop()] - reached
            reached |= fresh
            waiting += fresh
        missed = [other for other in models if other not in reached]
        if missed:
            return f"{model} was not preferred to {missed[0]}, directly or through others"
    return ""


def _fit_all(
    models: Sequence[str], given: Mapping[Preference, int]
) -> tuple[Callable[[Sequence[float]], Estimate], float]:
    """Return what estimates a weighted sum of the strengths, and Davidson's ν."""
    import numpy

    place = {model: at for at, model in enumerate(models)}
    features, outcomes, numbers = _outcomes(place, given)
    found = _fit(_tabulate(outcomes, numbers, [""] * len(given), features), features)
    values, tie_odds = found[0, : len(models)], math.exp(found[0, -1]) if features.shape[1] > 2 else 0.0

    def covariance(groups: Sequence[object]) -> "Values":
        return _resample(_tabulate(outcomes, numbers, groups, features), features, found, len(models))

    cases, people = [each.case for each in given], [each.reviewer for each in given]
    by_case, freedom = covariance(cases), len(set(cases)) - 1
    persons = len(set(people))
    by_person = covariance(people) if persons > 1 else None
    by_cell = covariance([*zip(cases, people, strict=True)]) if persons > 1 else None

    def estimate(sums: Sequence[float]) -> Estimate:
        weights = numpy.array(sums)
        value, over_cases = float(weights @ values), float(weights @ by_case @ weights)
        near = _ends(value, over_cases, freedom)
        if by_person is None or by_cell is None:
            return Estimate(value, *near, near)
        over_people = float(weights @ by_person @ weights)
        variance = max(over_cases + over_people - float(weights @ by_cell @ weights), over_cases)
        parts = over_cases**2 / freedom + over_people**2 / (persons - 1)
        wide = _ends(value, variance, variance**2 / parts if parts else freedom)
        return Estimate(value, min(near[0], wide[0]), max(near[1], wide[1]), near)

    return estimate, tie_odds


def _ends(value: float, variance: float, freedom: float) -> tuple[float, float]:
    spread = t_quantile(0.975, freedom) * math.sqrt(max(0.0, variance))
    return value - spread, value + spread


def _resample(groups: "Values", features: "Values", start: "Values", models: int) -> "Values":
    """Return the covariance of the strengths over samples in which each group (a row) has a random weight."""
    import numpy

    size = len(groups)
    random, found = numpy.random.default_rng(_SEED), []
    rows = max(1, _MOST_AT_ONCE // max(size, groups.shape[1]))
    for begin in range(0, _SAMPLES, rows):
        weights = random.standard_exponential((min(rows, _SAMPLES - begin), size))
        weights /= weights.mean(axis=1, keepdims=True)
        found.append(_fit(weights @ groups, features, start)[:, :models])
    # The weights have the variance 1/(n + 1); drawing with replacement has 1/n, an unbiased estimate 1/(n - 1).
    covariance: Values = numpy.cov(numpy.concatenate(found), rowvar=False, ddof=0) * (size + 1) / (size - 1)
    return covariance


def _fit(weights: "Values", features: "Values", start: "Values | None" = None) -> "Values":
    """Return the most likely strengths (they add up to 0) and log ν for each row of weights, by Newton's method.

    A row has the weight of each outcome of each pair, `features` what each of these adds to the log odds.
    """
    import numpy

    pairs, outcomes, size = features.shape
    free = size - (outcomes > 2)
    weights = weights.reshape(-1, pairs, outcomes)
    total = weights.sum(axis=2)
    first, second = numpy.triu_indices(outcomes, 1)
    apart = features[:, first] - features[:, second]
    squares = numpy.einsum("pof,pog->pofg", apart, apart).reshape(-1, size * size)
    # Strengths are determined up to a constant: this fixes their sum.
    anchor = numpy.zeros((size, size))
    anchor[:free, :free] = 1.0
    point = numpy.repeat(numpy.zeros((1, size)) if start is None else start, len(weights), axis=0)
    for _ in range(_MOST_STEPS):
        logs = numpy.einsum("pof,rf->rpo", features, point, optimize=True)
        odds = numpy.exp(logs - logs.max(axis=2, keepdims=True))
        shares = odds / odds.sum(axis=2, keepdims=True)
        slope = (weights - total[:, :, None] * shares).reshape(len(weights), -1) @ features.reshape(-1, size)
        both = total[:, :, None] * shares[:, :, first] * shares[:, :, second]
        curve = (both.reshape(len(weights), -1) @ squares).reshape(-1, size, size)
        scale = numpy.trace(curve, axis1=1, axis2=2)[:, None, None] / size
        curve += scale * (anchor + 1e-9 * numpy.eye(size))
        step = numpy.linalg.solve(curve, slope[:, :, None])[:, :, 0]
        far = numpy.abs(step).max(axis=1)
        point += step * numpy.minimum(1.0, _LARGEST_STEP / numpy.maximum(far, 1e-300))[:, None]
        if far.max() < 1e-9:
            break
    point[:, :free] -= point[:, :free].mean(axis=1, keepdims=True)
    return point


def _outcomes(place: Mapping[str, int], given: Mapping[Preference, int]) -> tuple["Values", list[int], list[int]]:
    """Return the log odds features of each pair's outcomes, each preference's outcome, and the counts.

    The outcomes of a pair are (first, second, none). The last feature is the tie's, which is omitted if there were no
    ties.
    """
    import numpy

    ties = any(each.choice in ("tie", "both_bad") for each in given)
    kinds = 3 if ties else 2
    pairs: dict[tuple[int, int], int] = {}
    outcomes = []
    for each in given:
        first, second = sorted((place[each.a], place[each.b]))
        at = pairs.setdefault((first, second), len(pairs))
        winner = {"a": place[each.a], "b": place[each.b]}.get(each.choice)
        outcomes.append(at * kinds + (2 if winner is None else int(winner == second)))
    features = numpy.zeros((len(pairs), kinds, len(place) + ties))
    for (first, second), at in pairs.items():
        features[at, 0, first] = features[at, 1, second] = 1.0
        if ties:
            features[at, 2, [first, second, -1]] = 0.5, 0.5, 1.0
    return features, outcomes, [*given.values()]


def _tabulate(
    outcomes: Sequence[int], numbers: Sequence[int], groups: Sequence[object], features: "Values"
) -> "Values":
    """Return how often each group of preferences (rows) has each outcome (columns); the same groups share a row."""
    import numpy

    rows = {group: row for row, group in enumerate(dict.fromkeys(groups))}
    table = numpy.zeros((len(rows), features.shape[0] * features.shape[1]))
    numpy.add.at(table, ([rows[group] for group in groups], list(outcomes)), list(numbers))
    return table
