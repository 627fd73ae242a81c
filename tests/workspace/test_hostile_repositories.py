"""Repositories made to harm: nothing of theirs is written, read or run outside, and each fault has its sentence."""

import hashlib
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from tests.support.repositories import COMMIT, FILE, LINK, TREE, commit_tree, raw_repository, raw_tree, write_object
from tests.support.work import count_lines
from tui.model.errors import WorkspaceError
from tui.model.results import TrialKey
from tui.model.suite import Case, CodeContext, RepositoryContext
from tui.workspace.answer.apply import apply_answer
from tui.workspace.context.read import read_code_context, read_repository
from tui.workspace.git import checkout
from tui.workspace.git.base import MOST_FILES, open_base, survey_tree
from tui.workspace.git.checkout import check_out, stays_inside

SECRET = "the secret outside"
CASE = Case("c", "n", "x", (), apply_changes=True, target_file="a/b.txt")
ANSWER = "```\nevil\n```\n"
Entries = list[tuple[int, bytes, bytes]]


def tree(*entries: tuple[int, bytes, bytes]) -> bytes:
    """A raw tree of blobs, as content for a TREE entry; their objects are those of the same content at the root."""
    made = []
    for mode, name, content in entries:
        oid = hashlib.sha1(b"blob %d\0%s" % (len(content), content)).digest()
        made.append(b"%o %s\0%s" % (mode, name, oid))
    return b"".join(made)


