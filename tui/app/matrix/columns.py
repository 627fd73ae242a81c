"""How wide the columns are, and which models have room: the cases' names stay where they are, the models scroll."""

from collections.abc import Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import Line, Piece, fill, width_of

_LEAST_CELL, _MOST_CELL = 17, 26
_LEAST_NAME = 20
_CHANGE = 18
_LEAST_WITH_CHANGE = 52


class Layout(NamedTuple):
    """Cells of each column; the models from `first` on, `shown` of `models`. `change` is 0 without a baseline."""

    name: int
    cell: int
    change: int
    first: int
    shown: int
    models: int

    @property
    def last_first(self) -> int:
        """The first model when the last one is in sight."""
        return max(0, self.models - self.shown)

    @property
    def visible(self) -> range:
        """The models that are in sight."""
        return range(self.first, min(self.first + self.shown, self.models))


def lay_out(width: int, models: int, longest_name: int, first: int = 0, *, baseline: bool = False) -> Layout:
    """The columns for so many cells in all."""
    change = _CHANGE if baseline and width >= _LEAST_WITH_CHANGE else 0
    room = width - change
    name = max(min(longest_name + 4, room * 2 // 5), min(_LEAST_NAME, room // 2), room - models * _MOST_CELL - 20)
    name = min(name, longest_name + 4 if longest_name + 4 > _LEAST_NAME else _LEAST_NAME, max(1, room - 1))
    if room - name < min(models, 3) * _LEAST_CELL:  # rather a shorter name than fewer models
        name = max(min(name, _LEAST_NAME, room - 1), room - min(models, 3) * _LEAST_CELL)
    name = max(1, name)
    shown = max(1, min(models, (room - name) // _LEAST_CELL))
    cell = max(1, min(_MOST_CELL, (room - name) // shown))
    return Layout(name, cell, change, max(0, min(first, models - shown)), shown, models)


def column_at(layout: Layout, x: int) -> int | None:
    """The model under a cell of the screen; −1 for the names, `models` for what has changed; None beside all."""
    if x < layout.name:
        return -1
    place = (x - layout.name) // layout.cell
    if place < len(layout.visible):
        return layout.first + place
    end = layout.name + len(layout.visible) * layout.cell
    return layout.models if end <= x < end + layout.change else None


def fitted(line: Sequence[Piece], width: int) -> Line:
    """A line in exactly so many cells, the last of them free."""
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
    """A row of the table; `cells` are those in sight."""
    pieces = [*fitted(name, layout.name)]
    for cell in cells:
        pieces += fitted(cell, layout.cell)
    if layout.change:
        pieces += fitted(change, layout.change)
    return tuple(pieces)
