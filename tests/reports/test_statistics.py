"""Statistics against published examples, scipy, and simulation."""

import itertools
import math

import numpy
import pytest
import scipy.stats

from tui.reports.bootstrap import paired_bootstrap
from tui.reports.statistics import adjust_holm, mcnemar_exact, pass_at, pass_hat, wilson_interval


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
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


def test_mcnemar_as_scipy_has_the_binomial_test() -> None:
    for wins, losses in itertools.product(range(12), repeat=2):
        if wins + losses:
            theirs = scipy.stats.binomtest(min(wins, losses), wins + losses).pvalue
            assert mcnemar_exact(wins, losses) == pytest.approx(theirs, abs=1e-12)


def test_mcnemar_as_published() -> None:
    # Fagerland, Lydersen & Laake (2013), BMC Medical Research Methodology 13:91: airway hyper-responsiveness, 7 and 1.
    assert mcnemar_exact(7, 1) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(5, 5) == 1.0
    assert mcnemar_exact(10, 0) == 2 / 1024
    assert 0 < mcnemar_exact(0, 1074) < 1e-300
    assert mcnemar_exact(6000, 4000) == pytest.approx(scipy.stats.binomtest(4000, 10_000).pvalue)


def test_holm_by_hand() -> None:
    assert adjust_holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert adjust_holm([0.04, 0.005, 0.5]) == pytest.approx([0.08, 0.015, 0.5])
    assert adjust_holm([0.9, 0.8]) == [1.0, 1.0]
    assert adjust_holm([]) == []


def test_pass_at_k_is_what_counting_all_choices_gives() -> None:
    for repeats in range(1, 8):
        for passes in range(repeats + 1):
            outcomes = [index < passes for index in range(repeats)]
            for k in range(1, repeats + 1):
                choices = list(itertools.combinations(outcomes, k))
                assert pass_at(k, repeats, passes) == pytest.approx(sum(map(any, choices)) / len(choices))
                assert pass_hat(k, repeats, passes) == pytest.approx(sum(map(all, choices)) / len(choices))


def test_the_bootstrap_is_near_the_t_test_where_that_holds() -> None:
    random = numpy.random.default_rng(1)
    for shift in (0.0, 0.05, 0.1):
        differences = random.integers(-3, 4, 400) / 3 + shift
        theirs = scipy.stats.ttest_1samp(differences, 0.0).pvalue
        assert paired_bootstrap(differences.tolist()) == pytest.approx(theirs, abs=0.02)


def test_the_bootstrap_is_the_same_each_time_and_both_ways_round() -> None:
    differences = [1 / 3, -1 / 3, 2 / 3, 0.0, 1.0, 1 / 3] * 5
    assert paired_bootstrap(differences) == paired_bootstrap(differences)
    assert paired_bootstrap([-difference for difference in differences]) == pytest.approx(
        paired_bootstrap(differences), abs=0.01
    )


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [([], 1.0), ([0.0, 0.0], 1.0), ([1.0], 1.0), ([1.0, 1.0], 0.5), ([1.0, 0.0, 0.0], 1.0), ([0.5] * 30, 1e-4)],
)
def test_few_cases_tell_little(differences: list[float], p_value: float) -> None:
    assert paired_bootstrap(differences) == pytest.approx(p_value, abs=1e-6)


@pytest.mark.parametrize(("cases", "repeats"), [(12, 3), (40, 3), (100, 5)])
def test_equal_models_differ_in_at_most_one_of_twenty(cases: int, repeats: int) -> None:
    random = numpy.random.default_rng(cases)
    rounds, found = 1_500, 0
    for _ in range(rounds):
        hardness = random.beta(0.7, 0.7, cases)
        one = random.binomial(repeats, hardness) / repeats
        other = random.binomial(repeats, hardness) / repeats
        found += paired_bootstrap((one - other).tolist(), samples=399) <= 0.05
    # Two standard errors above five percent.
    assert found / rounds <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / rounds)


def test_a_real_difference_is_found() -> None:
    random = numpy.random.default_rng(3)
    one = random.binomial(5, 0.8, 60) / 5
    other = random.binomial(5, 0.5, 60) / 5
    assert paired_bootstrap((one - other).tolist()) < 0.001
