"""Temporary folders of runs: removed when the run ends, or later if its process was killed."""

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from tui.model.current_folder import real_path
from tui.model.errors import WorkspaceError
from tui.processes.file_lock import lock_file
from tui.processes.stoppable import run_to_end

_PREFIX, _KEPT_PREFIX = "assay-run-", "assay-kept-"
_LOCK = "owner.lock"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LEVELS = 50
_MARK = b"Assay removes this folder when its run has ended.\n"
"""The content of the lock file. Other programs' folders may have such a name, too."""


@asynccontextmanager
async def temporary_folder(*, keep: bool = False) -> AsyncIterator[Path]:
    """Create a folder that only this user may enter, and remove it at the end unless `keep` is set.

    It is removed in a thread: 200,000 files take some seconds. Raises WorkspaceError if none can be created.
    """
    folder, lock = _make(keep)
    try:
        yield folder
    finally:
        if lock is not None:
            os.close(lock)
            await run_to_end(lambda: remove_folder(folder))


def _make(keep: bool) -> tuple[Path, int | None]:
    """Return the folder, and its lock; a folder that is not removed has none."""
    try:
        folder = Path(real_path(tempfile.mkdtemp(prefix=_KEPT_PREFIX if keep else _PREFIX)))
    except OSError as error:
        what = f"cannot create a temporary folder ({error.strerror})"
        raise WorkspaceError(what, where=_temporary_place(), fix="Free disk space there, or set TMPDIR.") from error
    if keep:
        return folder, None
    try:
        # Renamed to its final name only once it is locked, so that the clean-up never finds it unlocked.
        unlocked = folder / (_LOCK if sys.platform == "win32" else _LOCK + ".new")
        lock = os.open(unlocked, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        lock_file(lock)
        os.write(lock, _MARK)
        unlocked.rename(folder / _LOCK)
    except OSError as error:
        remove_folder(folder)
        raise WorkspaceError(f"cannot use the temporary folder ({error.strerror})", where=str(folder)) from error
    return folder, lock


def _temporary_place() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:  # no folder for temporary files can be written
        return os.environ.get("TMPDIR", "")


def remove_folder(folder: Path) -> None:
    """Remove a folder with everything in it, except what cannot be removed. Follows no link.

    The folders in it are removed before its files: if this is interrupted, the next clean-up still finds the mark.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                _remove_tree(Path(entry.path))
    _remove_tree(folder)


def _remove_tree(folder: Path) -> None:
    _try_to_remove_tree(folder)
    if os.supports_dir_fd >= {os.open, os.rename} and folder.is_dir():
        with contextlib.suppress(OSError):
            _raise_deep_folders(folder)
        _try_to_remove_tree(folder)


def _try_to_remove_tree(folder: Path) -> None:
    with contextlib.suppress(RecursionError):  # by folders below about 1,000 others
        if sys.version_info >= (3, 12):
            shutil.rmtree(folder, onexc=_remove_anyway)
        else:
            shutil.rmtree(folder, onerror=_remove_anyway)


def _raise_deep_folders(folder: Path) -> None:
    """Move the folders far below a folder into it: to remove them takes a descriptor for each level."""
    top = os.open(folder, _FOLDER)
    try:
        waiting = ["."]
        while waiting:
            start = os.open(waiting.pop(), _FOLDER, dir_fd=top)
            try:
                for parent, deep in _folders_at(start, _LEVELS):
                    raised = f".assay-deep-{os.urandom(16).hex()}"
                    os.rename(deep, raised, src_dir_fd=parent, dst_dir_fd=top)
                    waiting.append(raised)
            finally:
                os.close(start)
    finally:
        os.close(top)


def _folders_at(folder: int, level: int) -> Iterator[tuple[int, str]]:
    """Yield the folders at a level below an open folder: the descriptor of the folder that each is in, and its name."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    for name in names:
        if level == 0:
            yield folder, name
            continue
        with contextlib.suppress(OSError):
            inner = os.open(name, _FOLDER, dir_fd=folder)
            try:
                yield from _folders_at(inner, level - 1)
            finally:
                os.close(inner)


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
    """Return whether the folder has our mark and its process has ended, which released its lock."""
    try:
        if not _is_own(folder.lstat(), stat.S_IFDIR):
            return False
        lock = os.open(folder / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        lock_file(lock)
        return _is_own(os.fstat(lock), stat.S_IFREG) and os.read(lock, len(_MARK) + 1) == _MARK
    except OSError:
        return False
    finally:
        os.close(lock)


def _is_own(facts: os.stat_result, kind: int) -> bool:
    return stat.S_IFMT(facts.st_mode) == kind and (not hasattr(os, "getuid") or facts.st_uid == os.getuid())
