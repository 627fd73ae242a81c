"""The Matrix screen alone, over a sample: `python -m tests.app.matrix.matrix_app KIND [THEME]`.

KIND is one of `tests.app.matrix.samples.sample`; with `live` a run begins and does not end.
"""

import sys
from itertools import count
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.pilot import Pilot

from tests.app.matrix.samples import MemoryChunk, history_of, matrix_of, result, sample
from tui.app.matrix.matrix import Matrix
from tui.app.matrix.messages import CancelRequested, RunRequested
from tui.app.matrix.screen import MatrixScreen
from tui.app.theme.themed_app import ThemedApp
from tui.model.events import RunStarted, TrialFinished, TrialStarted
from tui.model.results import TrialKey
from tui.model.shipped import shipped_folder


class MatrixApp(ThemedApp[None]):
    """The screen over an empty one; `asked` is what it said it wants."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "help", id="app.help", tooltip="The keys of where you are", key_display="?"),
        Binding("q", "quit", "Leave", id="app.leave", tooltip="Leave", show=False),
    ]

    def __init__(self, matrix: Matrix, history: MemoryChunk, theme: str = "assay-dark") -> None:
        super().__init__(theme=theme, theme_folders=[shipped_folder("themes")])
        self.matrix, self.history = matrix, history
        self.asked: list[object] = []
        self.gone: list[str | None] = []
        self.hand: Pilot[None]
        self.place = MatrixScreen(matrix, history, self)

    def on_mount(self) -> None:
        self.push_screen(self.place, self.gone.append)

    def action_help(self) -> None:
        from tui.app.dialogs import HelpScreen

        self.push_screen(HelpScreen(self.screen))

    @on(RunRequested)
    def take_run(self, message: RunRequested) -> None:
        self.asked.append("failed" if message.failed else "all")

    @on(CancelRequested)
    def take_cancel(self) -> None:
        self.asked.append("cancel")


class LiveMatrixApp(MatrixApp):
    """A run goes on, a trial after another."""

    def on_mount(self) -> None:
        matrix = self.matrix
        keys = [TrialKey(case.id, model) for case in matrix.suite.cases for model in matrix.models]
        matrix.state.take(RunStarted("0193f2a4", tuple(keys), ""))
        matrix.show(matrix.suite, matrix.state, matrix.models)
        super().on_mount()
        self._numbers = count()
        self._keys = keys
        self.set_interval(0.4, self._go_on)

    def _go_on(self) -> None:
        at = next(self._numbers)
        if at < len(self._keys) - 3:
            self._say(TrialStarted(self._keys[at + 2]), self._keys[at + 2])
            done = self._keys[at]
            self._say(TrialFinished(result(done, "✓✗✓✓◐t"[at % 6])), done)

    def _say(self, event: TrialStarted | TrialFinished, key: TrialKey) -> None:
        self.matrix.state.take(event)
        self.place.trial_moved(key)


if __name__ == "__main__":
    kind, *theme = sys.argv[1:]
    if kind == "live":
        shown = matrix_of()
        LiveMatrixApp(shown, history_of(shown), *theme).run()
    else:
        shown = sample(kind)
        MatrixApp(shown, history_of(shown), *theme).run()
