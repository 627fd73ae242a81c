"""Which of two models does better, with the cases behind each number."""

import math
import sys
from fractions import Fraction

import numpy
import pytest

from tui.statistics import comparison_words
from tui.statistics.comparison import Comparison, compare_models
from tui.statistics.pairs import MOST_MODELS, mcnemar_exact, sign_flip, too_many_to_compare
from tui.statistics.power import mcnemar_power
from tui.statistics.shares import Differences, Passes, difference_interval

PASS, FAIL = Passes(1, 1), Passes(0, 1)


def compared(a: str, b: str) -> Comparison:
    """One letter for each case: p a pass, anything else none; a space is not asked."""

    def passes(letters: str) -> dict[str, Passes]:
        return {f"case-{at}": PASS if letter == "p" else FAIL for at, letter in enumerate(letters) if letter != " "}

    (comparison,) = compare_models({"a": passes(a), "b": passes(b)})
    return comparison


def test_cases_stand_behind_each_number() -> None:
    comparison = compared("pffpp p", "fpfppp ")
    assert comparison.win_cases == ("case-0",)
    assert comparison.loss_cases == ("case-1",)
    assert comparison.tie_cases == ("case-2", "case-3", "case-4")
    assert (comparison.wins, comparison.losses, comparison.ties) == (1, 1, 3)
    assert comparison.method == "mcnemar-exact"
    assert comparison.difference == 0.0


def test_a_difference_and_its_interval() -> None:
    comparison = compared("p" * 9 + "f", "f" * 8 + "pp")
    assert comparison.difference == pytest.approx(0.7)
    differences = Differences([1.0] * 8 + [0.0, -1.0], [1] * 10, 1.0)
    assert comparison.p_value == mcnemar_exact(8, 1)
    low, high = comparison.difference_95 or (0, 0)
    assert (low, high) == pytest.approx(difference_interval(differences))
    assert comparison.conclusion == "a_better"


@pytest.mark.parametrize(
    ("a", "b", "conclusion"),
    [
        ("", "", "not_enough_data"),
        ("p ", " p", "not_enough_data"),
        ("ppppp", "fffff", "not_enough_data"),
        ("pppppp", "ffffff", "a_better"),
        ("ffffff", "pppppp", "b_better"),
        ("pppfff", "fffppp", "no_difference_shown"),
        ("pppppppp", "pppppppp", "no_difference_shown"),
    ],
)
def test_what_is_concluded(a: str, b: str, conclusion: str) -> None:
    assert compared(a, b).conclusion == conclusion


def test_several_pairs_need_more_cases() -> None:
    better = {f"case-{at}": PASS for at in range(6)}
    worse = dict.fromkeys(better, FAIL)
    pairs = compare_models({"a": better, "b": worse, "c": worse})
    assert [pair.conclusion for pair in pairs] == ["not_enough_data"] * 3
    assert [pair.detectable for pair in pairs] == [None] * 3
    assert [pair.p_holm for pair in pairs] == pytest.approx([6 / 64, 6 / 64, 1.0])


def test_pairs_with_more_cases_leave_room_for_those_with_few() -> None:
    # Of a and b only six cases are common; c is far worse on forty, so that Holm's last step tests a and b alone.
    many = {f"case-{at}": PASS for at in range(40)}
    few = {f"case-{at}": FAIL for at in range(6)}
    other = {f"case-{at}": FAIL for at in range(6, 40)}
    pairs = compare_models({"a": many, "b": few, "c": other})
    assert [pair.conclusion for pair in pairs] == ["not_enough_data", "a_better", "not_enough_data"]
    assert pairs[0].p_holm == pytest.approx(2 / 32)
    (alone,) = compare_models({"a": many, "b": few})
    assert alone.conclusion == "a_better"


def random_passes(random: numpy.random.Generator, cases: int, repeats: int) -> dict[str, Passes]:
    chance = random.random()
    return {f"case-{at}": Passes(int(random.binomial(repeats, chance)), repeats) for at in range(cases)}