EVIL = (FILE, b"z", b"evil")
IN_TREE = tree((FILE, b"b.txt", b"evil"))
# Git objects to each of these trees: nothing is applied to it, and nothing of it is checked out.
OBJECTED: dict[str, Entries] = {
    "dot-dot": [EVIL, (FILE, b"..", b"x")],
    "dot-dot folder": [(TREE, b"..", IN_TREE), EVIL],
    "dot": [(TREE, b".", IN_TREE), EVIL],
    "slash": [(FILE, b"../../escaped", b"x")],
    "inner slash": [(FILE, b"a/b", b"x")],
    "absolute": [(FILE, b"/tmp/escaped", b"x")],
    ".git folder": [(TREE, b".git", tree((FILE, b"config", b"evil"))), EVIL],
    ".git file": [(FILE, b".git", b"gitdir: /tmp")],
    ".GIT": [(TREE, b".GIT", IN_TREE), EVIL],
    ".git with zero width": [(TREE, ".g\u200cit".encode(), IN_TREE), EVIL],
    ".git with a dot": [(TREE, b".git.", IN_TREE), EVIL],
    ".git with a blank": [(TREE, b".git ", IN_TREE), EVIL],
    "git~1": [(TREE, b"git~1", IN_TREE), EVIL],
    ".git stream": [(TREE, b".git::$INDEX_ALLOCATION", IN_TREE), EVIL],
    ".git backslash": [(FILE, b".git\\config", b"x")],
    "dot-dot backslash": [(FILE, b"..\\x", b"x")],
    "the same name twice": [(FILE, b"a", b"1"), (FILE, b"a", b"2")],
    "a link and a folder of one name": [(LINK, b"a", b"/tmp"), (TREE, b"a", IN_TREE), EVIL],
    "a linked .gitmodules": [(LINK, b".gitmodules", b"/etc/passwd")],
}
# Git takes these; so do we, without going where they lead.
TAKEN: dict[str, Entries] = {
    "link to a file outside": [(LINK, b"a", b"../../secret.txt")],
    "absolute link": [(LINK, b"a", b"/etc/passwd")],
    "link to the folder above": [(LINK, b"a", b"..")],
    "target is a link": [(LINK, b"b.txt", b"../secret.txt")],
    "link through a link": [(LINK, b"a", b"."), (LINK, b"c", b"a/../../secret.txt")],
    "link to itself": [(LINK, b"a", b"a")],
    "very long link": [(LINK, b"a", b"x/" * 5_000)],
    "binary link": [(LINK, b"a", b"x\0y")],
    "submodule": [(COMMIT, b"a", b""), (FILE, b".gitmodules", b'[submodule "x"]\n\tpath = a\n\turl = ext::sh -c id\n')],
    "names for Windows": [(FILE, b"con.txt", b"x"), (FILE, b"a.", b"x"), (FILE, b"x:y", b"x")],
    "names that are not UTF-8": [(FILE, b"\xff\xfe", b"x")],
    "escapes in a name": [(FILE, b"\x1b]0;owned\x07", b"x")],
    "attributes and filters": [(FILE, b".gitattributes", b"* filter=evil\n"), (FILE, b".lfsconfig", b"[lfs]\nurl=x\n")],
    "an odd mode": [(0o100777, b"a", b"x"), (0o100000, b"b", b"x")],
    "a pattern that hangs": [(FILE, b".gitignore", b"*a*a*a*a*a*a*a*a*a*b\n"), (FILE, b"a" * 200, b"x")],
    "case": [(FILE, b"A", b"1"), (FILE, b"a", b"2")],
}
BROKEN: dict[str, Entries] = {
    "an empty name": [(FILE, b"", b"x")],
    "a folder that is a file": [(TREE, b"d", b"not a tree at all")],
    "a folder that is cut off": [(TREE, b"d", b"100644 x\0short")],
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text(SECRET)
    return tmp_path


def listing(folder: Path) -> dict[str, bytes]:
    """Everything below a folder but the repository and what was checked out."""
    skipped = (folder / "r.git", folder / "out" / "files")
    found = (path for path in folder.rglob("*") if not any(path.is_relative_to(skip) for skip in skipped))
    return {str(path): path.read_bytes() for path in found if path.is_file()}


def use(folder: Path) -> list[str]:
    """Do everything with a repository that a run does; what it said where it refused, and what was read."""
    base = open_base(folder / "r.git")
    messages: list[str] = []
    doings: list[Callable[[], object]] = [
        lambda: read_repository(RepositoryContext("."), base.source()),
        lambda: read_repository(RepositoryContext("a"), base.source()),
        lambda: read_code_context([CodeContext("a")], [base.source()]),
        lambda: read_code_context([CodeContext("b.txt")], [base.source()]),
        lambda: apply_answer(base, CASE, ANSWER, TrialKey("c", "m")),
        lambda: apply_answer(base, Case("c", "n", "x", (), apply_changes=True, target_file="b.txt"), ANSWER),
        lambda: check_out(base.repository, str(base.commit.id), folder / "out" / "files"),
    ]
    for do in doings:
        try:
            messages.append(repr(do()))
        except WorkspaceError as error:
            messages.append(f"refused: {error}")
    return messages


@pytest.mark.parametrize("name", OBJECTED)
def test_a_tree_that_git_objects_to_is_the_trials_error(outside: Path, name: str) -> None:
    (outside / "out" / "files").mkdir(parents=True)
    raw_repository(outside / "r.git", OBJECTED[name])
    before = listing(outside)
    messages = use(outside)
    assert "git rejects the tree of the repository" in messages[4]
    assert "git rejects the tree of the repository" in messages[6]
    assert list((outside / "out" / "files").iterdir()) == []
    assert listing(outside) == before
    assert not any(SECRET in text for text in messages)
    fsck = subprocess.run(["git", "-C", outside / "r.git", "fsck", "--strict"], capture_output=True, check=False)
    assert fsck.returncode != 0 or name in (".git backslash", "dot-dot backslash", "inner slash")


@pytest.mark.parametrize("name", TAKEN)
def test_nothing_leads_out_of_a_tree_that_git_takes(outside: Path, name: str) -> None:
    (outside / "out" / "files").mkdir(parents=True)
    raw_repository(outside / "r.git", TAKEN[name])
    before = listing(outside)
    messages = use(outside)
    assert listing(outside) == before
    assert not any(SECRET in text or "root:" in text for text in messages)
    root = (outside / "out" / "files").resolve()
    for path in root.rglob("*"):
        if path.is_symlink():
            assert os.path.realpath(path).startswith(str(root)) or path.name == "a"
            assert not os.path.realpath(path).startswith(str(outside / "secret"))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_repository_is_a_sentence(outside: Path, name: str) -> None:
    raw_repository(outside / "r.git", BROKEN[name])
    with pytest.raises(WorkspaceError, match=r"is corrupt|has no commit"):
        open_base(outside / "r.git")


def test_there_are_hostile_repositories_enough() -> None:
    assert len(OBJECTED) + len(TAKEN) + len(BROKEN) >= 25


def test_ten_million_files_are_counted_and_refused(tmp_path: Path) -> None:
    repository = pygit2.init_repository(str(tmp_path / "bomb.git"), bare=True, initial_head="main")
    blob = write_object(repository, "blob", b"x")
    oid = raw_tree(repository, [(FILE, b"f%d" % number, blob) for number in range(10)])
    for _ in range(6):
        oid = raw_tree(repository, [(TREE, b"d%d" % number, oid) for number in range(10)])
    commit_tree(repository, oid)

    def refuse() -> None:
        with pytest.raises(WorkspaceError, match=f"has 10,000,000 files, more than {MOST_FILES:,}"):
            open_base(tmp_path / "bomb.git")

    assert count_lines(refuse) < 100_000, "each tree is counted once"


def test_a_billion_empty_folders_are_counted_and_refused(tmp_path: Path) -> None:
    repository = pygit2.init_repository(str(tmp_path / "bomb.git"), bare=True, initial_head="main")
    oid = raw_tree(repository, [])
    for _ in range(29):
        oid = raw_tree(repository, [(TREE, b"a", oid), (TREE, b"b", oid)])
    commit_tree(repository, oid)
    with pytest.raises(WorkspaceError, match=f"has 1,073,741,822 folders, more than {MOST_FILES:,}"):
        open_base(tmp_path / "bomb.git")
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(WorkspaceError, match="has 1,073,741,822 folders"):
        check_out(repository, str(repository.head.target), out)
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_checkout_that_is_stopped_writes_nothing_more(tmp_path: Path, after: int) -> None:
    """Before each of the two folders, and before each of the two files."""
    base = open_base(raw_repository(tmp_path / "r.git", [(TREE, b"d", IN_TREE), EVIL]))
    (out := tmp_path / "out").mkdir()
    answers = iter([False] * after)
    with pytest.raises(WorkspaceError, match="no longer needed"):
        check_out(base.repository, str(base.commit.id), out, lambda: next(answers, True))
    assert len([path for path in out.rglob("*") if path.is_file()]) == max(after - 2, 0)


def test_a_tree_deeper_than_any_path_is_read_to_its_end(tmp_path: Path) -> None:
    repository = pygit2.init_repository(str(tmp_path / "deep.git"), bare=True, initial_head="main")
    oid = raw_tree(repository, [(FILE, b"f", write_object(repository, "blob", b"x"))])
    for _ in range(3_000):
        oid = raw_tree(repository, [(TREE, b"d", oid)])
    commit_tree(repository, oid)
    base = open_base(tmp_path / "deep.git")
    assert base.files == 1
    assert read_repository(RepositoryContext("."), base.source()).files == ()
    (tmp_path / "out").mkdir()
    assert check_out(base.repository, str(base.commit.id), tmp_path / "out").files == 0
    applied = apply_answer(base, CASE, ANSWER, TrialKey("c", "m"))
    assert [change.path for change in applied.changes] == ["a/b.txt"]


def test_a_survey_counts_what_a_walk_would(tmp_path: Path) -> None:
    repository = pygit2.init_repository(str(tmp_path / "r.git"), bare=True, initial_head="main")
    blob = write_object(repository, "blob", b"x")
    inner = raw_tree(repository, [(FILE, b"a", blob), (FILE, b"b", blob)])
    outer = raw_tree(repository, [(FILE, b"c", blob), (TREE, b"d", inner), (TREE, b"e", inner)])
    assert survey_tree(repository[outer].peel(pygit2.Tree)) == (5, 2, None)


@pytest.mark.parametrize(
    ("path", "target", "inside"),
    [
        ("a", "b", True), ("d/a", "../b", True), ("d/e/a", "../../b/c", True), ("a", "./b", True), ("a", "b/", True),
        ("a", "..", False), ("d/a", "../..", False), ("a", "/b", False), ("a", "b/../c", False), ("a", "", False),
        ("a", "~/x", False), ("a", "C:/x", False), ("a", "b\\..\\c", False), ("a", "b\0", False),
        ("a", ".git/x", False), ("a", "b/.GIT", False),
    ],
)  # fmt: skip
def test_where_a_link_may_lead(path: str, target: str, inside: bool) -> None:
    assert stays_inside(path, target) is inside


def test_a_large_file_is_not_checked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (out := tmp_path / "out").mkdir()
    base = open_base(raw_repository(tmp_path / "r.git", [(FILE, b"a", b"12345"), (FILE, b"b", b"123456")]))
    monkeypatch.setattr(checkout, "_LARGEST_FILE", 5)
    assert check_out(base.repository, str(base.commit.id), out).left_out == (("b", "is larger than 5 bytes"),)
    assert [place.name for place in out.iterdir()] == ["a"]


def test_what_is_checked_out_is_what_was_committed(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    entries: Entries = [
        (0o100755, b"run", b"#!/bin/sh\n"), (FILE, b"x", b"a\r\nb"), (LINK, b"l", b"x"), (LINK, b"m", b"/etc"),
        (TREE, b"d", IN_TREE), EVIL,
    ]  # fmt: skip
    base = open_base(raw_repository(tmp_path / "r.git", entries))
    done = check_out(base.repository, str(base.commit.id), out)
    assert done.left_out == (("m", "is a symbolic link that points, or could point, outside the repository"),)
    assert done.files == 5
    assert (out / "x").read_bytes() == b"a\r\nb"
    assert (out / "d" / "b.txt").read_bytes() == b"evil"
    assert (out / "l").readlink() == Path("x")
    assert os.access(out / "run", os.X_OK)
    assert not os.access(out / "x", os.X_OK)
    with pytest.raises(WorkspaceError):
        check_out(base.repository, "0" * 40, out)
