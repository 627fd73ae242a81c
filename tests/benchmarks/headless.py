"""What `assay run` costs: CPU a test, stored and checked, beside a bare client; wall time beside it; memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.processes import ROOT, python
from tests.benchmarks.provider_cost import server
from tests.benchmarks.registry import Figure, benchmark

FEW, MANY, AT_ONCE, LATENCY_MS = 20, 1000, 20, 200


@benchmark("headless")
def measure_headless() -> list[Figure]:
    """1,000 cases with one check each, 20 at once, against a server that takes 200 ms; what few cases cost is the
    start, and does not count."""
    with server(("--latency-ms", str(LATENCY_MS))) as url, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        few, many = (Cost.of(_assay(home, url, count), home) for count in (FEW, MANY))
        bare_few, bare_many = (Cost.of(_bare(url, count), home) for count in (FEW, MANY))
    rounds_of_few = FEW * LATENCY_MS / AT_ONCE / 1000
    return [
        Figure(
            "a headless test, stored and checked, beside a bare client",
            "CPU ms",
            (many.cpu - few.cpu) / (MANY - FEW) * 1000,
            (bare_many.cpu - bare_few.cpu) / (MANY - FEW) * 1000,
            # 0.6 ms beside the 0.23 ms of the bare client, where both were measured.
            0.6 / 0.23,
            "ratio",
        ),
        Figure(
            "1,000 tests at 200 ms, 20 at once, beside a bare client",
            "wall s",
            many.wall - few.wall + rounds_of_few,
            # The ideal is 10 s; how far a client stays behind it depends on the machine.
            bare_many.wall - bare_few.wall + rounds_of_few,
            1.04,
            "ratio",
        ),
        Figure("memory at 1,000 tests", "MB", many.memory_mb, None, 80),
        Figure("memory a test more", "KB", (many.memory_mb - few.memory_mb) * 1000 / (MANY - FEW)),
    ]


class Cost:
    """What a command used: CPU and wall seconds, and the most memory."""

    def __init__(self, cpu: float, wall: float, memory_mb: float) -> None:
        self.cpu, self.wall, self.memory_mb = cpu, wall, memory_mb

    @classmethod
    def of(cls, command: list[str | Path], home: Path, expected: int = 0) -> "Cost":
        """Run it to its end, which has this exit code, in a process between, so that the greatest memory is its own."""
        folders = {name: str(home / name) for name in ("ASSAY_CONFIG_DIR", "ASSAY_DATA_DIR", "ASSAY_CACHE_DIR")}
        between = f"import resource, subprocess, sys; assert subprocess.call(sys.argv[1:], stderr=-3) == {expected};"
        between += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", between, *map(str, command)],
            check=True,
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, **folders, "OPENAI_API_KEY": "benchmark-key"},
        )
        wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return cls(cpu, wall, int(done.stdout.split()[-1]) / 1024)


def _assay(home: Path, url: str, count: int) -> list[str | Path]:
    case = {"category": "G", "expectedPatterns": ["quick brown fox"]}
    cases = [{"id": f"c{n}", "name": f"case {n}", "prompt": f"question {n}", **case} for n in range(count)]
    suite = {"name": "S", "description": "d", "models": ["openai/mock-a"], "testCases": cases}
    path = home / f"{count}.json"
    path.write_text(json.dumps(suite))
    (home / "ASSAY_CONFIG_DIR").mkdir(exist_ok=True)
    config = f"providers:\n  openai: {{kind: openai, base_url: '{url}', api_key: '${{OPENAI_API_KEY}}'}}\n"
    (home / "ASSAY_CONFIG_DIR" / "config.yaml").write_text(config)
    flags = ("--delay", "0", "--concurrency", str(AT_ONCE), "-f", "json", "-o", home / f"{count}.report.json")
    return python("-m", "tui", "run", path, *flags)


def _bare(url: str, count: int) -> list[str | Path]:
    return python("-m", "tests.benchmarks.bare_client", url, str(count))