def test_conclusion_test_and_interval_never_contradict_each_other() -> None:
    random = numpy.random.default_rng(4)
    seen = set()
    for _ in range(200):
        cases, repeats = int(random.integers(1, 40)), int(random.integers(1, 4))
        passes = {name: random_passes(random, cases, repeats) for name in "abcd"[: int(random.integers(2, 5))]}
        clusters = {f"case-{at}": f"{at // 3}" for at in range(cases)} if random.random() < 0.3 else {}
        for each in compare_models(passes, clusters, margin=float(random.uniform(0.05, 0.9))):
            assert each.p_holm is not None
            assert each.difference_95 is not None
            assert each.difference is not None
            low, high = each.difference_95
            assert (each.better is not None) == (each.p_holm <= 0.05) == (not low <= 0 <= high)
            assert low - 1e-5 <= each.difference <= high + 1e-5
            if each.conclusion == "a_better":
                assert each.difference > 0 < low
            if each.conclusion == "b_better":
                assert each.difference < 0 > high
            if each.conclusion == "equivalent":
                assert -(each.margin or 0) < low < high < (each.margin or 0)
            assert (each.detectable is None) == (each.conclusion == "not_enough_data") or each.pairs > 1
            seen.add(each.conclusion)
    assert len(seen) == 5


def test_equivalence_needs_a_margin_and_cases_that_rule_out_more() -> None:
    both = {f"case-{at}": PASS if at % 2 else FAIL for at in range(100)}
    (unknown,) = compare_models({"a": both, "b": both})
    assert unknown.conclusion == "no_difference_shown"
    (near,) = compare_models({"a": both, "b": both}, margin=0.05)
    assert near.conclusion == "equivalent"
    (too_near,) = compare_models({"a": both, "b": both}, margin=0.03)
    assert too_near.conclusion == "no_difference_shown"
    # 97.5% of runs would see one of 3.6% differing cases among a hundred.
    assert near.difference_95 == pytest.approx((-(1 - 0.025**0.01), 1 - 0.025**0.01))


def test_a_run_that_is_not_finished_is_not_tested() -> None:
    better = {f"case-{at}": PASS for at in range(30)}
    (pair,) = compare_models({"a": better, "b": dict.fromkeys(better, FAIL)}, interim=True)
    assert (pair.interim, pair.p_value, pair.p_holm, pair.difference_95) == (True, None, None, None)
    assert (pair.wins, pair.losses, pair.difference, pair.better) == (30, 0, 1.0, None)


def test_the_unit_is_the_cluster_where_cases_come_in_clusters() -> None:
    # Eight cases from one template say no more than one does.
    better = {f"case-{at}": PASS for at in range(16)}
    worse = dict.fromkeys(better, FAIL)
    (alone,) = compare_models({"a": better, "b": worse})
    assert (alone.method, alone.units, alone.conclusion) == ("mcnemar-exact", 16, "a_better")
    clusters = {case: f"template-{at // 8}" for at, case in enumerate(better)}
    (pair,) = compare_models({"a": better, "b": worse}, clusters)
    assert (pair.method, pair.units, pair.wins, pair.conclusion) == ("sign-flip", 2, 16, "not_enough_data")
    assert pair.p_value == 0.5
    own = {case: case for case in better}
    (pair,) = compare_models({"a": better, "b": worse}, own)
    assert pair == alone
    one = {"case-0": "case-1"}
    (pair,) = compare_models({"a": better, "b": worse}, one)
    assert pair.units == 16, "a cluster may have the name of a case"


def test_repeats_are_compared_by_exact_shares() -> None:
    ours = {"win": Passes(2, 3), "tie": Passes(1, 3), "alike": Passes(2, 4), "not_run": Passes(0, 0)}
    theirs = {"win": Passes(3, 5), "tie": Passes(2, 6), "alike": Passes(3, 6), "not_run": Passes(1, 1)}
    (comparison,) = compare_models({"a": ours, "b": theirs})
    assert comparison.win_cases == ("win",)
    assert comparison.tie_cases == ("tie", "alike")
    assert comparison.method == "sign-flip"
    assert comparison.p_value == 1.0
    assert comparison.difference == pytest.approx((2 / 3 - 3 / 5) / 3)


