"""Writes a tree with some files changed: only the folders on their paths are made anew."""

from collections.abc import Sequence
from typing import NamedTuple

import pygit2

from tui.workspace.trees import TREE


class Written(NamedTuple):
    """A blob that goes to a path."""

    path: str
    oid: pygit2.Oid
    mode: int


def write_tree(repository: pygit2.Repository, base: pygit2.Tree | None, files: Sequence[Written]) -> pygit2.Oid:
    """The id of the base's tree with the files put in. Paths have been looked up: none lies below a file. Raises what
    libgit2 raises where a name is not allowed in a tree."""
    builder = repository.TreeBuilder(base) if base is not None else repository.TreeBuilder()
    below: dict[str, list[Written]] = {}
    for file in files:
        folder, slash, rest = file.path.partition("/")
        if slash:
            below.setdefault(folder, []).append(file._replace(path=rest))
        else:
            builder.insert(folder, file.oid, file.mode)
    for folder, inner in below.items():
        builder.insert(folder, write_tree(repository, _folder(base, folder), inner), TREE)
    return builder.write()


def _folder(base: pygit2.Tree | None, name: str) -> pygit2.Tree | None:
    found = base[name] if base is not None and name in base else None
    return found if isinstance(found, pygit2.Tree) else None
