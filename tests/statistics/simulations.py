"""Runs with known truth: how often intervals hold it, and how often tests claim what is not so."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import numpy
import scipy.stats
from numpy.typing import NDArray

from tui.statistics.comparison import Comparison, compare_models
from tui.statistics.shares import Passes, rate_interval, wilson_interval

SEED = 20_261_122
Counts = NDArray[numpy.int64]


def draw(
    random: numpy.random.Generator,
    rates: Sequence[float],
    units: int,
    repeats: int,
    correlation: float,
    *,
    cases_a_unit: int = 1,
) -> list[Counts]:
    """Return the passes of each case for each model, as cases × 1. A unit's chance of a pass is beta-distributed with
    the model's rate as mean and `correlation` within the unit; models share how hard a unit is (copula, 0.5)."""
    hardness = random.standard_normal(units)
    drawn = []
    for rate in rates:
        uniform = scipy.stats.norm.cdf(math.sqrt(0.5) * hardness + math.sqrt(0.5) * random.standard_normal(units))
        if correlation <= 0 or rate in (0.0, 1.0):
            chances = numpy.full(units, rate)
        elif correlation >= 1:
            chances = (uniform < rate).astype(float)
        else:
            size = (1 - correlation) / correlation
            chances = scipy.stats.beta.ppf(uniform, rate * size, (1 - rate) * size)
        drawn.append(random.binomial(repeats, numpy.repeat(chances, cases_a_unit)))
    return drawn


def by_case(counts: Counts, repeats: int) -> dict[str, Passes]:
    return {f"case-{place}": Passes(int(count), repeats) for place, count in enumerate(counts)}


def clusters_for(units: int, cases_a_unit: int) -> dict[str, str]:
    if cases_a_unit == 1:
        return {}
    return {f"case-{place}": f"cluster-{place // cases_a_unit}" for place in range(units * cases_a_unit)}


@lru_cache(maxsize=200_000)
def _interval(counts: tuple[int, ...], repeats: int, cases_a_unit: int) -> tuple[float, float]:
    clusters = clusters_for(len(counts) // cases_a_unit, cases_a_unit)
    return rate_interval({f"case-{place}": Passes(count, repeats) for place, count in enumerate(counts)}, clusters)


def rate_coverage(
    rounds: int, units: int, repeats: int, rate: float, correlation: float, *, cases_a_unit: int = 1
) -> float:
    """Return how often the interval of the pass rate holds the true rate, in percent."""
    random = numpy.random.default_rng(SEED)
    held = 0
    for _ in range(rounds):
        (counts,) = draw(random, (rate,), units, repeats, correlation, cases_a_unit=cases_a_unit)
        # Their order does not matter; sorted ones are computed once.
        key = tuple(sorted(counts.tolist())) if cases_a_unit == 1 else tuple(counts.tolist())
        low, high = _interval(key, repeats, cases_a_unit)
        held += low <= rate <= high
    return 100 * held / rounds


def wilson_coverage(trials: int, rate: float) -> float:
    """Return how often Wilson's interval holds the rate, in percent, by counting every outcome."""
    outcomes = numpy.arange(trials + 1)
    chances = scipy.stats.binom.pmf(outcomes, trials, rate)
    held = [low <= rate <= high for low, high in (wilson_interval(int(passed), trials) for passed in outcomes)]
    return 100 * float(chances[held].sum())


def comparisons(
    rounds: int,
    rates: Sequence[float],
    units: int,
    repeats: int,
    correlation: float,
    *,
    cases_a_unit: int = 1,
    margin: float | None = None,
) -> Iterable[tuple[Comparison, ...]]:
    """Yield the comparisons of so many simulated runs; the models are named `0`, `1`, ….."""
    random = numpy.random.default_rng(SEED)
    clusters = clusters_for(units, cases_a_unit)
    for _ in range(rounds):
        drawn = draw(random, rates, units, repeats, correlation, cases_a_unit=cases_a_unit)
        passes = {str(model): by_case(counts, repeats) for model, counts in enumerate(drawn)}
        yield compare_models(passes, clusters, margin=margin)


def errors_of(
    rounds: int,
    rates: Sequence[float],
    units: int,
    repeats: int,
    correlation: float,
    *,
    cases_a_unit: int = 1,
    margin: float | None = None,
) -> dict[Literal["covered", "false_difference", "false_equivalence", "shown"], float]:
    """Return, in percent of runs: all intervals hold their truth at once (`covered`); a difference is claimed that does
    not exist or has the other sign; models are called equivalent that differ by the margin or more; any difference is
    shown."""
    held = wrong = equal = shown = 0
    for compared in comparisons(rounds, rates, units, repeats, correlation, cases_a_unit=cases_a_unit, margin=margin):
        truths = [rates[int(each.a)] - rates[int(each.b)] for each in compared]
        pairs = [*zip(compared, truths, strict=True)]
        held += all(
            each.difference_95 is not None and each.difference_95[0] - 1e-9 <= truth <= each.difference_95[1] + 1e-9
            for each, truth in pairs
        )
        wrong += any(
            (each.conclusion == "a_better" and truth <= 0) or (each.conclusion == "b_better" and truth >= 0)
            for each, truth in pairs
        )
        equal += any(each.conclusion == "equivalent" and abs(truth) >= (margin or 0) - 1e-9 for each, truth in pairs)
        shown += any(each.better is not None for each in compared)
    return {
        "covered": 100 * held / rounds,
        "false_difference": 100 * wrong / rounds,
        "false_equivalence": 100 * equal / rounds,
        "shown": 100 * shown / rounds,
    }
