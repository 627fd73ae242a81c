"""What the matrix of a large suite costs: to mount, to sort and filter, and for each cell that changes."""

import json
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.processes import ROOT, python
from tests.benchmarks.registry import Figure, benchmark
from tests.support.terminal import Terminal

SIZE = (160, 45)
ROUNDS = 5
CASES = 10_000
STEPS = (
    ("e", "first"),
    ("c", "closed 1"),
    ("e", "empty"),
    ("c", "closed 2"),
    ("x", "show"),
    ("y", "order"),
    ("0", "idle"),
    ("1", "update"),
)


def _measure() -> dict[str, float]:
    """CPU milliseconds of each step."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = python("-m", "tests.benchmarks.matrix_app", str(CASES), result)
        with Terminal(command, size=SIZE, cwd=ROOT) as terminal:
            terminal.wait_for("ready", within=60)
            for key, name in STEPS:
                terminal.press(key)
                _wait_for(name, result)
        return dict(json.loads(result.read_text()))


def _wait_for(name: str, result: Path, within: float = 60) -> None:
    deadline = time.monotonic() + within
    while not result.exists() or f'"{name}"' not in result.read_text():
        if time.monotonic() > deadline:
            raise TimeoutError(name)
        time.sleep(0.05)


@benchmark("matrix")
def measure_matrix() -> list[Figure]:
    """10,000 cases × 4 models."""
    rounds = [_measure() for _ in range(ROUNDS)]
    cost = {name: median(one[name] for one in rounds) for name in rounds[0]}
    return [
        Figure("matrix of 10,000 × 4: to its first paint (empty screen)", "CPU ms", cost["show"], cost["empty"]),
        Figure("matrix of 10,000 × 4: beyond an empty screen", "CPU ms", cost["show"] - cost["empty"], None, 20),
        Figure("matrix of 10,000 × 4: the slowest order or filter", "CPU ms", cost["order"], None, 100),
        Figure("matrix of 10,000 × 4: a cell update", "CPU ms", cost["update"] - cost["idle"], None, 0.1),
    ]
