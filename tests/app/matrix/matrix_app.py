"""The Matrix screen alone, over a sample: `python -m tests.app.matrix.matrix_app KIND [THEME]`.

KIND is one of `tests.app.matrix.samples.sample`; with `live` a run begins and does not end.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.pilot import Pilot

from tests.app.matrix.samples import matrix_of, result, sample, session_with_earlier_run
from tests.support.pilots import until
from tests.support.scripted_session import ScriptedSession
from tui.app.context import AppContext, open_context
from tui.app.matrix.matrix import Matrix
from tui.app.matrix.screen import MatrixScreen, open_matrix
from tui.app.notifications import NotificationHold
from tui.app.run_messages import RunBegan
from tui.app.theme.themed_app import ThemedApp
from tui.model.events import TrialFinished, TrialStarted
from tui.model.shipped import shipped_folder
from tui.session.consent import Consent
from tui.store.sqlite import SqliteStore


class MatrixApp(ThemedApp[None]):
    """Open the matrix of the one suite of a session; `chosen` has the result of the screen once it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "question_mark", "help", "help", id="app.help", tooltip="Show the keys of this screen", key_display="?"
        ),
        Binding("q", "quit", "Leave", id="app.leave", tooltip="Leave", show=False),
    ]

    def __init__(self, session: ScriptedSession, theme: str = "assay-dark") -> None:
        super().__init__(theme=theme, theme_folders=[shipped_folder("themes")])
        self.session = session
        self.chosen: list[str | None] = []
        self.hand: Pilot[None]
        self.context: AppContext

    @property
    def place(self) -> MatrixScreen:
        """Return the Matrix screen."""
        return next(screen for screen in self.screen_stack if isinstance(screen, MatrixScreen))

    @property
    def matrix(self) -> Matrix:
        """Return the matrix that the screen displays."""
        return self.place.matrix

    @property
    def counted(self) -> bool:
        """Return whether the matrix is open and has its statistics."""
        if not any(isinstance(screen, MatrixScreen) for screen in self.screen_stack):
            return False
        return bool(self.matrix.statistics.figures) and self.place.panel.table.size.height > 0

    def on_mount(self) -> None:
        self.run_worker(self._open())

    async def _open(self) -> None:
        hold = NotificationHold(super().notify, self.clear_notifications)
        self.context = await open_context(
            self, lambda: self.session, [], post=self._post, confirm=self._confirm, notification_hold=hold
        )
        open_suites = self.context.open_suites
        (path,) = self.session.suites
        open_suite = await asyncio.to_thread(open_suites.read, path)
        self.run_worker(self.context.runs.work(), group="runs")
        self.chosen.append(await open_matrix(self.context, self.screen, open_suite, None))

    def _post(self, message: Message) -> None:
        for target in (*self.screen_stack, self):
            target.post_message(message)

    async def _confirm(self, consent: Consent) -> bool:
        raise AssertionError(f"the session asks for no consent: {consent}")

    def action_help(self) -> None:
        from tui.app.dialogs import HelpScreen

        self.push_screen(HelpScreen(self.screen))


class LiveMatrixApp(MatrixApp):
    """Run the whole suite, one trial after another."""

    def on_mount(self) -> None:
        super().on_mount()
        self.set_timer(1, lambda: self.place.action_run_suite())

    async def on_run_began(self, message: RunBegan) -> None:
        del message
        self.run_worker(self._run())

    async def _run(self) -> None:
        trials = self.session.plans[-1].trials
        for at, trial in enumerate(trials[:-3]):
            self.session.say(TrialStarted(trials[at + 2]), TrialFinished(result(trial, "✓✗✓✓◐t"[at % 6])))
            await asyncio.sleep(0.4)


@asynccontextmanager
async def running_app(
    matrix: Matrix, size: tuple[int, int] = (140, 40), *, marked: bool = False
) -> AsyncIterator[MatrixApp]:
    """Run the app over the results of a sample until its matrix is counted."""
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "runs.sqlite")
        try:
            app = MatrixApp(session_with_earlier_run(Path(folder), store, matrix, marked=marked))
            async with app.run_test(size=size) as pilot:
                app.hand = pilot
                await until(pilot, lambda: app.counted, "the matrix is counted")
                yield app
        finally:
            store.close()


def main(kind: str, *theme: str) -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "runs.sqlite")
        matrix = matrix_of() if kind == "live" else sample(kind)
        app = LiveMatrixApp if kind == "live" else MatrixApp
        app(session_with_earlier_run(Path(folder), store, matrix), *theme).run()
        store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
