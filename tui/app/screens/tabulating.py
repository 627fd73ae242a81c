"""The way from Explore to the matrix and back; while it is open, it is told what happens."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

from tui.app.matrix.messages import CancelRequested, PaceRequested, PauseRequested, RunRequested
from tui.app.presentation.outline import OpenSuite
from tui.app.run_messages import RunMessages
from tui.app.run_queue import RunQueue
from tui.app.screens.recalling import RecallingScreen
from tui.app.session_protocol import Session
from tui.app.suite_loader import SuiteLoader
from tui.app.tabulating import matrix_models, request_of_all, request_of_unpassed
from tui.model.errors import AssayError
from tui.model.outcomes import Outcome
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.app.matrix.matrix import Matrix
    from tui.app.matrix.screen import MatrixScreen


class TabulatingScreen(RecallingScreen):
    """What was chosen in a suite's matrix is there again when it is opened again."""

    def __init__(self, open_session: Callable[[], Session], paths: Sequence[Path]) -> None:
        super().__init__(open_session, paths)
        self._open: tuple[Path, MatrixScreen] | None = None
        self._matrices: dict[Path, Matrix] = {}

    def action_matrix(self) -> None:
        """Every case on every model."""
        self._show_matrix()

    @work(group="matrix", exclusive=True)
    async def _show_matrix(self) -> None:
        selection, session = self.selection, self.session
        open_suite = selection.open_suite if selection else None
        from tui.app.matrix.screen import MatrixScreen

        if selection is None or session is None or open_suite is None or open_suite.suite is None:
            self.notify("There is no suite to show here.", severity="warning", markup=False)
            return
        try:
            kept, unfinished = await asyncio.to_thread(_read_kept, session.history, open_suite.run)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        matrix = self._matrix(open_suite, open_suite.suite, {outcome.trial: outcome for outcome in kept}, unfinished)
        matrix.take_bands(await self.bands_of(open_suite))
        screen = MatrixScreen(matrix, session.history, self, selection.case_id)
        self._open = open_suite.path, screen
        if open_suite.run:
            self.note_names(open_suite.run, "the matrix")
        case_id = await self.app.push_screen_wait(screen)
        self._open = None
        self._go_to(open_suite.path, case_id)

    async def bands_of(self, open_suite: OpenSuite) -> Mapping[TrialKey, Band]:
        """For a subclass: what was scored of a suite's answers."""
        del open_suite
        return {}

    def _matrix(
        self, open_suite: OpenSuite, suite: Suite, kept: Mapping[TrialKey, Outcome], unfinished: int
    ) -> "Matrix":
        from tui.app.matrix.matrix import Matrix

        assert self.selection is not None, "there is a suite to show"
        models, state = (
            matrix_models(self.selection, open_suite.path, suite),
            self.selection.open_suites.state(open_suite.path),
        )
        known = self._matrices.get(open_suite.path)
        if known is None:
            known = self._matrices[open_suite.path] = Matrix(suite, state, models, open_suite.run, kept, unfinished)
        else:
            known.take_kept(open_suite.run, kept, unfinished)
            known.show(suite, state, models)
        return known

    def kept_read(self, path: Path) -> None:
        """The matrix may have been opened while the outcomes were being read."""
        self._show_anew(path)

    def _go_to(self, path: Path, case_id: str | None) -> None:
        selection = self.selection
        open_suite = selection.open_suites.open_suite(path) if selection else None
        if case_id is None or open_suite is None or open_suite.suite is None:
            return
        case = next((case for case in open_suite.suite.cases if case.id == case_id), None)
        if case is not None:
            self.person_moved()
            self.open_case(open_suite, case)

    # --- what it is told

    @on(RunMessages.TrialMoved)
    def tell_matrix(self, message: RunMessages.TrialMoved) -> None:
        """A cell of it has another state."""
        if self._open is not None and self._open[0] == message.path:
            self._open[1].trial_moved(message.trial)

    @on(RunMessages.PaceMoved)
    def show_pace_in_matrix(self, message: RunMessages.PaceMoved) -> None:
        """Its header says how the run is paced."""
        if self._open is not None and self._open[0] == message.path:
            self._open[1].show_heading()

    @on(RunMessages.RunBegan)
    def show_run_in_matrix(self, message: RunMessages.RunBegan) -> None:
        """Many cells of it wait now."""
        self._show_anew(message.path)

    @on(RunQueue.RunEnded)
    def end_run_in_matrix(self, message: RunQueue.RunEnded) -> None:
        """Nothing moves any more."""
        self._show_anew(message.path)

    @on(SuiteLoader.SuitesRead)
    def show_suite_in_matrix(self, message: SuiteLoader.SuitesRead) -> None:
        """There may be other cases."""
        if self._open is not None and self._open[0] in message.paths:
            self._show_anew(self._open[0])

    def _show_anew(self, path: Path) -> None:
        selection = self.selection
        if selection is None or self._open is None or self._open[0] != path:
            return
        open_suite, (_, screen) = selection.open_suites.open_suite(path), self._open
        if open_suite is not None and open_suite.suite is not None:
            screen.matrix.show(
                open_suite.suite, selection.open_suites.state(path), matrix_models(selection, path, open_suite.suite)
            )
            screen.changed()

    # --- what it asks

    @on(RunRequested)
    def run_from_matrix(self, message: RunRequested) -> None:
        """All of the suite, or what did not pass."""
        selection = self.selection
        open_suite = selection.open_suites.open_suite(self._open[0]) if selection and self._open else None
        if selection is None or self._open is None or open_suite is None or open_suite.suite is None:
            return
        if message.failed:
            self.start_rerun(
                request_of_unpassed(selection, open_suite, self._open[1].matrix), "Nothing has failed here."
            )
        else:
            self.start_request(request_of_all(selection, open_suite, open_suite.suite), "There is nothing to run here.")

    @on(PauseRequested)
    def pause_from_matrix(self) -> None:
        """The run that goes."""
        self.action_turn_pause()

    @on(PaceRequested)
    def pace_from_matrix(self, message: PaceRequested) -> None:
        """The same, of each model."""
        self.ask_more(message.by, "")

    @on(CancelRequested)
    def cancel_from_matrix(self) -> None:
        """The whole run."""
        self.action_cancel_all()

    def action_cancel_all(self) -> None:
        """For a subclass: cancel the run, and what is queued."""


def _read_kept(history: RunHistory, run_id: str) -> tuple[tuple[Outcome, ...], int]:
    """Return the outcomes of a kept run, and the number of its trials where it was not finished, else 0."""
    if not run_id:
        return (), 0
    record = next((run for run in history.list_runs() if run.id == run_id), None)
    unfinished = record.trials if record is not None and record.state != "finished" else 0
    return history.read_outcomes(run_id), unfinished
