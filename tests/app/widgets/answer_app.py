"""A small app around one answer's view, run in a terminal by the tests: what to do comes as JSON, a key a step."""

import asyncio
import json
import sys
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import Static

from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.answer_view import AnswerView, Mark
from tui.model.shipped import shipped_folder


class AnswerApp(ThemedApp[None]):
    """Each `x` does the next step: the name of an attribute or a method of the view, and its arguments."""

    CSS = "Vertical { border: round $quiet-border; } Static { height: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        ("x", "step", "Step"),
        ("n", "next", "Next"),
        ("N", "previous", "Previous"),
        ("T", "light", "Light"),
    ]

    def __init__(self, steps: list[list[object]]) -> None:
        super().__init__(theme_folders=[shipped_folder("themes")])
        self._steps, self._done = steps, 0
        self._view, self._line = AnswerView(), Static(markup=False)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._view
        yield self._line

    def on_ready(self) -> None:
        self._view.focus()
        self._line.update("step 0")

    def action_step(self) -> None:
        name, *arguments = self._steps[self._done]
        if name == "streaming":
            self._view.streaming = bool(arguments[0])
        elif name == "mark":
            self._view.mark([Mark(*mark) for mark in arguments])  # type: ignore[misc]
        else:
            getattr(self._view, str(name))(*arguments)
        self._done += 1
        self._line.update(f"step {self._done}")

    def action_next(self) -> None:
        self._view.next_match()

    def action_previous(self) -> None:
        self._view.previous_match()

    async def action_light(self) -> None:
        while "assay-light" not in self.available_themes:  # noqa: ASYNC110 - they are read after the first paint
            await asyncio.sleep(0.01)
        self.theme = "assay-light"

    def on_answer_view_match_shown(self, message: AnswerView.MatchShown) -> None:
        self._line.update(f"match {message.index} of {message.of}, {self._view.matches} in all")


if __name__ == "__main__":
    AnswerApp(json.loads(Path(sys.argv[1]).read_text())).run()
