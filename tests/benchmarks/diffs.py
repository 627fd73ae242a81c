"""What a large diff costs to show and to page through, in a real terminal."""

import json
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.processes import ROOT, cpu_of, python
from tests.benchmarks.registry import Figure, benchmark
from tests.support.terminal import Terminal

SIZE = (160, 45)
ROUNDS = 5
PAGES = 30


def _settled(terminal: Terminal) -> float:
    """CPU seconds of the program once it has been quiet for a moment."""
    used = cpu_of(terminal.pid)
    while True:
        time.sleep(0.15)
        used, before = cpu_of(terminal.pid), used
        if used - before < 0.005:
            return used


def _measure(lines: int) -> tuple[float, float, float, float]:
    """CPU milliseconds to the first paint, until everything seen has its colours, and for a page with its colours; the
    longest that the event loop was held up."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        with Terminal(python("-m", "tests.benchmarks.diffs_app", str(lines), result), size=SIZE, cwd=ROOT) as terminal:
            terminal.wait_for_bytes(b"ready", within=60)
            before = _settled(terminal)
            begin = len(terminal.raw)
            terminal.press("x")
            terminal.wait_for_bytes(b"value_", begin, within=30)
            painted = cpu_of(terminal.pid)
            coloured = _settled(terminal)
            for _ in range(PAGES):
                begin = len(terminal.raw)
                terminal.press("pagedown")
                terminal.wait_for_bytes(b"value_", begin)
            paged = _settled(terminal)
            terminal.press("W")
            terminal.wait_for_bytes(b"written 1")
            longest = float(json.loads(result.read_text())["longest"])
    return (painted - before) * 1000, (coloured - before) * 1000, (paged - coloured) * 1000 / PAGES, longest


@benchmark("diffs")
def measure_diffs() -> list[Figure]:
    """First paint, pages, and how long anything is held up."""
    paint, coloured, page, longest = (
        median(each) for each in zip(*(_measure(5_000) for _ in range(ROUNDS)), strict=True)
    )
    _, _, large_page, large_longest = _measure(100_000)
    return [
        Figure("diff of 5,000 lines: to its first paint", "CPU ms", paint, None, 60),
        Figure("diff of 5,000 lines: until it has its colours", "CPU ms", coloured),
        Figure("diff of 5,000 lines: a page, with its colours", "CPU ms", page, None, 15),
        Figure("diff of 5,000 lines: the longest hold-up", "ms", longest, None, 50),
        Figure("diff of 100,000 lines: a page, with its colours", "CPU ms", large_page),
        Figure("diff of 100,000 lines: the longest hold-up", "ms", large_longest),
    ]
