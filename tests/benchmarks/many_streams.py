"""How long a key waits while 100 answers stream into the app: the longest stall from a key to its paint."""

import random
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.processes import cpu_of
from tests.benchmarks.provider_cost import server
from tests.benchmarks.registry import Figure, benchmark
from tests.benchmarks.soak import app_on_server, suite_of, wait_for_requests
from tests.support.terminal import Terminal

MODELS = tuple(f"openai/mock-{number}" for number in range(4))
CASES = 25
STREAMS = CASES * len(MODELS)
AT_ONCE = 4  # what a model answers at once until the person raises it
TYPED = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ"
"""Letters that are on the screen only once they have been typed; the names of the cases have the small ones."""
ROUNDS = 4
ANSWER = "The quick brown fox jumps over the lazy dog. " * 600
SERVER = ("--pieces", "3000", "--piece-delay-ms", "50", "--answer", ANSWER)
MOST_MS = 100


def _type(terminal: Terminal) -> tuple[list[float], list[float]]:
    """Return the milliseconds from each key to its paint, and the CPU milliseconds of the app meanwhile, sorted."""
    pause = random.Random(4711)
    waited, used = [], []
    for _ in range(ROUNDS):
        terminal.press("/")
        terminal.wait_for("status:fail")  # the example in the empty filter
        for letter in TYPED:
            time.sleep(pause.uniform(0.05, 0.2))
            begin, cpu, sent = len(terminal.raw), cpu_of(terminal.pid), time.monotonic()
            terminal.send(letter)
            waited.append((terminal.wait_for_bytes(letter.encode(), begin) - sent) * 1000)
            used.append((cpu_of(terminal.pid) - cpu) * 1000)
        terminal.press("escape")
        terminal.wait_for("/ filter ─")
    return sorted(waited), sorted(used)


@benchmark("many-streams")
def measure_many_streams() -> list[Figure]:
    """Typing into the filter beside the same while nothing runs; the machine's other work is in the times too."""
    with tempfile.TemporaryDirectory() as name, server(SERVER) as url:
        suite = suite_of(CASES, MODELS, f" {TYPED.lower()}")
        with app_on_server("tui", url, Path(name), suite) as terminal:
            bare, bare_cpu = _type(terminal)
            terminal.press("R")
            terminal.wait_for("jumps over")
            terminal.press(*">" * (CASES - AT_ONCE))
            terminal.wait_for(f"concurrency {STREAMS}")
            wait_for_requests(url, STREAMS)
            before, began = cpu_of(terminal.pid), time.monotonic()
            ours, ours_cpu = _type(terminal)
            share = (cpu_of(terminal.pid) - before) / (time.monotonic() - began)
            assert f"0/{STREAMS}" in terminal.screen, "all streams last as long as the typing"
    return [
        Figure("key to paint with 100 streams, p50 (none)", "ms", median(ours), median(bare)),
        Figure("key to paint with 100 streams, longest (none)", "ms", ours[-1], bare[-1], MOST_MS),
        Figure("CPU from a key to its paint with 100 streams, most", "CPU ms", ours_cpu[-1], bare_cpu[-1], MOST_MS),
        Figure("CPU of the app with 100 streams", "CPU %", share * 100),
    ]
