"""The Runs screen: all saved runs, and the actions on one."""

import asyncio
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize

from tui.app.bindings import bind
from tui.app.keymap import shared
from tui.app.presentation.figures import counted
from tui.app.report_export import ReportExporter
from tui.app.runs.lines import RUN_FILTER, complete_run_filter, day_and_time, parse_run_filter
from tui.app.runs.view import RunHeads, RunLines, RunSetupLines, RunsTitle
from tui.app.screens import AppScreen
from tui.app.widgets.filter_line import FilterLine
from tui.app.widgets.footer import KeyFooter
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.errors import AssayError
from tui.model.filter import Completion
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.run_history import RunHistory, ScoreCount
from tui.session.saved_filters import SavedFilters

_POLL_SECONDS = 2.0
_LOW = 16
Act = Literal["open", "resume", "failed", "replay", "replay at once", "rejudge", "matrix", "compare", "review"]


def _lost_scores(count: ScoreCount) -> str:
    if not count.scores:
        return ""
    scores, people = counted(count.scores, "score"), counted(count.reviewers, "reviewer")
    return f" {scores} by {people} will be lost; run 'assay review export' to save them to a file."


class RunChoice(NamedTuple):
    """A run, and the action that Explore performs on it."""

    act: Act
    run: RunRecord


