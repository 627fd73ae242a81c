"""Commands that change what the matrix displays: the order, groups and filter of its rows, and its baseline."""

import asyncio

from textual.screen import Screen

from tui.app.dialogs import ChoiceScreen
from tui.app.matrix.baseline import Baseline, baseline_of, run_choice_line, runs_of_suite
from tui.app.matrix.matrix import GROUPINGS, Matrix, Order, RowOptions, spread_of
from tui.app.matrix.panel import MatrixPanel
from tui.app.matrix.updates import MatrixUpdates
from tui.app.notifications import notify_error
from tui.app.presentation.pieces import Line
from tui.app.workers import start_worker
from tui.model.context import sent_trials
from tui.model.errors import AssayError
from tui.model.filter import Filter
from tui.session.run_history import RunHistory

_ORDERS: tuple[tuple[Order, str], ...] = (
    (Order("suite"), "suite order"),
    (Order("name"), "by name"),
    (Order("differ"), "by disagreement: differing cases on top"),
    (Order("all fail"), "cases that all models fail on top"),
)


class RowControls:
    """Change the order, the groups and the filter of the rows; `screen` displays the questions."""

    def __init__(self, screen: Screen[str | None], matrix: Matrix, panel: MatrixPanel, updates: MatrixUpdates) -> None:
        self._screen, self._matrix, self._panel, self._updates = screen, matrix, panel, updates

    def choose_order(self) -> None:
        """Ask for the order of the rows, and apply it."""
        start_worker(self._screen, self._choose_order, group="choose", exclusive=True)

    async def _choose_order(self) -> None:
        matrix = self._matrix
        orders = [*_ORDERS]
        if matrix.baseline is not None:
            orders.append((Order("change"), "by change since the baseline: broken cases on top"))
        orders += [(Order("model", model), f"by {matrix.names[model]}: worst on top") for model in matrix.models]
        displayed = matrix.row_options.order._replace(reverse=False)
        current = next((place for place, (order, _) in enumerate(orders) if order == displayed), 0)
        lines: list[Line] = [((f" {words}", "plain"),) for _, words in orders]
        place = await self._screen.app.push_screen_wait(ChoiceScreen("Sort rows", lines, current, verb="sort"))
        if place is not None:
            self._apply(matrix.row_options._replace(order=orders[place][0]))

    def sort_by_column(self, column: int) -> None:
        """Sort by a column; a second call reverses the order, a third one restores the suite order.

        `column` is the index of a model, −1 for the names, and the number of models for the changes.
        """
        models, options = self._matrix.models, self._matrix.row_options
        if column < 0:
            order = Order("name")
        else:
            order = Order("model", models[column]) if column < len(models) else Order("change")
        if options.order == order:
            order = order._replace(reverse=True)
        elif options.order == order._replace(reverse=True):
            order = Order()
        self._apply(options._replace(order=order))

    def reverse(self) -> None:
        """Reverse the order of the rows."""
        options = self._matrix.row_options
        self._apply(options._replace(order=options.order._replace(reverse=not options.order.reverse)))

    def change_grouping(self) -> None:
        """Switch to the next grouping: category, tag, none."""
        options = self._matrix.row_options
        grouping = GROUPINGS[(GROUPINGS.index(options.grouping) + 1) % len(GROUPINGS)]
        self._apply(options._replace(grouping=grouping))
        text = "Not grouped" if grouping == "none" else f"Grouped by {grouping}"
        self._screen.notify(text, markup=False, timeout=2)

    def toggle_differing(self) -> None:
        """Display only the cases in which models differ, or all cases."""
        options = self._matrix.row_options
        self._apply(options._replace(differing=not options.differing))

    def filter(self, filter: Filter) -> None:
        """Display only the cases that a filter selects."""
        if filter != self._matrix.row_options.filter:
            self._apply(self._matrix.row_options._replace(filter=filter))

    def _apply(self, options: RowOptions) -> None:
        self._matrix.row_options = options
        self._matrix.arrange()
        self._updates.rows_changed()

    def jump(self) -> None:
        """Ask for a displayed case, and move the cursor to it."""
        from tui.app.find.jump_dialog import jump_to_case

        table = self._panel.table
        places = {case.id: place for place in range(table.line_count) if (case := self._matrix.case_at(place))}
        cases = [case for case in self._matrix.suite.cases if case.id in places]
        here = self._matrix.case_at(table.cursor)
        jump_to_case(self._screen, cases, here.id if here else None, lambda case_id: table.go_to(places[case_id]))

    def go_to_differing(self, step: int) -> None:
        """Move the cursor to the next (1) or previous (−1) case in which models differ."""
        matrix, table = self._matrix, self._panel.table
        place = table.cursor + step
        while 0 <= place < table.line_count:
            case = matrix.case_at(place)
            if case is not None and spread_of(matrix.cells(case)):
                table.go_to(place)
                return
            place += step
        self._screen.notify("No such case in that direction.", markup=False, timeout=2)


