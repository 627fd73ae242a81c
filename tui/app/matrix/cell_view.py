"""The view below or beside the matrix: the start of the answer in the cell under the cursor, and its failed checks."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from tui.app.matrix.matrix import Matrix
from tui.app.matrix.panel import MatrixPanel
from tui.app.presentation.figures import seconds
from tui.app.presentation.marks import STATUS_RANKS, counted_status, kind_word, mark_of, word_of
from tui.app.presentation.model_faults import short_fault
from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.text_rows import cut_line, cut_rows, rows_of
from tui.app.theme.styles import content_of_lines
from tui.app.widgets.answer_view import AnswerView
from tui.app.workers import start_worker
from tui.model.errors import AssayError
from tui.model.progress import TrialProgress
from tui.model.results import CheckResult, StepResult, TrialKey, TrialResult
from tui.model.sanitize import sanitize_line
from tui.session.run_history import RunHistory

_MOST_CHECKS = 3
_MOST_CHARACTERS = 4000


class CellContent(NamedTuple):
    """What a cell contains: its model and case, and one of its trials with the result as it is stored.

    `note` replaces the answer: why the model cannot run, or why the result cannot be read. `repeats` is the number of
    trials in the cell.
    """

    model: str
    case: str
    trial: TrialProgress | None = None
    result: TrialResult | None = None
    repeats: int = 0
    note: str = ""


def trial_to_show(trials: Sequence[TrialProgress]) -> TrialProgress | None:
    """Return the trial of a cell that matters most: the one with the worst status, the first of several."""
    return min(trials, key=lambda trial: STATUS_RANKS[counted_status(trial)], default=None)


def cell_lines(content: CellContent, width: int, rows: int) -> list[Line]:
    """Return a cell in at most `rows` lines of `width` cells: its status, failed checks, and the answer."""
    lines = _top_lines(content, width, rows)
    for text, failure in _texts(content):
        lines += [((row, "error" if failure else "plain"),) for row in rows_of(text[:_MOST_CHARACTERS], width)]
    return cut_rows([cut_line(line, width - 2) for line in lines], rows)


def _top_lines(content: CellContent, width: int, rows: int) -> list[Line]:
    """Return the status of a cell and its failed checks, of which more are listed where there are more rows."""
    lines = [_head(content)]
    failed = [check for step in _steps(content.result) for check in step.checks if check.state != "passed"]
    most = min(max(_MOST_CHECKS, rows // 4), max(1, rows - 2))
    lines += map(_check_line, failed[:most])
    if len(failed) > most:
        lines[-1] = (*lines[-1], (f"  and {len(failed) - most} more", "dim"))
    return [cut_line(line, width) for line in lines]


def _head(content: CellContent) -> Line:
    trial = content.trial
    status = counted_status(trial) if trial is not None else "not_run"
    mark, role = mark_of(status)
    parts = [content.case]
    if trial is not None and content.repeats > 1:
        parts.append(f"repeat {trial.key.repeat} of {content.repeats}")
    attempt = content.result.counted_attempt if content.result is not None else None
    if attempt is not None:
        parts.append(f"{seconds(attempt.answer_ms).strip()} s")
    return (
        (f"{mark} {word_of(status)}", role),
        (f"  {sanitize_line(content.model, 60)}", "strong"),
        ("  " + " · ".join(sanitize_line(part, 120) for part in parts), "dim"),
    )


def _check_line(check: CheckResult) -> Line:
    pieces: list[Piece] = [("✗ ", "failed"), (f"{kind_word(check.kind)}  ", "dim")]
    pieces.append((sanitize_line(check.target, 120), "plain"))
    detail = check.detail or ("not evaluated" if check.state == "timed_out" else "")
    if detail:
        pieces.append((f"  {sanitize_line(detail, 200)}", "failed"))
    return tuple(pieces)


def _steps(result: TrialResult | None) -> Sequence[StepResult]:
    attempt = result.counted_attempt if result is not None else None
    return attempt.steps if attempt is not None else ()


def _texts(content: CellContent) -> list[tuple[str, bool]]:
    """Return the texts below the checks, each with whether it describes a failure."""
    result = content.result
    attempt = result.counted_attempt if result is not None else None
    error = content.note or (attempt.error if attempt is not None else result.error if result is not None else None)
    texts = [(error, True)] if error else []
    return texts + [(step.response, False) for step in _steps(result)]


class CellView(Static):
    """Display the content of a cell; it has as many lines for each cell, so that the rows above do not move."""

    DEFAULT_CSS = "CellView { border-top: solid $quiet-border; }"

    def __init__(self) -> None:
        super().__init__(Content(), markup=False, id="cell")
        self._content: CellContent | None = None

    def show_cell(self, content: CellContent | None) -> None:
        """Display the content of a cell; None clears the view."""
        if content != self._content:
            self._content = content
            self._draw()

    def on_resize(self, event: Resize) -> None:
        """Wrap the answer again for the new width."""
        del event
        self._draw()

    def _draw(self) -> None:
        width, rows = self.content_size
        if width > 0 and rows > 0:
            lines = cell_lines(self._content, width, rows) if self._content is not None else []
            self.update(content_of_lines(lines), layout=False)


class CellZoom(Vertical):
    """Display the whole answer of a cell in place of the matrix, below its status and its failed checks."""

    DEFAULT_CSS = """
    CellZoom { height: 1fr; }
    CellZoom Static { height: auto; max-height: 30%; margin-bottom: 1; }
    CellZoom AnswerView { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "screen.move_cell(0, -1)", "Left", id="cell.left", tooltip="Previous model", show=False),
        Binding("right,l", "screen.move_cell(0, 1)", "Right", id="cell.right", tooltip="Next model", show=False),
    ]

    def __init__(self, on_mounted: Callable[[], object]) -> None:
        super().__init__(id="zoom")
        self._on_mounted = on_mounted
        self._top, self.answer = Static(Content(), markup=False), AnswerView()
        self._content: CellContent | None = None

    def compose(self) -> ComposeResult:
        """Compose the status above the answer."""
        yield self._top
        yield self.answer

    def on_mount(self) -> None:
        """Focus the answer, so that the keys scroll it, and ask for the content."""
        self.screen.set_focus(self.answer)
        self._on_mounted()

    def on_resize(self) -> None:
        """Fit the status to the new size."""
        self._draw_top()

    def show_cell(self, content: CellContent | None) -> None:
        """Display the content of a cell; None clears the view."""
        if content == self._content:
            return
        self._content = content
        texts = [text for text, _ in _texts(content)] if content is not None else []
        self.answer.show("\n\n".join(texts))
        self._draw_top()

    def _draw_top(self) -> None:
        size = self.size
        if size.width > 0:
            lines = _top_lines(self._content, size.width, size.height) if self._content is not None else []
            self._top.update(content_of_lines(lines))


