"""The Attempts tab: every attempt of every repeat of every model, and a way to look at its answer."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui.app.explore.attempt_lines import (
    AttemptRow,
    attempt_line,
    attempt_rows,
    name_width,
    retry_lines,
    served_lines,
)
from tui.app.open_suites import Selection
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.text_views import TextPanel
from tui.model.state import TrialProgress


class _Table(LineListView):
    rows: Sequence[AttemptRow] = ()

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        repeats = any(row.trial.key.repeat > 1 for row in self.rows)
        return attempt_line(self.rows[place], name_width(self.rows, width), repeats=repeats)


class AttemptsTab(Vertical):
    """A list of attempts; below it the transport retries of the selected one, who answered it, and its cost."""

    DEFAULT_CSS = """
    AttemptsTab { height: 1fr; }
    AttemptsTab > _Table { height: auto; max-height: 70%; }
    AttemptsTab > TextPanel { margin-top: 1; min-height: 1; }
    """

    class AttemptChosen(Message):
        """The answer of an attempt is to be shown."""

        def __init__(self, trial: TrialProgress, number: int) -> None:
            super().__init__()
            self.trial, self.number = trial, number

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table, self._detail = _Table(), TextPanel()
        self._shown: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """Rows and details."""
        yield self._table
        yield self._detail

    def show(self, selection: Selection) -> None:
        """Show the attempts as they stand now."""
        names = dict(zip(selection.models, model_names(selection.models), strict=True))
        self._table.rows = attempt_rows((names[trial.key.model], trial) for trial in selection.repeats())
        shown = selection.path, selection.case_id
        self._table.lines_changed(self._table.cursor if shown == self._shown else 0)
        self._shown = shown
        self._table.display = bool(self._table.rows)
        self._tell()

    def _tell(self) -> None:
        if not 0 <= self._table.cursor < len(self._table.rows):
            self._detail.show_lines([(("No attempt yet. Press r to run this case.", "dim"),)])
            return
        attempt = self._table.rows[self._table.cursor].attempt
        told = [*retry_lines(attempt), *served_lines(attempt)]
        enter: Line = (("Enter shows its answer in its model's pane.", "dim"),)
        self._detail.show_lines([*told, (), enter] if told else [enter])

    def on_line_list_view_reached(self, message: LineListView.Reached) -> None:
        """Tell about the attempt under the cursor."""
        message.stop()
        self._tell()

    def on_line_list_view_chosen(self, message: LineListView.Chosen) -> None:
        """Ask for its answer."""
        message.stop()
        row = self._table.rows[message.place]
        self._tell()
        self.post_message(self.AttemptChosen(row.trial, row.attempt.number))
