"""Temporary folders of runs: removed when the run ends, or later if its process was killed."""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tui.model.errors import WorkspaceError
from tui.processes.file_lock import lock_file

_PREFIX, _KEPT_PREFIX = "assay-run-", "assay-kept-"
_LOCK = "owner.lock"
_YOUNG_S = 3_600.0


@contextmanager
def temporary_folder(*, keep: bool = False) -> Iterator[Path]:
    """Create a folder that only this user may enter, and remove it at the end unless `keep` is set.

    Raises WorkspaceError if none can be created.
    """
    folder, lock = _make(keep)
    try:
        yield folder
    finally:
        if lock is not None:
            os.close(lock)
            remove_folder(folder)


def _make(keep: bool) -> tuple[Path, int | None]:
    """Return the folder, and its lock; a folder that is not removed has none."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=_KEPT_PREFIX if keep else _PREFIX)).resolve()
    except OSError as error:
        what = f"cannot create a temporary folder ({error.strerror})"
        raise WorkspaceError(what, where=tempfile.gettempdir(), fix="Free disk space there, or set TMPDIR.") from error
    if keep:
        return folder, None
    try:
        # Renamed to its final name only once it is locked, so that the clean-up never finds it unlocked.
        unlocked = folder / (_LOCK if sys.platform == "win32" else _LOCK + ".new")
        lock = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        lock_file(lock)
        unlocked.rename(folder / _LOCK)
    except OSError as error:
        remove_folder(folder)
        raise WorkspaceError(f"cannot use the temporary folder ({error.strerror})", where=str(folder)) from error
    return folder, lock


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, except what cannot be removed. Follows no link."""
    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=_remove_anyway)
    else:
        shutil.rmtree(folder, onerror=_remove_anyway)


def _remove_anyway(remove: Callable[[str], object], path: str, _error: object) -> None:
    """Remove an entry of a folder that a command or git made read-only."""
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        if not os.path.islink(path):
            os.chmod(path, 0o700)
        if remove in (os.open, os.scandir, os.lstat):
            shutil.rmtree(path, ignore_errors=True)
        else:
            remove(path)


def sweep_stale() -> int:
    """Remove the folders of this user's killed runs and return their number."""
    swept = 0
    with contextlib.suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and _is_stale(Path(entry.path)):
                remove_folder(Path(entry.path))
                swept += 1
    return swept


def _is_stale(folder: Path) -> bool:
    """Return whether the folder is one of ours whose process has ended, which released its lock."""
    try:
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or (hasattr(os, "getuid") and facts.st_uid != os.getuid()):
            return False
        lock = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        # Either just created and not locked yet, or partly removed long ago.
        return folder.is_dir() and time.time() - facts.st_mtime > _YOUNG_S
    except OSError:
        return False
    try:
        lock_file(lock)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
