"""What answers cost, by hand-made sums; what is not known is never nothing."""

from dataclasses import replace

import pytest

from tui.model.prices import Price, Spent, add_costs, cost, cost_text, dollars, price_text, spent_on
from tui.model.results import Usage

# USD per million: 2 in, 8 out, 0.5 read from a cache, 2.5 put there.
PLAIN = Price(2.0, 8.0, "config")
FULL = Price(2.0, 8.0, "list 1.0", cached=0.5, cache_writing=2.5, longest_input=200_000)


@pytest.mark.parametrize(
    ("usage", "price", "usd"),
    [
        (Usage(1_000_000, 1_000_000), PLAIN, 10.0),
        (Usage(1_000, 500), PLAIN, 0.006),
        (Usage(1, 0), PLAIN, 0.000_002),
        (Usage(1_000, 500, reasoning_tokens=400), PLAIN, 0.006),  # part of the 500
        (Usage(1_000, 500, cached_tokens=600), PLAIN, 0.006),  # no other price is known for them
        (Usage(1_000, 500, cached_tokens=600), FULL, 0.0051),
        (Usage(1_000, 500, cached_tokens=600, cache_writing_tokens=400), FULL, 0.0053),
        (Usage(1_000, 500, cached_tokens=5_000, cache_writing_tokens=5_000), FULL, 0.0045),  # more than was read
        (Usage(200_000, 0), FULL, 0.4),
        (Usage(0, 0), PLAIN, 0.0),
        (Usage(10, 10), Price(0.0, 0.0, "config"), 0.0),
    ],
)
def test_an_answer_costs_what_its_tokens_cost(usage: Usage, price: Price, usd: float) -> None:
    assert cost(usage, price) == pytest.approx(usd, abs=1e-12)


@pytest.mark.parametrize(
    ("usage", "price"),
    [
        (Usage(1_000, 500), None),
        (Usage(), PLAIN),
        (Usage(1_000, None), PLAIN),
        (Usage(None, 500), PLAIN),
        (Usage(200_001, 0), FULL),
        (Usage(10**400, 1), PLAIN),
        (Usage(1, 10**400), PLAIN),
    ],
)
def test_what_cannot_be_known_is_unknown(usage: Usage, price: Price | None) -> None:
    assert cost(usage, price) is None


def test_costs_are_summed_and_unknown_ones_are_counted() -> None:
    assert add_costs([0.1, 0.2]) == 0.3
    assert add_costs([0.1, None]) is None
    assert add_costs([]) is None
    assert add_costs([0.0]) == 0.0
    assert spent_on([0.1, None, 0.2]) == Spent(0.3, 2, 3)
    assert spent_on([None]) == Spent(None, 0, 1)
    assert not Spent().is_whole


@pytest.mark.parametrize(
    ("spent", "text"),
    [
        (Spent(0.3, 3, 3), "$0.30"),
        (Spent(0.3, 2, 3), "≥ $0.30"),
        (Spent(None, 0, 3), "unknown"),
        (Spent(), "unknown"),
        (Spent(0.0, 3, 3), "$0.00"),
    ],
)
def test_the_text_of_a_cost_shows_whether_parts_are_unknown(spent: Spent, text: str) -> None:
    assert cost_text(spent) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (1234.5, "$1,234.50"),
        (0.1, "$0.10"),
        (0.0113, "$0.011"),
        (0.01, "$0.010"),
        (0.0099, "$0.0099"),
        (0.004_21, "$0.0042"),
        (0.000_002, "$0.0000020"),
    ],
)
def test_small_sums_keep_two_digits(usd: float, text: str) -> None:
    assert dollars(usd) == text


def test_a_price_says_where_it_is_from() -> None:
    assert price_text(replace(PLAIN, input=0.175)) == "$0.175 in, $8.00 out per million tokens (config)"
    assert price_text(FULL) == (
        "$2.00 in, $8.00 out, $0.50 cached, $2.50 written to the cache per million tokens, for up to 200,000 input "
        "tokens (list 1.0)"
    )
