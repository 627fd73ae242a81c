"""A tree of a git repository as a source of files: nothing is checked out."""

from collections.abc import Iterator
from typing import TypeGuard

import pygit2

from tui.model.errors import WorkspaceError
from tui.workspace.context.sources import Entry, EntryKind

LINK, TREE = 0o120000, 0o040000
# What pygit2 raises for objects that are missing, of another kind than they should be, or unreadable.
BROKEN = (KeyError, ValueError, OSError, pygit2.GitError)


class TreeSource:
    """A folder of one commit. `outer` are the `.gitignore` files above it, as `outer_ignores` gives them."""

    def __init__(
        self, repository: pygit2.Repository, tree: pygit2.Tree, title: str, outer: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self._repository, self._tree, self._title, self._outer = repository, tree, title, outer

    @property
    def title(self) -> str:
        return self._title

    def entries(self, folder: str) -> Iterator[Entry]:
        found = self._at(folder) if folder else self._tree
        if found is None or not is_tree(found):
            raise WorkspaceError("there is no such folder", where=f"{self._title}/{folder}")
        try:
            for entry in found:
                yield Entry(name_of(entry), kind_of(entry.filemode))
        except BROKEN as error:
            raise WorkspaceError(f"the folder is broken ({error})", where=f"{self._title}/{folder}") from error

    def kind(self, path: str) -> EntryKind | None:
        if not path:
            return "folder"
        found = self._at(path)
        if found is not None:
            return kind_of(found.filemode)
        # A link above makes what lies behind it a link; git itself would not look there either.
        above = path.rpartition("/")[0]
        return "link" if above and self.kind(above) == "link" else None

    def size(self, path: str) -> int:
        found = self._at(path)
        if found is None:
            raise WorkspaceError("there is no such file", where=f"{self._title}/{path}")
        return blob_size(self._repository, found.id)

    def read(self, path: str, limit: int) -> bytes:
        found = self._at(path)
        if found is None or kind_of(found.filemode) != "file":
            raise WorkspaceError("there is no such file", where=f"{self._title}/{path}")
        return read_blob(self._repository, found.id)[:limit]

    def outer_ignores(self) -> tuple[tuple[str, str], ...]:
        return self._outer

    def below(self, folder: str) -> "TreeSource":
        """The source of a folder in this one. Raises WorkspaceError where there is none."""
        if not folder:
            return self
        found = self._at(folder)
        where = f"{self._title}/{folder}"
        if found is None or not is_tree(found):
            raise WorkspaceError("there is no such folder in the repository", where=where)
        parts = folder.split("/")
        outer = [(f"{path}/{folder}", text) for path, text in self._outer]
        for count in range(len(parts)):
            ignore = "/".join([*parts[:count], ".gitignore"])
            if self.kind(ignore) == "file":
                outer.append(("/".join(parts[count:]), self.read(ignore, 1 << 20).decode("utf-8", "replace")))
        return TreeSource(self._repository, found, where, tuple(outer))

    def _at(self, path: str) -> pygit2.Tree | pygit2.Blob | None:
        try:
            return self._tree[path]
        except BROKEN:
            return None


def is_tree(found: pygit2.Object) -> TypeGuard[pygit2.Tree]:
    """Whether an entry of a tree is a folder."""
    return isinstance(found, pygit2.Tree)


def kind_of(mode: int) -> EntryKind:
    """What an entry of a tree is, by its mode."""
    kind = int(mode) & 0o170000  # As an enum it is ten times slower.
    if kind == TREE:
        return "folder"
    if kind == LINK:
        return "link"
    return "file" if kind == 0o100000 else "special"


def name_of(entry: pygit2.Object) -> str:
    """The name of an entry; bytes that are not UTF-8 become lone surrogates, as on disk."""
    return entry.raw_name.decode("utf-8", "surrogateescape") if entry.raw_name else ""


def blob_size(repository: pygit2.Repository, oid: pygit2.Oid) -> int:
    """Bytes of a blob, without unpacking it. Raises WorkspaceError where the object is missing."""
    try:
        return repository.odb.read_header(oid)[1]
    except BROKEN as error:
        raise WorkspaceError(
            f"the repository lacks the object {oid}", fix="Clone it again, or without depth."
        ) from error


def read_blob(repository: pygit2.Repository, oid: pygit2.Oid) -> bytes:
    """The bytes of a blob. Raises WorkspaceError where the object is missing or broken."""
    try:
        return repository.odb.read(oid)[1]
    except BROKEN as error:
        raise WorkspaceError(
            f"the repository lacks the object {oid}", fix="Clone it again, or without depth."
        ) from error
