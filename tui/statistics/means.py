"""Means of values that are clustered within cases, and of paired differences. Only two or more cases need numpy."""

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tui.statistics.student import t_quantile

_SAMPLES = 2_000
_SEED = 20_261_120
_MOST_AT_ONCE = 1_000_000


class Mean(NamedTuple):
    """A mean with its 95% interval, each None without enough data."""

    value: float | None
    low: float | None = None
    high: float | None = None


def clustered_mean(cases: Iterable[tuple[float, float]], least: float, most: float) -> Mean:
    """Return the weighted mean of values between `least` and `most`, with an interval by cases.

    Each case gives the sum of weight × value, and the sum of the weights. There is no value without a weight, and no
    interval for fewer than two cases.

    The interval is the Bayesian bootstrap over cases (Rubin 1981): 2,000 samples from a fixed seed, in each of which
    every case has a random weight, and so has half a pseudo-case at either end of the scale. For values that are all at
    the ends that is Jeffreys' interval. The plain bootstrap is far too narrow if nearly all cases are equal, like most
    answers without a violation.
    """
    # Sorted, so that the draws do not depend on the order of the cases.
    return _mean_of_kinds(tuple(sorted(Counter(case for case in cases if case[1] > 0).items())), least, most)


@functools.lru_cache(maxsize=256)  # thousands of models with few cases have few different means
def _mean_of_kinds(counted: tuple[tuple[tuple[float, float], int], ...], least: float, most: float) -> Mean:
    kinds = dict(counted)
    number = sum(kinds.values())
    weight = sum(count * case[1] for case, count in kinds.items())
    if not number:
        return Mean(None)
    value = sum(count * case[0] for case, count in kinds.items()) / weight
    if number < 2:
        return Mean(value)
    import numpy

    typical = weight / number
    sums = numpy.array([*(case[0] for case in kinds), least * typical, most * typical])
    weights = numpy.array([*(case[1] for case in kinds), typical, typical])
    # Equal cases are drawn as one: the sum of their weights is a gamma variate of their number.
    shapes = numpy.array([*kinds.values(), 0.5, 0.5])
    random, means = numpy.random.default_rng(_SEED), []
    rows = max(1, _MOST_AT_ONCE // len(shapes))
    for start in range(0, _SAMPLES, rows):
        parts = random.standard_gamma(shapes, (min(rows, _SAMPLES - start), len(shapes)))
        means.append(parts @ sums / (parts @ weights))
    low, high = numpy.quantile(numpy.concatenate(means), (0.025, 0.975))
    return Mean(value, min(value, float(low)), max(value, float(high)))


class MeanDifference(NamedTuple):
    """A weighted mean of paired differences with its standard error and degrees of freedom."""

    value: float
    error: float
    freedom: int

    def interval(self, level: float = 0.05) -> tuple[float, float]:
        """Return the interval that misses the true mean with a chance of `level`, by Student's t."""
        spread = t_quantile(1 - level / 2, self.freedom) * self.error
        return self.value - spread, self.value + spread

    def detectable(self, power: float, level: float = 0.05) -> float:
        """Return the difference that a test at this level shows with this power."""
        return (t_quantile(1 - level / 2, self.freedom) + t_quantile(power, self.freedom)) * self.error


def mean_difference(cases: Sequence[tuple[float, float]], step: float = 1.0) -> MeanDifference | None:
    """Return the weighted mean of paired differences, or None for fewer than two cases with a weight.

    Each case gives the sum of weight × difference, and the sum of the weights.

    The error is that of a ratio over cases (Cochran 1977, "Sampling techniques", 6.4), with one additional pseudo-case
    of average weight that differs by a `step` to either side with half its weight each: if nearly all cases are equal,
    the observed variance is too small (as in Agresti & Min 2005 for shares).
    """
    cases = [case for case in cases if case[1] > 0]
    if len(cases) < 2:
        return None
    number, weight = len(cases), math.fsum(case[1] for case in cases)
    value = math.fsum(case[0] for case in cases) / weight
    squares = math.fsum((total - value * each) ** 2 for total, each in cases) + (step * weight / number) ** 2
    error = math.sqrt((number + 1) / number * squares) / (weight * (number + 1) / number)
    return MeanDifference(value, error, number - 1)
