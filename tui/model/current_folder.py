"""Absolute forms of paths, also while the current folder, from which relative ones start, does not exist any more.

The system cannot name a folder that was removed, and the functions of Python that complete a path then raise
FileNotFoundError, instead of naming a file that does not exist. Assay completes paths only here.
"""

import os
from pathlib import Path

_last_known: dict[str, str] = {}


def _current_folder() -> str:
    """Return the current folder, or the path that it had when it was last asked for, if it was removed since."""
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        if not _last_known:
            raise
    else:
        _last_known["folder"] = folder
    return _last_known["folder"]


def absolute_path(path: str | os.PathLike[str]) -> Path:
    """Return the path from the root; `..` and links remain. Raises FileNotFoundError if the current folder
    was removed before any path was completed.
    """
    return Path(path) if os.path.isabs(path) else Path(_current_folder(), path)


def normal_path(path: str | os.PathLike[str]) -> str:
    """Return the path from the root without `..`; links remain. Raises as `absolute_path` does."""
    return os.path.normpath(absolute_path(path))


def real_path(path: str | os.PathLike[str]) -> str:
    """Return the path from the root without `..` and links. Raises ValueError for a NUL character in it."""
    return os.path.realpath(path if os.path.isabs(path) else absolute_path(path))
