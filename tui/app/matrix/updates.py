"""Update the header, the rows and the statistics of the matrix while trials change."""

import asyncio
from time import monotonic

from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.worker import Worker

from tui.app.matrix.matrix import Matrix
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.statistics import compute_statistics
from tui.app.matrix.table_view import MatrixHeader
from tui.app.workers import start_worker
from tui.model.results import TrialKey

_TICKS_PER_SECOND = 10
_TICKS_PER_FRAME = 2
_LEAST_PAUSE_SECONDS, _PAUSES = 0.7, 100  # computing statistics takes at most a hundredth of the time
_SLICE_SECONDS = 0.008


class StatisticsComputed(Message, bubble=False):
    """Posted to the screen of a matrix after its statistics were computed again."""


class MatrixUpdates:
    """Redraw changed cells at most ten times per second, and compute the statistics in the background.

    `screen` runs the timer and the workers. The timer is `active` only while trials change or run; `counted` is set
    once the first statistics are there.
    """

    def __init__(self, screen: Screen[str | None], matrix: Matrix, header: MatrixHeader, panel: MatrixPanel) -> None:
        self._screen, self._matrix, self._header, self._panel = screen, matrix, header, panel
        self._timer: Timer | None = None
        self._changed: set[TrialKey] = set()
        self._ticks = 0
        self._outdated = self._computing = False
        self._next_statistics = 0.0
        self.active = False
        self.counted = asyncio.Event()

    def start(self, case_id: str | None) -> None:
        """Display the rows with the cursor on a case, and count the cells after the first paint."""
        self._timer = self._screen.set_interval(1 / _TICKS_PER_SECOND, self._tick, pause=True)
        if self._matrix.state.running:
            self._resume()
        self._panel.rows_changed(case_id)
        self._header.update()
        self._screen.call_after_refresh(self.count)

    def trial_changed(self, trial: TrialKey) -> None:
        """Redraw the cell of a trial at the next tick."""
        self._changed.add(trial)
        self._resume()

    def matrix_changed(self) -> None:
        """Redraw and count everything after the suite, the models or the state has changed."""
        self._changed.clear()
        self._resume()
        self.rows_changed()
        self.count()

    def rows_changed(self) -> None:
        """Redraw all rows; the cursor stays on its case."""
        self._panel.rows_changed(self._panel.table.case_id)
        self._header.update()

    def count(self) -> Worker[None]:
        """Count all cells in slices between which keys are handled, then compute the statistics."""
        return start_worker(self._screen, self._count, group="count", exclusive=True)

    async def _count(self) -> None:
        cell_counts = self._matrix.cell_counts
        while not cell_counts.complete:
            cell_counts.count(_SLICE_SECONDS)
            await asyncio.sleep(0)
        self._header.update()
        await self._compute_statistics()

    async def _compute_statistics(self) -> None:
        self._outdated, self._computing = False, True
        began = monotonic()
        try:
            self._matrix.statistics = await asyncio.to_thread(compute_statistics, self._matrix.snapshot())
        finally:
            self._computing = False
        self.counted.set()
        self._next_statistics = monotonic() + max(_LEAST_PAUSE_SECONDS, _PAUSES * (monotonic() - began))
        self._panel.draw_heads()
        self._panel.show_comparison()
        self._screen.post_message(StatisticsComputed())

    def _resume(self) -> None:
        if self._timer is not None:
            self._timer.resume()
            self.active = True

    def _tick(self) -> None:
        """Redraw the changed cells, animate the running ones, and compute the statistics again if they are due."""
        matrix, table = self._matrix, self._panel.table
        self._ticks += 1
        changed, self._changed = self._changed, set()
        for trial in changed:
            table.refresh_rows(matrix.update_trial(trial))
        if changed:
            self._outdated = True
        if changed or (matrix.state.running and self._ticks % _TICKS_PER_SECOND == 0):
            self._header.update()
        if self._ticks % _TICKS_PER_FRAME == 0 and self._screen.app.animation_level != "none":
            table.beat(place for trial in matrix.state.in_progress for place in matrix.places_of(trial.case))
        idle = not changed and not matrix.state.running
        due = idle or monotonic() > self._next_statistics
        if self._outdated and due and not self._computing and matrix.cell_counts.complete:
            self.count()
        if idle and not self._outdated and self._timer is not None:
            self._timer.pause()
            self.active = False
