"""Medians and 95th percentiles, with the interval of the median."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from tui.statistics.shares import Z95

LEAST_FOR_P95 = 20
"""The least number of values for a 95th percentile: with fewer it would be the maximum."""
_LARGEST_EXACT = 1_000


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of durations or other skewed values.

    A figure is None with too few values: the median's 95% interval needs 6, the 95th percentile 20.
    """

    count: int
    median: float | None = None
    median_95: tuple[float, float] | None = None
    p95: float | None = None


def spread_of(values: Iterable[float]) -> Spread:
    """Return the spread of some values."""
    ordered = sorted(values)
    if not ordered:
        return Spread(0)
    # The nearest rank: a value that was observed.
    rank = math.ceil(0.95 * len(ordered) - 1e-9)
    p95 = ordered[rank - 1] if len(ordered) >= LEAST_FOR_P95 else None
    return Spread(len(ordered), median(ordered), median_interval(ordered), p95)


def median_interval(ordered: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95% interval of the median of sorted values, or None for fewer than six values.

    It assumes no distribution: the interval of the sign test, interpolated between its two nearest ranks by
    Hettmansperger & Sheather (1986).
    """
    size = len(ordered)
    if size < 6:
        return None
    rank, sure, less_sure = _ranks(size)
    part = (sure - 0.95) / (sure - less_sure)
    weight = (size - rank) * part / (rank + (size - 2 * rank) * part)
    low = ordered[rank - 1] + weight * (ordered[rank] - ordered[rank - 1])
    high = ordered[size - rank] - weight * (ordered[size - rank] - ordered[size - rank - 1])
    return low, high


def _ranks(size: int) -> tuple[int, float, float]:
    """Return the last rank from either end that covers the median in at least 95%, and the confidence of it and the
    next."""
    if size > _LARGEST_EXACT:
        deviation = math.sqrt(size) / 2
        rank = math.floor((size + 1) / 2 - Z95 * deviation)
        bells = (size / 2 - rank + 0.5) / deviation, (size / 2 - rank - 0.5) / deviation
        return rank, math.erf(bells[0] / math.sqrt(2)), math.erf(bells[1] / math.sqrt(2))
    term, below, rank = 1, 1, 1
    # As integers: `below` counts the outcomes of `count` coins with fewer than `rank` heads.
    while True:
        term = term * (size - rank + 1) // rank
        if 2 * (below + term) > 0.05 * 2**size:
            return rank, 1 - 2 * below / 2**size, 1 - 2 * (below + term) / 2**size
        below, rank = below + term, rank + 1
