"""Shares as percentages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.percentages import percent, percent_range


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"), (1, "100%"), (0.5, "50%"), (0.846, "85%"), (0.994, "99%"), (0.9975, ">99%"), (0.0025, "<1%"),
        (1e-8, "<1%"), (1 - 1e-8, ">99%"), (1 - 2**-53, "100%"),
    ],
)  # fmt: skip
def test_a_share_is_whole_percent(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_share_has_the_given_decimals() -> None:
    assert [percent(share, 1) for share in (0, 0.0001, 0.846, 0.9999, 1)] == [
        "0.0%",
        "<0.1%",
        "84.6%",
        ">99.9%",
        "100.0%",
    ]


@given(st.integers(1, 100_000), st.integers(0, 100_000))
def test_only_none_and_all_are_0_and_100(trials: int, passed: int) -> None:
    passed = min(passed, trials)
    shown = percent(passed / trials)
    assert (shown == "100%") == (passed == trials)
    assert (shown == "0%") == (passed == 0)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(0.52, 0.92, "52–92%"), (0.9944, 0.9999, "99–100%"), (0.9986, 0.9999, "99.9–100.0%"), (0.3, 0.3, "30–30%")],
)
def test_the_ends_of_a_range_differ(low: float, high: float, text: str) -> None:
    assert percent_range(low, high) == text
