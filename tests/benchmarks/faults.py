"""The memory of a headless run in which every trial meets a fault."""

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.headless import Cost
from tests.benchmarks.processes import ROOT, python
from tests.benchmarks.registry import Figure, benchmark

TRIALS, AT_ONCE = 948, 8
# Cases end in timed_out instead of waiting for every retry: that takes minutes.
TIMEOUT_MS = 8_000
MOST_MB = 300
KINDS = {"chat": "openai", "responses": "openai, api: responses", "messages": "anthropic"}


@contextmanager
def _server() -> Iterator[tuple[int, int]]:
    """Start the server of faults; gives its port and the number of its modes."""
    command = [sys.executable, "-m", "tests.benchmarks.faulty_server_app"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            port, modes = map(int, process.stdout.readline().split())
            yield port, modes
        finally:
            process.kill()


def _command(home: Path, port: int, modes: Sequence[int]) -> list[str | Path]:
    """Return a run in which the cases meet these modes, in all three protocols."""
    (home / "ASSAY_CONFIG_DIR").mkdir()
    providers = "".join(
        f"  {name}: {{kind: {kind}, base_url: 'http://127.0.0.1:{port}/{name}', api_key: '${{OPENAI_API_KEY}}'}}\n"
        for name, kind in KINDS.items()
    )
    (home / "ASSAY_CONFIG_DIR" / "config.yaml").write_text(f"providers:\n{providers}")
    cases = [
        {"id": f"c{at}", "name": f"case {at}", "prompt": f"mode {mode}", "expectedPatterns": ["well"]}
        for at, mode in enumerate(modes)
    ]
    models = [f"{name}/mock" for name in KINDS]
    suite = {
        "name": "Faults",
        "description": "d",
        "models": models,
        "options": {"parallelModels": True},
        "testCases": [{**case, "category": "F"} for case in cases],
    }
    (home / "faults.json").write_text(json.dumps(suite))
    flags = ("--delay", "0", "--concurrency", str(AT_ONCE), "--timeout", str(TIMEOUT_MS), "--stream")
    return python("-m", "tui", "run", home / "faults.json", *flags, "-f", "json", "-o", home / "report.json")


@benchmark("faults")
def measure_faults() -> list[Figure]:
    """The faults of `tests/faults` in all three protocols, streamed."""
    number = TRIALS // len(KINDS)
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as other, _server() as (port, modes):
        home, large = Path(name), Path(other)
        cost = Cost.of(_command(home, port, [at * modes // number for at in range(number)]), home, expected=1)
        results = json.loads((home / "report.json").read_text())["results"]
        largest = Cost.of(_command(large, port, [modes]), large, expected=1)
    verdicts = Counter(result["verdict"] for result in results)
    assert len(results) == TRIALS
    return [
        Figure(f"memory at {TRIALS} faulty trials", "MB", cost.memory_mb, None, MOST_MB),
        Figure("memory at three answers of 16 MiB at once, with a report of 48 MB", "MB", largest.memory_mb),
        Figure(f"CPU of {TRIALS} faulty trials", "CPU s", cost.cpu),
        *(Figure(f"faulty trials: {verdict}", "trials", count) for verdict, count in verdicts.most_common()),
    ]
