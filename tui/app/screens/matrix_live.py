"""What is seen of a Matrix, and how it follows the run."""

import asyncio
from dataclasses import replace
from time import monotonic
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message_pump import MessagePump
from textual.screen import Screen

from tui.app.matrix.matrix import Matrix
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.statistics import survey
from tui.app.screens.matrix_keys import MATRIX_KEYS
from tui.app.screens.pacing import pace_now, pause_key
from tui.app.widgets.footer import KeysLine
from tui.app.widgets.matrix_head import MatrixHeader
from tui.model.results import TrialKey

_BEATS_A_SECOND = 10
_BEATS_A_PULSE = 2
_LEAST_PAUSE_SECONDS, _PAUSES = 0.7, 100  # figures of tens of thousands of trials take a hundredth of the time at most
_SLICE_SECONDS = 0.008


class LiveMatrixScreen(Screen[str | None]):
    """Shows the matrix; `told` gets what `matrix_asks` has. A trial that moved is said by `trial_moved`, anything
    larger by `changed`. Gives the case to go to in Explore, or None."""

    DEFAULT_CSS = """
    LiveMatrixScreen { background: $background; color: $foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = MATRIX_KEYS
    AUTO_FOCUS = "#cells"

    def __init__(self, matrix: Matrix, told: MessagePump, case: str | None = None) -> None:
        super().__init__()
        self.matrix, self.told = matrix, told
        self._case = case
        self._moved: set[TrialKey] = set()
        self._beats = 0
        self._unsurveyed = self._surveying = False
        self._survey_from = 0.0
        self.header = MatrixHeader(id="header")
        self.panel = MatrixPanel(matrix, id="matrix")

    def compose(self) -> ComposeResult:
        """Header, panel, footer."""
        yield self.header
        yield self.panel
        yield KeysLine()

    def on_mount(self) -> None:
        """Rows are painted first; figures are counted after."""
        self._timer = self.set_interval(1 / _BEATS_A_SECOND, self._beat, pause=not self.matrix.state.running)
        self.panel.rows_changed(self._case)
        self.show_heading()
        self.call_after_refresh(self.count)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """There is something to pause only while something runs."""
        del parameters
        return action != "turn_pause" or self.matrix.state.running

    # --- what comes from the run

    def trial_moved(self, key: TrialKey) -> None:
        """A trial has another state."""
        self._moved.add(key)
        if self.is_mounted:
            self._timer.resume()

    def changed(self) -> None:
        """The matrix shows another suite or state: everything is to be drawn and counted anew."""
        self._moved.clear()
        if self.is_mounted:
            self._timer.resume()
            self.refresh_bindings()
            self.rows_changed()
            self.count()

    @work(group="count", exclusive=True)
    async def count(self) -> None:
        """Count what there is, in portions that no key has to wait for, then work out what follows from it."""
        ledger = self.matrix.ledger
        while not ledger.complete:
            ledger.count(_SLICE_SECONDS)
            await asyncio.sleep(0)
        self.show_heading()
        await self._take_survey()

    async def _take_survey(self) -> None:
        self._unsurveyed, self._surveying = False, True
        began = monotonic()
        try:
            self.matrix.survey = await asyncio.to_thread(survey, self.matrix.snapshot())
        finally:
            self._surveying = False
        self._survey_from = monotonic() + max(_LEAST_PAUSE_SECONDS, _PAUSES * (monotonic() - began))
        self.panel.draw_heads()
        self.show_sentence()

    def _beat(self) -> None:
        """What has moved is drawn, ten times a second at most; marks of what runs move."""
        matrix, table = self.matrix, self.panel.table
        self._beats += 1
        moved, self._moved = self._moved, set()
        for key in moved:
            table.refresh_rows(matrix.take(key))
        if moved:
            self._unsurveyed = True
        if moved or (matrix.state.running and self._beats % _BEATS_A_SECOND == 0):
            self.show_heading()
        if self._beats % _BEATS_A_PULSE == 0 and self.app.animation_level != "none":
            table.beat(place for key in matrix.state.in_progress for place in matrix.places_of(key.case))
        still = not moved and not matrix.state.running
        due = still or monotonic() > self._survey_from
        if self._unsurveyed and due and not self._surveying and matrix.ledger.complete:
            self.count()
        if still and not self._unsurveyed:
            self._timer.pause()

    # --- showing it

    def show_heading(self) -> None:
        """The header, as it is now."""
        state, heading = self.matrix.state, self.matrix.heading
        if state.running:
            paused = state.paused
            key = pause_key(self, "matrix.pause") if paused else ""
            answering = state.answering if paused else 0
            heading = replace(heading, pace=pace_now(state), paused=paused, answering=answering, pause_key=key)
        self.header.show(heading)

    def rows_changed(self) -> None:
        """Other rows; the cursor stays on its case."""
        self.panel.rows_changed(self.panel.table.case_id)
        self.show_heading()

    def show_sentence(self) -> None:
        """What can be said of the chosen pair."""
        matrix = self.matrix
        pair = matrix.survey.pair(matrix.pair)
        if pair is None:
            self.panel.show_sentence(())
            return
        from tui.app.matrix.comparison_lines import brief, sentence

        names, progress = matrix.names, matrix.progress
        self.panel.show_sentence(sentence(pair, names, progress), brief(pair, names, progress))

    @on(MatrixPanel.CaseChosen)
    def open_case(self, message: MatrixPanel.CaseChosen) -> None:
        """To Explore with it."""
        self.dismiss(message.case)
