"""Intervals of shares against published examples, scipy, and by counting and simulating how often they cover."""

import math

import numpy
import pytest
import scipy.stats

from tests.statistics.simulations import wilson_coverage
from tui.statistics.shares import (
    Differences,
    Passes,
    clustered_interval,
    difference_interval,
    is_sparse,
    rate_interval,
    units_of,
    wilson_interval,
    within_units,
)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17:857, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes: int, trials: int, low: float, high: float) -> None:
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilson_as_scipy_has_it() -> None:
    for trials in (1, 2, 7, 40, 10_000):
        for successes in {0, 1, trials // 3, trials - 1, trials}:
            theirs = scipy.stats.binomtest(successes, trials).proportion_ci(0.95, "wilson")
            assert wilson_interval(successes, trials) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_wilson_of_nothing_and_at_the_ends() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(0, 7)[0] == 0.0
    assert wilson_interval(7, 7)[1] == 1.0


@pytest.mark.parametrize("trials", [10, 20, 50, 200])
def test_wilson_covers_as_often_as_it_says(trials: int) -> None:
    # The shares of suites: any of them, since none is known beforehand.
    assert 93 <= numpy.mean([wilson_coverage(trials, share) for share in numpy.linspace(0.02, 0.98, 97)]) <= 97


def covered(rounds: int, cases: int, repeats: int, seed: int) -> float:
    """How often the interval over cases holds the true share, where some cases are hard and some easy."""
    random = numpy.random.default_rng(seed)
    found = 0
    for _ in range(rounds):
        hardness = random.beta(1.2, 0.8, cases)
        passed = random.binomial(repeats, hardness)
        low, high = clustered_interval([Passes(int(count), repeats) for count in passed])
        found += low <= 0.6 <= high
    return found / rounds


@pytest.mark.parametrize(("cases", "repeats"), [(10, 10), (15, 3), (40, 5)])
def test_the_interval_over_repeats_covers(cases: int, repeats: int) -> None:
    assert 0.93 <= covered(1_500, cases, repeats, cases) <= 0.97


def test_wilson_over_repeats_would_not_cover() -> None:
    random = numpy.random.default_rng(5)
    found = 0
    for _ in range(1_000):
        passed = int(random.binomial(5, random.beta(1.2, 0.8, 40)).sum())
        low, high = wilson_interval(passed, 200)
        found += low <= 0.6 <= high
    assert found / 1_000 < 0.85


def test_the_interval_over_repeats_without_repeats_is_wilsons() -> None:
    cases = [Passes(1, 1)] * 7 + [Passes(0, 1)] * 3
    assert clustered_interval(cases) == wilson_interval(7, 10)
    assert clustered_interval([]) == (0.0, 1.0)
    assert clustered_interval([Passes(0, 0)]) == (0.0, 1.0)


def test_cases_that_always_come_out_the_same_count_once() -> None:
    assert clustered_interval([Passes(5, 5)] * 4) == wilson_interval(4, 4)
    assert clustered_interval([Passes(0, 5)] * 4) == wilson_interval(0, 4)
    assert clustered_interval([Passes(2, 5)]) == pytest.approx(wilson_interval(0.4, 1))
    low, high = clustered_interval([Passes(5, 5)] * 30 + [Passes(0, 5)] * 20)
    assert (low, high) == pytest.approx(wilson_interval(30, 50), abs=0.01)


def test_one_mixed_case_among_many_does_not_make_the_interval_narrow() -> None:
    # A single case that fails twice of ten says little of how much the rest may vary.
    cases = [Passes(10, 10)] * 49 + [Passes(8, 10)]
    low, high = clustered_interval(cases)
    independent = wilson_interval(498, 500)
    assert low < independent[0] - 0.01
    assert high >= independent[1]


def test_the_unit_is_the_cluster_where_cases_come_in_clusters() -> None:
    cases = {f"case-{at}": Passes(at % 8 < 4, 1) for at in range(40)}
    clusters = {case: f"template-{at // 4}" for at, case in enumerate(cases)}
    assert rate_interval(cases) == wilson_interval(20, 40)
    assert rate_interval(cases, clusters) == pytest.approx(wilson_interval(5, 10), abs=1e-9)
    # Cases without a cluster, and clusters of one, stay units of their own.
    assert rate_interval(cases, {"case-0": "alone"}) == rate_interval(cases)
    assert len(units_of(cases, {"case-0": "both", "case-1": "both"})) == 39


def test_few_passes_or_failures_are_sparse() -> None:
    assert is_sparse({f"{at}": Passes(at >= 4, 1) for at in range(50)})
    assert not is_sparse({f"{at}": Passes(at >= 5, 1) for at in range(50)})
    assert is_sparse({f"{at}": Passes(at < 4, 1) for at in range(50)})
    assert not is_sparse({})


def test_the_interval_of_a_difference_as_published() -> None:
    # Agresti & Min (2005), Statistics in Medicine 24:729: adding 0.5 to each cell; 1,600 people's approval of the
    # prime minister in two surveys (Agresti 2002, table 10.1): 794, 150, 86, 570. Wald's interval is 0.021 to 0.059.
    sums = [0.0] * (794 + 570) + [1.0] * 150 + [-1.0] * 86
    assert difference_interval(Differences(sums, [1] * 1600, 1.0)) == pytest.approx((0.021, 0.059), abs=6e-4)
    assert difference_interval(Differences([], [], 1.0)) == (-1.0, 1.0)
    assert difference_interval(Differences([1.0], [1], 1.0))[1] == 1.0


def test_equal_outcomes_leave_room_for_what_was_not_seen() -> None:
    for number in (5, 50, 500):
        low, high = difference_interval(Differences([0.0] * number, [1] * number, 1.0))
        # The exact upper limit of a share that was not seen once.
        assert high == -low >= 1 - 0.025 ** (1 / number)
        one = difference_interval(Differences([1.0] + [0.0] * (number - 1), [1] * number, 1.0))
        assert one[1] > high * 0.9


def test_clusters_of_several_sizes_are_weighted_by_their_cases() -> None:
    # Three cases of one template and one of another: all of the mean is over cases.
    differences = Differences([3.0, 0.0], [3, 1], 1.0)
    assert differences.mean == 0.75
    narrow = difference_interval(Differences([1.0, 1.0, 1.0, 0.0] * 10, [1] * 40, 1.0))
    wide = difference_interval(Differences([3.0, 0.0] * 10, [3, 1] * 10, 1.0))
    assert wide[1] - wide[0] > narrow[1] - narrow[0]


def test_how_much_repeats_hang_together() -> None:
    assert within_units([Passes(4, 4), Passes(0, 4)] * 10) == 1.0
    assert within_units([Passes(2, 4)] * 20) == pytest.approx(1 / 4)
    assert within_units([Passes(4, 4)] * 20) == 1.0


def test_shares() -> None:
    assert Passes(2, 3).share == pytest.approx(2 / 3)
    assert Passes(0, 0).share == 0.0
    assert not math.isnan(clustered_interval([Passes(1, 2), Passes(1, 2)])[0])
