"""Tables of figures: the order of their rows."""

import pytest

from tui.model.figure_table import FigureTable, sort_key

TABLE = FigureTable(
    "Answers",
    ("Case", "Band", "Difference", "p"),
    (
        ("beta", "high", "−0.42 (−0.70 to −0.14)", "0.03"),
        ("Alpha", "negligible", "+12.5 points", "<0.001"),
        ("gamma", "–", "–", "–"),
        ("delta", "critical", "1,024 of 2,000", "0.001"),
    ),
    2,
)


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        (0, [1, 0, 3, 2], [2, 3, 0, 1]),
        (1, [1, 0, 3, 2], [3, 0, 1, 2]),
        (2, [0, 1, 3, 2], [3, 1, 0, 2]),
        (3, [1, 3, 0, 2], [0, 3, 1, 2]),
    ],
)
def test_rows_are_sorted_by_what_a_cell_means_and_missing_values_are_last(
    column: int, up: list[int], down: list[int]
) -> None:
    assert TABLE.order(column) == up
    assert TABLE.order(column, reverse=True) == down


def test_equal_cells_keep_their_order() -> None:
    table = FigureTable("", ("n",), (("1",), ("1",), ("0",)))
    assert table.order(0) == [2, 0, 1]


@pytest.mark.parametrize("cell", ["", "–", " no value ", "not enough data"])
def test_a_missing_value_has_no_key(cell: str) -> None:
    assert sort_key(cell) is None


def test_names_with_digits_are_words_unless_they_begin_with_a_number() -> None:
    assert sort_key("gpt-5.2") == (2, 0.0, "gpt-5.2")
    assert sort_key("3 of 7") == (1, 3.0, "3 of 7")
    assert sort_key("95%") == (1, 95.0, "95%")


def test_the_table_in_another_order_has_the_same_rows() -> None:
    assert [row[0] for row in TABLE.ordered([3, 0, 1, 2]).rows] == ["delta", "beta", "Alpha", "gamma"]
