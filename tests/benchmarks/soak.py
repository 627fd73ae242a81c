"""Whether the app leaks: runs one after the other in one process, with other screens opened in between.

`ASSAY_SOAK_MINUTES` is how long it takes (30 minutes by default).
"""

import json
import os
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import linear_regression
from typing import Any

from tests.benchmarks.processes import ROOT, cpu_of, python
from tests.benchmarks.provider_cost import server
from tests.benchmarks.registry import Figure, benchmark
from tests.support.terminal import Terminal

SIZE = (160, 45)
MINUTES = float(os.environ.get("ASSAY_SOAK_MINUTES", "30"))
# The first runs fill caches, import modules and grow the heap.
WARM_UP = 1 / 3
CASES, MODELS = 8, ("openai/mock-a", "openai/mock-b")
SERVER = ("--pieces", "60", "--piece-delay-ms", "20")
PAUSE_SECONDS = 1.0
# What is opened and closed between two runs, in turn.
VISITS = (("m", "escape"), ("H", "escape"), ("down", "up"), ("question_mark", "escape"), ("/", "x", "escape"))
MOST_MB_AN_HOUR = 12
# The event loop starts its worker threads one by one, when it first needs them; a connection to the server, of which
# there is at most one for each request at a time, stays open until it has been idle for a while.
MOST_MORE = {"files": 0, "sockets": 8, "tasks": 0, "threads": 4}

Sample = Mapping[str, Any]


@contextmanager
def app_on_server(module: str, url: str, folder: Path, suite: Mapping[str, object], *extra: Path) -> Iterator[Terminal]:
    """Run a module on a suite whose models are on a server, in a terminal."""
    path = folder / "suites" / "load.json"
    path.parent.mkdir()
    path.write_text(json.dumps(suite))
    environ = {f"ASSAY_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "CACHE")}
    (folder / "config").mkdir()
    config = f"providers:\n  openai: {{kind: openai, base_url: '{url}', api_key: '${{OPENAI_API_KEY}}'}}\n"
    (folder / "config" / "config.yaml").write_text(config)
    environ["OPENAI_API_KEY"] = "benchmark-key"
    with Terminal(python("-m", module, *extra, path), size=SIZE, cwd=ROOT, env=environ) as terminal:
        terminal.wait_for("case 0", within=60)
        yield terminal


def suite_of(cases: int, models: Sequence[str], end_of_name: str = "") -> dict[str, object]:
    """Return a suite in which all models run at once, each with up to four cases."""
    return {
        "name": "load",
        "description": "Many answers",
        "models": models,
        "options": {"parallel": True, "parallelModels": True, "timeoutMs": 300_000},
        "testCases": [
            {
                "id": f"c{number}",
                "name": f"case {number}{end_of_name}",
                "prompt": f"question {number}",
                "category": f"Category {number % 4}",
                "expectedPatterns": ["quick brown fox"],
            }
            for number in range(cases)
        ],
    }


def wait_for_requests(url: str, number: int, within_s: float = 60.0) -> None:
    """Return once the server has got so many requests."""
    deadline = time.monotonic() + within_s
    while True:
        with urllib.request.urlopen(url.removesuffix("/v1") + "/seen", timeout=within_s) as answer:
            if int(json.load(answer)["requests"]) >= number:
                return
        if time.monotonic() > deadline:
            raise TimeoutError(f"the server got fewer than {number} requests")
        time.sleep(0.5)


def _soak(folder: Path) -> tuple[list[Sample], int, float]:
    """Return the samples, the number of runs, and the CPU seconds of the app."""
    result, runs = folder / "result.jsonl", 0
    end = time.monotonic() + MINUTES * 60
    with (
        server(SERVER) as url,
        app_on_server("tests.benchmarks.soak_app", url, folder, suite_of(CASES, MODELS), result) as terminal,
    ):
        while time.monotonic() < end:
            runs += 1
            terminal.press("R")
            wait_for_requests(url, runs * CASES * len(MODELS))
            time.sleep(PAUSE_SECONDS + 1.5)  # until the last answers have ended
            for key in VISITS[runs % len(VISITS)]:
                terminal.press("?" if key == "question_mark" else key)
                time.sleep(PAUSE_SECONDS / 2)
        used = cpu_of(terminal.pid)
    return [json.loads(line) for line in result.read_text().splitlines()], runs, used


def _slope(samples: Sequence[Sample], what: str) -> float:
    """Return the growth an hour."""
    seconds = [sample["seconds"] for sample in samples]
    return linear_regression(seconds, [sample[what] for sample in samples]).slope * 3600


def _least_of(samples: Sequence[Sample], what: str, parts: int = 2) -> list[Sample]:
    """Return the sample with the least value in each part of the time: what is in use while nothing runs."""
    ends = [round(len(samples) * part / parts) for part in range(parts + 1)]
    return [min(samples[begin:end], key=lambda sample: sample[what]) for begin, end in pairwise(ends)]


def _opened(samples: Sequence[Sample]) -> str:
    """Return the names of the files that are open at the end and were not before."""
    first, last = _least_of(samples, "files")
    more: Counter[str] = Counter(last["names"]) - Counter(first["names"])
    return f" ({', '.join(sorted(more.elements()))})" if more else ""


@benchmark("soak", long=True)
def measure_soak() -> list[Figure]:
    """Runs of 16 trials, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        samples, runs, used = _soak(Path(name))
    steady = samples[round(len(samples) * WARM_UP) :]
    grown = {what: last[what] - first[what] for what in MOST_MORE for first, last in [_least_of(steady, what)]}
    names = {"files": _opened(steady)}
    return [
        Figure(f"soak of {MINUTES:g} minutes: runs of {CASES * len(MODELS)} trials", "runs", runs),
        Figure("soak: CPU used", "CPU s", used),
        Figure("soak: memory at the end", "MB", steady[-1]["memory_mb"], steady[0]["memory_mb"]),
        Figure("soak: memory growth after the warm-up", "MB/h", _slope(steady, "memory_mb"), None, MOST_MB_AN_HOUR),
        *(
            Figure(
                f"soak: {what} more at the end than before{names.get(what, '')}",
                what,
                grown[what],
                None,
                MOST_MORE[what],
            )
            for what in grown
        ),
    ]
