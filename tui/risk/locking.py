"""One at a time, across processes and threads: a locked file, which the system unlocks when its holder is gone."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


_PAUSE = 0.005  # seconds


@contextmanager
def locked(file: Path, patience: float = 10.0) -> Iterator[None]:
    """While this is open nobody else has the lock. The file is made where it is missing, and stays. Raises
    TimeoutError after `patience` seconds, and OSError."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + patience
        while True:
            try:
                _lock(descriptor)
                break
            except (BlockingIOError, PermissionError) as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"locked for {patience:g} seconds") from error
                time.sleep(_PAUSE)
        yield
    finally:
        os.close(descriptor)
