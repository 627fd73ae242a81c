"""The suite tree, drawn row by row, and its panel with the filter."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Region
from textual.message import Message

from tui.app.explore.suite_rows import (
    MarksOf,
    Row,
    RowKey,
    ancestors,
    case_key,
    indent_of,
    outline,
    row_line,
    row_tally,
    small_data_sets,
    suite_key,
)
from tui.app.open_suites import CaseMarks, OpenSuite, Selection
from tui.app.presentation.pieces import Line
from tui.app.widgets.filter_panel import FilteredPanel
from tui.app.widgets.list_view import LineListView
from tui.model.filter import DataColumns, case_values
from tui.model.suite import Case
from tui.session.saved_filters import SavedFilters

_MANY = 500

CaseMarksOf = Callable[[Path, Case], CaseMarks]


class SuiteTree(LineListView):
    """The rows of the tree with a cursor.

    `fold` is called to unfold (True) or fold a row, and updates the rows at once, because the next key is for those.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "toggle_fold", "Fold", id="tree.fold", tooltip="Fold or unfold", show=False),
        Binding("right,l", "unfold", "Unfold", id="tree.unfold", tooltip="Unfold, or go to the child row", show=False),
        Binding("left,h", "fold", "Fold", id="tree.out", tooltip="Fold, or go to the parent", show=False),
    ]

    class RowReached(Message):
        """Posted when the cursor moves to another row."""

        def __init__(self, row: Row) -> None:
            super().__init__()
            self.row = row

    class RowChosen(RowReached):
        """Posted after Enter or a click on a row."""

    def __init__(self, marks_of: CaseMarksOf, fold: Callable[[Row, bool], None], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._marks, self._fold = marks_of, fold
        self._rows: Sequence[Row] = ()
        self._tallies: dict[RowKey, tuple[float, Line]] = {}

    @property
    def rows(self) -> Sequence[Row]:
        """Return the displayed rows."""
        return self._rows

    @property
    def row(self) -> Row | None:
        """Return the row under the cursor."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else None

    @property
    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def line_at(self, place: int, width: int) -> Line:
        """Return a row with its current marks."""
        return row_line(self._rows[place], lambda case: self._marks_of(place, case), width, self._tally)

    def _tally(self, row: Row, marks_of: MarksOf) -> Line:
        """Return the counts of a folded row; with many cases they are updated at most once per second."""
        if len(row.cases) < _MANY:
            return row_tally(row, marks_of)
        known = self._tallies.get(row.key)
        if known is None or monotonic() - known[0] > 1:
            known = self._tallies[row.key] = (monotonic(), row_tally(row, marks_of))
        return known[1]

    def refresh_marks(self, *, exact: bool = False) -> None:
        """Redraw the marks; `exact` updates all counts, for the last change of a run."""
        if exact:
            self._tallies.clear()
        self.refresh()

    def _marks_of(self, place: int, case: Case) -> CaseMarks:
        open_suite = self._rows[place].open_suite
        return self._marks(open_suite.path, case) if open_suite else CaseMarks(())

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Display rows; the cursor stays on its row, or at its position if that row is gone."""
        key = self.row.key if self.row else None
        self._rows = rows
        kept = next((place for place, row in enumerate(rows) if row.key == key), self.cursor)
        self.lines_changed(kept)

    def go_to_key(self, key: RowKey) -> bool:
        """Put the cursor on a row without posting a message; return whether the row is displayed."""
        place = next((place for place, row in enumerate(self._rows) if row.key == key), None)
        if place is None:
            return False
        self.go_to(place)
        return True

    def post_reached(self, place: int) -> None:
        """Post the row that the cursor has moved to."""
        self.post_message(self.RowReached(self._rows[place]))

    def post_chosen(self, place: int) -> None:
        """Post the chosen row."""
        self.post_message(self.RowChosen(self._rows[place]))

    def action_choose(self) -> None:
        """Open the case; fold or unfold any other row."""
        if self.row is not None and self.row.kind not in ("case", "step"):
            self.action_toggle_fold()
        super().action_choose()

    def action_toggle_fold(self) -> None:
        """Fold or unfold the row under the cursor."""
        if self.row is not None and self.row.unfolded is not None:
            row = self.row
            self._fold(row, not row.unfolded)
            if not row.unfolded:
                self.bring_in(row.key)

    def bring_in(self, key: RowKey) -> None:
        """Scroll so that a row and its children are visible, as far as the cursor stays visible too."""
        place = next((place for place, row in enumerate(self._rows) if row.key == key), None)
        if place is None:
            return
        depth = self._rows[place].depth
        below = (n for n in range(place + 1, len(self._rows)) if self._rows[n].depth <= depth)
        height = min(next(below, len(self._rows)) - place, max(1, self.size.height))
        if place <= self.cursor < place + height:
            self.scroll_to_region(Region(0, place, 1, height), animate=False, x_axis=False)

    def action_unfold(self) -> None:
        """Unfold the row, or go to its first child."""
        if self.row is not None and self.row.unfolded is False:
            self.action_toggle_fold()
        elif self.row is not None and self.row.unfolded:
            self.action_move(1)

    def action_fold(self) -> None:
        """Fold the row, or go to its parent."""
        if self.row is None:
            return
        if self.row.unfolded:
            self.action_toggle_fold()
            return
        depth = self.row.depth
        above = (place for place in range(self.cursor - 1, -1, -1) if self._rows[place].depth < depth)
        place = next(above, None)
        if place is not None:
            self.action_move(place - self.cursor)

    def clicked(self, place: int, column: int) -> None:
        """Choose the clicked row; fold or unfold it if it is no case or its arrow was clicked."""
        row = self._rows[place]
        on_arrow = row.unfolded is not None and column <= indent_of(row, self.line_width) + 1
        if row.kind not in ("case", "step") or on_arrow:
            self.action_toggle_fold()
        self.post_chosen(place)


_ALL_UNFOLDED_BELOW = 120


class SuitePanel(FilteredPanel):
    """The panel of the suite tree. Rows stay unfolded when a suite is read again."""

    DEFAULT_CSS = "SuitePanel > SuiteTree { height: 1fr; }"

    def __init__(self, selection: Selection, filters: SavedFilters, *, id: str | None = None) -> None:
        super().__init__(filters, id=id)
        self._selection = selection
        self._columns = DataColumns()
        self._unfolded: set[RowKey] = set()
        self._met: set[RowKey] = set()
        self.suite_tree = SuiteTree(selection.marks, self._fold, id="tree")
        self.border_title = Content("Suites")

    def compose(self) -> ComposeResult:
        """Compose the tree; the filter is mounted when it is opened."""
        yield self.suite_tree

    @property
    def rows(self) -> SuiteTree:
        """Return the tree."""
        return self.suite_tree

    def filter_values(self, key: str) -> Iterable[str]:
        """Return the values of a key of the filter that occur in the open suites."""
        for open_suite in self._selection.open_suites.all:
            if key == "model":
                yield from self._selection.models_of(open_suite.path)
            elif open_suite.suite is not None:
                yield from case_values(key, open_suite.suite.cases, self.filter_columns())

    def filter_columns(self) -> Iterable[str]:
        """Return the columns of the data sets of the open suites."""
        return self._columns.of([each.suite.cases for each in self._selection.open_suites.all if each.suite])

    def show(self) -> None:
        """Display the suites that are open now."""
        selection = self._selection
        for open_suite in selection.open_suites.all:
            if open_suite.read and suite_key(open_suite) not in self._met:
                self._met.add(suite_key(open_suite))
                self._unfolded.add((open_suite.folder,))
                self._unfolded |= small_data_sets(open_suite)
        accepts: Callable[[Path, Case], bool] | None = selection.matches_filter if selection.filter else None
        rows = outline(selection.open_suites.all, self._unfolded, accepts)
        self.suite_tree.show_rows(rows)
        self.show_filter(selection.filter, sum(len(row.cases) for row in rows if row.kind == "suite"))

    def reveal(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Unfold the parents of a case, and put the cursor on it."""
        key = case_key(open_suite, case) if case else suite_key(open_suite)
        if open_suite.suite is not None and len(open_suite.suite.cases) <= _ALL_UNFOLDED_BELOW and case is not None:
            self._unfolded |= {(*suite_key(open_suite), each.category) for each in open_suite.suite.cases}
        if case is not None and self._is_first_of_folded_rows(open_suite, case):
            key = key[:-1]
        self._unfolded |= set(ancestors(key))
        self.show()
        if self.suite_tree.go_to_key(key):
            self.suite_tree.bring_in(suite_key(open_suite))

    def _is_first_of_folded_rows(self, open_suite: OpenSuite, case: Case) -> bool:
        """Return whether a case is the first of many rows of a data set, which the start does not unfold."""
        if case.row is None or open_suite.suite is None or case_key(open_suite, case)[:-1] in self._unfolded:
            return False
        rows = (each for each in open_suite.suite.cases if each.row and each.row.template == case.row.template)
        return next(rows, None) is case

    def go_to_folder(self, folder: str) -> None:
        """Unfold a folder, and put the cursor on it."""
        self._unfolded.add((folder,))
        self.show()
        if self.suite_tree.go_to_key((folder,)):
            self.suite_tree.post_reached(self.suite_tree.cursor)

    def first_case_if_lost(self) -> Row | None:
        """Move the cursor to the first displayed case and return it, if the selected case is not displayed."""
        rows = self.suite_tree.rows
        here = (self._selection.path, self._selection.case_id)
        if any(row.open_suite and row.open_suite.path == here[0] and row.displays(here[1]) for row in rows):
            return None
        row = next((row for row in rows if row.kind == "case"), None)
        if row is not None:
            self.suite_tree.go_to_key(row.key)
        return row

    def case_beside(self, by: int) -> Row | None:
        """Move the cursor to the next or previous displayed case, skipping other rows, and return its row."""
        tree = self.suite_tree
        place = tree.cursor + by
        while 0 <= place < len(tree.rows):
            if tree.rows[place].kind == "case":
                tree.go_to(place)
                return tree.rows[place]
            place += by
        return None

    def _fold(self, row: Row, unfold: bool) -> None:
        if unfold:
            self._unfolded.add(row.key)
            self._unfold_small(row)
        else:
            self._unfolded.discard(row.key)
        self.show()

    def _unfold_small(self, row: Row) -> None:
        if row.kind == "suite" and len(row.cases) <= _ALL_UNFOLDED_BELOW:
            below = {(*row.key, case.category) for case in row.cases}
            if not below & self._met:
                self._unfolded |= below
                self._met |= below