class BaselineControls:
    """Choose the baseline of the matrix; `screen` displays the questions and errors."""

    def __init__(self, screen: Screen[str | None], matrix: Matrix, history: RunHistory, updates: MatrixUpdates) -> None:
        self._screen, self._matrix, self._history, self._updates = screen, matrix, history, updates

    def read(self) -> None:
        """Read the baseline in use for the displayed suite and results, or once the run that is marked as baseline."""
        start_worker(self._screen, self._read, group="read baseline", exclusive=True)

    async def _read(self) -> None:
        matrix = self._matrix
        try:
            if matrix.baseline is not None:
                await self._use_run(matrix.baseline.run_id)
            elif not matrix.baseline_read:
                matrix.baseline_read = True
                run_id = await asyncio.to_thread(self._history.baseline_of, matrix.suite)
                if run_id and run_id not in self._displayed_runs:
                    await self._use_run(run_id)
        except AssayError as error:
            notify_error(self._screen, error, severity="warning")

    def choose(self) -> None:
        """Ask for the run to use as baseline, and apply it."""
        start_worker(self._screen, self._choose, group="baseline", exclusive=True)

    async def _choose(self) -> None:
        matrix = self._matrix
        try:
            runs = runs_of_suite(await asyncio.to_thread(self._history.list_runs), matrix.suite)
            runs = [run for run in runs if run.id not in self._displayed_runs]
            if not runs and matrix.baseline is None:
                self._screen.notify("No other saved run of this suite.", severity="warning", markup=False)
                return
            lines: list[Line] = [((" none: no baseline", "plain"),), *map(run_choice_line, runs)]
            used = matrix.baseline.run_id if matrix.baseline else ""
            current = next((place for place, run in enumerate(runs, 1) if run.id == used), 0)
            dialog = ChoiceScreen("Compare with an earlier run", lines, current)
            place = await self._screen.app.push_screen_wait(dialog)
            if place is None:
                return
            if place:
                await self._use_run(runs[place - 1].id)
            else:
                self._use(None)
        except AssayError as error:
            notify_error(self._screen, error)

    @property
    def _displayed_runs(self) -> tuple[str | None, ...]:
        """Return the ids of the runs whose results the matrix displays."""
        state = self._matrix.state
        return self._matrix.run, state.run_id, *(state.run_ids if len(state.run_ids) == 1 else ())

    async def _use_run(self, run_id: str) -> None:
        matrix = self._matrix
        trials = matrix.state.trials
        ended = sent_trials(key for key, trial in trials.items() if not trial.is_open)
        displayed = {case: (run, key) for case, key in ended.items() if (run := trials[key].run or matrix.run)}
        models = {key.model: trial.definition for key, trial in trials.items() if trial.definition}
        found = await asyncio.to_thread(self._history.read_comparable, run_id, matrix.suite, displayed, models)
        self._use(await asyncio.to_thread(baseline_of, run_id, *found))

    def _use(self, baseline: Baseline | None) -> None:
        matrix = self._matrix
        matrix.baseline = baseline
        if baseline is None and matrix.row_options.order.kind == "change":
            matrix.row_options = matrix.row_options._replace(order=Order())
        matrix.arrange()
        self._updates.rows_changed()
        self._updates.count()
