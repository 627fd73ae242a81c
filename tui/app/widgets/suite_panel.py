"""The left side: the suite tree, what is unfolded in it, and the filter below."""

from collections.abc import Callable
from pathlib import Path

from textual.app import ComposeResult
from textual.content import Content

from tui.app.exploring import Exploring
from tui.app.presentation.outline import CaseMarks, Row, RowKey, Volume, ancestors, case_key, outline, volume_key
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
        self._looking: Exploring | None = None
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

    def show(self, looking: Exploring) -> None:
        """Show what is on the shelf now."""
        self._looking = looking
        for volume in looking.shelf.volumes:
            if volume.read and volume_key(volume) not in self._met:
                self._met.add(volume_key(volume))
                self._unfolded.add((volume.folder,))
        wanted: Callable[[Path, Case], bool] | None = looking.wanted if looking.filter else None
        rows = outline(looking.shelf.volumes, self._unfolded, wanted)
        self.tree_of_suites.show_rows(rows)
        self.tell_filter(looking.filter, sum(len(row.cases) for row in rows if row.kind == "suite"))

    def reveal(self, volume: Volume, case: Case | None) -> None:
        """Unfold down to the case, and put the cursor there."""
        key = case_key(volume, case) if case else volume_key(volume)
        if volume.suite is not None and len(volume.suite.cases) <= _ALL_UNFOLDED_BELOW and case is not None:
            self._unfolded |= {(*volume_key(volume), each.category) for each in volume.suite.cases}
        self._unfolded |= set(ancestors(key))
        if self._looking:
            self.show(self._looking)
        self.tree_of_suites.go_to_key(key)

    def first_case_if_lost(self, looking: Exploring) -> Row | None:
        """The first case that is shown, with the cursor on it, where the case that is looked at is not among them."""
        rows = self.tree_of_suites.rows
        here = (looking.path, looking.case_id)
        if any(row.case and row.volume and (row.volume.path, row.case.id) == here for row in rows):
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
