"""Intervals of pass rates and of their differences over independent units: cases, or clusters of cases."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from tui.statistics.student import t_quantile

Z95 = 1.959963984540054
_FEW_UNITS = 5


class Passes(NamedTuple):
    """The results of one case: plain passes among all its results, which include errors and timeouts."""

    passed: int
    results: int

    @property
    def share(self) -> float:
        """The share of passes; 0 without results."""
        return self.passed / self.results if self.results else 0.0


def wilson_interval(successes: float, trials: float, deviations: float = Z95) -> tuple[float, float]:
    """Return the interval of a share by Wilson (1927), without continuity correction, as fractions.

    It is (0, 1) without data, and the 95% interval unless another number of standard deviations is given.
    """
    if trials <= 0:
        return 0.0, 1.0
    share, square = successes / trials, deviations * deviations / trials
    centre = share + square / 2
    spread = deviations * math.sqrt((share * (1 - share) + square / 4) / trials)
    # The formula gives exactly 0 and 1 at the ends; floating point does not.
    low = 0.0 if successes == 0 else (centre - spread) / (1 + square)
    high = 1.0 if successes == trials else (centre + spread) / (1 + square)
    return low, high


def rate_interval(cases: Mapping[str, Passes], clusters: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Return the 95% interval of a model's pass rate, as fractions; every screen and report shows this one.

    `cases` is by case id; cases without results are ignored. `clusters` maps cases to the cluster that they belong to.
    It is Wilson's interval if each unit was run once, else the one clustered by case, or by cluster.
    """
    return clustered_interval(units_of(cases, clusters))


def units_of(cases: Mapping[str, Passes], clusters: Mapping[str, str] | None = None) -> list[Passes]:
    """Return the independent units: each case, or all cases of one cluster together."""
    if not clusters:
        return [passes for passes in cases.values() if passes.results]
    units: dict[tuple[bool, str], Passes] = {}
    for case, passes in cases.items():
        if passes.results:
            name = (True, clusters[case]) if case in clusters else (False, case)
            passed, results = units.get(name, (0, 0))
            units[name] = Passes(passed + passes.passed, results + passes.results)
    return [*units.values()]


def clustered_interval(units: Sequence[Passes]) -> tuple[float, float]:
    """Return the 95% interval of the share of passes over results that are clustered in units, as fractions.

    Wilson's interval with the effective number of independent trials (Korn & Graubard 1998; Dean & Pagano 2015), which
    is at most the number of results and at least Kish's (1965) for results that are equal within a unit. The
    uncertainty of that number enters through Student's t, whose degrees of freedom follow from the kurtosis of the
    units (as in Satterthwaite 1946): few mixed units determine the variance poorly.
    """
    units = [unit for unit in units if unit.results]
    trials, passed = sum(unit.results for unit in units), sum(unit.passed for unit in units)
    if trials == len(units):
        return wilson_interval(passed, trials)
    share = passed / trials
    effective = least = trials**2 / sum(unit.results**2 for unit in units)
    if 0 < passed < trials and len(units) > 1:
        size = len(units)
        squares = [(unit.passed - share * unit.results) ** 2 for unit in units]
        total = math.fsum(squares)
        variance = size / (size - 1) * total / trials**2
        independent = share * (1 - share) / variance if variance > 0 else float(trials)
        kurtosis = size * math.fsum(square * square for square in squares) / total**2 if total > 0 else 1.0
        freedom = min(size - 1, max(1.0, 2 * size / (kurtosis - 1))) if kurtosis > 1 else size - 1
        independent *= (Z95 / t_quantile(0.975, _coarse(freedom))) ** 2
        effective = min(float(trials), max(least, independent))
    return wilson_interval(share * effective if passed < trials else effective, effective)


def is_sparse(cases: Mapping[str, Passes], clusters: Mapping[str, str] | None = None) -> bool:
    """Return whether so few units pass, or so few fail, that the interval may cover the rate in about 90% of runs
    instead of 95%: fewer than five of either. No interval from whole numbers avoids that (Brown, Cai & DasGupta 2001).
    """
    units = units_of(cases, clusters)
    passed = math.fsum(unit.share for unit in units)
    return bool(units) and min(passed, len(units) - passed) < _FEW_UNITS


