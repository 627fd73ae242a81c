"""The left side: the suite tree, what is unfolded in it, and the filter below."""

from collections.abc import Callable
from pathlib import Path

from textual.app import ComposeResult
from textual.content import Content

from tui.app.exploring import Selection
from tui.app.presentation.outline import CaseMarks, OpenSuite, Row, RowKey, ancestors, case_key, outline, suite_key
from tui.app.widgets.filter_panel import FilteredPanel
from tui.app.widgets.suite_tree import SuiteTree
from tui.model.suite import Case

_ALL_UNFOLDED_BELOW = 120


class SuitePanel(FilteredPanel):
    """Shows the suites as a tree; keeps what is unfolded, also when a suite is read anew."""

    DEFAULT_CSS = "SuitePanel > SuiteTree { height: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._unfolded: set[RowKey] = set()
        self._met: set[RowKey] = set()
        self._looking: Selection | None = None
        self.tree_of_suites = SuiteTree(lambda path, case: self._marks_of(path, case), self._fold, id="tree")
        self.border_title = Content("Suites")

    def compose(self) -> ComposeResult:
        """The tree; the filter comes when it is asked for."""
        yield self.tree_of_suites

    @property
    def rows(self) -> SuiteTree:
        """The tree."""
        return self.tree_of_suites

    def _marks_of(self, path: Path, case: Case) -> CaseMarks:
        return self._looking.marks(path, case) if self._looking else CaseMarks(())

    def show(self, selection: Selection) -> None:
        """Show what is on the shelf now."""
        self._looking = selection
        for open_suite in selection.open_suites.suites:
            if open_suite.read and suite_key(open_suite) not in self._met:
                self._met.add(suite_key(open_suite))
                self._unfolded.add((open_suite.folder,))
        wanted: Callable[[Path, Case], bool] | None = selection.wanted if selection.filter else None
        rows = outline(selection.open_suites.suites, self._unfolded, wanted)
        self.tree_of_suites.show_rows(rows)
        self.tell_filter(selection.filter, sum(len(row.cases) for row in rows if row.kind == "suite"))

    def reveal(self, open_suite: OpenSuite, case: Case | None) -> None:
        """Unfold down to the case, and put the cursor there."""
        key = case_key(open_suite, case) if case else suite_key(open_suite)
        if open_suite.suite is not None and len(open_suite.suite.cases) <= _ALL_UNFOLDED_BELOW and case is not None:
            self._unfolded |= {(*suite_key(open_suite), each.category) for each in open_suite.suite.cases}
        self._unfolded |= set(ancestors(key))
        if self._looking:
            self.show(self._looking)
        self.tree_of_suites.go_to_key(key)

    def first_case_if_lost(self, selection: Selection) -> Row | None:
        """The first case that is shown, with the cursor on it, where the case that is looked at is not among them."""
        rows = self.tree_of_suites.rows
        here = (selection.path, selection.case_id)
        if any(row.case and row.open_suite and (row.open_suite.path, row.case.id) == here for row in rows):
            return None
        row = next((row for row in rows if row.kind == "case"), None)
        if row is not None:
            self.tree_of_suites.go_to_key(row.key)
        return row

    def case_beside(self, by: int) -> Row | None:
        """The next shown case row from the cursor on; folded suites and categories are passed over."""
        tree = self.tree_of_suites
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
        if self._looking:
            self.show(self._looking)

    def _unfold_small(self, row: Row) -> None:
        if row.kind == "suite" and len(row.cases) <= _ALL_UNFOLDED_BELOW:
            below = {(*row.key, case.category) for case in row.cases}
            if not below & self._met:
                self._unfolded |= below
                self._met |= below
