"""The protocol of file sources, and its implementation for a folder on disk."""

import os
import stat
from collections.abc import Hashable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import WorkspaceError

MOST_IGNORE_BYTES = 1 << 20
"""The size of a `.gitignore` file; the rules of a larger one are unknown."""

EntryKind = Literal["file", "folder", "link", "special"]


class Entry(NamedTuple):
    """One name in a folder."""

    name: str
    kind: EntryKind


class Source(Protocol):
    """A tree of files.

    Paths are relative to its root, with `/`; `""` is the root. Every method raises WorkspaceError if something cannot
    be read, and none follows a link.
    """

    @property
    def title(self) -> str:
        """The name of the source in error messages."""
        ...

    def entries(self, folder: str) -> Iterator[Entry]:
        """Yield the entries of a folder, in any order."""
        ...

    def kind(self, path: str) -> EntryKind | None:
        """Return the kind of the entry at a path, or None if there is none. A path through a link is a `link`."""
        ...

    def size(self, path: str) -> int:
        """Return the size of a file in bytes."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """Return the bytes of a file; one that is larger than `limit` cannot be read."""
        ...

    def place(self, path: str) -> Hashable:
        """Return what is equal for all paths, in all sources, that name the same file. The file must exist."""
        ...

    def outer_ignores(self) -> tuple[tuple[str, str], ...]:
        """Return the `.gitignore` files above the root: the root's path relative to each, and its text."""
        ...


class FolderSource:
    """A folder on disk."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def title(self) -> str:
        return str(self._root)

    def entries(self, folder: str) -> Iterator[Entry]:
        try:
            with os.scandir(self._root / folder) as found:
                for entry in found:
                    yield Entry(entry.name, _kind_of(entry))
        except OSError as error:
            raise self._cannot("cannot read the folder", folder, error) from error

    def kind(self, path: str) -> EntryKind | None:
        place = self._root
        mode = 0
        for part in path.split("/") if path else ():
            if mode and not stat.S_ISDIR(mode):
                return "link" if stat.S_ISLNK(mode) else None
            place /= part
            try:
                mode = place.lstat().st_mode
            except (FileNotFoundError, NotADirectoryError):
                return None
            except OSError as error:
                raise self._cannot("the file cannot be accessed", path, error) from error
        return _kind_of_mode(mode) if path else "folder"

    def size(self, path: str) -> int:
        try:
            return (self._root / path).lstat().st_size
        except OSError as error:
            raise self._cannot("the file cannot be accessed", path, error) from error

    def read(self, path: str, limit: int) -> bytes:
        # A pipe or a link may have replaced the file since it was listed: neither is opened.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            with open(os.open(self._root / path, flags), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise OSError("not a regular file")
                # Python allocates what is asked for, however small the file is.
                data = file.read(min(limit, found.st_size) + 1)
                if len(data) > limit:
                    raise OSError(f"larger than {limit:,} bytes")
                return data
        except OSError as error:
            raise self._cannot("cannot read the file", path, error) from error

    def place(self, path: str) -> Hashable:
        try:
            found = (self._root / path).lstat()
        except OSError as error:
            raise self._cannot("the file cannot be accessed", path, error) from error
        # Some file systems number no files.
        return (found.st_dev, found.st_ino) if found.st_ino else real_path(self._root / path)

    def outer_ignores(self) -> tuple[tuple[str, str], ...]:
        root = absolute_path(self._root)
        found: list[tuple[str, str]] = []
        for above in islice((root, *root.parents), 33):
            if above != root and (text := _read_text(above / ".gitignore")) is not None:
                found.append((root.relative_to(above).as_posix(), text))
            if os.path.exists(above / ".git"):
                return tuple(found)
        return ()

    def _cannot(self, what: str, path: str, error: OSError) -> WorkspaceError:
        reason = error.strerror or str(error)
        return WorkspaceError(f"{what} ({reason})", where=f"{self.title}/{path}" if path else self.title)


def _kind_of(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink() or (hasattr(entry, "is_junction") and entry.is_junction()):
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "special"


def _kind_of_mode(mode: int) -> EntryKind:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "special"


def _read_text(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            return file.read(MOST_IGNORE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
