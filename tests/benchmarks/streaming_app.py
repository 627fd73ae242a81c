"""Four panes into which answers stream at 100 tokens a second each: run in a terminal by the benchmarks and by hand.

usage: python -m tests.benchmarks.streaming_app KB SECONDS RESULT [show|drop]
"""

import asyncio
import json
import re
import sys
import time
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from tui.app.run_messages import FLUSHES_PER_SECOND, StreamBuffers
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.answer_view import AnswerView, Mark

PANES = 4
TOKENS_A_SECOND = 100
SAMPLE = '''Here is a function that reverses a text, with a few words about how it came to be, and why it is enough:

```python
def reverse(text: str) -> str:
    """Return text from its end to its start."""
    if not isinstance(text, str):
        raise TypeError(f"a text, not {type(text)}")  # said early, and plainly
    return text[::-1]
```

It uses slicing with a negative step. For an empty text it returns an empty text; eval( is not needed at all.

'''

PATTERNS = re.compile(r"return|eval\(")


def tokens(text: str) -> list[str]:
    """About four characters each, as models write them."""
    return [text[at : at + 4] for at in range(0, len(text), 4)]


class StreamingApp(ThemedApp[None]):
    """The panes, a line that displays the pressed keys, and a producer."""

    CSS = """
    Horizontal { height: 1fr; }
    .pane { border: round $quiet-border; }
    .pane:focus-within { border: round $focused-border; }
    Static { height: 1; background: $raised; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("x", "count", "Count")]

    def __init__(self, kilobytes: int, seconds: float, result: Path, shown: bool) -> None:
        super().__init__()
        self._kilobytes, self._seconds, self._result, self._shown = kilobytes, seconds, result, shown
        self._views = [AnswerView() for _ in range(PANES)]
        self._buffers: StreamBuffers[int] = StreamBuffers()
        self._line = Static("key 0", markup=False)
        self._keys = 0
        self._ends, self._lengths = [""] * PANES, [0] * PANES
        self._marks: list[list[Mark]] = [[] for _ in range(PANES)]

    def compose(self) -> ComposeResult:
        with Horizontal():
            for view in self._views:
                pane = Vertical(view, classes="pane")
                pane.border_title = "local/smollm2"
                yield pane
        yield self._line

    def action_count(self) -> None:
        self._keys += 1
        self._line.update(f"key {self._keys}")

    def on_ready(self) -> None:
        if self._shown:
            for at, view in enumerate(self._views):
                view.streaming = True
                self._show(at, SAMPLE * round(self._kilobytes * 1024 / len(SAMPLE)))  # whole: what follows is the same
        self.set_interval(1 / FLUSHES_PER_SECOND, self._hand_over)
        self.set_timer(1, lambda: self.run_worker(self._produce()))

    def _hand_over(self) -> None:
        for at, text in self._buffers.pop(range(PANES)):
            if self._shown:
                self._show(at, text)

    def _show(self, at: int, text: str) -> None:
        """Add the text, and what two patterns find in it and in the few characters before it."""
        view, marks = self._views[at], self._marks[at]
        view.append(text)
        begin, seen = self._lengths[at] - len(self._ends[at]), self._ends[at] + text
        known = marks[-1].end if marks else 0
        fresh = [
            Mark(begin + found.start(), begin + found.end(), "expected" if found[0] == "return" else "forbidden")
            for found in PATTERNS.finditer(seen)
            if begin + found.start() >= known
        ]
        self._lengths[at] += len(text)
        self._ends[at] = seen[-8:]
        if fresh:
            marks += fresh
            view.mark(marks)

    async def _produce(self) -> None:
        pieces = tokens(SAMPLE)
        total = round(self._seconds * TOKENS_A_SECOND)
        began, cpu = time.monotonic(), time.process_time()
        for number in range(total):
            for at in range(PANES):
                self._buffers.put(at, pieces[(number + 7 * at) % len(pieces)])
            await asyncio.sleep(max(0.0, began + (number + 1) / TOKENS_A_SECOND - time.monotonic()))
        result = {"tokens": total * PANES, "cpu": time.process_time() - cpu, "wall": time.monotonic() - began}
        self._result.write_text(json.dumps(result))
        self._line.update("done")


if __name__ == "__main__":
    kilobytes, seconds, result, *mode = sys.argv[1:]
    StreamingApp(int(kilobytes), float(seconds), Path(result), mode != ["drop"]).run()
