"""Tests of the wording of comparisons: no text contradicts another figure."""

import pytest

from tui.statistics import comparison_words as words
from tui.statistics.comparison import Comparison, compare_models
from tui.statistics.shares import Passes

PASS, FAIL = Passes(1, 1), Passes(0, 1)


def pairs_of(*models: str, interim: bool = False) -> tuple[Comparison, ...]:
    """One letter for each case: p is a pass."""
    passes = {
        name: {f"case-{at}": PASS if letter == "p" else FAIL for at, letter in enumerate(letters)}
        for name, letters in zip("abcd", models, strict=False)
    }
    return compare_models(passes, interim=interim)


def test_no_difference_is_always_shown_with_the_detectable_difference() -> None:
    (pair,) = pairs_of("pppppppppf", "pppppppfpp")
    assert words.conclusion_words(pair) == "no difference shown"
    assert words.conclusion_detail(pair) == "detectable difference with these cases: 67 points (80% power)"
    assert words.brief_conclusion(pair) == "no difference shown (detectable: 67 points)"
    assert "No difference shown for 1 pair; detectable difference with these cases: 67 points" in words.overview([pair])


def test_no_difference_and_not_enough_data_are_kept_apart() -> None:
    few = pairs_of("ppp", "fff")
    assert words.conclusion_words(few[0]) == "not enough data"
    assert words.conclusion_detail(few[0]) == "3 cases in common, at least 6 needed"
    assert "no difference shown" not in words.overview(few).lower()
    (nothing,) = compare_models({"a": {"x": PASS}, "b": {"y": PASS}})
    assert words.conclusion_words(nothing) == "no common checked case"


def test_a_run_that_is_not_finished_has_no_p_value_and_no_interval_in_words() -> None:
    (pair,) = pairs_of("p" * 20, "f" * 20, interim=True)
    assert words.p_value_words(pair) == words.interval_words(pair) == words.conclusion_detail(pair) == ""
    assert words.difference_words(pair) == "+100 points"
    assert words.overview([pair]) == "Run not finished: models are not compared yet."


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0004, "< 0.001"), (0.0499, "0.050"), (0.05, "0.050"), (0.0504, "0.0504"), (0.050001, "> 0.05"), (0.5, "0.50")],
)
def test_a_p_value_beyond_the_level_does_not_read_as_within(value: float, text: str) -> None:
    assert words.probability(value) == text


def test_an_interval_beside_zero_does_not_read_as_one_that_holds_it() -> None:
    (pair,) = pairs_of("pppppp", "ffffff")
    assert pair.difference_95 is not None
    low = words.interval_words(pair).split(" to ")[0]
    assert low != "0"
    assert words.interval_words(pair.turned()).split(" to ")[0].startswith("−")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.12, "+12"), (-0.034, "−3"), (0, "0"), (1e-17, "0"), (0.0025, "+0.2"), (-0.003, "−0.3"), (0.9975, "+99.8"),
        (1, "+100"), (-1, "−100"), (0.9999999, "+100"),
    ],
)  # fmt: skip
def test_points_are_0_and_100_only_where_the_models_are_equal_and_opposite(share: float, text: str) -> None:
    assert words.points(share) == text


def test_a_margin_is_as_exact_as_it_was_given_and_can_be_compared_with_the_interval() -> None:
    passes = {name: {f"case-{at}": PASS if at % 2 else FAIL for at in range(150)} for name in "ab"}
    (near,) = compare_models(passes, margin=0.025)
    assert words.conclusion_words(near) == "equivalent within ±2.5 points"
    assert words.interval_words(near) == "−2.4 to +2.4"
    (far,) = compare_models(passes, margin=0.02)
    assert words.conclusion_words(far) == "no difference shown"
    assert words.interval_words(far) == "−2.4 to +2.4"
