"""Locks on files between processes: the system releases a lock when its file is closed or its process ends."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 4.0
"""How long to wait for another program: the app takes no keys meanwhile."""
_PAUSE_S = 0.005

if sys.platform == "win32":
    import msvcrt

    def lock_file(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:  # noqa: ARG001 (not on Windows)
        """Lock an open file until it is closed. Raises OSError where another process holds a lock on it.

        Windows has neither shared locks nor a wait without limit here.
        """
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def lock_file(descriptor: int, *, shared: bool = False, wait: bool = False) -> None:
        """Lock an open file until it is closed. Raises OSError where another process holds a lock on it.

        A `shared` lock excludes only exclusive ones. With `wait`, wait for the other process instead.
        """
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))


@contextmanager
def locked(file: Path, timeout: float = PATIENCE_S) -> Iterator[None]:
    """Hold the lock of a file inside the `with` block; the file is created if it is missing and never deleted.

    Raises TimeoutError if another process holds the lock for longer than `timeout` seconds, and OSError.
    """
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        deadline = time.monotonic() + timeout
        while True:
            try:
                lock_file(descriptor)
                break
            except (BlockingIOError, PermissionError) as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"locked for {timeout:g} seconds") from error
                time.sleep(_PAUSE_S)
        yield
    finally:
        os.close(descriptor)
