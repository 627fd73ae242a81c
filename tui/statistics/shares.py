"""Intervals of a share: of trials that are independent, and of trials that come in cases."""

import math
from collections.abc import Sequence
from typing import NamedTuple

Z95 = 1.959963984540054


class Passes(NamedTuple):
    """How one case came out: plain passes among all its results. Errors and timeouts are results too."""

    passed: int
    results: int

    @property
    def share(self) -> float:
        """The share of passes; of nothing, 0."""
        return self.passed / self.results if self.results else 0.0


def wilson_interval(successes: float, trials: float) -> tuple[float, float]:
    """The 95% interval of a share by Wilson (1927), without continuity correction, as fractions; (0, 1) of nothing."""
    if trials <= 0:
        return 0.0, 1.0
    share, square = successes / trials, Z95 * Z95 / trials
    centre = share + square / 2
    spread = Z95 * math.sqrt((share * (1 - share) + square / 4) / trials)
    # At the ends the formula gives 0 and 1 exactly; floating point does not.
    low = 0.0 if successes == 0 else (centre - spread) / (1 + square)
    high = 1.0 if successes == trials else (centre + spread) / (1 + square)
    return low, high


def clustered_interval(cases: Sequence[Passes]) -> tuple[float, float]:
    """The 95% interval of the share of passes over repeats, whose results hang together within a case.

    Wilson's, with the number of trials that would tell as much if they were independent, and Student's t for the
    number of cases (Korn & Graubard 1998; Dean & Pagano 2015). Where every case came out the same, or there is only
    one, each case counts as one trial.
    """
    cases = [case for case in cases if case.results]
    trials, passed = sum(case.results for case in cases), sum(case.passed for case in cases)
    if trials == len(cases):
        return wilson_interval(passed, trials)
    share, effective = passed / trials, float(len(cases))
    if 0 < passed < trials and len(cases) > 1:
        squares = sum((case.passed - share * case.results) ** 2 for case in cases)
        variance = len(cases) / (len(cases) - 1) * squares / trials**2
        effective = min(float(trials), share * (1 - share) / variance) if variance else float(trials)
        effective *= (Z95 / _t95(len(cases) - 1)) ** 2
    return wilson_interval(share * effective if passed < trials else effective, effective)


def difference_interval(differences: Sequence[float], repeats: float = 1.0) -> tuple[float, float]:
    """The 95% interval of a mean paired difference of shares, as fractions from −1 to 1; `differences` holds one for
    each case, `repeats` is how often a case was asked. (−1, 1) of nothing.

    Wald's, with two trials more: half a win, half a loss and a tie (Agresti & Min 2005), which are fewer cases the
    more repeats a case has.
    """
    if not differences:
        return -1.0, 1.0
    size = len(differences) + 2 / repeats
    mean = math.fsum(differences) / size
    squares = math.fsum(difference * difference for difference in differences)
    variance = (squares + 1 / repeats) / size - mean * mean
    spread = Z95 * math.sqrt(max(0.0, variance) / size)
    return max(-1.0, mean - spread), min(1.0, mean + spread)


def _t95(freedom: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
