"""The Diff tab over a diff of so many lines: run in a terminal by the benchmarks and by hand.

usage: python -m tests.benchmarks.diffs_app LINES RESULT
`x` shows the diff, `W` writes how long the event loop was held up at most since then (milliseconds).
"""

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from tests.app.diff.samples import sample
from tui.app.diff.answer_diff import ShownDiff
from tui.app.diff.panel import DiffPanel
from tui.app.theme.themed_app import ThemedApp

_BEAT_S = 0.01


class DiffBenchApp(ThemedApp[None]):
    """The tab, and a line that displays when a measurement was written."""

    CSS = "Static { height: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "begin", "Begin"), Binding("W", "write", "Write")]

    def __init__(self, shown: ShownDiff, result: Path) -> None:
        super().__init__()
        self._shown, self._result = shown, result
        self._tab, self._line = DiffPanel(), Static("ready", markup=False)
        self._longest = 0.0
        self._writes = 0

    def compose(self) -> ComposeResult:
        yield self._tab
        yield self._line

    def on_ready(self) -> None:
        self._tab.view.focus()
        self.run_worker(self._beat())

    async def _beat(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(_BEAT_S)
            self._longest = max(self._longest, time.perf_counter() - before - _BEAT_S)

    def action_begin(self) -> None:
        self._longest = 0.0
        self._tab.show(self._shown, "")

    def action_write(self) -> None:
        self._writes += 1
        self._result.write_text(json.dumps({"longest": self._longest * 1000}))
        self._longest = 0.0
        self._line.update(f"written {self._writes}")


if __name__ == "__main__":
    lines, result = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        DiffBenchApp(sample(f"large:{lines}", Path(folder)), Path(result)).run()
