"""What starting costs: the version beside bare Python, the app's first paint beside a hello app's."""

import os
import signal
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from tests.benchmarks.processes import ROOT, cpu_of, cpu_to_run, python
from tests.benchmarks.registry import Figure, benchmark
from tests.support.terminal import Terminal

SIZE = (200, 50)
ROUNDS = 9


def _cpu_to_paint(command: Sequence[str | Path], shown: bytes) -> float:
    """CPU ms until the text is on the terminal."""
    with tempfile.TemporaryDirectory() as home:
        places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"), home)
        with Terminal(command, size=SIZE, cwd=ROOT, env=places) as terminal:
            terminal.wait_for_bytes(shown, within=30)
            os.kill(terminal.pid, signal.SIGSTOP)  # what it does after its first paint does not count
            return cpu_of(terminal.pid) * 1000


@benchmark("first-paint")
def measure_first_paint() -> list[Figure]:
    """The app on the bundled suites, until its first screen is displayed."""
    pairs = [
        (
            _cpu_to_paint(python("-m", "tui"), b"Assay"),
            _cpu_to_paint(python("-m", "tests.benchmarks.hello_app"), b"Hello"),
        )
        for _ in range(ROUNDS)
    ]
    ours, bare = (median(times) for times in zip(*pairs, strict=True))
    return [Figure("first paint of `assay`, beside a hello Textual app", "CPU ms", ours, bare, 1.5, "ratio")]


@benchmark("version")
def measure_version() -> list[Figure]:
    """`assay --version`."""
    pairs = [(cpu_to_run(python("-m", "tui", "--version")), cpu_to_run(python("-c", "pass"))) for _ in range(15)]
    ours, bare = (median(times) * 1000 for times in zip(*pairs, strict=True))
    return [Figure("`assay --version`, beside `python -c pass`", "CPU ms", ours, bare, 2, "ratio")]