class RunsScreen(AppScreen[RunChoice | None]):
    """List the saved runs, and dismiss with the chosen action or None. `deleted` has the deleted runs."""

    DEFAULT_CSS = """
    RunsScreen { background: $background; color: $foreground; }
    RunsScreen #list {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim; height: 1fr;
        padding: 0 1; &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    RunsScreen RunSetupLines { height: auto; max-height: 9; border: round $quiet-border; padding: 0 1; }
    RunsScreen.-low RunSetupLines { display: none; }
    """
    TITLE = "Runs"
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("r", "choose('resume')", "runs.resume", "Resume: run the trials without a result", "resume"),
        shared("run.failed", "choose('failed')", "Rerun the failed trials of this run"),
        bind("p", "choose('replay')", "runs.replay", "Replay the recorded answers at their original speed", "replay"),
        bind("i", "choose('replay at once')", "runs.replay-at-once", "Replay the recorded answers instantly"),
        bind("J", "choose('rejudge')", "runs.rejudge", "Judge its answers again with the checks of the suite's file"),
        shared("look.matrix", "choose('matrix')", "Open the run, and its matrix: all cases × all models"),
        shared("look.compare", "choose('compare')", "Compare its answers (with the baseline, if there is one)"),
        shared("look.review", "choose('review')", "Review: score the risk of its answers"),
        bind("b", "mark", "runs.baseline", "Set or remove as baseline of its suite", "baseline"),
        shared("look.export", "export"),
        bind("D", "delete", "runs.delete", "Delete the run permanently", "delete"),
        bind("delete", "delete", "runs.delete-too", "Delete the run permanently"),
        shared("look.filter", "filter", f"Filter runs ({RUN_FILTER.keys_in_words} word !word)"),
        shared("look.jump", "app.jump"),
        shared("look.search", "app.search"),
        shared("look.runs", "leave", "Close the list of runs", label=""),
        bind("escape", "leave", "runs.leave", "Back to the suites", "back"),
    ]
    AUTO_FOCUS = "RunLines"

    def __init__(
        self,
        history: RunHistory,
        filters: SavedFilters,
        hidden: Callable[[str], int] = lambda _: 0,
        note_names: Callable[[str, str], None] = lambda _run, _where: None,
    ) -> None:
        super().__init__()
        self._filters = filters
        self._history, self._exporter = history, ReportExporter(self, history, hidden, note_names)
        self._title, self._setup = RunsTitle(), RunSetupLines()
        self.lines = RunLines(on_chosen=lambda _: self.action_choose("open"))
        self.deleted: list[RunRecord] = []

    def compose(self) -> ComposeResult:
        """Yield the title, the list and the details of the highlighted run."""
        yield self._title
        with Vertical(id="list") as box:
            box.border_title = Content("Runs")
            yield RunHeads()
            yield self.lines
        yield self._setup
        yield KeyFooter()

    def on_mount(self) -> None:
        """Load the list, and reload it regularly: other processes may change it."""
        self.reload()
        self.set_interval(_POLL_SECONDS, self.reload)

    def on_resize(self, event: Resize) -> None:
        """Hide the details on a low screen."""
        self.set_class(event.size.height < _LOW, "-low")

    @work(group="list", exclusive=True)
    async def reload(self) -> None:
        """Reload the list from the store."""
        try:
            runs = await asyncio.to_thread(self._history.list_runs)
            baselines = await asyncio.to_thread(self._history.baselines, runs)
        except AssayError as error:
            self._title.show_error(str(error))
            return
        before = self._run
        self.lines.show_runs(runs, baselines)
        self._show_counts()
        if self._run != before:
            self._read_setup()

    @property
    def _run(self) -> RunRecord | None:
        return self.lines.run

    def _show_counts(self) -> None:
        self._title.show_counts(len(self.lines.all_runs), self.lines.line_count)
        self.refresh_bindings()

    @on(LineListView.Reached)
    def show_setup(self) -> None:
        """Show the details of the highlighted run."""
        self._read_setup()

    @work(group="setup", exclusive=True)
    async def _read_setup(self) -> None:
        run = self._run
        self.refresh_bindings()
        if run is None:
            self._setup.show(None, None)
            return
        try:
            details = await asyncio.to_thread(self._history.read_details, run.id)
        except AssayError:  # it was deleted by another process; the list will say so
            details = None
        self._setup.show(run, details)

    # --- what is done with a run

    def action_choose(self, act: Act) -> None:
        """Dismiss the screen with an action for Explore, if the run allows it."""
        run = self._run
        if run is None:
            self.notify("No run selected.", severity="warning", markup=False)
        elif act in ("resume", "failed", "rejudge") and run.state == "running":
            self.notify("This run is still in progress.", severity="warning", markup=False)
        elif act == "resume" and run.state == "finished":
            self.notify("This run is finished: nothing left to run.", markup=False)
        else:
            self.dismiss(RunChoice(act, run))

    @work(group="mark")
    async def action_mark(self) -> None:
        """Mark the run as baseline, or remove the mark."""
        run = self._run
        if run is None:
            return
        if await self._do(lambda: self._history.mark_baseline(run)):
            self.reload()

    @work(group="delete", exclusive=True)
    async def action_delete(self) -> None:
        """Delete the run after a confirmation."""
        from tui.app.dialogs import ConfirmScreen

        run = self._run
        if run is None:
            return
        if run.state == "running":
            self.notify(
                "This run is still in progress. Cancel it before you delete it.", severity="warning", markup=False
            )
            return
        began = day_and_time(run.started_at).strip()
        what = (
            f"This deletes the run of {sanitize_line(run.suite_name, 80)} from {began} with {run.trials} trials and "
            "all of its answers."
        )
        count: ScoreCount | None = None
        try:
            count = await asyncio.to_thread(self._history.count_scores, run.id)
            what += _lost_scores(count)
        except AssayError as error:
            what += f" Cannot count its scores: {sanitize_line(str(error), 200)}"
        dialog = ConfirmScreen("Delete run?", what, yes="delete", no="keep", asks_permission=True)
        if not await self.app.push_screen_wait(dialog):
            return
        if await self._do(lambda: self._history.delete(run, count)):
            self.deleted.append(run)
        self.reload()

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """Open the export dialog for the run."""
        if self._run is not None:
            await self._exporter.open([self._run.id])

    async def _do(self, act: object) -> bool:
        assert callable(act)
        try:
            await asyncio.to_thread(act)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return False
        return True

    # --- the filter

    async def action_filter(self) -> None:
        """Open the filter line and focus it."""
        line = self._line
        if line is None:
            line_input = PromptInput("state:interrupted suite:… model:… is:baseline !word", self.lines)
            line = FilterLine(line_input, self._complete, self._filters)
            await self.query_one("#list").mount(line)
        line.start()

    def _complete(self, text: str, cursor: int) -> list[Completion]:
        return complete_run_filter(text, cursor, self.lines.all_runs, self._filters.texts)

    @property
    def _line(self) -> FilterLine | None:
        """Return the filter line, unless the user has left it."""
        return next((line for line in self.query(FilterLine) if not line.line.left), None)

    @on(PromptInput.Typed)
    def filter(self, message: PromptInput.Typed) -> None:
        """Show only the runs that match the filter."""
        self._apply_filter(message.text)

    def _apply_filter(self, text: str) -> None:
        run_filter = parse_run_filter(text, self._filters.texts)
        if self._line is not None:
            self._line.show_hint(run_filter.hint)
        self.lines.set_filter(run_filter)
        self._show_counts()
        self._read_setup()

    @on(PromptInput.Entered)
    def keep_filter(self) -> None:
        """Keep the filter, and move the focus to the list."""
        self.lines.focus()

    @on(PromptInput.Left)
    async def leave_filter(self) -> None:
        """Remove a filter line that was left; another one may be open already."""
        self._apply_filter(self._line.line.value if self._line else "")
        for line in self.query(FilterLine):
            if line.line.left:
                await line.remove()

    def action_leave(self) -> None:
        """Close the filter if it is open, else the screen."""
        if self._line is not None:
            self._line.line.action_leave()
        else:
            self.dismiss(None)
