"""What a streamed token costs, and how long a key waits meanwhile: four panes × 100 tokens/s in a real terminal."""

import json
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles

from tests.benchmarks.processes import ROOT, python
from tests.benchmarks.registry import Figure, benchmark
from tests.support.terminal import Terminal

SIZE = (200, 50)
SECONDS = 5.0
ROUNDS = 5
KEYS = 80


@contextmanager
def _streaming(kilobytes: int, seconds: float, mode: str) -> Iterator[tuple[Terminal, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = python("-m", "tests.benchmarks.streaming_app", str(kilobytes), str(seconds), result, mode)
        with Terminal(command, size=SIZE, cwd=ROOT) as terminal:
            terminal.wait_for_bytes(b"key 0", within=30)
            yield terminal, result


def _ms_a_token(kilobytes: int, mode: str) -> float:
    with _streaming(kilobytes, SECONDS, mode) as (terminal, result):
        terminal.wait_for_bytes(b"done", within=SECONDS + 30)
        measured = json.loads(result.read_text())
    return float(measured["cpu"]) * 1000 / int(measured["tokens"])


@benchmark("streaming")
def measure_streaming() -> list[Figure]:
    """CPU a token beyond what reading the stream costs."""
    cases = {"reading alone": (0, "drop"), "10 KB": (10, "show"), "200 KB": (200, "show")}
    rounds = [{name: _ms_a_token(*case) for name, case in cases.items()} for _ in range(ROUNDS)]
    cost = {name: min(one[name] for one in rounds) for name in cases}  # what disturbs only ever adds
    reading = cost["reading alone"]
    small, large = cost["10 KB"] - reading, cost["200 KB"] - reading
    return [
        Figure("a streamed token at 10 KB, beyond reading it (bare)", "CPU ms", small, reading, 0.25),
        Figure("a streamed token at 200 KB, beyond reading it (bare)", "CPU ms", large, reading, 0.25),
        Figure("a streamed token at 200 KB, beside one at 10 KB (bare)", "CPU ms", large, small, 1.1, "ratio"),
    ]


def _key_times(mode: str) -> list[float]:
    """Milliseconds from a key to what it changes on the terminal, sorted."""
    pause = random.Random(4711)
    waited = []
    with _streaming(10, 60, mode) as (terminal, _):
        time.sleep(2)  # until it streams steadily: this is a measurement, not a test
        for number in range(1, KEYS + 1):
            time.sleep(pause.uniform(0.05, 0.15))
            begin, sent = len(terminal.raw), time.monotonic()
            terminal.press("x")
            waited.append((terminal.wait_for_bytes(f"key {number}".encode(), begin) - sent) * 1000)
    return sorted(waited)


@benchmark("keys")
def measure_keys() -> list[Figure]:
    """Key to paint while four panes stream, beside the same screen while nothing is shown."""
    ours, bare = _key_times("show"), _key_times("drop")
    ours95, bare95 = (quantiles(times, n=20)[18] for times in (ours, bare))
    return [
        Figure("key to paint while streaming, p50", "ms", median(ours), median(bare), 20),
        Figure("key to paint while streaming, p95", "ms", ours95, bare95, 50),
    ]
