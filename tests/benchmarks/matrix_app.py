"""The Matrix screen over so many cases: run in a terminal by the benchmarks and by hand.

usage: python -m tests.benchmarks.matrix_app CASES RESULT
`e` shows an empty screen, `x` the matrix, `o` sorts and filters it, `1` updates cells, `0` does the same without them;
`c` closes the empty one. What each took (CPU milliseconds) is written to the file RESULT when it is known.
"""

import asyncio
import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Static

from tests.app.matrix.samples import large, result
from tests.support.histories import run_history
from tests.support.scripted_session import Opened, ScriptedSession
from tui.app.context import AppContext, open_context
from tui.app.explore.header_bar import HeaderBar
from tui.app.explore.suite_tree import SuitePanel
from tui.app.matrix.matrix import Matrix, Order
from tui.app.matrix.screen import MatrixScreen
from tui.app.notifications import NotificationHold
from tui.app.open_suites import OpenSuites, Selection
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.footer import KeyFooter
from tui.model.events import TrialFinished
from tui.model.filter import parse_filter
from tui.model.results import TrialKey
from tui.session.consent import Consent
from tui.store.sqlite import SqliteStore

UPDATES = 2_000
_AT_ONCE, _PAUSE = 20, 0.05
_ORDERS = ("name", "differ", "all fail", "model")
_FILTERS = ("status:fail", "number 7", "!status:passed cat:3")


class TimedMatrixScreen(MatrixScreen):
    """Call `painted` after the first paint, just before the cells are counted."""

    painted: Callable[[], None] | None = None

    def on_mount(self) -> None:
        if self.painted is not None:
            self.call_after_refresh(self.painted)


class EmptyScreen(Screen[None]):
    """The least that a screen with a frame and a footer costs."""

    painted: Callable[[], None] | None = None

    DEFAULT_CSS = "EmptyScreen Vertical { border: round $quiet-border; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("c", "dismiss", "Close")]

    def on_mount(self) -> None:
        if self.painted is not None:
            self.call_after_refresh(self.painted)

    def compose(self) -> ComposeResult:
        yield Static("Assay")
        yield Vertical(Static("nothing"))
        yield KeyFooter()


class MatrixBenchApp(ThemedApp[None]):
    """The screen, and keys that measure."""

    DEFAULT_CSS = "MatrixBenchApp SuitePanel { height: 12; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "empty", "Empty"),
        Binding("x", "show", "Show"),
        Binding("y", "order", "Order"),
        Binding("1", "update(True)", "Update"),
        Binding("0", "update(False)", "Idle"),
    ]

    def __init__(self, cases: int, into: Path) -> None:
        super().__init__()
        self._sample = large(cases)
        gc.collect()
        gc.freeze()  # what the suite and its results cost the collector is not the matrix' doing
        self._into, self._found = into, dict[str, float]()
        self.place: MatrixScreen | None = None

    def compose(self) -> ComposeResult:
        # The matrix is opened from Explore: what that has shown is known already, looks of lists and widths of marks.
        yield HeaderBar()
        session = ScriptedSession()
        yield SuitePanel(Selection(OpenSuites(session, [])), session.filters)
        yield Static("ready ✓", markup=False)

    async def _open_context(self) -> AppContext:
        folder, suite = self._into.parent, self._sample.suite
        history = run_history(SqliteStore(folder / "runs.sqlite"), folder, ScriptedSession().resolve)
        session = ScriptedSession({Path(suite.path): Opened(suite)}, keeps=history)
        hold = NotificationHold(super().notify, self.clear_notifications)
        return await open_context(
            self, lambda: session, [], post=self.post_message, confirm=self._confirm, notification_hold=hold
        )

    async def _confirm(self, consent: Consent) -> bool:
        raise AssertionError(f"the session asks for no consent: {consent}")

    def _report(self, name: str, seconds: float) -> None:
        self._found[name] = seconds * 1000
        self._into.write_text(json.dumps(self._found))

    async def action_empty(self) -> None:
        number = 2 if "first" in self._found else 1
        before = process_time()
        screen = EmptyScreen()
        screen.painted = lambda: self._report(("first", "empty")[number - 1], process_time() - before)
        await self.push_screen(screen, lambda _: self._notify_closed(number))

    def _notify_closed(self, number: int) -> None:
        self.call_after_refresh(self._report, f"closed {number}", 0)

    async def action_show(self) -> None:
        context = await self._open_context()
        before = process_time()
        sample = self._sample
        matrix = Matrix(sample.suite, sample.state, sample.models)
        screen = self.place = TimedMatrixScreen(context, Path(sample.suite.path), matrix)
        screen.painted = lambda: self._report("show", process_time() - before)
        await self.push_screen(screen)

    async def action_order(self) -> None:
        assert self.place is not None
        matrix, took = self.place.matrix, []
        await self.workers.wait_for_complete([each for each in self.workers if each.group == "count"])
        options = matrix.row_options
        changes = [options._replace(order=Order(kind, matrix.models[0])) for kind in _ORDERS]  # type: ignore[arg-type]
        changes += [options._replace(filter=parse_filter(text)) for text in _FILTERS]
        changes += [options._replace(differing=True), options._replace(grouping="tag")]
        for each in changes:
            before = process_time()
            matrix.row_options = each
            matrix.arrange()
            self.place.updates.rows_changed()
            await asyncio.sleep(0.05)  # painted
            took.append(process_time() - before)
        matrix.row_options = options
        matrix.arrange()
        self.place.updates.rows_changed()
        self._report("order", max(took))

    async def action_update(self, really: bool) -> None:
        self.run_worker(self._update(really))

    async def _update(self, really: bool) -> None:
        assert self.place is not None
        matrix = self.place.matrix
        cases = matrix.suite.cases
        keys = [TrialKey(cases[at % 400].id, matrix.models[at % 4]) for at in range(UPDATES)]
        events = [TrialFinished(result(key, "✓✗"[at % 2])) for at, key in enumerate(keys)]
        state, spent = matrix.state, 0.0
        begin = process_time()
        for at in range(0, UPDATES, _AT_ONCE):
            for event in events[at : at + _AT_ONCE]:
                if really:
                    before = process_time()
                    state.take(event)
                    spent += process_time() - before
                    self.place.updates.trial_changed(event.trial)
            await asyncio.sleep(_PAUSE)
        self._report("update" if really else "idle", (process_time() - begin - spent) / UPDATES)


if __name__ == "__main__":
    MatrixBenchApp(int(sys.argv[1]), Path(sys.argv[2])).run()
