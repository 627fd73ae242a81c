"""Intervals of shares against published examples, scipy, and by counting and simulating how often they cover."""

import math

import numpy
import pytest
import scipy.stats

from tui.statistics.shares import Passes, clustered_interval, difference_interval, wilson_interval


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


def wilson_coverage(trials: int, share: float) -> float:
    """How often the interval holds the share, by counting every outcome."""
    outcomes = numpy.arange(trials + 1)
    chances = scipy.stats.binom.pmf(outcomes, trials, share)
    held = [low <= share <= high for low, high in (wilson_interval(int(passed), trials) for passed in outcomes)]
    return float(chances[held].sum())


@pytest.mark.parametrize("trials", [10, 20, 50, 200])
def test_wilson_covers_as_often_as_it_says(trials: int) -> None:
    # The shares of suites: any of them, since none is known beforehand.
    assert 0.93 <= numpy.mean([wilson_coverage(trials, share) for share in numpy.linspace(0.02, 0.98, 97)]) <= 0.97


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


@pytest.mark.long
@pytest.mark.parametrize(("cases", "repeats"), [(12, 3), (15, 10), (30, 2), (40, 5), (100, 3), (400, 5)])
def test_the_interval_over_repeats_covers_thoroughly(cases: int, repeats: int) -> None:
    assert 0.93 <= covered(20_000, cases, repeats, cases) <= 0.97


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


def test_the_interval_of_a_difference_as_published() -> None:
    # Agresti & Min (2005), Statistics in Medicine 24:729: adding 0.5 to each cell; 1,600 people's approval of the
    # prime minister in two surveys (Agresti 2002, table 10.1): 794, 150, 86, 570. Wald's interval is 0.021 to 0.059.
    differences = [0.0] * (794 + 570) + [1.0] * 150 + [-1.0] * 86
    assert difference_interval(differences) == pytest.approx((0.021, 0.059), abs=6e-4)
    assert difference_interval([]) == (-1.0, 1.0)
    assert difference_interval([1.0])[1] == 1.0


def difference_covered(rounds: int, cases: int, repeats: int, harder: float, seed: int) -> float:
    random = numpy.random.default_rng(seed)
    found = 0
    # The mean of a beta(a, b) is a / (a + b); the second model passes a case less often by that factor.
    truth = 0.6 * (1 - harder)
    for _ in range(rounds):
        hardness = random.beta(1.2, 0.8, cases)
        one = random.binomial(repeats, hardness)
        other = random.binomial(repeats, hardness * harder)
        low, high = difference_interval(((one - other) / repeats).tolist(), repeats)
        found += low <= truth <= high
    return found / rounds


@pytest.mark.parametrize(("cases", "repeats", "harder"), [(20, 1, 1.0), (40, 3, 0.7), (12, 5, 0.7)])
def test_the_interval_of_a_difference_covers(cases: int, repeats: int, harder: float) -> None:
    assert 0.93 <= difference_covered(1_500, cases, repeats, harder, cases) <= 0.97


@pytest.mark.long
@pytest.mark.parametrize("cases", [12, 30, 100])
@pytest.mark.parametrize("repeats", [1, 3, 5])
@pytest.mark.parametrize("harder", [1.0, 0.7])
def test_the_interval_of_a_difference_covers_thoroughly(cases: int, repeats: int, harder: float) -> None:
    assert 0.93 <= difference_covered(20_000, cases, repeats, harder, cases) <= 0.97


def test_shares() -> None:
    assert Passes(2, 3).share == pytest.approx(2 / 3)
    assert Passes(0, 0).share == 0.0
    assert not math.isnan(clustered_interval([Passes(1, 2), Passes(1, 2)])[0])