class Differences(NamedTuple):
    """The paired differences of two models.

    Each unit has the sum over its cases of `a`'s share of passes minus `b`'s, and the number of these cases. `within`
    is how strongly the results of a unit depend on each other: from 1 / results (independent) to 1 (all equal).
    """

    sums: Sequence[float]
    sizes: Sequence[int]
    within: float

    @property
    def mean(self) -> float:
        """The mean difference over all cases; 0 without cases."""
        return math.fsum(self.sums) / sum(self.sizes) if self.sizes else 0.0


def within_units(units: Sequence[Passes]) -> float:
    """Return how strongly the results of a unit depend on each other.

    It is the variance of the units' shares over their variance with a single result each, between 1 / results (harmonic
    mean) and 1; 1 if there is no variance.
    """
    trials = sum(unit.results for unit in units)
    share = sum(unit.passed for unit in units) / trials if trials else 0.0
    if len(units) < 2 or not 0 < share < 1:
        return 1.0
    mean = math.fsum(unit.share for unit in units) / len(units)
    variance = math.fsum((unit.share - mean) ** 2 for unit in units) / (len(units) - 1)
    least = math.fsum(1 / unit.results for unit in units) / len(units)
    return min(1.0, max(least, variance / (share * (1 - share))))


def difference_interval(differences: Differences, alpha: float = 0.05) -> tuple[float, float]:
    """Return the interval of a mean paired difference, from −1 to 1, at the error level `alpha`.

    Student's interval over units, with one additional pseudo-unit that is half a win and half a loss, and another that
    is a tie (Agresti & Min 2005). Both have the weight `within`: as much as one result if the results of a unit are all
    equal, less otherwise. (−1, 1) without data.
    """
    if not differences.sums:
        return -1.0, 1.0
    centre, error, freedom = shrunk(differences)
    spread = t_quantile(1 - alpha / 2, freedom) * error
    if not any(differences.sums):
        # No unit differs: the largest share of differing units that may stay unobserved (Clopper & Pearson 1934).
        spread = max(spread, 1 - (alpha / 2) ** (1 / len(differences.sums)))
    mean = differences.mean
    return max(-1.0, min(mean, centre - spread)), min(1.0, max(mean, centre + spread))


def skewed_interval(differences: Differences, alpha: float = 0.05) -> tuple[float, float]:
    """Return an interval of a mean paired difference for few differing units, most of them in one direction.

    It is computed from the score limits of the shares of wins and of losses (Newcombe 1998, method 10).
    """
    number = len(differences.sums)
    if not number:
        return -1.0, 1.0
    wins = math.fsum(max(0.0, total) / size for total, size in zip(differences.sums, differences.sizes, strict=True))
    losses = math.fsum(max(0.0, -total) / size for total, size in zip(differences.sums, differences.sizes, strict=True))
    deviations = NormalDist().inv_cdf(1 - alpha / 2)
    (win_low, win_high), (loss_low, loss_high) = (wilson_interval(each, number, deviations) for each in (wins, losses))
    won, lost = wins / number, losses / number
    below, above = math.hypot(won - win_low, loss_high - lost), math.hypot(win_high - won, lost - loss_low)
    return won - lost - below, won - lost + above


def shrunk(differences: Differences) -> tuple[float, float, float]:
    """Return centre, standard error and degrees of freedom of `difference_interval`, the pseudo-units included."""
    number, weight = len(differences.sums), differences.within
    typical = sum(differences.sizes) / number
    size = number + 2 * weight
    centre = math.fsum(differences.sums) / typical / size
    squares = math.fsum(
        ((total - centre * cases) / typical) ** 2
        for total, cases in zip(differences.sums, differences.sizes, strict=True)
    )
    squares += weight * (1 + 2 * centre * centre)
    return centre, math.sqrt(squares / (size - 1) / size), _coarse(size - 1)


def _coarse(freedom: float) -> float:
    """Return the degrees of freedom rounded to significant digits, so that quantiles can be cached."""
    return round(freedom, 2 if freedom < 10 else 1 if freedom < 100 else 0)
