"""The way from Explore to the matrix and back; while it is open, it is told what happens."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

from tui.app.desk import Desk
from tui.app.matrix.messages import CancelRequested, PaceRequested, PauseRequested, RunRequested
from tui.app.presentation.outline import Volume
from tui.app.run_news import RunNews
from tui.app.running import RunQueue
from tui.app.screens.recalling import RecallingScreen
from tui.app.tabulating import matrix_models, request_of_all, request_of_unpassed
from tui.app.watching import ShelfWatch
from tui.model.errors import AssayError
from tui.model.outcomes import Outcome
from tui.model.results import TrialKey
from tui.model.risk import Band
from tui.model.sanitize import show_line
from tui.model.suite import Suite
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.app.matrix.matrix import Matrix
    from tui.app.matrix.screen import MatrixScreen


class TabulatingScreen(RecallingScreen):
    """What was chosen in a suite's matrix is there again when it is opened again."""

    def __init__(self, open_desk: Callable[[], Desk], paths: Sequence[Path]) -> None:
        super().__init__(open_desk, paths)
        self._open: tuple[Path, MatrixScreen] | None = None
        self._matrices: dict[Path, Matrix] = {}

    def action_matrix(self) -> None:
        """Every case on every model."""
        self._show_matrix()

    @work(group="matrix", exclusive=True)
    async def _show_matrix(self) -> None:
        looking, desk = self.looking, self.desk
        volume = looking.volume if looking else None
        from tui.app.matrix.screen import MatrixScreen

        if looking is None or desk is None or volume is None or volume.suite is None:
            self.notify("There is no suite to show here.", severity="warning", markup=False)
            return
        try:
            kept, unfinished = await asyncio.to_thread(_read_kept, desk.history, volume.run)
        except AssayError as error:
            self.notify(show_line(str(error), 600), severity="error", markup=False, timeout=12)
            return
        matrix = self._matrix(volume, volume.suite, {outcome.trial: outcome for outcome in kept}, unfinished)
        matrix.take_bands(await self.bands_of(volume))
        screen = MatrixScreen(matrix, desk.history, self, looking.case_id)
        self._open = volume.path, screen
        if volume.run:
            self.note_names(volume.run, "the matrix")
        case_id = await self.app.push_screen_wait(screen)
        self._open = None
        self._go_to(volume.path, case_id)

    async def bands_of(self, volume: Volume) -> Mapping[TrialKey, Band]:
        """For a subclass: what was scored of a suite's answers."""
        del volume
        return {}

    def _matrix(self, volume: Volume, suite: Suite, kept: Mapping[TrialKey, Outcome], unfinished: int) -> "Matrix":
        from tui.app.matrix.matrix import Matrix

        assert self.looking is not None, "there is a suite to show"
        models, state = matrix_models(self.looking, volume.path, suite), self.looking.shelf.state(volume.path)
        known = self._matrices.get(volume.path)
        if known is None:
            known = self._matrices[volume.path] = Matrix(suite, state, models, volume.run, kept, unfinished)
        else:
            known.take_kept(volume.run, kept, unfinished)
            known.show(suite, state, models)
        return known

    def kept_read(self, path: Path) -> None:
        """The matrix may have been opened while the outcomes were being read."""
        self._show_anew(path)

    def _go_to(self, path: Path, case_id: str | None) -> None:
        looking = self.looking
        volume = looking.shelf.volume(path) if looking else None
        if case_id is None or volume is None or volume.suite is None:
            return
        case = next((case for case in volume.suite.cases if case.id == case_id), None)
        if case is not None:
            self.person_moved()
            self.open_case(volume, case)

    # --- what it is told

    @on(RunNews.TrialMoved)
    def tell_matrix(self, message: RunNews.TrialMoved) -> None:
        """A cell of it has another state."""
        if self._open is not None and self._open[0] == message.path:
            self._open[1].trial_moved(message.trial)

    @on(RunNews.PaceMoved)
    def show_pace_in_matrix(self, message: RunNews.PaceMoved) -> None:
        """Its header says how the run is paced."""
        if self._open is not None and self._open[0] == message.path:
            self._open[1].show_heading()

    @on(RunNews.RunBegan)
    def show_run_in_matrix(self, message: RunNews.RunBegan) -> None:
        """Many cells of it wait now."""
        self._show_anew(message.path)

    @on(RunQueue.RunEnded)
    def end_run_in_matrix(self, message: RunQueue.RunEnded) -> None:
        """Nothing moves any more."""
        self._show_anew(message.path)

    @on(ShelfWatch.SuitesRead)
    def show_suite_in_matrix(self, message: ShelfWatch.SuitesRead) -> None:
        """There may be other cases."""
        if self._open is not None and self._open[0] in message.paths:
            self._show_anew(self._open[0])

    def _show_anew(self, path: Path) -> None:
        looking = self.looking
        if looking is None or self._open is None or self._open[0] != path:
            return
        volume, (_, screen) = looking.shelf.volume(path), self._open
        if volume is not None and volume.suite is not None:
            screen.matrix.show(volume.suite, looking.shelf.state(path), matrix_models(looking, path, volume.suite))
            screen.changed()

    # --- what it asks

    @on(RunRequested)
    def run_from_matrix(self, message: RunRequested) -> None:
        """All of the suite, or what did not pass."""
        looking = self.looking
        volume = looking.shelf.volume(self._open[0]) if looking and self._open else None
        if looking is None or self._open is None or volume is None or volume.suite is None:
            return
        if message.failed:
            self.start_rerun(request_of_unpassed(looking, volume, self._open[1].matrix), "Nothing has failed here.")
        else:
            self.start_request(request_of_all(looking, volume, volume.suite), "There is nothing to run here.")

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
