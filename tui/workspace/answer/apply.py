"""Application of an answer to a repository, in memory, on a branch of its own. Import on first use: loads pygit2."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import pygit2

from tui.model.diffs import Hunk
from tui.model.errors import WorkspaceError
from tui.model.paths import folded_path, written_path_fault
from tui.model.results import Change, NotApplied, TrialKey
from tui.model.suite import Case
from tui.workspace.answer.blocks import MOST_BLOCKS, MOST_LINES, Block, find_blocks, has_too_many_lines
from tui.workspace.answer.choose import choose_blocks, refuse
from tui.workspace.git.base import BROKEN, TREE, Base, blob_size, kind_of, read_blob
from tui.workspace.git.diff import diff_body
from tui.workspace.git.patch import write_header

_MARK = b"\xef\xbb\xbf"
_END = re.compile(rb"\r\n|\n|\r")


def shape_text(text: str, old: bytes | None) -> bytes:
    """Return the bytes of a file whose new content is `text` (LF line ends).

    A new file ends with a newline; an existing one keeps its line ends, and whether its last line had one. Raises
    UnicodeEncodeError for lone surrogates.
    """
    data = text.encode()
    if data and not data.endswith(b"\n"):
        data += b"\n"
    if not old:
        return data
    if old.startswith(_MARK) and not data.startswith(_MARK):
        data = _MARK + data
    if not old.endswith((b"\n", b"\r")):
        data = data.removesuffix(b"\n")
    ends = Counter(cast("list[bytes]", _END.findall(old)))
    if not ends or set(ends) == {b"\n"}:
        return data
    usual = ends.most_common(1)[0][0]
    return data.replace(b"\n", usual) if len(ends) == 1 else _with_mixed_ends(data, old, usual)


def _with_mixed_ends(data: bytes, old: bytes, usual: bytes) -> bytes:
    """Return the data with the old line end on each unchanged line and the usual one on the others."""
    from tui.workspace.git.diff import diff_texts

    plain = _END.sub(b"\n", old)
    had = cast("list[bytes]", _END.findall(old))
    lines = data.split(b"\n")
    came_from = dict(_unchanged(diff_texts(plain, data, 0).hunks, len(lines)))
    ends = (had[at] if (at := came_from.get(number, -1)) in range(len(had)) else usual for number in range(len(lines)))
    return b"".join(part for pair in zip(lines[:-1], ends, strict=False) for part in pair) + lines[-1]


def _unchanged(hunks: Iterable[Hunk], count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of a new line and the same old line, both counted from 0; `hunks` have no context."""
    new, shift = 0, 0
    for hunk in hunks:
        start = hunk.new_start - (1 if hunk.new_count else 0)
        yield from ((line, line + shift) for line in range(new, start))
        new = start + hunk.new_count
        shift += hunk.old_count - hunk.new_count
    yield from ((line, line + shift) for line in range(new, count))


class Written(NamedTuple):
    """A blob to be written to a path."""

    path: str
    oid: pygit2.Oid
    mode: int


def write_tree(repository: pygit2.Repository, base: pygit2.Tree | None, files: Sequence[Written]) -> pygit2.Oid:
    """Return the id of the base's tree with these files added or replaced.

    The paths have been validated: none lies below a file. Raises libgit2's error if a name is not allowed in a tree.
    """
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


_FILE = 0o100644
_SIGNATURE = ("Assay", "assay@localhost")
_LOOKS_BINARY = 8_000
_MOST_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Applied:
    """The changes of an answer. `branch` and `commit` are None if nothing changed or no trial was given."""

    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()
    branch: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class _Edit:
    block: Block
    path: str
    old: bytes | None
    new: bytes
    old_id: pygit2.Oid | None
    mode: int


@dataclass(slots=True)
class _Name:
    """A name in the tree of files that an answer writes. `inside` is by names as `folded_path` returns them."""

    spelling: str
    is_file: bool = False
    inside: "dict[str, _Name]" = field(default_factory=dict)


