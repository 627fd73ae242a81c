"""Tests of paired outcomes: which of two models is better on the same cases. Only repeats need numpy."""

import math
import sys
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Values = NDArray[numpy.float64]

ALPHA = 0.05
MOST_MODELS = 300
"""The greatest number of models that are compared with each other: 44,850 pairs."""
MOST_PAIRED_CASES = 20_000_000
"""The greatest number of cases in all pairs together: 300 models × 445 cases, or 12 models × 300,000 cases."""
MOST_STEPS = 200_000_000_000
"""The greatest number of steps of the tests of all pairs together, which take up to a minute: 67 models × 300 cases
with different numbers of repeats. One pair never needs more."""
# Beyond this the sums are drawn, not listed.
_MOST_SUMS = 300_000
# Sums of more bits are divided by a power of two, because a float cannot hold them.
_MOST_BITS = 1_000
# Beyond this, integers with a bit for each pair would take time that grows with the square of their number.
_MOST_EXACT_PAIRS = 10_000
_SAMPLES = 9_999
_SEED = 20_261_120


def too_many_to_compare(models: int, cases: int, measure: int = 1) -> bool:
    """Return whether so many models over so many cases are not compared with each other.

    Time, memory and the length of reports grow with the square of the number of models. `measure` is the largest
    difference of a case in the test (`sign_flip`): each size that occurs is a pass over all sums.
    """
    pairs = models * (models - 1) // 2
    steps = min(cases, measure) * min(cases * measure, _MOST_SUMS)
    return models > MOST_MODELS or pairs * cases > MOST_PAIRED_CASES or (pairs > 1 and pairs * steps > MOST_STEPS)


def cases_needed(pairs: int = 1) -> int:
    """Return how many cases have to differ before a difference can be significant after Holm over `pairs` pairs.

    With fewer there is not enough data, whatever the outcome. Six for one pair.
    """
    return next(cases for cases in range(1, 2_000) if 2.0 ** (1 - cases) * pairs <= ALPHA)


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return the p-value of McNemar's exact two-sided test (not mid-p).

    It is the probability of a split at least as uneven if both models are equal. With more than 10,000 differing cases
    its relative error is below 1e-6.
    """
    pairs, fewer = wins + losses, min(wins, losses)
    if not pairs:
        return 1.0
    if pairs > _MOST_EXACT_PAIRS:
        return min(1.0, 2 * _lower_tail(pairs, fewer))
    term = total = 1
    for count in range(fewer):
        term = term * (pairs - count) // (count + 1)
        total += term
    # As integers, because the powers of two exceed a float; the middle of an even split would be counted twice.
    return min(1.0, 2 * total / (1 << pairs))


def _lower_tail(pairs: int, most: int) -> float:
    """Return the probability of at most so many heads of a coin, from the largest term down to those that are too
    small to count."""
    logarithm = math.lgamma(pairs + 1) - math.lgamma(most + 1) - math.lgamma(pairs - most + 1) - pairs * math.log(2)
    term = total = 1.0
    for count in range(most, 0, -1):
        term *= count / (pairs - count + 1)
        total += term
        if term < total * sys.float_info.epsilon:
            break
    return math.exp(logarithm) * total


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted by Holm (1979), in the given order."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def adjust_holm_each(p_values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return for each p-value what `adjust_holm` would give if it alone were replaced by its entry in `others`.

    The time is that of one sort: hundreds of models are tens of thousands of pairs.
    """
    number = len(p_values)
    ascending = sorted(p_values)
    before = [0.0, *accumulate(((number - rank) * each for rank, each in enumerate(ascending)), max)]
    adjusted = []
    for old, new in zip(p_values, others, strict=True):
        rank = bisect_left(ascending, new)
        largest = before[rank]
        if old < new:  # the ones between both move up by one rank
            first = bisect_right(ascending, old)
            rank -= 1
            moved = ((number - at + 1) * ascending[at] for at in range(first, rank + 1))
            largest = max(before[first - 1], *moved, 0.0)
        adjusted.append(min(1.0, max(largest, (number - rank) * new)))
    return adjusted


def sign_flip(differences: Sequence[int]) -> float:
    """Return the two-sided p-value for no difference between two models that were run more than once.

    `differences` has one integer for each unit (a case or a cluster), all over the same denominator: a share of passes
    times a common multiple of the repeats. Fisher's randomisation test: each unit's difference flips its sign at
    random. If the models are equal both signs are equally likely, so the test errs in at most 5% of runs with any
    number of units. The integers may be of any size: a common multiple of many different repeats has hundreds of
    digits. All signs are enumerated if possible; otherwise 9,999 are drawn from a fixed seed.
    """
    sizes = Counter(abs(difference) for difference in differences if difference)
    unit = math.gcd(*sizes)
    total = sum(size * number for size, number in sizes.items())
    observed = abs(sum(differences))
    if not observed:
        return 1.0
    if total // unit > _MOST_SUMS:
        return _drawn(sizes, total, observed)
    sums = _sums({size // unit: number for size, number in sizes.items()}, total // unit)
    # `sums` is by the part with a positive sign; the tails are at least as far out as the observed sum.
    reached = (total + observed) // (2 * unit)
    return float(min(1.0, max(2 * sums[reached:].sum(), sys.float_info.min)))


def _sums(sizes: dict[int, int], total: int) -> "Values":
    """Return the probability of each sum, from 0 to the total, if every part is included with probability 1/2."""
    import numpy

    sums = numpy.zeros(total + 1)
    sums[0] = 1.0
    reach = 0
    for size, number in sorted(sizes.items()):  # the smallest first: the sums reach far only at the end
        before = sums[: reach + 1].copy()
        sums[: reach + 1] = 0.0
        for count, chance in _halves(number):
            at = count * size
            sums[at : at + reach + 1] += chance * before
        reach += size * number
    return sums


@lru_cache(maxsize=256)
def _halves(number: int) -> tuple[tuple[int, float], ...]:
    """Return how many of `number` parts are included, with the probability of each count that a float can hold."""
    import numpy

    factorials = numpy.array([math.lgamma(count + 1) for count in range(number + 1)])
    logs = factorials[-1] - factorials - factorials[::-1] - number * math.log(2)
    return tuple((int(count), math.exp(logs[count])) for count in numpy.flatnonzero(logs > -700))


def _drawn(sizes: Counter[int], total: int, observed: int) -> float:
    import numpy

    random = numpy.random.default_rng(_SEED)
    sums = numpy.zeros(_SAMPLES)
    scale = 1 << max(0, total.bit_length() - _MOST_BITS)
    for size, number in sizes.items():
        sums += size / scale * (2.0 * random.binomial(number, 0.5, _SAMPLES) - number)
    return float((numpy.abs(sums) >= observed / scale * (1 - 1e-12)).sum() + 1) / (_SAMPLES + 1)
