"""Tests of paired outcomes against published examples, scipy, counting, and how often they err."""

import itertools
import math

import numpy
import pytest
import scipy.stats

from tui.statistics import pairs
from tui.statistics.pairs import (
    MOST_MODELS,
    MOST_PAIRED_CASES,
    adjust_holm,
    adjust_holm_each,
    cases_needed,
    mcnemar_exact,
    sign_flip,
    too_many_to_compare,
)


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


@pytest.mark.parametrize(
    ("wins", "losses"),
    [(5_001, 5_000), (6_000, 4_500), (0, 10_001), (100_000, 100_000), (700_900, 699_100), (10_003_000, 9_997_000)],
)
def test_mcnemar_of_many_cases_as_scipy_has_it(wins: int, losses: int) -> None:
    expected = scipy.stats.binomtest(losses, wins + losses).pvalue
    assert mcnemar_exact(wins, losses) == mcnemar_exact(losses, wins) == pytest.approx(expected, rel=1e-6)


def test_mcnemar_is_the_same_on_both_sides_of_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    splits = [(wins, count - wins) for count in (1, 2, 9, 1_000, 10_000) for wins in {0, count // 3, count // 2}]
    exact = [mcnemar_exact(*split) for split in splits]
    monkeypatch.setattr(pairs, "_MOST_EXACT_PAIRS", 0)
    assert [mcnemar_exact(*split) for split in splits] == pytest.approx(exact, rel=1e-9)


def test_holm_as_published() -> None:
    # The p-values that R's documentation of p.adjust and many textbooks work through, and one by hand.
    assert adjust_holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert adjust_holm([0.04, 0.005, 0.5]) == pytest.approx([0.08, 0.015, 0.5])
    assert adjust_holm([0.9, 0.8]) == [1.0, 1.0]
    assert adjust_holm([]) == []


def test_holm_with_one_other_p_value_is_holm_of_that_list() -> None:
    random = numpy.random.default_rng(3)
    for _ in range(500):
        # From few values, so that there are ties.
        pool = [*(random.random(4) ** 3), 0.0, 1.0]
        number = int(random.integers(0, 9))
        p_values, others = (random.choice(pool, number).tolist() for _ in range(2))
        expected = [
            adjust_holm([*p_values[:place], other, *p_values[place + 1 :]])[place] for place, other in enumerate(others)
        ]
        assert adjust_holm_each(p_values, others) == expected


def test_the_number_of_models_and_of_paired_cases_that_are_compared_is_limited() -> None:
    assert not too_many_to_compare(MOST_MODELS, 20)
    assert too_many_to_compare(MOST_MODELS + 1, 1)
    assert not too_many_to_compare(2, MOST_PAIRED_CASES)
    assert too_many_to_compare(2, MOST_PAIRED_CASES + 1)


def test_signs_as_published() -> None:
    # Fisher (1935), The Design of Experiments, section 21: Darwin's pairs of maize, in eighths of an inch. Of the
    # 32,768 ways to set the signs 863 reach the sum that was seen, and as many the same below 0: 5.267% together.
    darwin = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert sign_flip(darwin) == pytest.approx(2 * 863 / 2**15, abs=1e-12)


def test_signs_as_counted_one_by_one() -> None:
    random = numpy.random.default_rng(7)
    for _ in range(30):
        differences = random.integers(-6, 7, 9)
        seen = abs(int(differences.sum()))
        ways = [abs(int((differences * signs).sum())) >= seen for signs in itertools.product((-1, 1), repeat=9)]
        assert sign_flip(differences.tolist()) == pytest.approx(sum(ways) / len(ways), abs=1e-12)


def test_signs_of_single_trials_are_mcnemar() -> None:
    for wins, losses in ((3, 1), (9, 2), (40, 22), (600, 500)):
        differences = [1] * wins + [-1] * losses + [0] * 5
        assert sign_flip(differences) == pytest.approx(mcnemar_exact(wins, losses), rel=1e-9)
        assert sign_flip([15 * difference for difference in differences]) == sign_flip(differences)


def test_signs_of_many_cases_are_near_the_t_test() -> None:
    random = numpy.random.default_rng(1)
    for shift in (0, 1, 2):
        differences = random.integers(-30, 31, 400) + shift
        theirs = scipy.stats.ttest_1samp(differences, 0.0).pvalue
        assert sign_flip(differences.tolist()) == pytest.approx(theirs, abs=0.01)


def test_signs_are_drawn_where_they_cannot_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    random = numpy.random.default_rng(2)
    differences = (random.integers(-9, 10, 200) + 1).tolist()
    exact = sign_flip(differences)
    monkeypatch.setattr(pairs, "_MOST_SUMS", 10)
    drawn = sign_flip(differences)
    assert drawn != exact
    assert drawn == sign_flip([-difference for difference in differences])
    assert drawn == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 9_999) + 1e-4)
    assert sign_flip([10**30, 5 * 10**29, 10**29]) == pytest.approx(0.25, abs=0.02)


