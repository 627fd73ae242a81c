"""Tabs of figures, and a table as lines that fit a width: columns that line up, and all cells of a row as a list."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui.app.presentation.bands import band_role
from tui.app.presentation.pieces import Line, Piece, Role, cut, cut_middle, fill, width_of
from tui.app.presentation.text_rows import hanging_indent, text_rows
from tui.model.figure_table import FigureTable
from tui.model.risk import BANDS
from tui.model.sanitize import sanitize_line

_GAP = 2
_LEAST_TEXT = 10
_MOST_TEXT = 60
_LONGEST_CELL = 400

LinesFor = Callable[[int], Sequence[Line]]
"""Returns the lines of a text for a width in cells."""


@dataclass(frozen=True, slots=True)
class FigurePage:
    """One tab: a table, or a text in its place. Its label is `name`, or the title of the table.

    `line` draws a row in another way, `details` returns what is shown below the table for a row; both get the index of
    the row in `table`. With `selects` the screen is dismissed with the index of the row that is chosen.
    """

    table: FigureTable
    name: str = ""
    text: LinesFor | None = None
    line: Callable[[int, int], Line] | None = None
    details: Callable[[int], LinesFor] | None = None
    selects: bool = False


@dataclass(frozen=True, slots=True)
class Figures:
    """The tabs of the screen, tables that are only exported, and what the figures are about."""

    title: str
    about: str
    pages: Sequence[FigurePage]
    more: Sequence[FigureTable] = ()
    selected: int = 0


def safe_table(table: FigureTable) -> FigureTable:
    """Return the table with cells that a terminal can show on one line."""
    rows = tuple(tuple(sanitize_line(cell, _LONGEST_CELL) for cell in row) for row in table.rows)
    head = tuple(sanitize_line(name, _LONGEST_CELL) for name in table.head)
    return FigureTable(table.title, head, rows, table.numbers, table.notes)


def natural_widths(table: FigureTable) -> list[int]:
    """Return the width of the widest cell of each column, one more in the head for the mark of the order."""
    columns = zip(table.head, *table.rows, strict=True)
    return [max(width_of(head) + 1, *map(width_of, cells), 0) for head, *cells in columns]


def column_widths(natural: Sequence[int], numbers: int, width: int) -> list[int]:
    """Return the widths of the columns that fit, from the first one on.

    Columns of text are cut first, the widest most; then columns are left out, from the last one on.
    """
    texts = len(natural) - numbers
    widths = [min(cells, _MOST_TEXT) if place < texts else cells for place, cells in enumerate(natural)]
    while (excess := sum(widths) + _GAP * len(widths) - width) > 0:
        widest = max(range(texts), key=widths.__getitem__, default=-1)
        if widest >= 0 and widths[widest] > _LEAST_TEXT:
            others = [cells for place, cells in enumerate(widths[:texts]) if place != widest and cells < widths[widest]]
            floor = max(_LEAST_TEXT, max(others, default=_LEAST_TEXT))
            widths[widest] = max(min(floor, widths[widest] - 1), widths[widest] - excess, _LEAST_TEXT)
        elif len(widths) > 2:
            widths.pop()
            texts = min(texts, len(widths))
        else:
            break
    return widths


def head_line(table: FigureTable, widths: Sequence[int], sorted_by: int | None, *, reverse: bool) -> Line:
    """Return the names of the columns, the one by which the rows are sorted with an arrow."""
    names = [
        f"{name}{'▼' if reverse else '▲'}" if place == sorted_by else name for place, name in enumerate(table.head)
    ]
    cells = _cells(names, widths, len(table.head) - table.numbers)
    return tuple((text, "accent" if place == sorted_by else "dim") for place, text in enumerate(cells))


def row_line(table: FigureTable, row: int, widths: Sequence[int]) -> Line:
    """Return a row; a band has its color."""
    cells = table.rows[row]
    texts = _cells(cells, widths, len(table.head) - table.numbers)
    pieces: list[Piece] = []
    for place, text in enumerate(texts):
        role: Role = next(
            (band_role(band) for band in BANDS if band == cells[place]), "strong" if not place else "plain"
        )
        pieces.append((text, role))
    return tuple(pieces)


def _cells(cells: Sequence[str], widths: Sequence[int], texts: int) -> list[str]:
    found = []
    for place, (cell, width) in enumerate(zip(cells, widths, strict=False)):
        right = f"{' ' * max(0, width - width_of(cell))}{cut(cell, width)}"
        shown = right if place >= texts else fill(cut_middle(cell, width), width)
        found.append(" " * _GAP + shown if place else f" {shown}")
    return found


def column_at(widths: Sequence[int], x: int) -> int | None:
    """Return the index of the column at a position in cells, None beside all columns."""
    end = 1
    for place, width in enumerate(widths):
        end += width + (_GAP if place else 0)
        if x < end:
            return place
    return None


def record_lines(table: FigureTable, row: int, width: int) -> list[Line]:
    """Return all cells of a row, each with the name of its column, then the notes of the table."""
    lines: list[Line] = []
    if 0 <= row < len(table.rows):
        room = max(map(width_of, table.head)) + _GAP
        for name, cell in zip(table.head, table.rows[row], strict=True):
            lines += hanging_indent(((fill(name, room), "dim"),), cell, "plain", width)
        lines.append(())
    for note in table.notes:
        lines += text_rows(note, width, "dim")
    return lines