def test_the_common_multiple_of_many_different_repeats_exceeds_no_float() -> None:
    powers = [
        prime ** int(math.log(760, prime)) for prime in range(2, 761) if all(prime % by for by in range(2, prime))
    ]
    assert math.lcm(*powers) > sys.float_info.max
    ours = {f"case-{repeats}": Passes(repeats // 2 + 1, repeats) for repeats in powers}
    theirs = {f"case-{repeats}": Passes(repeats // (1 + at % 4), repeats) for at, repeats in enumerate(powers)}
    (found,) = compare_models({"a": ours, "b": theirs})
    shares = [Fraction(ours[case].passed - theirs[case].passed, ours[case].results) for case in ours]
    assert found.difference == pytest.approx(float(sum(shares) / len(shares)), rel=1e-12)
    assert found.p_value == sign_flip([round(share * 10**30) for share in shares])
    assert found.p_value is not None
    assert 0.001 < found.p_value < 0.5


def test_fewer_cases_won_by_more() -> None:
    ours = {f"far-{at}": Passes(10, 10) for at in range(9)} | {f"near-{at}": Passes(4, 10) for at in range(12)}
    theirs = {f"far-{at}": Passes(0, 10) for at in range(9)} | {f"near-{at}": Passes(5, 10) for at in range(12)}
    (comparison,) = compare_models({"a": ours, "b": theirs})
    assert (comparison.wins, comparison.losses, comparison.conclusion) == (9, 12, "a_better")
    assert comparison.p_value is not None
    assert comparison.p_value < 0.01
    assert "although b does better in as many cases or more" in comparison_words.conclusion_detail(comparison)
    assert comparison.turned().turned() == comparison


def test_the_detectable_difference_is_the_one_that_is_shown_in_four_of_five_runs() -> None:
    (pair,) = compare_models(
        {name: {f"case-{at}": PASS if at in passed else FAIL for at in range(60)}
         for name, passed in (("a", range(40)), ("b", range(6, 45)))}
    )  # fmt: skip
    assert pair.conclusion == "no_difference_shown"
    assert pair.detectable is not None
    assert mcnemar_power(60, pair.detectable, max(pair.detectable, 11 / 60)) == pytest.approx(0.8, abs=0.01)
    assert "detectable difference with these cases:" in comparison_words.conclusion_detail(pair)


@pytest.mark.parametrize("passing", [0, 12, 24])
def test_repeats_that_all_agree_show_no_smaller_difference_than_single_results(passing: int) -> None:
    def detectable(repeats: int) -> float | None:
        same = {f"case-{at}": Passes(repeats * (at < passing), repeats) for at in range(24)}
        (pair,) = compare_models({"a": same, "b": same})
        assert pair.conclusion == "no_difference_shown"
        return pair.detectable

    assert detectable(1) == detectable(3) == pytest.approx(0.31, abs=0.01)


def test_without_a_checked_case_in_common_nothing_is_compared() -> None:
    for interim in (False, True):
        (pair,) = compare_models({"a": {"one": PASS}, "b": {"two": PASS}}, interim=interim)
        assert (pair.difference, pair.difference_95, pair.p_value, pair.p_holm) == (None, None, None, None)
        assert (pair.units, pair.common, pair.conclusion, pair.interim) == (0, 0, "not_enough_data", interim)
        assert comparison_words.difference_words(pair) == "–"
        assert pair.turned().turned() == pair
    assert comparison_words.conclusion_words(compare_models({"a": {}, "b": {}})[0]) == "no common checked case"


def test_nothing_heavy_is_loaded_where_nobody_was_asked_twice() -> None:
    import subprocess
    import sys

    code = (
        "import sys, tui.statistics.preferences, tui.statistics.run_figures\n"
        "from tui.statistics.comparison import compare_models\n"
        "from tui.statistics.shares import Passes, clustered_interval\n"
        "compare_models({'a': {'x': Passes(1, 1)}, 'b': {'x': Passes(0, 1)}})\n"
        "clustered_interval([Passes(1, 1)])\n"
        "assert not {'numpy', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def many_models(number: int) -> dict[str, dict[str, Passes]]:
    """Models of different skill over 20 cases that were each run three times."""
    random = numpy.random.default_rng(number)
    return {
        f"model-{at}": {f"case-{case}": Passes(int(random.binomial(3, at / number)), 3) for case in range(20)}
        for at in range(number)
    }


def test_hundreds_of_models_are_compared() -> None:
    # Once each pair sorted the p-values of all pairs: that takes half a minute here.
    found = compare_models(many_models(120))
    assert len(found) == 120 * 119 // 2
    assert {"a_better", "b_better", "no_difference_shown"} >= {each.conclusion for each in found}


def test_models_whose_tests_would_take_minutes_are_not_compared() -> None:
    assert not too_many_to_compare(66, 300, 2_520)
    assert too_many_to_compare(70, 300, 2_520)
    assert not too_many_to_compare(2, 500_000, 2_520), "one pair is always compared"
    assert not too_many_to_compare(MOST_MODELS, 400, 10), "the same number of repeats is no burden"
    repeats = (5, 7, 8, 9)
    passes = {f"m{n}": {f"c{at}": Passes(at % 5, repeats[at % 4]) for at in range(300)} for n in range(70)}
    assert compare_models(passes) == ()
    assert compare_models(passes, interim=True) == ()


def test_too_many_models_are_not_compared() -> None:
    assert compare_models(many_models(MOST_MODELS + 1)) == ()