@pytest.mark.parametrize(
    ("differences", "p_value"),
    [([], 1), ([0, 0], 1), ([1], 1), ([5], 1), ([1, 1], 0.5), ([1, 0, 0], 1), ([2, -2], 1), ([3] * 30, 2.0**-29)],
)
def test_few_cases_show_little(differences: list[int], p_value: float) -> None:
    assert sign_flip(differences) == pytest.approx(p_value, rel=1e-9)


def test_a_great_many_cases_do_not_vanish() -> None:
    assert 0 < sign_flip([1] * 3_000) < 1e-300


def found(rounds: int, cases: int, repeats: tuple[int, int], seed: int) -> float:
    """How often two equal models are told apart at 5%. The hardness of a case is any, mostly very easy or very hard."""
    random = numpy.random.default_rng(seed)
    unit, rejected = math.lcm(*repeats), 0
    for _ in range(rounds):
        hardness = random.beta(0.7, 0.7, cases)
        one, other = (random.binomial(count, hardness) * (unit // count) for count in repeats)
        rejected += sign_flip((one - other).tolist()) <= 0.05
    return rejected / rounds


# Two standard errors of a simulated 5% over so many rounds are added to what is allowed.
@pytest.mark.parametrize(("cases", "repeats"), [(8, (3, 3)), (12, (3, 3)), (40, (3, 5)), (100, (5, 5))])
def test_equal_models_differ_significantly_in_at_most_one_of_twenty(cases: int, repeats: tuple[int, int]) -> None:
    assert found(2_000, cases, repeats, cases) <= 0.055 + 2 * math.sqrt(0.05 * 0.95 / 2_000)


@pytest.mark.long
@pytest.mark.parametrize("cases", [6, 8, 12, 20, 40, 100, 400])
@pytest.mark.parametrize("repeats", [(2, 2), (3, 3), (5, 5), (1, 3)])
def test_equal_models_differ_significantly_in_at_most_one_of_twenty_thoroughly(
    cases: int, repeats: tuple[int, int]
) -> None:
    assert found(20_000, cases, repeats, cases) <= 0.055


def test_equal_models_that_ran_once_differ_significantly_in_at_most_one_of_twenty() -> None:
    for differing in range(1, 300):
        wins = numpy.arange(differing + 1)
        rejected = [mcnemar_exact(int(count), differing - int(count)) <= 0.05 for count in wins]
        assert scipy.stats.binom.pmf(wins, differing, 0.5)[rejected].sum() <= 0.05


def test_a_real_difference_is_found() -> None:
    random = numpy.random.default_rng(3)
    assert sign_flip((random.binomial(5, 0.8, 60) - random.binomial(5, 0.5, 60)).tolist()) < 0.001


def test_how_many_cases_have_to_differ() -> None:
    assert [cases_needed(pairs) for pairs in (1, 2, 3, 6, 10)] == [6, 7, 7, 8, 9]
    for pairs_compared in (1, 3, 6):
        needed = cases_needed(pairs_compared)
        assert pairs_compared * mcnemar_exact(needed, 0) <= 0.05 < pairs_compared * mcnemar_exact(needed - 1, 0)
        assert pairs_compared * sign_flip([7] * (needed - 1)) > 0.05
