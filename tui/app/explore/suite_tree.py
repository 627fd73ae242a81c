"""The suite tree: the rows of the outline, drawn as far as they are seen."""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message

from tui.app.explore.suite_rows import MarksOf, Row, RowKey, indent_of, row_line, row_tally
from tui.app.open_suites import CaseMarks
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.model.suite import Case

_MANY = 500

CaseMarksOf = Callable[[Path, Case], CaseMarks]


class SuiteTree(LineListView):
    """Shows rows and a cursor. `fold` is called to fold a row or to unfold it (True), and shows other rows at once: the
    next key is meant for those."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "Fold", id="tree.fold", tooltip="Fold or unfold", show=False),
        Binding("right,l", "unfold", "Unfold", id="tree.unfold", tooltip="Unfold, or go in", show=False),
        Binding("left,h", "fold", "Fold", id="tree.out", tooltip="Fold, or go to the row above it", show=False),
    ]

    class RowReached(Message):
        """The cursor came to another row."""

        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class RowChosen(RowReached):
        """Enter or a click on a row."""

    def __init__(self, marks_of: CaseMarksOf, fold: Callable[[Row, bool], None], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._marks, self._fold = marks_of, fold
        self._rows: Sequence[Row] = ()
        self._tallies: dict[RowKey, tuple[float, Line]] = {}

    @property
    def rows(self) -> Sequence[Row]:
        """What is shown."""
        return self._rows

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def line_at(self, place: int, width: int) -> Line:
        """A row with its marks as they are now."""
        return row_line(self._rows[place], lambda case: self._marks_of(place, case), width, self._tally)

    def _tally(self, row: Row, marks_of: MarksOf) -> Line:
        """Counting thousands of cases costs more than painting does: once a second is enough for those."""
        if len(row.cases) < _MANY:
            return row_tally(row, marks_of)
        known = self._tallies.get(row.key)
        if known is None or monotonic() - known[0] > 1:
            known = self._tallies[row.key] = (monotonic(), row_tally(row, marks_of))
        return known[1]

    def refresh_marks(self, *, exact: bool = False) -> None:
        """Statuses have changed; `exact` where no other change will follow."""
        if exact:
            self._tallies.clear()
        self.refresh()

    def _marks_of(self, place: int, case: Case) -> CaseMarks:
        open_suite = self._rows[place].open_suite
        return self._marks(open_suite.path, case) if open_suite else CaseMarks(())

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these; the cursor stays on its row, or where that was."""
        key = self.row.key if self.row else None
        self._rows = rows
        kept = next((place for place, row in enumerate(rows) if row.key == key), self.cursor)
        self.lines_changed(kept)

    def go_to_key(self, key: RowKey) -> bool:
        """Put the cursor on a row, without a message. False where it is not shown."""
        place = next((place for place, row in enumerate(self._rows) if row.key == key), None)
        if place is None:
            return False
        self.go_to(place)
        return True

    def tell_reached(self, place: int) -> None:
        """Say which row it is."""
        self.post_message(self.RowReached(self._rows[place]))

    def tell_chosen(self, place: int) -> None:
        """Say which row it is."""
        self.post_message(self.RowChosen(self._rows[place]))

    def action_choose(self) -> None:
        """Show the case, or fold and unfold what is no case."""
        if self.row is not None and self.row.kind not in ("case", "step"):
            self.action_turn()
        super().action_choose()

    def action_turn(self) -> None:
        """Fold or unfold."""
        if self.row is not None and self.row.unfolded is not None:
            row = self.row
            self._fold(row, not row.unfolded)
            if not row.unfolded:
                self._bring_in_what_is_below(row)

    def _bring_in_what_is_below(self, row: Row) -> None:
        """What was unfolded at the bottom is seen, too."""
        below = next((n for n in range(self.cursor + 1, len(self._rows)) if self._rows[n].depth <= row.depth), None)
        last = (len(self._rows) if below is None else below) - 1
        height = min(last - self.cursor + 1, max(1, self.size.height))
        self.scroll_to_region(Region(0, self.cursor, 1, height), animate=False, x_axis=False)

    def action_unfold(self) -> None:
        """Unfold; on what is unfolded: go in."""
        if self.row is not None and self.row.unfolded is False:
            self.action_turn()
        elif self.row is not None and self.row.unfolded:
            self.action_move(1)

    def action_fold(self) -> None:
        """Fold; on what is not unfolded: go to the row above it."""
        if self.row is None:
            return
        if self.row.unfolded:
            self.action_turn()
            return
        depth = self.row.depth
        above = (place for place in range(self.cursor - 1, -1, -1) if self._rows[place].depth < depth)
        place = next(above, None)
        if place is not None:
            self.action_move(place - self.cursor)

    def clicked(self, place: int, column: int) -> None:
        """On an arrow, or on what is no case, a click folds and unfolds too."""
        row = self._rows[place]
        on_arrow = row.unfolded is not None and column <= indent_of(row, self.line_width) + 1
        if row.kind not in ("case", "step") or on_arrow:
            self.action_turn()
        self.tell_chosen(place)
