"""The Matrix screen: cases by models, updated while a run is in progress."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import ClassVar, Protocol

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message_pump import MessagePump
from textual.screen import Screen

from tui.app.bindings import bind
from tui.app.matrix.baseline import Baseline, baseline_of
from tui.app.matrix.matrix import GROUPINGS, Matrix, Order, RowOptions, spread_of, two_to_compare
from tui.app.matrix.messages import (
    CancelRequested,
    CompareRequested,
    PaceRequested,
    PauseRequested,
    ReviewRequested,
    RunRequested,
)
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.statistics import compute_statistics
from tui.app.matrix.table_view import MatrixHeader
from tui.app.presentation.pieces import Line
from tui.app.run_controls import current_pace, key_of
from tui.app.widgets.footer import KeyFooter
from tui.model.errors import AssayError
from tui.model.filter import KEYS_IN_WORDS
from tui.model.outcomes import Outcome
from tui.model.results import TrialKey
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite

MATRIX_KEYS: list[BindingType] = [
    bind("p", "statistics", "matrix.statistics", "Compare each pair of models, with the cases", "statistics"),
    bind("s", "sort", "matrix.sort", "Sort the rows", "sort"),
    bind("d", "turn_differing", "matrix.differing", "Only the cases in which models differ, or all", "only differing"),
    bind("b", "choose_baseline", "matrix.baseline", "Measure against an earlier run", "baseline"),
    bind("c", "compare", "matrix.compare", "Compare the answers of two models to the case, word by word", "compare"),
    bind("R", "run_all", "matrix.run-all", "Run the whole suite", "run all"),
    bind("P", "turn_pause", "matrix.pause", "Pause the run, or let it go on", "pause"),
    bind("f", "run_failed", "matrix.run-failed", "Run again what did not pass", "failed again"),
    bind("slash", "filter", "matrix.filter", f"Filter the cases ({KEYS_IN_WORDS} word !word)", "filter", "/"),
    bind("v", "review", "matrix.review", "Review: score the risk of answers by hand", "review"),
    bind("g", "group", "matrix.group", "Group by category, by tag, or not at all", "group"),
    bind("i", "turn_figures", "matrix.figures", "All figures in the heads, or fewer", "figures"),
    bind("S", "reverse", "matrix.reverse", "Turn the order around"),
    bind("n", "next_differing(1)", "matrix.next-differing", "Go to the next case in which models differ"),
    bind("N", "next_differing(-1)", "matrix.differing-before", "Go to the case before in which models differ"),
    bind("greater_than_sign", "ask_more(1)", "matrix.more", "Ask one case more at once, of each model", "", ">"),
    bind("less_than_sign", "ask_more(-1)", "matrix.fewer", "Ask one case fewer at once", "", "<"),
    bind("X", "cancel_all", "matrix.cancel-all", "Cancel the whole run, and what is queued"),
    bind("m", "leave", "matrix.leave", "Back to Explore"),
    bind("escape", "back", "matrix.back", "Out of the filter, else back to Explore"),
]


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
        self._outdated = self._computing = False
        self._next_statistics = 0.0
        self.header = MatrixHeader(id="header")
        self.panel = MatrixPanel(matrix, id="matrix")

    def compose(self) -> ComposeResult:
        """Header, panel, footer."""
        yield self.header
        yield self.panel
        yield KeyFooter()

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
        cell_counts = self.matrix.cell_counts
        while not cell_counts.complete:
            cell_counts.count(_SLICE_SECONDS)
            await asyncio.sleep(0)
        self.show_heading()
        await self._compute_statistics()

    async def _compute_statistics(self) -> None:
        self._outdated, self._computing = False, True
        began = monotonic()
        try:
            self.matrix.statistics = await asyncio.to_thread(compute_statistics, self.matrix.snapshot())
        finally:
            self._computing = False
        self._next_statistics = monotonic() + max(_LEAST_PAUSE_SECONDS, _PAUSES * (monotonic() - began))
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
            self._outdated = True
        if moved or (matrix.state.running and self._beats % _BEATS_A_SECOND == 0):
            self.show_heading()
        if self._beats % _BEATS_A_PULSE == 0 and self.app.animation_level != "none":
            table.beat(place for key in matrix.state.in_progress for place in matrix.places_of(key.case))
        still = not moved and not matrix.state.running
        due = still or monotonic() > self._next_statistics
        if self._outdated and due and not self._computing and matrix.cell_counts.complete:
            self.count()
        if still and not self._outdated:
            self._timer.pause()

    # --- showing it

    def show_heading(self) -> None:
        """The header, as it is now."""
        state, heading = self.matrix.state, self.matrix.heading
        if state.running:
            paused = state.paused
            key = key_of(self, "matrix.pause") if paused else ""
            answering = state.answering if paused else 0
            heading = replace(heading, pace=current_pace(state), paused=paused, answering=answering, pause_key=key)
        self.header.show(heading)

    def rows_changed(self) -> None:
        """Other rows; the cursor stays on its case."""
        self.panel.rows_changed(self.panel.table.case_id)
        self.show_heading()

    def show_sentence(self) -> None:
        """What can be said of the chosen pair."""
        matrix = self.matrix
        pair = matrix.statistics.pair(matrix.pair)
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


_ORDERS: tuple[tuple[Order, str], ...] = (
    (Order("suite"), "as in the suite"),
    (Order("name"), "by name"),
    (Order("differ"), "by disagreement: the cases in which models differ first"),
    (Order("all fail"), "the cases that all models fail first"),
)


class EarlierRuns(Protocol):
    """Where earlier runs are. Everything blocks; each raises StoreError."""

    def list_runs(self) -> Sequence[RunRecord]:
        """All of them, the newest first."""
        ...

    def read_outcomes(self, run_id: str) -> Sequence[Outcome]:
        """How the trials of one ended."""
        ...

    def baseline_of(self, suite: Suite) -> str | None:
        """The id of the run that others of the suite are measured against."""
        ...


class MatrixScreen(LiveMatrixScreen):
    """Cases beside models, live; `history` is where earlier runs are."""

    def __init__(self, matrix: Matrix, history: EarlierRuns, told: MessagePump, case: str | None = None) -> None:
        super().__init__(matrix, told, case)
        self._history = history

    def on_mount(self) -> None:
        """The suite may have a marked baseline."""
        if self.matrix.baseline is None and not self.matrix.asked_for_baseline:
            self._take_marked()

    # --- order, groups, filter

    def _choose(self, options: RowOptions) -> None:
        self.matrix.row_options = options
        self.matrix.arrange()
        self.rows_changed()

    def action_sort(self) -> None:
        """Choose an order."""
        self._sort()

    @work(group="choose", exclusive=True)
    async def _sort(self) -> None:
        from tui.app.dialogs import ChoiceScreen

        matrix = self.matrix
        orders = [*_ORDERS]
        if matrix.baseline is not None:
            orders.append((Order("change"), "by change since the baseline: what broke first"))
        orders += [(Order("model", model), f"by {matrix.names[model]}: the worst first") for model in matrix.models]
        current = next(
            (at for at, (each, _) in enumerate(orders) if each == matrix.row_options.order._replace(reverse=False)), 0
        )
        lines: list[Line] = [((f" {words}", "plain"),) for _, words in orders]
        place = await self.app.push_screen_wait(ChoiceScreen("Sort the rows", lines, current, takes="sorts"))
        if place is not None:
            self._choose(matrix.row_options._replace(order=orders[place][0]))

    @on(MatrixPanel.ColumnChosen)
    def sort_by_column(self, message: MatrixPanel.ColumnChosen) -> None:
        """The same by a click on a head; a second click turns it around, a third takes it back."""
        models, options = self.matrix.models, self.matrix.row_options
        if message.column < 0:
            order = Order("name")
        else:
            order = Order("model", models[message.column]) if message.column < len(models) else Order("change")
        if options.order == order:
            order = order._replace(reverse=True)
        elif options.order == order._replace(reverse=True):
            order = Order()
        self._choose(options._replace(order=order))

    def action_reverse(self) -> None:
        """Turn the order around."""
        order = self.matrix.row_options.order
        self._choose(self.matrix.row_options._replace(order=order._replace(reverse=not order.reverse)))

    def action_group(self) -> None:
        """The next kind of groups."""
        options = self.matrix.row_options
        grouping = GROUPINGS[(GROUPINGS.index(options.grouping) + 1) % len(GROUPINGS)]
        self._choose(options._replace(grouping=grouping))
        said = "Not grouped" if grouping == "none" else f"Grouped by {grouping}"
        self.notify(said, markup=False, timeout=2)

    def action_turn_figures(self) -> None:
        """All figures in the heads, or fewer."""
        self.panel.turn_figures()

    def action_turn_differing(self) -> None:
        """Only the cases in which models differ, or all."""
        options = self.matrix.row_options
        self._choose(options._replace(differing=not options.differing))

    def action_next_differing(self, by: int) -> None:
        """Go to the next such case, from the cursor on."""
        table = self.panel.table
        place = table.cursor + by
        while 0 <= place < table.line_count:
            case = self.matrix.case_at(place)
            if case is not None and spread_of(self.matrix.cells(case)):
                table.go_to(place)
                return
            place += by
        self.notify("There is no such case that way.", markup=False, timeout=2)

    async def action_filter(self) -> None:
        """Type a filter."""
        await self.panel.open_filter()

    @on(MatrixPanel.FilterChanged)
    def take_filter(self, message: MatrixPanel.FilterChanged) -> None:
        """Only the cases that the filter selects."""
        if message.case_filter != self.matrix.row_options.filter:
            self._choose(self.matrix.row_options._replace(filter=message.case_filter))

    # --- an earlier run

    @work(group="baseline", exclusive=True)
    async def _take_marked(self) -> None:
        self.matrix.asked_for_baseline = True
        try:
            run_id = await asyncio.to_thread(self._history.baseline_of, self.matrix.suite)
            if run_id and run_id not in (self.matrix.run, self.matrix.state.run_id):
                await self._measure_against(run_id)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="warning", markup=False)

    def action_choose_baseline(self) -> None:
        """Choose the run to measure against."""
        self._choose_baseline()

    @work(group="baseline", exclusive=True)
    async def _choose_baseline(self) -> None:
        from tui.app.dialogs import ChoiceScreen
        from tui.app.matrix.baseline import run_choice_line, runs_of

        matrix = self.matrix
        try:
            runs = runs_of(await asyncio.to_thread(self._history.list_runs), matrix.suite)
            runs = [run for run in runs if run.id not in (matrix.run, matrix.state.run_id)]
            if not runs:
                self.notify("No other run of this suite is kept.", severity="warning", markup=False)
                return
            lines: list[Line] = [((" none: measure against no run", "plain"),), *map(run_choice_line, runs)]
            now = matrix.baseline.run_id if matrix.baseline else ""
            current = next((at for at, run in enumerate(runs, 1) if run.id == now), 0)
            title = "Measure against an earlier run"
            place = await self.app.push_screen_wait(ChoiceScreen(title, lines, current))
            if place is not None:
                await self._take_choice(runs[place - 1] if place else None)
        except AssayError as error:
            self.notify(sanitize_line(str(error), 600), severity="error", markup=False, timeout=12)

    async def _take_choice(self, run: RunRecord | None) -> None:
        if run is not None:
            await self._measure_against(run.id)
        else:
            self._take_baseline(None)

    async def _measure_against(self, run_id: str) -> None:
        outcomes = await asyncio.to_thread(self._history.read_outcomes, run_id)
        self._take_baseline(await asyncio.to_thread(baseline_of, run_id, outcomes))

    def _take_baseline(self, baseline: Baseline | None) -> None:
        matrix = self.matrix
        matrix.baseline = baseline
        if baseline is None and matrix.row_options.order.kind == "change":
            matrix.row_options = matrix.row_options._replace(order=Order())
        matrix.arrange()
        self.rows_changed()
        self.count()

    # --- two models

    def action_compare(self) -> None:
        """Two answers to the case under the cursor, above the matrix."""
        matrix, table = self.matrix, self.panel.table
        case = matrix.case_at(table.cursor)
        if case is None:
            self.notify("There is no case to compare here.", severity="warning", markup=False)
            return
        two = two_to_compare(matrix.models, matrix.cells(case), table.columns.first, matrix.pair)
        if two is None:
            self.notify("Two models are needed to compare.", markup=False)
            return
        self.told.post_message(CompareRequested(matrix.suite, matrix.run, case.id, two))

    def action_statistics(self) -> None:
        """Every pair of models."""
        self._show_pairs()

    @work(group="choose", exclusive=True)
    async def _show_pairs(self) -> None:
        from tui.app.matrix.pairs_dialog import PairsScreen

        matrix = self.matrix
        pairs = matrix.statistics.pairs
        if not pairs:
            few = len(matrix.models) < 2
            why = "Two models are needed to compare." if few else "Two models with results are needed to compare."
            self.notify(why, markup=False)
            return
        shown = matrix.statistics.pair(matrix.pair)
        cases = {case.id: case for case in matrix.suite.cases}
        current = pairs.index(shown) if shown in pairs else 0
        figures = matrix.statistics.figures
        place = await self.app.push_screen_wait(
            PairsScreen(pairs, current, matrix.names, cases, figures, matrix.progress)
        )
        if place is not None:
            matrix.pair = pairs[place].a, pairs[place].b
            self.show_sentence()

    # --- runs, and the way back

    def action_run_all(self) -> None:
        """Run the whole suite."""
        self.told.post_message(RunRequested(failed=False))

    def action_run_failed(self) -> None:
        """Run again what did not pass."""
        self.told.post_message(RunRequested(failed=True))

    def action_review(self) -> None:
        """Score the answers by hand."""
        self.told.post_message(ReviewRequested())

    def action_cancel_all(self) -> None:
        """Cancel the run."""
        self.told.post_message(CancelRequested())

    def action_turn_pause(self) -> None:
        """Pause the run, or let it go on."""
        self.told.post_message(PauseRequested())

    def action_ask_more(self, by: int) -> None:
        """So many more cases at once."""
        self.told.post_message(PaceRequested(by))

    def action_leave(self) -> None:
        """Back to Explore, as it was."""
        self.dismiss(None)

    async def action_back(self) -> None:
        """Out of the filter, else back."""
        if not await self.panel.close_filter():
            self.dismiss(None)
