"""The cost of opening a large saved run: alone, and in the app from the list of runs to its first answers."""

import os
import signal
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.benchmarks.processes import ROOT, cpu_of, python
from tests.benchmarks.registry import Figure, benchmark
from tests.support.histories import run_history
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tests.support.terminal import Terminal
from tui.model.errors import ConfigError
from tui.model.subjects import Subject
from tui.store.sqlite import SqliteStore

SIZE = (160, 45)
ROUNDS = 5
CASES, MODELS = 10_000, tuple(f"provider/model-{number}" for number in range(4))
ANSWER = "Bind a parameter, zanzibar."
SUITE = """
name: another
description: What is open at first.
models: [local/smollm2-135m]
testCases:
- {id: one, name: first of another, category: A, prompt: p, expectedBehavior: e, expectedPatterns: [x],
   testType: explanation}
"""


def _resolve(names: object) -> tuple[Subject, ...]:
    raise ConfigError(f"nobody is asked here: {names}")


def keep_large_run(folder: Path) -> str:
    """A run of 10,000 cases on four models; gives its id."""
    cases = [make_case(f"case-{number}", category=f"Category {number * 20 // CASES}") for number in range(CASES)]
    plan = make_plan(cases, MODELS, path=str(folder / "large.yaml"))
    store = SqliteStore(folder / "data" / "runs.sqlite")
    store.begin_run(plan, STARTED)
    for at in range(0, len(plan.trials), 2_000):
        store.save_trials(plan.run_id, [make_result(key, response=ANSWER) for key in plan.trials[at : at + 2_000]])
    store.finish_run(plan.run_id, "finished", STARTED)
    store.close()
    return plan.run_id


def _open_alone(folder: Path, run_id: str) -> tuple[float, float]:
    """CPU milliseconds until there is something to look at, and until every outcome is known; in this process."""
    store = SqliteStore(folder / "data" / "runs.sqlite")
    history = run_history(store, folder / "data", _resolve)
    before = time.process_time()
    history.open_run(run_id)
    opened = time.process_time()
    history.read_progress(run_id)
    known = time.process_time()
    store.close()
    return (opened - before) * 1000, (known - before) * 1000


def _open_in_app(folder: Path) -> tuple[float, float]:
    """From the key to the first answers as they come out of the terminal: CPU milliseconds, milliseconds."""
    environ = {f"ASSAY_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
    with Terminal(python("-m", "tui", folder / "suites"), size=SIZE, cwd=ROOT, env=environ) as terminal:
        terminal.wait_for("first of another", within=30)
        terminal.press("H")
        terminal.wait_for("Sample suite", within=30)
        terminal.wait_for("temperature 0", within=30)
        since, used, pressed = len(terminal.raw), cpu_of(terminal.pid), time.monotonic()
        terminal.press("enter")
        seen = terminal.wait_for_bytes(b"zanzibar", since, within=30)
        os.kill(terminal.pid, signal.SIGSTOP)  # what it does after does not count
        used = cpu_of(terminal.pid) - used
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for("✓✓✓✓ Case case-9", within=30)
        return used * 1000, (seen - pressed) * 1000


@benchmark("kept-run")
def measure_kept_run() -> list[Figure]:
    """40,000 results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "suites").mkdir()
        (folder / "suites" / "another.yaml").write_text(SUITE)
        run_id = keep_large_run(folder)
        alone = [_open_alone(folder, run_id) for _ in range(ROUNDS)]
        shown = [_open_in_app(folder) for _ in range(ROUNDS)]
    opened, known = (median(each) for each in zip(*alone, strict=True))
    used, waited = (median(each) for each in zip(*shown, strict=True))
    return [
        Figure("kept run of 40,000 results: opened", "CPU ms", opened),
        Figure("kept run of 40,000 results: every outcome known", "CPU ms", known),
        Figure("kept run of 40,000 results: from the key to its answers", "CPU ms", used, None, 200),
        Figure("kept run of 40,000 results: from the key to its answers", "ms", waited),
    ]
