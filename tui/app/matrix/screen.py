"""The Matrix screen: cases by models, updated while a run is in progress."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import Screen

from tui.app.bindings import bind
from tui.app.context import AppContext
from tui.app.keymap import shared
from tui.app.matrix.cell_view import CellReader
from tui.app.matrix.controls import BaselineControls, RowControls
from tui.app.matrix.matrix import Matrix, pair_to_compare
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.statistics import Statistics
from tui.app.matrix.table_view import MatrixHeader, MatrixTable
from tui.app.matrix.updates import MatrixUpdates, StatisticsComputed
from tui.app.navigator import Navigator, Subject
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.presentation.model_faults import ModelFault
from tui.app.presentation.table_lines import Figures
from tui.app.run_controls import RunControls
from tui.app.run_messages import ModelsUnresolved, PaceChanged, RunBegan, RunEnded, TrialChanged
from tui.app.run_queue import resolve_models
from tui.app.run_requests import models_with_results, request_all_models, request_failed_of
from tui.app.run_scores import ScoresChanged
from tui.app.screens import AppScreen
from tui.app.suite_loader import SuitesRead
from tui.app.widgets.footer import KeyFooter
from tui.model.errors import AssayError
from tui.model.filter import CASE_FILTER
from tui.model.outcomes import Outcome
from tui.session.answers import Source
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.app.figures_screen import FiguresScreen

MATRIX_KEYS: list[BindingType] = [
    shared("pane.zoom", "zoom", "Show the whole answer of the cell, or the matrix again", label="zoom"),
    shared("look.figures", "statistics", "Statistics: compare each pair of models", label="statistics"),
    shared("look.sort", "sort", "Sort rows", label="sort"),
    bind("d", "toggle_differing", "matrix.differing", "Show only cases in which models differ, or all", "differing"),
    shared("look.compare", "compare", "Compare the answers of two models word by word"),
    shared("run.suite", "run_suite"),
    shared("run.pause", "toggle_pause"),
    shared("run.failed", "run_failed"),
    shared("look.review", "review"),
    shared("look.runs", "open_runs"),
    bind("b", "choose_baseline", "matrix.baseline", "Compare with an earlier run", "baseline"),
    shared("look.filter", "filter", f"Filter cases ({CASE_FILTER.keys_in_words} word !word)"),
    shared("look.jump", "jump"),
    shared("look.search", "app.search"),
    shared("look.export", "export", label=""),
    bind("G", "group", "matrix.group", "Group by category, by tag, or not", "group"),
    bind("i", "toggle_figures", "matrix.figures", "Show more or fewer figures in the column headers", "heads"),
    bind("o", "reverse", "matrix.reverse", "Reverse the order"),
    shared("answer.next-match", "next_differing(1)", "Next case in which models differ"),
    shared("answer.previous-match", "next_differing(-1)", "Previous case in which models differ"),
    shared("look.case-before", "move_cell(-1, 0)"),
    shared("look.next-case", "move_cell(1, 0)"),
    shared("run.more", "change_concurrency(1)"),
    shared("run.fewer", "change_concurrency(-1)"),
    shared("run.cancel-all", "cancel_all"),
    shared("look.matrix", "leave", "Close the matrix", label=""),
    bind("escape", "back", "matrix.back", "Leave the zoom or the filter, or go back to Explore"),
]


_ON_ROWS = frozenset(("filter", "group", "reverse", "sort", "toggle_differing", "toggle_figures"))
"""Actions on the rows, which are not displayed while a cell is zoomed."""


class MatrixScreen(AppScreen[str | None]):
    """Display the matrix of the open suite at `path`, with the cursor on a case.

    The result is the id of the case to open in Explore, or None.
    """

    DEFAULT_CSS = """
    MatrixScreen { background: $background; color: $foreground; }
    """
    TITLE = "Matrix"
    BINDINGS: ClassVar[list[BindingType]] = MATRIX_KEYS
    AUTO_FOCUS = "#cells"

    def __init__(self, context: AppContext, path: Path, matrix: Matrix, case_id: str | None = None) -> None:
        super().__init__()
        self.context, self.matrix = context, matrix
        self._path, self._case_id = path, case_id
        self.header = MatrixHeader(matrix, self._elapsed, id="header")
        self.panel = MatrixPanel(matrix, context.session.filters, on_case_chosen=self.dismiss, id="matrix")
        self.updates = MatrixUpdates(self, matrix, self.header, self.panel)
        self.cell_reader = CellReader(self, matrix, self.panel, context.session.history)
        self._row_controls = RowControls(self, matrix, self.panel, self.updates)
        self._baseline_controls = BaselineControls(self, matrix, context.session.history, self.updates)
        self._run_controls, self._navigator = RunControls(context, self), Navigator(context, self)
        self._figures: FiguresScreen | None = None

    def compose(self) -> ComposeResult:
        """Compose the header, the panel and the footer."""
        yield self.header
        yield self.panel
        yield KeyFooter()

    def on_mount(self) -> None:
        """Display the rows first, then count the cells, read the baseline, and find models that cannot run."""
        self.updates.start(self._case_id)
        self._baseline_controls.read()
        self._show_first_cell()
        self._resolve_models()

    def _elapsed(self) -> float | None:
        return self.context.runs.elapsed(self._path, monotonic())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: pausing requires a run in progress, and arranging the rows that they show."""
        del parameters
        if action in _ON_ROWS and self.cell_reader.is_zoomed:
            return False
        return action != "toggle_pause" or self.matrix.state.running

    # Events of runs and of files

    @on(TrialChanged)
    def show_trial(self, message: TrialChanged) -> None:
        """Display the new state of a trial."""
        if message.path == self._path:
            self.updates.trial_changed(message.trial)
            self.cell_reader.trial_changed(message.trial)

    @on(PaceChanged)
    def show_pace(self, message: PaceChanged) -> None:
        """Update the header after the run was paused or resumed, or its concurrency has changed."""
        if message.path == self._path:
            self.header.update()

    @on(RunBegan)
    @on(RunEnded)
    def show_run(self, message: RunBegan | RunEnded) -> None:
        """Update all cells after a run has started or ended."""
        if message.path == self._path:
            self._show_suite()

    @on(SuitesRead)
    def show_suite(self, message: SuitesRead) -> None:
        """Display the cases of a suite that was read again."""
        if self._path in message.paths:
            self._show_suite()
            self._resolve_models()

    @work(group="resolve", exclusive=True)
    async def _resolve_models(self) -> None:
        """Find the models that cannot run; those of a saved run are not needed."""
        matrix = self.matrix
        if not matrix.run:
            await self.updates.counted.wait()
            session, suite = self.context.session, matrix.suite
            _, faults = await asyncio.to_thread(resolve_models, session, suite, matrix.models)
            self._show_faults(faults)

    @on(ModelsUnresolved)
    def show_unresolved(self, message: ModelsUnresolved) -> None:
        """Display which models were omitted from a run."""
        if message.path == self._path:
            self._show_faults({**self.matrix.faults, **message.errors})

    def _show_faults(self, faults: Mapping[str, ModelFault]) -> None:
        if faults != self.matrix.faults:
            self.matrix.faults = faults
            self.panel.draw_heads()
            self.cell_reader.show()

    def _show_suite(self) -> None:
        context, open_suite = self.context, self._open_suite
        if open_suite is not None and open_suite.suite is not None:
            models = models_with_results(context.selection, open_suite)
            self.matrix.show(open_suite.suite, context.open_suites.state(self._path), models)
            self.refresh_bindings()
            self.updates.matrix_changed()
            self.cell_reader.show()
            self._baseline_controls.read()

    @on(ScoresChanged)
    @work(group="bands", exclusive=True)
    async def show_scores(self) -> None:
        """Read the risk bands of the cells again."""
        open_suite = self._open_suite
        if open_suite is not None:
            self.panel.show_bands(await self.context.scores.read_bands(open_suite))

    @property
    def _open_suite(self) -> OpenSuite | None:
        return self.context.open_suites.get(self._path)

    # Cells and rows

    @work(group="first cell")
    async def _show_first_cell(self) -> None:
        """Display the cell under the cursor once the statistics below it are there: both change the layout."""
        await self.updates.counted.wait()
        await self.cell_reader.start()

    @on(MatrixTable.CellReached)
    def show_cell(self) -> None:
        """Display the answer of the cell under the cursor."""
        self.cell_reader.show()

    def action_zoom(self) -> None:
        """Show the whole answer of the cell under the cursor, or the matrix again."""
        self.cell_reader.zoom()
        self.refresh_bindings()

    def action_move_cell(self, rows: int, columns: int) -> None:
        """Move the cursor to another case or model."""
        if rows:
            self.panel.table.action_move(rows)
        if columns:
            self.panel.table.action_move_column(columns)

    def action_sort(self) -> None:
        """Ask for the order of the rows."""
        self._row_controls.choose_order()

    @on(MatrixPanel.ColumnChosen)
    def sort_by_column(self, message: MatrixPanel.ColumnChosen) -> None:
        """Sort the rows by the column whose head was clicked."""
        self._row_controls.sort_by_column(message.column)

    def action_reverse(self) -> None:
        """Reverse the order of the rows."""
        self._row_controls.reverse()

    def action_group(self) -> None:
        """Switch to the next grouping of the rows."""
        self._row_controls.change_grouping()

    def action_toggle_differing(self) -> None:
        """Display only the cases in which models differ, or all cases."""
        self._row_controls.toggle_differing()

    def action_next_differing(self, step: int) -> None:
        """Go to the next (1) or previous (−1) case in which models differ."""
        self._row_controls.go_to_differing(step)

    async def action_filter(self) -> None:
        """Open the filter."""
        await self.panel.open_filter()

    @on(MatrixPanel.FilterChanged)
    def filter_rows(self, message: MatrixPanel.FilterChanged) -> None:
        """Display only the cases that the filter selects."""
        self._row_controls.filter(message.case_filter)

    def action_toggle_figures(self) -> None:
        """Display all figures in the column heads, or fewer."""
        self.panel.toggle_figures()

    def action_choose_baseline(self) -> None:
        """Ask for the run to use as baseline."""
        self._baseline_controls.choose()

    # Two models

    def action_compare(self) -> None:
        """Open Compare with the answers of two models to the case under the cursor."""
        matrix, table = self.matrix, self.panel.table
        case = matrix.case_at(table.cursor)
        if case is None:
            self.notify("No case to compare here.", severity="warning", markup=False)
            return
        models = pair_to_compare(matrix.models, matrix.cells(case), matrix.column, matrix.pair)
        if models is None:
            self.notify("Comparing needs two models.", markup=False)
            return
        a, b = (Source(matrix.suite.path, matrix.run, model) for model in models)
        self._navigator.compare(matrix.suite, (a, b), case.id)

    @work(group="choose", exclusive=True)
    async def action_statistics(self) -> None:
        """Display the comparison of each pair of models, and choose the pair for the sentence below the rows."""
        from tui.app.figures_screen import FiguresScreen
        from tui.app.matrix.comparison_lines import statistics_figures
        from tui.statistics.pairs import too_many_to_compare

        await self.updates.counted.wait()
        matrix = self.matrix
        pairs = matrix.statistics.pairs
        if not pairs:
            why = "Comparing needs two models with results, and few models if they have many different repeats."
            if len(matrix.models) < 2:
                why = "Comparing needs two models."
            elif too_many_to_compare(len(matrix.models), len(matrix.suite.cases)):
                why = f"{len(matrix.models):,} models are too many to compare."
            self.notify(why, markup=False)
            return

        def load() -> Figures:
            return statistics_figures(matrix.statistics, matrix.pair, matrix.names, matrix.suite, matrix.progress)

        self._figures = FiguresScreen(load)
        place = await self.app.push_screen_wait(self._figures)
        self._figures = None
        if place is not None and place < len(matrix.statistics.pairs):
            matrix.pair = matrix.statistics.pairs[place].a, matrix.statistics.pairs[place].b
            self.panel.show_comparison()

    @on(StatisticsComputed)
    def reload_figures(self) -> None:
        """Show the statistics of the run that has ended, if those of its first results are displayed."""
        if self._figures is not None and not self.matrix.state.running:
            self._figures.reload()

    # Runs

    def action_run_suite(self) -> None:
        """Run the whole suite."""
        if (open_suite := self._open_suite) is not None and open_suite.suite is not None:
            request = request_all_models(self.context.selection, open_suite)
            self._run_controls.start(request, "Nothing to run here.")

    def action_run_failed(self) -> None:
        """Rerun the trials that did not pass."""
        if (open_suite := self._open_suite) is not None and open_suite.suite is not None:
            request = request_failed_of(self.context.selection, open_suite, self.matrix.models)
            self._run_controls.rerun(request, "No failed trials here.")

    def action_toggle_pause(self) -> None:
        """Pause or resume the run."""
        self._run_controls.toggle_pause()

    def action_change_concurrency(self, by: int) -> None:
        """Change the concurrency of each model by `by`."""
        self._run_controls.change_concurrency(by)

    def action_cancel_all(self) -> None:
        """Cancel the run and all queued runs."""
        self._run_controls.cancel_all()

    @work(group="review", exclusive=True)
    async def action_review(self) -> None:
        """Open Review to score the answers of the run that has the case under the cursor."""
        await self._navigator.open("review", Subject(str(self._path), case_id=self.panel.table.case_id))

    @work(group="export", exclusive=True)
    async def action_export(self) -> None:
        """Export a report of the run that is shown."""
        open_suite = self._open_suite
        if open_suite is not None:
            await self._navigator.export_suite(open_suite)

    @work(group="runs", exclusive=True)
    async def action_open_runs(self) -> None:
        """Open the list of saved runs."""
        await self._navigator.open("runs", Subject(str(self._path)))

    def action_jump(self) -> None:
        """Ask for a case, and put the cursor on it."""
        self._row_controls.jump()

    # Back to Explore

    def action_leave(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_back(self) -> None:
        """Close the zoom or the filter if one is open, else the screen."""
        if self.cell_reader.is_zoomed:
            self.action_zoom()
        elif not self.panel.close_filter():
            self.dismiss(None)


async def open_matrix(
    context: AppContext, screen: Screen[Any], open_suite: OpenSuite, case_id: str | None
) -> str | None:
    """Open the matrix of a suite above `screen` with the cursor on a case; return the case that was chosen in it.

    Await this in a worker. Errors are notified.
    """
    try:
        matrix = await read_matrix(context, open_suite)
    except AssayError as error:
        notify_error(screen, error)
        return None
    state = context.open_suites.state(open_suite.path)
    for run in {open_suite.run, *state.run_ids} - {"", state.run_id}:
        context.scores.record_names(run, "the matrix")
    return await screen.app.push_screen_wait(MatrixScreen(context, open_suite.path, matrix, case_id))


async def read_matrix(context: AppContext, open_suite: OpenSuite) -> Matrix:
    """Return the matrix of an open suite, with the options that were chosen before. Raises AssayError."""
    suite = open_suite.suite
    assert suite is not None, "a suite with errors has no matrix"
    outcomes, unfinished = await asyncio.to_thread(_read_outcomes, context.session.history, open_suite.run)
    saved = {outcome.trial: outcome for outcome in outcomes}
    state = context.open_suites.state(open_suite.path)
    if len(state.trials) < len(saved):  # Explore is still reading them
        state.take_known(await asyncio.to_thread(context.session.history.read_progress, open_suite.run))
    models = models_with_results(context.selection, open_suite)
    matrix = context.matrices.get(open_suite.path)
    if matrix is None:
        matrix = Matrix(suite, state, models, open_suite.run, saved, unfinished)
        context.matrices[open_suite.path] = matrix
    else:
        if state is not matrix.state:  # for example after a run was deleted
            matrix.statistics = Statistics()
        matrix.set_saved_run(open_suite.run, saved, unfinished)
        matrix.show(suite, state, models)
    matrix.set_bands(await context.scores.read_bands(open_suite))
    return matrix


def _read_outcomes(history: RunHistory, run_id: str) -> tuple[tuple[Outcome, ...], int]:
    """Return the outcomes of a saved run, and the number of its trials if it was not finished, else 0."""
    if not run_id:
        return (), 0
    record = next((run for run in history.list_runs() if run.id == run_id), None)
    unfinished = record.trials if record is not None and record.state != "finished" else 0
    return history.read_outcomes(run_id), unfinished
