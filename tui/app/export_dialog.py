"""The dialog that exports a saved run as a report: format, file name, answers."""

import asyncio
import re
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.errors import AssayError
from tui.model.run import ReportFormat, RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.run_history import RunHistory

_NOT_FOR_NAMES = re.compile(r"[^A-Za-z0-9]+")


class Format(NamedTuple):
    """A report format, its file name extension, and a description of its use."""

    format: ReportFormat
    suffix: str
    says: str


FORMATS = (
    Format("markdown", ".md", "for reading and pull requests"),
    Format("html", ".html", "single page for a browser"),
    Format("json", ".json", "complete data for other programs"),
    Format("csv", ".csv", "one row per trial, for spreadsheets"),
    Format("junit", ".xml", "for CI servers"),
)


def format_line(format: Format, answers: bool) -> Line:
    """Return the list line of a format; JSON always has full answers, CSV and JUnit never."""
    full = format.format == "json" or (answers and format.format in ("markdown", "html"))
    return (
        (f" {format.format:<10}", "strong"),
        (format.says, "dim"),
        (" · with full answers" if full else "", "accent"),
    )


def default_file(run: RunRecord, suffix: str) -> str:
    """Return the default file name of a report, relative to the working directory."""
    stem = _NOT_FOR_NAMES.sub("-", run.suite_name).strip("-").lower()[:60] or "run"
    return f"{stem}-{_NOT_FOR_NAMES.sub('', run.id)[:12]}{suffix}"


class ExportScreen(Dialog[Path | None]):
    """Export a run, and dismiss with the written file or None. `hidden` counts blind scores not revealed yet."""

    DEFAULT_CSS = """
    ExportScreen { align: center middle; background: $background 60%; }
    ExportScreen > Vertical {
        width: 76; max-width: 94%; height: auto; max-height: 90%; padding: 1 2; background: $raised;
        border: round $focused-border; border-title-color: $accent; border-subtitle-color: $dim;
    }
    ExportScreen LineListView { height: 5; background: $raised; }
    ExportScreen Static { height: auto; margin-top: 1; }
    ExportScreen PromptInput, ExportScreen PromptInput:focus { background: $background; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="export.leave", tooltip="Close without writing"),
        Binding("a", "toggle_answers", "Answers", id="export.answers", tooltip="Include or omit full answers"),
    ]

    def __init__(self, history: RunHistory, run: RunRecord, hidden: int = 0) -> None:
        super().__init__()
        self._history, self._run, self._hidden = history, run, hidden
        self._list = LineListView()
        self._line = PromptInput("file name", self._list)
        self._message = Static(Content(), markup=False)
        self._answers = False
        self._named = ""
        self._writing = False

    def compose(self) -> ComposeResult:
        """Yield the list of formats, the file name and the message."""
        with Vertical() as box:
            box.border_title = Content("Export report")
            box.border_subtitle = Content("Enter continue · a full answers · Esc close")
            yield self._list
            yield self._line
            yield self._message

    def on_mount(self) -> None:
        """Focus the list of formats, and warn about blind scores."""
        self._draw()
        self._name_file(0)
        self._list.focus()
        if self._hidden:
            scores = "1 score" if self._hidden == 1 else f"{self._hidden} scores"
            self._say(
                f"Warning: the report shows model names next to {scores} that you gave blind and have not revealed."
            )

    def _draw(self) -> None:
        self._list.show_lines([format_line(each, self._answers) for each in FORMATS])
        self._list.lines_changed(max(0, self._list.cursor))

    def _name_file(self, place: int) -> None:
        """Set the default file name of a format, unless the user has typed another."""
        if self._line.value == self._named:
            self._line.value = self._named = default_file(self._run, FORMATS[place].suffix)

    @on(LineListView.Reached)
    def look_at_format(self, message: LineListView.Reached) -> None:
        """Adapt the file name extension to the highlighted format."""
        self._name_file(message.place)
        if isinstance(message, LineListView.Chosen):
            self._line.start()

    @on(PromptInput.Entered)
    def export_to_file(self, message: PromptInput.Entered) -> None:
        """Export the report to the file that was entered."""
        if not message.text.strip():
            self._say("Enter a file name.")
        elif not self._writing:
            self._write(message.text.strip())

    @work(group="write", exclusive=True)
    async def _write(self, name: str) -> None:
        self._writing = True
        try:
            if await self._written(name, replaces=False) is False and await self._may_replace(name):
                await self._written(name, replaces=True)
        finally:
            self._writing = False

    async def _written(self, name: str, *, replaces: bool) -> bool | None:
        """Return True once written, False if the file exists already, None if it cannot be written."""
        self._say("Writing …")
        chosen = FORMATS[max(0, self._list.cursor)]
        try:
            file = await asyncio.to_thread(self._export, Path(name), chosen.format, replaces)
        except FileExistsError:
            return False
        except (AssayError, RuntimeError, ValueError, OSError) as error:
            self._say(str(error))
            return None
        self.dismiss(file)
        return True

    def _export(self, file: Path, format: ReportFormat, replaces: bool) -> Path:
        file = file.expanduser()
        self._history.export(self._run.id, format, file, responses=self._answers, replaces=replaces)
        return file

    async def _may_replace(self, name: str) -> bool:
        from tui.app.dialogs import ConfirmScreen

        self._say("")
        question = f"{sanitize_line(name, 300)} already exists."
        return await self.app.push_screen_wait(ConfirmScreen("Replace?", question, yes="replace", no="keep"))

    def _say(self, text: str) -> None:
        self._message.update(Content(sanitize_line(text, 600)))

    def action_toggle_answers(self) -> None:
        """Include full answers in the report, or leave them out."""
        self._answers = not self._answers
        self._draw()