class CellReader:
    """Read the result of the cell under the cursor in a thread, and display it below or beside the rows, or zoomed.

    A later cell replaces one that is still being read. The view is mounted with the first cell: it is no part of the
    first paint.
    """

    def __init__(self, screen: Screen[str | None], matrix: Matrix, panel: MatrixPanel, history: RunHistory) -> None:
        self._screen, self._matrix, self._panel, self._history = screen, matrix, panel, history
        self._view: CellView | None = None
        self._zoom: CellZoom | None = None

    @property
    def cell(self) -> tuple[str, str] | None:
        """Return the case and the model under the cursor, or None."""
        case = self._matrix.case_at(self._panel.table.cursor)
        return (case.id, self._matrix.model) if case is not None and self._matrix.model else None

    def trial_changed(self, trial: TrialKey) -> None:
        """Display the cell again if the trial belongs to it."""
        if (trial.case, trial.model) == self.cell:
            self.show()

    async def start(self) -> None:
        """Mount the view and display the first cell."""
        if self._view is None:
            self._view = CellView()
            await self._panel.mount(self._view, after=self._panel.table)
            self.show()

    def show(self) -> None:
        """Display the cell under the cursor once the view is mounted."""
        if self._view is not None:
            start_worker(self._screen, self._show, group="cell", exclusive=True)

    async def _show(self) -> None:
        content = await self._read()
        for view in (self._view, self._zoom):
            if view is not None and view.is_mounted:
                view.show_cell(content)

    @property
    def is_zoomed(self) -> bool:
        """Return whether the answer is displayed in place of the matrix."""
        return self._zoom is not None

    def zoom(self) -> None:
        """Display the answer of the cell in place of the matrix, or the matrix again."""
        self._panel.set_class(not self.is_zoomed and self.cell is not None, "-zoomed")
        if self._zoom is not None:
            zoomed, self._zoom = self._zoom, None
            self._screen.set_focus(self._panel.table)
            zoomed.remove()
        elif self.cell is not None:
            self._zoom = CellZoom(self.show)
            self._panel.mount(self._zoom, after=self._panel.table)

    async def _read(self) -> CellContent | None:
        matrix, table = self._matrix, self._panel.table
        case, model = matrix.case_at(table.cursor), matrix.model
        if case is None or not model:
            return None
        trials = matrix.state.repeats(case.id, model)
        trial = trial_to_show(trials)
        fault = matrix.faults.get(model)
        note = short_fault(model, fault) if trial is None and fault is not None else ""
        content = CellContent(model, case.title, trial, None, len(trials), note)
        if trial is None or trial.is_open:
            return content
        if trial.result is not None or not matrix.run:
            return content._replace(result=trial.result)
        try:
            found = await asyncio.to_thread(self._history.read_trials, matrix.run, (trial.key,))
        except AssayError as error:
            return content._replace(note=str(error))
        return content._replace(result=next(iter(found), None))
