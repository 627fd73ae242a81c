"""Detection of live runs: each process locks a file, which the system unlocks when the process ends.

A process id would seem alive when it is reused, and is meaningless in another container.
"""

import contextlib
import os
import uuid
from pathlib import Path

from tui.processes.file_lock import lock_file


def owners_folder(history: Path) -> Path:
    """Return the folder of the lock files."""
    return history.with_name(f"{history.name}.owners")


class Owner:
    """This process as an owner of runs. `token` identifies it in the history."""

    def __init__(self, history: Path) -> None:
        self.token = uuid.uuid4().hex
        self._path = owners_folder(history) / self.token
        self._descriptor: int | None = None

    def claim(self) -> None:
        """Lock the owner's file, so that other processes see it as alive. Raises OSError."""
        if self._descriptor is not None:
            return
        self._path.parent.mkdir(mode=0o700, exist_ok=True)
        while self._descriptor is None:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            # Whoever looks whether the owner is alive holds a shared lock for microseconds.
            with contextlib.suppress(OSError):
                lock_file(descriptor, wait=True)
            # Another process may have removed the file before it was locked.
            if _is_at(self._path, descriptor):
                self._descriptor = descriptor
            else:
                os.close(descriptor)

    def release(self) -> None:
        """Unlock and remove the owner's file."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = None


def is_alive(history: Path, token: str | None) -> bool:
    """Return whether the owner with this token is alive."""
    return bool(token) and not _is_gone(owners_folder(history) / str(token), sweep=False)


def sweep_owners(history: Path) -> None:
    """Remove the files of owners that have ended."""
    with contextlib.suppress(OSError):
        for path in owners_folder(history).iterdir():
            _is_gone(path, sweep=True)


def _is_gone(path: Path, *, sweep: bool) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        lock_file(descriptor, shared=True)
        if sweep:
            # Under the lock, so that a new owner that is just starting sees the removal and creates its file again.
            with contextlib.suppress(OSError):
                path.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False
