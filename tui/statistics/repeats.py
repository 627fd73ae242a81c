"""Figures of repeated trials: pass@k, pass^k and flakiness."""

import math
from collections import Counter
from collections.abc import Mapping

from tui.statistics.shares import Passes


def pass_curves(cases: Mapping[str, Passes]) -> tuple[dict[int, float], dict[int, float]]:
    """Return pass@k and pass^k, means over all cases with results, for each k from 1 that all of them have.

    Cases with fewer results than others bound k: means over other cases for each k could not be compared. pass@k of a
    case (Chen et al. 2021) is the unbiased probability that at least one of k repeats passes, pass^k (Yao et al. 2024)
    that all of them pass. The shares for k follow from those for k - 1: thousands of repeats take no time.
    """
    groups = Counter((case.results, case.passed) for case in cases.values() if case.results)
    at, hat = dict[int, float](), dict[int, float]()
    none = dict.fromkeys(groups, 1.0)  # the shares of the choices of k repeats without a pass, and with passes only
    every = dict(none)
    number = groups.total()
    for k in range(1, min((results for results, _ in groups), default=0) + 1):
        for results, passed in groups:
            left = results - k + 1
            none[results, passed] *= max(results - passed - k + 1, 0) / left
            every[results, passed] *= max(passed - k + 1, 0) / left
        at[k] = 1 - math.fsum(count * none[group] for group, count in groups.items()) / number
        hat[k] = math.fsum(count * every[group] for group, count in groups.items()) / number
    return at, hat


def is_mixed(case: Passes) -> bool:
    """Return whether a case has both passes and other results among its repeats."""
    return 0 < case.passed < case.results


def meets_share(case: Passes, planned: int, required: float) -> bool | None:
    """Return whether a case passes in at least the required share (0 to 1) of its planned repeats.

    None while the missing repeats decide it.
    """
    least = min(planned, 1) if required > 0 else 0  # a small share still needs a pass
    needed = max(least, math.ceil(required * planned - 1e-9))
    if case.passed >= needed:
        return True
    return None if case.passed + (planned - case.results) >= needed else False