class _WrittenPaths:
    """The paths of the files that an answer writes. The cost of a path does not depend on the number of paths."""

    def __init__(self) -> None:
        self._root = _Name("")

    def fault(self, path: str) -> str | None:
        """Return why the file cannot be written beside the others, or None if it can."""
        here, parts = self._root, path.split("/")
        for number, part in enumerate(parts, 1):
            found = here.inside.get(folded_path(part))
            if found is None:
                return None
            if found.spelling != part:
                same = "/".join([*parts[: number - 1], found.spelling])
                return f"differs only in case from {same}, which the same answer writes"
            if found.is_file and number < len(parts):
                return "is inside a path that the same answer writes as a file"
            here = found
        return None

    def add(self, path: str) -> None:
        """Add a path without a fault."""
        here = self._root
        for part in path.split("/"):
            here = here.inside.setdefault(folded_path(part), _Name(part))
        here.is_file = True


@dataclass
class _Folders:
    """The folders of the base's tree, and the names in them as `folded_path` returns them; each is read once."""

    opened: dict[pygit2.Oid, pygit2.Tree] = field(default_factory=dict)
    known: dict[pygit2.Oid, dict[str, str]] = field(default_factory=dict)

    def open(self, tree: pygit2.Tree) -> pygit2.Tree:
        """Return the folder; the same object for the same folder, because each object parses the folder again."""
        return self.opened.setdefault(tree.id, tree)

    def twin_of(self, name: str, tree: pygit2.Tree) -> str | None:
        """Return the name in a folder that a file system without case takes for a new one, or None."""
        if tree.id not in self.known:
            # The first of several such names: reversed, because the last one remains in the dict.
            names = [entry.name for entry in tree if entry.name]
            self.known[tree.id] = {folded_path(each): each for each in reversed(names)}
        return self.known[tree.id].get(folded_path(name))


@dataclass
class _OldFiles:
    """The files that an answer replaces, which are limited together."""

    size: int = 0
    lines: int = 0

    def read(self, repository: pygit2.Repository, oid: pygit2.Oid) -> bytes | str:
        """Return a file, or why it is not replaced."""
        if (size := self.size + blob_size(repository, oid)) > _MOST_BYTES:
            return f"the files that the answer replaces are larger than {_MOST_BYTES:,} bytes together"
        self.size = size
        old = read_blob(repository, oid)
        if (lines := self.lines + max(old.count(b"\n"), old.count(b"\r"))) > MOST_LINES:
            return f"the files that the answer replaces have more than {MOST_LINES:,} lines together"
        self.lines = lines
        return old


def apply_answer(base: Base, case: Case, answer: str, trial: TrialKey | None = None) -> Applied:
    """Return the changes that an answer's blocks make to the base, and every unused block with the reason.

    With a `trial` the changes are committed to that trial's branch and replace its content. A case without
    `applyChanges` changes nothing. Raises WorkspaceError for a repository with an invalid tree. Takes milliseconds,
    whatever the repository's size, and about a second at the limits of the answer and of the files that it replaces.
    """
    if not case.apply_changes:
        return Applied()
    if base.fault is not None:
        raise WorkspaceError(f"git rejects the tree of the repository: it has {base.fault}", where=base.title)
    with base.lock:
        blocks = find_blocks(answer)
        chosen = choose_blocks(blocks, case.target_file)
        edits: list[_Edit] = []
        paths, folders, old_files = _WrittenPaths(), _Folders(), _OldFiles()
        refused = chosen.refused
        for path, taken in sorted(chosen.files.items()):
            made = paths.fault(path) or _edit(base, path, taken, folders, old_files)
            if isinstance(made, _Edit):
                edits.append(made)
                paths.add(path)
            else:
                refused.append(refuse(taken, path, made))
        if len(blocks) == MOST_BLOCKS:
            reason = f"the answer has more than {MOST_BLOCKS:,} code blocks; further blocks were ignored"
            refused.append(NotApplied(MOST_BLOCKS, None, None, reason))
        if has_too_many_lines(answer):
            reason = f"the answer has more than {MOST_LINES:,} lines; its code blocks were ignored"
            refused.append(NotApplied(0, None, None, reason))
        refused.sort(key=lambda one: one.block)
        return _committed(base, edits, tuple(refused), trial)


