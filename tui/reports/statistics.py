"""The statistics of a report, each with its definition."""

import math
from collections.abc import Sequence

_Z95 = 1.959963984540054


def wilson_interval(successes: int, trials: int) -> tuple[float, float]:
    """The 95% interval of a share by Wilson (1927), without continuity correction, as fractions; (0, 1) of nothing."""
    if trials == 0:
        return 0.0, 1.0
    share, square = successes / trials, _Z95 * _Z95 / trials
    centre = share + square / 2
    spread = _Z95 * math.sqrt((share * (1 - share) + square / 4) / trials)
    # At the ends the formula gives 0 and 1 exactly; floating point does not.
    low = 0.0 if successes == 0 else (centre - spread) / (1 + square)
    high = 1.0 if successes == trials else (centre + spread) / (1 + square)
    return low, high


def mcnemar_exact(wins: int, losses: int) -> float:
    """McNemar's test, exact and two-sided (not mid-p): how likely a split at least as uneven is where both are even."""
    pairs = wins + losses
    term = total = 1
    for count in range(min(wins, losses)):
        term = term * (pairs - count) // (count + 1)
        total += term
    # As integers, since the powers of two outgrow a float; the middle of an even split would be counted twice.
    return min(1.0, 2 * total / 2**pairs) if pairs else 1.0


def adjust_holm(p_values: Sequence[float]) -> list[float]:
    """The p-values after Holm (1979), in the order in which they were given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def pass_at(k: int, repeats: int, passes: int) -> float:
    """pass@k, unbiased (Chen et al. 2021): the chance that at least one of k of the repeats is a pass."""
    return 1 - math.comb(repeats - passes, k) / math.comb(repeats, k)


def pass_hat(k: int, repeats: int, passes: int) -> float:
    """pass^k (Yao et al. 2024): the chance that k of the repeats are passes, all of them."""
    return math.comb(passes, k) / math.comb(repeats, k)
