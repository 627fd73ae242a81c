"""The left side: the suite tree, what is unfolded in it, and the filter below."""

from collections.abc import Callable
from pathlib import Path

from textual.app import ComposeResult
from textual.content import Content

from tui.app.explore.suite_rows import Row, RowKey, ancestors, case_key, outline, suite_key
from tui.app.explore.suite_tree import SuiteTree
from tui.app.open_suites import OpenSuite, Selection
from tui.app.widgets.filter_panel import FilteredPanel
from tui.model.suite import Case

_ALL_UNFOLDED_BELOW = 120


class SuitePanel(FilteredPanel):
    """Shows the suites as a tree; keeps what is unfolded, also when a suite is read anew."""

    DEFAULT_CSS = "SuitePanel > SuiteTree { height: 1fr; }"

    def __init__(self, selection: Selection, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._selection = selection
        self._unfolded: set[RowKey] = set()
        self._met: set[RowKey] = set()
        self.suite_tree = SuiteTree(selection.marks, self._fold, id="tree")
        self.border_title = Content("Suites")

    def compose(self) -> ComposeResult:
        """The tree; the filter comes when it is asked for."""
        yield self.suite_tree

    @property
    def rows(self) -> SuiteTree:
        """The tree."""
        return self.suite_tree

    def show(self) -> None:
        """Show the suites that are open now."""
        selection = self._selection
        for open_suite in selection.open_suites.all:
            if open_suite.read and suite_key(open_suite) not in self._met:
                self._met.add(suite_key(open_suite))
                self._unfolded.add((open_suite.folder,))
        wanted: Callable[[Path, Case], bool] | None = selection.matches_filter if selection.filter else None
        rows = outline(selection.open_suites.all, self._unfolded, wanted)
        self.suite_tree.show_rows(rows)
        self.tell_filter(selection.filter, sum(len(row.cases) for row in rows if row.kind == "suite"))

    def reveal(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Unfold down to the case, and put the cursor there."""
        key = case_key(open_suite, case) if case else suite_key(open_suite)
        if open_suite.suite is not None and len(open_suite.suite.cases) <= _ALL_UNFOLDED_BELOW and case is not None:
            self._unfolded |= {(*suite_key(open_suite), each.category) for each in open_suite.suite.cases}
        self._unfolded |= set(ancestors(key))
        self.show()
        self.suite_tree.go_to_key(key)

    def first_case_if_lost(self) -> Row | None:
        """The first case that is shown, with the cursor on it, where the case that is looked at is not among them."""
        rows = self.suite_tree.rows
        here = (self._selection.path, self._selection.case_id)
        if any(row.case and row.open_suite and (row.open_suite.path, row.case.id) == here for row in rows):
            return None
        row = next((row for row in rows if row.kind == "case"), None)
        if row is not None:
            self.suite_tree.go_to_key(row.key)
        return row

    def case_beside(self, by: int) -> Row | None:
        """The next shown case row from the cursor on; folded suites and categories are passed over."""
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
