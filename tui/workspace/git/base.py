"""The commit that every trial of a run starts from. Import on first use: loads pygit2."""

import struct
import threading
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeGuard

import pygit2

from tui.model.errors import WorkspaceError
from tui.model.sanitize import sanitize_line
from tui.workspace.sources import MOST_IGNORE_BYTES, Entry, EntryKind

LINK, TREE = 0o120000, 0o040000
# What pygit2 raises for objects that are missing, of an unexpected kind, or unreadable.
BROKEN = (KeyError, ValueError, OSError, pygit2.GitError)


class TreeSource:
    """A folder of one commit. `outer` are the `.gitignore` files above it, in the form of `outer_ignores`."""

    def __init__(
        self, repository: pygit2.Repository, tree: pygit2.Tree, title: str, outer: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self._repository, self._tree, self._title, self._outer = repository, tree, title, outer
        self._opened: tuple[str, pygit2.Object] = ("", tree)

    @property
    def title(self) -> str:
        return self._title

    def entries(self, folder: str) -> Iterator[Entry]:
        found = self._at(folder) if folder else self._tree
        if found is None or not is_tree(found):
            raise WorkspaceError("the folder does not exist", where=f"{self._title}/{folder}")
        try:
            for entry in found:
                yield Entry(name_of(entry), kind_of(entry.filemode))
        except BROKEN as error:
            raise WorkspaceError(f"the folder is corrupt ({error})", where=f"{self._title}/{folder}") from error

    def kind(self, path: str) -> EntryKind | None:
        if not path:
            return "folder"
        found = self._at(path)
        if found is not None:
            return kind_of(found.filemode)
        # Below a link, paths count as links; git would not look there either.
        above = path.rpartition("/")[0]
        return "link" if above and self.kind(above) == "link" else None

    def size(self, path: str) -> int:
        found = self._at(path)
        if found is None:
            raise WorkspaceError("the file does not exist", where=f"{self._title}/{path}")
        return blob_size(self._repository, found.id)

    def read(self, path: str, limit: int) -> bytes:
        found = self._at(path)
        if found is None or kind_of(found.filemode) != "file":
            raise WorkspaceError("the file does not exist", where=f"{self._title}/{path}")
        # Before it is unpacked: a repository of a few megabytes may have a file of gigabytes.
        if blob_size(self._repository, found.id) > limit:
            raise WorkspaceError(f"the file is larger than {limit:,} bytes", where=f"{self._title}/{path}")
        return read_blob(self._repository, found.id)

    def place(self, path: str) -> str:
        return f"{self._title}/{path}"

    def outer_ignores(self) -> tuple[tuple[str, str], ...]:
        return self._outer

    def below(self, folder: str) -> "TreeSource":
        """Return the source of a folder in this one. Raises WorkspaceError if it does not exist."""
        if not folder:
            return self
        found = self._at(folder)
        where = f"{self._title}/{folder}"
        if found is None or not is_tree(found):
            raise WorkspaceError("the folder does not exist in the repository", where=where)
        parts = folder.split("/")
        outer = [(f"{path}/{folder}", text) for path, text in self._outer]
        for count in range(len(parts)):
            ignore = "/".join([*parts[:count], ".gitignore"])
            if self.kind(ignore) == "file":
                outer.append(("/".join(parts[count:]), self.read(ignore, MOST_IGNORE_BYTES).decode("utf-8", "replace")))
        return TreeSource(self._repository, found, where, tuple(outer))

    def _at(self, path: str) -> pygit2.Tree | pygit2.Blob | None:
        folder, _, name = path.rpartition("/")
        at, opened = self._opened
        try:
            if at != folder:  # Each object of a folder parses all of it again.
                opened = self._tree[folder] if folder else self._tree
                self._opened = (folder, opened)
            return opened[name] if is_tree(opened) else None
        except BROKEN:
            return None


def is_tree(found: pygit2.Object) -> TypeGuard[pygit2.Tree]:
    """Return whether an entry of a tree is a folder."""
    return isinstance(found, pygit2.Tree)


def kind_of(mode: int) -> EntryKind:
    """Return the kind of a tree entry by its mode."""
    kind = int(mode) & 0o170000  # As an enum it is ten times slower.
    if kind == TREE:
        return "folder"
    if kind == LINK:
        return "link"
    return "file" if kind == 0o100000 else "special"


def name_of(entry: pygit2.Object) -> str:
    """Return the name of an entry; bytes that are not UTF-8 become lone surrogates, as on disk."""
    return entry.raw_name.decode("utf-8", "surrogateescape") if entry.raw_name else ""


def blob_size(repository: pygit2.Repository, oid: pygit2.Oid) -> int:
    """Return the size of a blob in bytes, without unpacking it. Raises WorkspaceError if the object is missing."""
    try:
        return repository.odb.read_header(oid)[1]
    except BROKEN as error:
        raise WorkspaceError(
            f"the repository lacks the object {oid}", fix="Clone the repository again, or without depth."
        ) from error


def read_blob(repository: pygit2.Repository, oid: pygit2.Oid) -> bytes:
    """Return the bytes of a blob. Raises WorkspaceError if the object is missing or broken."""
    try:
        return repository.odb.read(oid)[1]
    except BROKEN as error:
        raise WorkspaceError(
            f"the repository lacks the object {oid}", fix="Clone the repository again, or without depth."
        ) from error


MOST_FILES = 500_000
_MOST_READ = 2_000_000
_SHORTEST_ID = 7


@dataclass(frozen=True, slots=True)
class Base:
    """A commit of a bare repository that only this run writes to.

    `files` is its number of files; `fault` says why git would reject its tree, None if it does not; `id_length` is
    how long git abbreviates ids in it. Threads must hold `lock` while they use it.
    """

    repository: pygit2.Repository
    commit: pygit2.Commit
    tree: pygit2.Tree
    title: str
    files: int
    fault: str | None = None
    id_length: int = _SHORTEST_ID
    lock: threading.RLock = field(default_factory=threading.RLock)

    def source(self) -> TreeSource:
        """Return the files of the commit."""
        return TreeSource(self.repository, self.tree, self.title)

    def short_id(self, oid: pygit2.Oid) -> str:
        """Return an id as short as git would write it: at least `id_length` digits, and unique."""
        text = str(oid)
        for length in range(self.id_length, len(text)):
            try:
                self.repository.expand_id(text[:length])
            except KeyError:
                break  # no such object here, so nothing to confuse it with
            except ValueError:
                continue
            break
        else:
            length = len(text)
        return text[:length]


def open_base(folder: Path, title: str = "the repository") -> Base:
    """Open a repository and return the commit at HEAD.

    Raises WorkspaceError if there is none, or if its tree describes more than MOST_FILES files or folders.
    """
    try:
        # Only its own objects: no user configuration is read, and no folder above is searched.
        repository = pygit2.Repository(str(folder), pygit2.enums.RepositoryOpenFlag.NO_SEARCH)
        commit = repository.head.peel(pygit2.Commit)
        tree = commit.tree
    except BROKEN as error:
        raise WorkspaceError(f"the repository has no commit ({sanitize_line(str(error))})", where=title) from error
    survey = survey_tree(tree)
    if too_many := survey.too_many(MOST_FILES):
        raise WorkspaceError(f"the repository has {too_many}", where=title, fix="Use a smaller repository.")
    return Base(repository, commit, tree, title, survey.files, survey.fault, _id_length(folder))


class Statistics(NamedTuple):
    """The numbers of files and folders that a tree describes, and why git would reject it."""

    files: int
    folders: int
    fault: str | None

    def too_many(self, most: int) -> str:
        """Return the number that exceeds `most` in words; an empty string if none does."""
        numbers = {"files": self.files, "folders": self.folders}
        return next((f"{number:,} {kind}, more than {most:,}" for kind, number in numbers.items() if number > most), "")


def survey_tree(root: pygit2.Tree) -> Statistics:
    """Count a tree without unfolding it: a subtree that occurs a million times is read once.

    Raises WorkspaceError for a repository whose folders cannot be read, or are too many to read.
    """
    counts: dict[pygit2.Oid, tuple[int, int]] = {}
    fault: str | None = None
    read = 0
    stack: list[tuple[pygit2.Tree, list[pygit2.Tree] | None, int]] = [(root, None, 0)]
    while stack:
        tree, folders, files = stack.pop()
        if folders is not None:
            below = [counts[folder.id] for folder in folders]
            counts[tree.id] = files + sum(each[0] for each in below), len(folders) + sum(each[1] for each in below)
            continue
        if tree.id in counts:
            continue
        try:
            folders, files, found = _read_tree(tree)
        except BROKEN as error:
            raise WorkspaceError(f"a folder of the repository is corrupt ({sanitize_line(str(error))})") from error
        fault = fault or found
        read += files + len(folders)
        if read > _MOST_READ:
            raise WorkspaceError(f"the repository has more than {_MOST_READ:,} names in its folders")
        stack.append((tree, folders, files))
        stack.extend((folder, None, 0) for folder in folders)
    return Statistics(*counts[root.id], fault)


def _read_tree(tree: pygit2.Tree) -> tuple[list[pygit2.Tree], int, str | None]:
    """Return the subfolders of a tree, the number of its other entries, and why git would reject it."""
    folders: list[pygit2.Tree] = []
    files, names = 0, set()
    fault = None
    for entry in tree:
        name = name_of(entry)
        fault = fault or _objection(name, entry.filemode) or ("the same name twice" if name in names else None)
        names.add(name)
        if isinstance(entry, pygit2.Tree):
            folders.append(entry)
        elif kind_of(entry.filemode) == "folder":
            raise ValueError("a folder entry that is not a tree")
        else:
            files += 1
    return folders, files, fault


def _objection(name: str, mode: int) -> str | None:
    """Return why git would not check this entry out, or None."""
    if name in ("", ".", ".."):
        return f"an entry named `{name}`"
    if "/" in name:
        return f"an entry with a slash in its name (`{sanitize_line(name, 80)}`)"
    if not name.isascii():
        name = "".join(part for part in unicodedata.normalize("NFKC", name) if unicodedata.category(part) != "Cf")
    folded = name.casefold()
    for bare in _ntfs_names(folded):
        if bare in (".git", "git~1", "..", "."):
            return f"an entry that is or looks like `.git` (`{sanitize_line(name, 80)}`)"
    if kind_of(mode) == "link" and folded.rstrip(". ") == ".gitmodules":
        return "a link named `.gitmodules`"
    return None


def _ntfs_names(folded: str) -> Iterator[str]:
    for part in folded.split("\\"):
        yield part.partition(":")[0].rstrip(". ") or part


def _id_length(folder: Path) -> int:
    """Return how many hex digits git gives an abbreviated id: it grows with the number of packed objects."""
    packed = sum(_packed(index) for index in (folder / "objects" / "pack").glob("*.idx"))
    return max(_SHORTEST_ID, (packed.bit_length() + 1) // 2)


def _packed(index: Path) -> int:
    """Return a pack's number of objects from its index (version 2: a header of 8 bytes, then 256 running counts)."""
    try:
        with index.open("rb") as file:
            head = file.read(8 + 4 * 256)
    except OSError:
        return 0
    return int(struct.unpack(">I", head[-4:])[0]) if head[:4] == b"\xfftOc" and len(head) == 1032 else 0
