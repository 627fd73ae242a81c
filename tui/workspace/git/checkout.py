"""Checkout of a commit into a new folder, for a command that runs in it.

No hook, filter or attribute of the repository is used. Folders and files are created, never opened or followed, and
links come last, so that nothing can be written through one. Import on first use: loads pygit2.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import RepositoryOpenFlag

from tui.model.errors import WorkspaceError
from tui.model.paths import MOST_PARTS, path_fault
from tui.workspace.git.base import BROKEN, Base, blob_size, kind_of, name_of, read_blob, survey_tree

MOST_FILES = 200_000
MOST_BYTES = 2 << 30
_LONGEST_LINK = 4_096
_LARGEST_FILE = 256 << 20


@dataclass(frozen=True, slots=True)
class CheckedOut:
    """The number of files that were written; `left_out` are the other paths, each with its reason."""

    files: int
    left_out: tuple[tuple[str, str], ...] = ()


class _Entry(NamedTuple):
    path: str
    oid: pygit2.Oid
    mode: int


def open_again(base: Base) -> pygit2.Repository:
    """Open another handle on the base's repository, for another thread."""
    return pygit2.Repository(base.repository.path, RepositoryOpenFlag.NO_SEARCH)


def check_out(
    repository: pygit2.Repository, commit: str, folder: Path, is_stopped: Callable[[], bool] = lambda: False
) -> CheckedOut:
    """Write the commit's files into the folder, which must be empty and not in use.

    Blocks until all are written, or `is_stopped` returns True: run it in a thread. Raises WorkspaceError then, and for
    a tree that git would reject, that is too large, or that cannot be written.
    """
    try:
        tree = repository[commit].peel(pygit2.Tree)
    except BROKEN as error:
        raise WorkspaceError(f"the commit {commit[:12]} cannot be read ({error})") from error
    survey = survey_tree(tree)
    if survey.fault is not None:
        raise WorkspaceError(f"git rejects the tree of the repository: it has {survey.fault}")
    if too_many := survey.too_many(MOST_FILES):
        raise WorkspaceError(f"the repository has {too_many}")
    left_out: list[tuple[str, str]] = []
    entries = list(_entries(tree, folder, left_out, is_stopped))
    files = [entry for entry in entries if kind_of(entry.mode) == "file"]
    if sum(blob_size(repository, entry.oid) for entry in files) > MOST_BYTES:
        raise WorkspaceError(f"the files of the repository are larger than {MOST_BYTES >> 30} GiB")
    links = [entry for entry in entries if kind_of(entry.mode) == "link"]
    written = 0
    for entry in (*files, *links):
        _check_stop(is_stopped)
        reason = _write(repository, entry, folder)
        if reason is None:
            written += 1
        else:
            left_out.append((entry.path, reason))
    return CheckedOut(written, tuple(left_out))


def _check_stop(is_stopped: Callable[[], bool]) -> None:
    if is_stopped():
        raise WorkspaceError("the files are no longer needed")


def _entries(
    root: pygit2.Tree, folder: Path, left_out: list[tuple[str, str]], is_stopped: Callable[[], bool]
) -> Iterator[_Entry]:
    """Yield every entry to be written, and create its folders."""
    stack: list[tuple[str, pygit2.Tree]] = [("", root)]
    while stack:
        _check_stop(is_stopped)
        above, tree = stack.pop()
        for entry in tree:
            name = name_of(entry)
            path = f"{above}{name}"
            kind = kind_of(entry.filemode)
            if (fault := path_fault(name)) is not None:
                left_out.append((path, f"has a name that is not allowed: it {fault}"))
            elif path.count("/") >= MOST_PARTS:
                left_out.append((path, f"has more than {MOST_PARTS} parts"))
            elif kind == "special":
                left_out.append((path, "is another repository (a submodule)"))
            elif isinstance(entry, pygit2.Tree):
                try:
                    (folder / path).mkdir(mode=0o700)
                except OSError as error:
                    left_out.append((path, f"cannot be created ({error.strerror})"))
                else:
                    stack.append((f"{path}/", entry))
            else:
                yield _Entry(path, entry.id, entry.filemode)


def _write(repository: pygit2.Repository, entry: _Entry, folder: Path) -> str | None:
    """Return why the entry was not written, or None. Raises WorkspaceError if nothing more can be written."""
    try:
        if kind_of(entry.mode) == "file":
            if blob_size(repository, entry.oid) > _LARGEST_FILE:
                return f"is larger than {_LARGEST_FILE:,} bytes"
            return _write_file(read_blob(repository, entry.oid), folder / entry.path, entry.mode)
        return _write_link(repository, entry, folder)
    except FileExistsError:
        return "conflicts with another name on this file system"
    except (OSError, ValueError) as error:
        raise WorkspaceError(f"cannot write the files for the command ({error})") from error


def _write_file(data: bytes, place: Path, mode: int) -> str | None:
    # O_EXCL creates the file or fails: it neither follows a link nor opens what is there.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(place, flags, 0o700 if mode & 0o100 else 0o600), "wb") as file:
        file.write(data)
    return None


def _write_link(repository: pygit2.Repository, entry: _Entry, folder: Path) -> str | None:
    if blob_size(repository, entry.oid) > _LONGEST_LINK:
        return "is a symbolic link with a target that is too long"
    target = os.fsdecode(read_blob(repository, entry.oid))
    if not stays_inside(entry.path, target):
        return "is a symbolic link that points, or could point, outside the repository"
    os.symlink(target, folder / entry.path)
    return None


def stays_inside(path: str, target: str) -> bool:
    """Return whether a link can only lead to a path below the root.

    It may go up at its beginning, no further than the root, but not after a name, because that name may be a link to
    elsewhere.
    """
    if not target or "\0" in target or "\\" in target or target.startswith(("/", "~")) or target[1:2] == ":":
        return False
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = next((number for number, part in enumerate(parts) if part != ".."), len(parts))
    return ".." not in parts[ups:] and ups <= path.count("/") and ".git" not in (part.lower() for part in parts)
