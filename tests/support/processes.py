"""Which processes are there, and waiting until they are not."""

import os
import shutil
import time
from collections.abc import Callable

import psutil
import pytest


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Blocks until the condition holds; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)


def running(marker: str) -> list[int]:
    """The processes that have `marker` in their command line or environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() == psutil.STATUS_ZOMBIE or process.pid == psutil.Process().pid:
                continue
            if any(marker in word for word in process.cmdline()) or marker in process.environ().values():
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, also if nobody has waited for it yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def is_computing(pid: int) -> bool:
    """Return whether a process has used more of the processor than its start takes."""
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system > 0.2


def dropped_capabilities() -> list[str]:
    """Return the words before a command that take the capabilities of root away, by which root reads everything."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv to drop the capabilities of root")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
