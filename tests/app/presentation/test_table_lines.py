"""A table as lines: columns that fit, the order in the head, all cells of a row."""

import pytest

from tui.app.presentation.pieces import text_of, width_of
from tui.app.presentation.table_lines import (
    column_at,
    column_widths,
    head_line,
    natural_widths,
    record_lines,
    row_line,
    safe_table,
)
from tui.model.figure_table import FigureTable

TABLE = FigureTable(
    "Answers",
    ("Case", "Model", "Band", "Mean", "Scored"),
    (
        ("query users by mail", "openai/a-model-with-a-long-name", "high", "1.17", "2 of 2"),
        ("hash a password", "local/b", "negligible", "–", "0 of 2"),
    ),
    2,
    ("Mean: extent weighted by severity.",),
)


@pytest.mark.parametrize("width", [20, 40, 60, 80, 160])
def test_lines_never_exceed_the_width(width: int) -> None:
    widths = column_widths(natural_widths(TABLE), TABLE.numbers, width)
    for line in (head_line(TABLE, widths, 3, reverse=True), row_line(TABLE, 0, widths), row_line(TABLE, 1, widths)):
        assert width_of(text_of(line)) <= max(width, 24)
    assert all(width_of(text_of(line)) <= width for line in record_lines(TABLE, 0, width))


def test_texts_are_cut_before_numbers_are_left_out() -> None:
    widths = column_widths(natural_widths(TABLE), TABLE.numbers, 60)
    assert len(widths) == 5
    assert "1.17" in text_of(row_line(TABLE, 0, widths))
    assert "…" in text_of(row_line(TABLE, 0, widths))
    assert text_of(head_line(TABLE, widths, 3, reverse=False)).split()[-2:] == ["Mean▲", "Scored"]
    assert len(column_widths(natural_widths(TABLE), TABLE.numbers, 45)) < 5


def test_all_columns_have_their_own_width_where_there_is_room() -> None:
    widths = column_widths(natural_widths(TABLE), TABLE.numbers, 160)
    assert widths == natural_widths(TABLE)
    assert "openai/a-model-with-a-long-name" in text_of(row_line(TABLE, 0, widths))
    line = text_of(row_line(TABLE, 0, widths))
    places = [column_at(widths, line.index(cell)) for cell in TABLE.rows[0]]
    assert places == [0, 1, 2, 3, 4]
    assert column_at(widths, 150) is None


def test_a_row_is_listed_with_the_notes_of_its_table() -> None:
    text = [text_of(line) for line in record_lines(TABLE, 1, 60)]
    assert text[:2] == ["Case    hash a password", "Model   local/b"]
    assert text[-1] == "Mean: extent weighted by severity."
    assert [text_of(line) for line in record_lines(TABLE, -1, 60)] == ["Mean: extent weighted by severity."]


def test_cells_are_shown_on_one_line_without_control_characters() -> None:
    table = safe_table(FigureTable("", ("a\n",), (("x\x1b[31m\n\u202ey",),)))
    assert not set("\x1b\n\u202e") & set("".join((*table.head, *table.rows[0])))
