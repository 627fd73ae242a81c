"""The Checks tab: the result of every check for every model, while the text arrives and after."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.events import Resize

from tui.app.open_suites import Selection
from tui.app.presentation.checks_lines import (
    CheckRow,
    Columns,
    check_rows,
    columns,
    detail_lines,
    head_line,
    is_cut,
    row_line,
)
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import PieceLine, TextPanel
from tui.model.progress import TrialProgress
from tui.model.sanitize import sanitize_text
from tui.model.suite import Case, Suite, SuiteCase

_EARLIER = (
    "The checks of this case, or the option acceptTruncated, were changed after it was run. Its verdicts are those of "
    "that time; checks that the case does not have any more are marked “earlier”."
)
Named = Sequence[tuple[str, TrialProgress | None]]


class _Head(PieceLine):
    """The headings of the columns."""

    models: Sequence[str] = ()
    widths = Columns(4, 1, 1, 1)

    def line_for(self, width: int) -> Line:
        del width
        return head_line(self.models, self.widths)


class _CheckTable(LineListView):
    """The rows of the checks."""

    named: Named = ()
    rows: Sequence[CheckRow] = ()
    steps = 1
    widths = Columns(4, 1, 1, 1)

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        del width
        return row_line(self.rows[place], [trial for _, trial in self.named], self.widths, self.steps)


class ChecksTab(Vertical):
    """A table of checks and models; below it the expected behavior, and the details of the selected check."""

    DEFAULT_CSS = """
    ChecksTab { height: 1fr; }
    ChecksTab > _Head { background: $background; }
    ChecksTab > _CheckTable { height: auto; max-height: 70%; }
    ChecksTab > TextPanel { margin-top: 1; min-height: 1; }
    ChecksTab.-short > TextPanel { margin-top: 0; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._head, self._table, self._detail = _Head(), _CheckTable(), TextPanel()
        self._suite: Suite | None = None
        self._case: Case | None = None
        self._ran: list[SuiteCase | None] = []

    def compose(self) -> ComposeResult:
        """Compose the headings, the rows and the details."""
        yield self._head
        yield self._table
        yield self._detail

    @property
    def row(self) -> CheckRow | None:
        """Return the check under the cursor; None if the case has none."""
        place, rows = self._table.cursor, self._table.rows
        return rows[place] if 0 <= place < len(rows) else None

    def show(self, selection: Selection, chosen: Mapping[str, TrialProgress]) -> None:
        """Display the checks of the selected case with the results of its trials, or of those that were `chosen`."""
        case, models = selection.case, selection.page
        named = [(model, chosen.get(model) or selection.trial(model)) for model in models]
        ran = [trial.asked if trial is not None else None for _, trial in named]
        other = case is not self._case
        if other or not self._table.rows or any(a is not b for a, b in zip_longest(ran, self._ran)):
            self._table.rows = check_rows(case, [trial for _, trial in named]) if case else []
        self._suite, self._case, self._ran = selection.suite, case, ran
        self._head.models = models
        self._table.named = named
        self._table.steps = len(case.steps) if case else 1
        self._measure(self.size.width)
        self._table.lines_changed(0 if other else self._table.cursor)
        self._table.display = self._head.display = bool(self._table.rows)
        self._show_details()

    def _measure(self, width: int) -> None:
        """Compute the columns for the headings and the rows, leaving a cell for a position mark beside the rows."""
        table = self._table
        table.widths = self._head.widths = columns(table.rows, len(table.named), width - 1, table.steps)
        self._head.draw()

    def on_resize(self, event: Resize) -> None:
        """Fit the columns to the new size, and omit the blank line if there are few lines."""
        self.set_class(event.size.height < 9, "-short")
        self._measure(event.size.width)
        self._table.refresh()
        self._show_details()

    def _show_details(self) -> None:
        case, place = self._case, self._table.cursor
        lines: list[Line] = []
        if case is None:
            self._detail.show_lines(lines)
            return
        if 0 <= place < len(self._table.rows):
            row = self._table.rows[place]
            lines = detail_lines(row, self._table.named, whole=is_cut(row, self._table.widths))
        if case.expected_behavior:
            expected: Line = (("Expected  ", "dim"), (sanitize_text(case.expected_behavior), "plain"))
            lines = [*lines, (), expected] if lines else [expected]
        now = SuiteCase(case, self._suite) if self._suite else None
        if now and any(ran and not now.judges_the_same(ran) for ran in self._ran):
            lines.append(((_EARLIER, "dim"),))
        if not case.is_checked:
            lines.append((("This case has no check: complete answers are unchecked and not in any rate.", "dim"),))
        self._detail.show_lines(lines)

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Display the details of the highlighted check."""
        message.stop()
        self._show_details()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Display the details of the clicked check."""
        message.stop()
        self._show_details()
