"""Starting programs to be measured, and reading what they have used."""

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]


def cpu_of(pid: int) -> float:
    """CPU seconds that a running process has used, all its threads together."""
    tasks = Path(f"/proc/{pid}/task")
    if tasks.is_dir():  # nanoseconds; psutil counts in hundredths of a second
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def cpu_to_run(command: Sequence[str | Path]) -> float:
    """CPU seconds of a command from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*map(str, command)], check=True, capture_output=True, cwd=ROOT, env=dict(os.environ))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def python(*arguments: str | Path) -> list[str | Path]:
    """The command that runs this interpreter."""
    return [sys.executable, *arguments]
