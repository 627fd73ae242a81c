"""Medians and percentiles against published figures, scipy, and by how often their intervals cover."""

import numpy
import pytest
import scipy.stats

from tui.statistics.quantiles import Spread, median_interval, spread_of

# Conover, Practical Nonparametric Statistics (1999), section 3.2: hours until 16 transistors failed.
HOURS = [46.9, 47.2, 49.1, 56.5, 56.8, 59.2, 59.9, 63.2, 63.3, 63.4, 63.7, 64.1, 67.1, 67.7, 73.3, 78.5]


def test_the_interval_of_a_median_as_published() -> None:
    # Minitab's handbook on 1-sample sign: 29 houses, the 9th 101 and the 10th 110, the 20th 210 and the 21st 220;
    # 97.59% between 101 and 220, 93.86% between 110 and 210, by interpolation 95% between 108.5 and 211.7.
    values = [50.0] * 8 + [101.0, 110.0] + [144.0] * 9 + [210.0, 220.0] + [300.0] * 8
    assert median_interval(values) == pytest.approx((108.5, 211.7), abs=0.06)


@pytest.mark.parametrize("size", [6, 7, 16, 50, 333, 1_000])
def test_the_interval_of_a_median_is_within_that_of_the_sign_test(size: int) -> None:
    values = HOURS if size == 16 else sorted(numpy.random.default_rng(size).exponential(size=size).tolist())
    theirs = scipy.stats.quantile_test(values, p=0.5).confidence_interval(0.95)
    ours = median_interval(values)
    assert ours is not None
    low, high = values.index(theirs.low), values.index(theirs.high)
    assert values[low] <= ours[0] <= values[low + 1]
    assert values[high - 1] <= ours[1] <= values[high]


def test_the_median_of_very_many_values_differs_by_a_rank_at_most() -> None:
    for size in (1_001, 5_000, 40_000):
        values = [float(number) for number in range(size)]
        theirs = scipy.stats.quantile_test(values, p=0.5).confidence_interval(0.95)
        assert median_interval(values) == pytest.approx((theirs.low, theirs.high), abs=1.5)


def test_how_many_values_it_takes() -> None:
    def spread(size: int) -> Spread:
        return spread_of(range(size))

    assert spread(0) == Spread(0)
    assert spread(1) == Spread(1, 0)
    assert spread(5) == Spread(5, 2)
    assert spread(6).median == 2.5
    assert spread(6).median_95 == pytest.approx((0.17, 4.83), abs=0.2)
    assert (spread(19).p95, spread(20).p95) == (None, 18)


def test_the_percentile_is_a_value_that_was_seen() -> None:
    values = [*range(100, 0, -1)]
    assert spread_of(values).p95 == 95
    assert spread_of([*values, 1_000_000.0]).p95 == 96
    assert spread_of([5.0] * 40) == Spread(40, 5.0, (5.0, 5.0), 5.0)


@pytest.mark.parametrize("size", [6, 10, 20, 60, 200, 2_000])
def test_the_interval_of_a_median_covers(size: int) -> None:
    random = numpy.random.default_rng(size)
    held = 0
    # As durations are: many short, few very long.
    for sample in numpy.sort(random.lognormal(sigma=1.2, size=(2_000, size)), axis=1):
        interval = median_interval(sample)
        assert interval is not None
        held += interval[0] <= 1.0 <= interval[1]
    assert 0.93 <= held / 2_000 <= 0.97
