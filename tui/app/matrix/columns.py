"""The columns of the matrix: their widths in cells, and which models are visible. The names of cases do not scroll."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import Line, Piece, fill, width_of

_LEAST_CELL, _AMPLE_CELL = 17, 26
_LEAST_NAME = 20
_CHANGE = 18
_LEAST_WITH_CHANGE = 52


class Layout(NamedTuple):
    """The width of each column in cells, and the visible models: `shown` of `models` from index `first` on.

    `change` is 0 without a baseline.
    """

    name: int
    cell: int
    change: int
    first: int
    shown: int
    models: int

    @property
    def last_first(self) -> int:
        """Return the index of the first visible model when the last one is visible."""
        return max(0, self.models - self.shown)

    @property
    def visible(self) -> range:
        """Return the indexes of the visible models."""
        return range(self.first, min(self.first + self.shown, self.models))

    def showing(self, column: int) -> "Layout":
        """Return the layout with the page of models on which the model with this index is visible."""
        if column in self.visible:
            return self
        first = column if column > self.first else column - self.shown + 1
        return self._replace(first=max(0, min(first, self.last_first)))

    def span(self, column: int) -> tuple[int, int]:
        """Return the start and the end of the column of a model in cells; (0, 0) if it is not visible."""
        if column not in self.visible:
            return 0, 0
        start = self.name + (column - self.first) * self.cell
        return start, start + self.cell


def lay_out(width: int, models: int, longest_name: int, first: int = 0, *, baseline: bool = False) -> Layout:
    """Return the layout for a table of `width` cells: the columns share all of it.

    Models have equal shares of at least 17 cells; those that do not fit are on further pages. Names are cut only while
    the models need the room.
    """
    change = _CHANGE if baseline and width >= _LEAST_WITH_CHANGE else 0
    room = width - change
    name = max(min(longest_name + 4, room * 2 // 5), min(_LEAST_NAME, room // 2), room - models * _AMPLE_CELL)
    name = min(name, longest_name + 4 if longest_name + 4 > _LEAST_NAME else _LEAST_NAME, max(1, room - 1))
    if room - name < min(models, 3) * _LEAST_CELL:  # shorten the names before models are hidden
        name = max(min(name, _LEAST_NAME, room - 1), room - min(models, 3) * _LEAST_CELL)
    name = max(1, name)
    shown = max(1, min(models, (room - name) // _LEAST_CELL))
    cell = max(1, (room - name) // shown)
    name = max(1, room - shown * cell)
    return Layout(name, cell, change, max(0, min(first, models - shown)), shown, models)


def column_at(layout: Layout, x: int) -> int | None:
    """Return the index of the model at a horizontal offset in cells.

    It is −1 for the names, `models` for the changes, and None outside all columns.
    """
    if x < layout.name:
        return -1
    place = (x - layout.name) // layout.cell
    if place < len(layout.visible):
        return layout.first + place
    end = layout.name + len(layout.visible) * layout.cell
    return layout.models if end <= x < end + layout.change else None


def fitted(line: Sequence[Piece], width: int) -> Line:
    """Return a line in exactly `width` cells, the last of them blank."""
    taken: list[Piece] = []
    room = max(0, width - 1)
    for text, role in line:
        size = width_of(text)
        if size > room:
            text = fill(text, room)
            size = room
        if text:
            taken.append((text, role))
        room -= size
    return (*taken, (" " * (room + (width > 0)), "plain"))


def joined(layout: Layout, name: Sequence[Piece], cells: Sequence[Sequence[Piece]], change: Sequence[Piece]) -> Line:
    """Return a row of the table; `cells` are those of the visible models."""
    pieces = [*fitted(name, layout.name)]
    for cell in cells:
        pieces += fitted(cell, layout.cell)
    if layout.change:
        pieces += fitted(change, layout.change)
    return tuple(pieces)
