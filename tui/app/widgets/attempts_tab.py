"""The Attempts tab: every attempt of every model, and a way to look at its answer."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui.app.exploring import Exploring
from tui.app.presentation.pieces import Line
from tui.app.presentation.telling import AttemptRow, attempt_line, attempt_rows, retry_lines
from tui.app.widgets.line_list import LineList
from tui.app.widgets.reading import Reading
from tui.model.state import TrialProgress


class _Table(LineList):
    rows: Sequence[AttemptRow] = ()

    def __init__(self) -> None:
        super().__init__()
        self.trials: dict[str, TrialProgress] = {}

    @property
    def line_count(self) -> int:
        return len(self.rows)

    def line_at(self, place: int, width: int) -> Line:
        row = self.rows[place]
        return attempt_line(row, self.trials[row.model], width)


class AttemptsTab(Vertical):
    """A list of attempts; below it the transport retries of the selected one."""

    DEFAULT_CSS = """
    AttemptsTab { height: 1fr; }
    AttemptsTab > _Table { height: auto; max-height: 70%; }
    AttemptsTab > Reading { margin-top: 1; min-height: 1; }
    """

    class AttemptChosen(Message):
        """The answer of an attempt is to be shown."""

        def __init__(self, model: str, number: int) -> None:
            super().__init__()
            self.model, self.number = model, number

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._table, self._detail = _Table(), Reading()

    def compose(self) -> ComposeResult:
        """Rows and details."""
        yield self._table
        yield self._detail

    def show(self, looking: Exploring) -> None:
        """Show the attempts as they stand now."""
        named = list(zip(looking.models, looking.trials(), strict=True))
        self._table.trials = {model: trial for model, trial in named if trial}
        self._table.rows = attempt_rows(named)
        self._table.lines_changed(self._table.cursor)
        self._tell()

    def _tell(self) -> None:
        if not 0 <= self._table.cursor < len(self._table.rows):
            self._detail.show_lines([(("No attempt yet. Press r to run this case.", "dim"),)])
            return
        row = self._table.rows[self._table.cursor]
        attempt = next(each for each in self._table.trials[row.model].attempts if each.number == row.number)
        self._detail.show_lines(retry_lines(attempt) or [(("Enter shows its answer.", "dim"),)])

    def on_line_list_reached(self, message: LineList.Reached) -> None:
        """Tell about the attempt under the cursor."""
        message.stop()
        self._tell()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Ask for its answer."""
        message.stop()
        row = self._table.rows[message.place]
        self._tell()
        self.post_message(self.AttemptChosen(row.model, row.number))
