"""Figures of a run: medians and 95th percentiles are of values that were seen, and of enough of them."""

from tui.statistics.run_figures import Spread, spread_of


def test_how_many_values_it_takes() -> None:
    def spread(size: int) -> Spread:
        return spread_of(range(size))

    assert spread(0) == Spread()
    assert spread(1) == Spread(0)
    assert spread(5) == Spread(2)
    assert spread(6).median == 2.5
    assert (spread(19).p95, spread(20).p95) == (None, 18)


def test_the_percentile_is_a_value_that_was_seen() -> None:
    values = [*range(100, 0, -1)]
    assert spread_of(values).p95 == 95
    assert spread_of([*values, 1_000_000.0]).p95 == 96
    assert spread_of([5.0] * 40) == Spread(5.0, 5.0)
