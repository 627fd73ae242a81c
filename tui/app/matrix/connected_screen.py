"""The matrix of an open suite, connected with the runs of the app."""

import asyncio
from pathlib import Path

from textual import on, work

from tui.app.context import AppContext
from tui.app.matrix.matrix import Matrix
from tui.app.matrix.messages import (
    CancelRequested,
    CompareRequested,
    PaceRequested,
    PauseRequested,
    ReviewRequested,
    RunRequested,
)
from tui.app.matrix.screen import MatrixScreen
from tui.app.navigator import Navigator, ScoresChanged
from tui.app.open_suites import OpenSuite
from tui.app.run_controls import RunControls
from tui.app.run_messages import PaceChanged, RunBegan, RunEnded, TrialChanged
from tui.app.run_requests import models_with_results, request_all_models, request_failed_of
from tui.app.suite_loader import SuitesRead
from tui.model.outcomes import Outcome
from tui.session.answers import Source
from tui.session.run_history import RunHistory


class ConnectedMatrixScreen(MatrixScreen):
    """Pass what happens in a run to the matrix, and what its keys ask for to the run controls and the navigator."""

    def __init__(self, context: AppContext, path: Path, matrix: Matrix, case_id: str | None) -> None:
        super().__init__(matrix, context.session.history, self, case_id)
        self.context, self._path = context, path
        self._run_controls, self._navigator = RunControls(context, self), Navigator(context, self)

    @on(TrialChanged)
    def show_trial(self, message: TrialChanged) -> None:
        """Show the new state of a trial."""
        if message.path == self._path:
            self.trial_moved(message.trial)

    @on(PaceChanged)
    def show_pace(self, message: PaceChanged) -> None:
        """Show that the run was paused or resumed, or its new concurrency."""
        if message.path == self._path:
            self.show_heading()

    @on(RunBegan)
    @on(RunEnded)
    def show_run(self, message: RunBegan | RunEnded) -> None:
        """Show the cells that wait now, or the final state."""
        if message.path == self._path:
            self._show_again()

    @on(SuitesRead)
    def show_suite(self, message: SuitesRead) -> None:
        """Show the cases of a suite that was read again."""
        if self._path in message.paths:
            self._show_again()

    def _show_again(self) -> None:
        context, open_suite = self.context, self.context.open_suites.get(self._path)
        if open_suite is not None and open_suite.suite is not None:
            models = models_with_results(context.selection, open_suite)
            self.matrix.show(open_suite.suite, context.open_suites.state(self._path), models)
            self.changed()

    @on(ScoresChanged)
    @work(group="bands", exclusive=True)
    async def show_scores(self) -> None:
        """Read the bands of the scores again."""
        open_suite = self.context.open_suites.get(self._path)
        if open_suite is not None:
            self.panel.table.show_bands(await self.context.scores.read_bands(open_suite))

    @on(RunRequested)
    def run_suite(self, message: RunRequested) -> None:
        """Run the whole suite, or what did not pass."""
        open_suite, selection = self.context.open_suites.get(self._path), self.context.selection
        if open_suite is None or open_suite.suite is None:
            return
        if message.failed:
            request = request_failed_of(selection, open_suite, self.matrix.models)
            self._run_controls.rerun(request, "Nothing has failed here.")
        else:
            self._run_controls.start(request_all_models(selection, open_suite), "There is nothing to run here.")

    @on(PauseRequested)
    def pause(self) -> None:
        """Pause the run, or resume it."""
        self._run_controls.toggle_pause()

    @on(PaceRequested)
    def pace(self, message: PaceRequested) -> None:
        """Change how many cases of each model run at once."""
        self._run_controls.change_concurrency(message.by)

    @on(CancelRequested)
    def cancel(self) -> None:
        """Cancel the run, and what is queued."""
        self._run_controls.cancel_all()

    @on(ReviewRequested)
    @work(group="review", exclusive=True)
    async def review(self) -> None:
        """Score the answers by hand."""
        open_suite = self.context.open_suites.get(self._path)
        if open_suite is not None:
            await self._navigator.review(open_suite)

    @on(CompareRequested)
    def compare(self, message: CompareRequested) -> None:
        """Compare the answers of two models to a case."""
        a, b = (Source(message.suite.path, message.run, model) for model in message.models)
        self._navigator.compare(message.suite, (a, b), message.case)


async def read_matrix(context: AppContext, open_suite: OpenSuite) -> Matrix:
    """Return the matrix of an open suite, with what was chosen in it before. Raises AssayError."""
    suite = open_suite.suite
    assert suite is not None, "only a suite without errors has a matrix"
    outcomes, unfinished = await asyncio.to_thread(_read_outcomes, context.session.history, open_suite.run)
    kept = {outcome.trial: outcome for outcome in outcomes}
    models = models_with_results(context.selection, open_suite)
    state = context.open_suites.state(open_suite.path)
    matrix = context.matrices.get(open_suite.path)
    if matrix is None:
        matrix = Matrix(suite, state, models, open_suite.run, kept, unfinished)
        context.matrices[open_suite.path] = matrix
    else:
        matrix.take_kept(open_suite.run, kept, unfinished)
        matrix.show(suite, state, models)
    matrix.take_bands(await context.scores.read_bands(open_suite))
    return matrix


def _read_outcomes(history: RunHistory, run_id: str) -> tuple[tuple[Outcome, ...], int]:
    """Return the outcomes of a saved run, and the number of its trials where it was not finished, else 0."""
    if not run_id:
        return (), 0
    record = next((run for run in history.list_runs() if run.id == run_id), None)
    unfinished = record.trials if record is not None and record.state != "finished" else 0
    return history.read_outcomes(run_id), unfinished
