"""The mean of values that hang together within cases, with its interval. numpy is loaded where there are two cases."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

_SAMPLES = 2_000
_SEED = 20_261_120
_MOST_AT_ONCE = 1_000_000


class Mean(NamedTuple):
    """A mean with its 95% interval; None where there is not enough data."""

    value: float | None
    low: float | None = None
    high: float | None = None


def clustered_mean(cases: Iterable[tuple[float, float]], least: float, most: float) -> Mean:
    """The weighted mean of values between `least` and `most`; each case gives the sum of weight × value, and the sum of
    the weights. No value without a weight, no interval for fewer than two cases.

    The interval is the Bayesian bootstrap over cases (Rubin 1981): 2,000 samples from a fixed seed, in each of which
    every case counts for a random part, and so does half a case at either end of the scale that was not seen. For
    values that are all at the ends that is Jeffreys' interval. The plain bootstrap has nothing to draw where nearly all
    cases are alike, which most answers without a violation are, and is then far too sure.
    """
    # In order, so that the same cases give the same draws in whatever order they come.
    kinds = dict(sorted(Counter(case for case in cases if case[1] > 0).items()))
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
    # Equal cases are drawn as one: their parts add up to a gamma variate of as many.
    shapes = numpy.array([*kinds.values(), 0.5, 0.5])
    random, means = numpy.random.default_rng(_SEED), []
    rows = max(1, _MOST_AT_ONCE // len(shapes))
    for start in range(0, _SAMPLES, rows):
        parts = random.standard_gamma(shapes, (min(rows, _SAMPLES - start), len(shapes)))
        means.append(parts @ sums / (parts @ weights))
    low, high = numpy.quantile(numpy.concatenate(means), (0.025, 0.975))
    return Mean(value, min(value, float(low)), max(value, float(high)))
