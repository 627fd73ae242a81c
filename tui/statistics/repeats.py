"""Figures of repeated trials: pass@k, pass^k and flakiness."""

import math
from collections.abc import Mapping
from statistics import fmean

from tui.statistics.shares import Passes


def pass_at(k: int, repeats: int, passes: int) -> float:
    """Return the unbiased pass@k (Chen et al. 2021): the probability that at least one of k repeats passes."""
    return 1 - math.comb(repeats - passes, k) / math.comb(repeats, k)


def pass_hat(k: int, repeats: int, passes: int) -> float:
    """Return pass^k (Yao et al. 2024): the probability that all of k repeats pass."""
    return math.comb(passes, k) / math.comb(repeats, k)


def pass_curves(cases: Mapping[str, Passes]) -> tuple[dict[int, float], dict[int, float]]:
    """Return pass@k and pass^k for each k from 1: means over the cases with at least k results."""
    counts = [case for case in cases.values() if case.results]
    ks = range(1, max((count.results for count in counts), default=0) + 1)
    large = {k: [count for count in counts if count.results >= k] for k in ks}
    return (
        {k: fmean(pass_at(k, count.results, count.passed) for count in large[k]) for k in ks},
        {k: fmean(pass_hat(k, count.results, count.passed) for count in large[k]) for k in ks},
    )


def is_mixed(case: Passes) -> bool:
    """Return whether a case has both passes and other results among its repeats."""
    return 0 < case.passed < case.results


def meets_share(case: Passes, planned: int, required: float) -> bool | None:
    """Return whether a case passes in at least the required share (0 to 1) of its planned repeats.

    None while the missing repeats decide it.
    """
    needed = math.ceil(required * planned - 1e-9)
    if case.passed >= needed:
        return True
    return None if case.passed + (planned - case.results) >= needed else False
