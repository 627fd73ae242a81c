"""The app, with a record of what its process uses: run in a terminal by the soak.

usage: python -m tests.benchmarks.soak_app RESULT PATH
Each line of RESULT is a JSON object: seconds since the start, memory in MB, open files and their names, sockets, tasks
of asyncio, threads.
"""

import asyncio
import json
import os
import sys
import threading
import time
from pathlib import Path

import psutil

from tui.app.app import AssayApp
from tui.app.main import open_session, run_and_close

SAMPLE_SECONDS = 2.0
SOCKET = "socket"


def open_files() -> list[str]:
    """Return what this process has open, such as `/tmp/x`, `pipe` and `socket`; nothing where there is no /proc."""
    names = []
    for number in os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else ():
        try:
            names.append(os.readlink(f"/proc/self/fd/{number}").partition(":[")[0])
        except OSError:  # the list itself
            continue
    return sorted(names)


async def _record(result: Path) -> None:
    process, began = psutil.Process(), time.monotonic()
    with result.open("a") as file:
        while True:
            await asyncio.sleep(SAMPLE_SECONDS)
            names = open_files()
            sample = {
                "seconds": time.monotonic() - began,
                "memory_mb": process.memory_info().rss / 2**20,
                "files": process.num_fds() - names.count(SOCKET),
                "names": names,
                "sockets": names.count(SOCKET),
                "tasks": len(asyncio.all_tasks()),
                "threads": threading.active_count(),
            }
            print(json.dumps(sample), file=file, flush=True)


async def _run(result: Path, path: Path) -> int:
    recording = asyncio.create_task(_record(result))
    try:
        return await run_and_close(AssayApp(open_session, [path]))
    finally:
        recording.cancel()


if __name__ == "__main__":
    sys.exit(asyncio.run(_run(Path(sys.argv[1]), Path(sys.argv[2]))))