def _edit(base: Base, path: str, block: Block, folders: _Folders, old_files: _OldFiles) -> _Edit | str:
    """Return the change that the block makes to the file, or why it cannot be applied."""
    if (fault := written_path_fault(path)) is not None:
        return f"the path is not allowed: it {fault}"
    found = _look_up(base, path, folders)
    if isinstance(found, str):
        return found
    old = old_files.read(base.repository, found.id) if found is not None else None
    if isinstance(old, str):
        return old
    if old is not None and b"\0" in old[:_LOOKS_BINARY]:
        return "the file in the repository is binary"
    try:
        new = shape_text(block.text, old)
    except UnicodeEncodeError:
        return "has characters that cannot be written as UTF-8"
    if b"\0" in new:
        return "has a NUL character, which is not allowed in a text file"
    if new == old:
        return "is equal to the file"
    return _Edit(block, path, old, new, found.id if found else None, found.filemode if found else _FILE)


def _look_up(base: Base, path: str, folders: _Folders) -> pygit2.Blob | str | None:
    """Return the file at a path, None if it can be created, or why it cannot be written."""
    tree = base.tree
    parts = path.split("/")
    for number, part in enumerate(parts):
        try:
            entry = tree[part]
        except BROKEN:
            twin = folders.twin_of(part, tree)
            return None if twin is None else f"differs only in case from {twin} in the repository"
        kind = kind_of(entry.filemode)
        here = "/".join(parts[: number + 1])
        if kind == "link":
            return f"{here} is a symbolic link in the repository; Assay does not write to or through links"
        if kind == "special":
            return f"{here} is another repository (a submodule)"
        if number == len(parts) - 1:
            return entry if isinstance(entry, pygit2.Blob) else f"{here} is a folder in the repository"
        if not isinstance(entry, pygit2.Tree):
            return f"{here} is a file in the repository, not a folder"
        tree = folders.open(entry)
    return None


def _committed(base: Base, edits: list[_Edit], refused: tuple[NotApplied, ...], trial: TrialKey | None) -> Applied:
    try:
        written = [Written(edit.path, base.repository.create_blob(edit.new), edit.mode) for edit in edits]
        changes = tuple(_change(base, edit, one.oid) for edit, one in zip(edits, written, strict=True))
        if trial is None:
            return Applied(changes, refused)
        branch = branch_name(trial)
        if not edits:
            if branch in base.repository.branches.local:
                base.repository.branches.local.delete(branch)
            return Applied((), refused)
        tree = write_tree(base.repository, base.tree, written)
        commit = _commit(base, tree, branch, trial)
    except BROKEN as error:
        raise WorkspaceError(f"cannot write the change to the clone ({error})", where=base.title) from error
    return Applied(changes, refused, branch, commit)


def _commit(base: Base, tree: pygit2.Oid, branch: str, trial: TrialKey) -> str:
    author = pygit2.Signature(*_SIGNATURE)
    text = f"{trial.case}: answer of {trial.model} (repeat {trial.repeat})\n"
    message = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", text)
    commit = base.repository.create_commit(None, author, author, message, tree, [base.commit.id])
    base.repository.references.create(f"refs/heads/{branch}", commit, force=True)
    return str(commit)


def _change(base: Base, edit: _Edit, oid: pygit2.Oid) -> Change:
    body = diff_body(edit.old or b"", edit.new)
    old_id = base.short_id(edit.old_id) if edit.old_id is not None else None
    header = write_header(edit.path, old_id, base.short_id(oid), edit.mode, has_hunks=bool(body.text))
    diff = header + body.text.decode("utf-8", "replace")
    return Change(edit.path, "added" if edit.old is None else "modified", body.added, body.removed, diff)


def branch_name(trial: TrialKey) -> str:
    """Return the branch name of a trial: readable, valid as a reference, and unique to the trial."""
    key = hashlib.sha256("\0".join([trial.case, trial.model, str(trial.repeat)]).encode("utf-8", "replace")).hexdigest()
    words = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-")[:40].strip("-") for part in (trial.case, trial.model))
    # Without a slash: a repository may have a branch `assay`, below which there can be no other.
    return "-".join(["assay", *(word for word in words if word), str(trial.repeat), key[:10]])
