"""Diffs as values: what libgit2 finds, what a saved diff says when it is read back, and large files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.repositories import commit_all, git, make_repository, write_files
from tui.model.diffs import DiffLine
from tui.workspace.git.diff import diff_texts
from tui.workspace.git.patch import quote_path, read_diff, unquote_path


def marks(old: bytes, new: bytes) -> list[str]:
    found = diff_texts(old, new)
    sign = {"context": " ", "added": "+", "removed": "-"}
    return [sign[line.kind] + line.text + ("" if line.newline else "⏎") for hunk in found.hunks for line in hunk.lines]


def test_hunks_have_numbers_headings_and_context() -> None:
    old = b"".join(b"def f%d():\n    return %d\n" % (number, number) for number in range(10))
    found = diff_texts(old, old.replace(b"return 7", b"return 77"))
    (hunk,) = found.hunks
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (13, 7, 13, 7)
    assert hunk.heading == "def f5():"
    assert hunk.lines[3:5] == (
        DiffLine("removed", "    return 7", 16, None),
        DiffLine("added", "    return 77", None, 16),
    )
    assert (found.added, found.removed) == (1, 1)
    assert [len(one.lines) for one in diff_texts(old, old.replace(b"return 7", b"x"), 1).hunks] == [4]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b"", b"", []),
        (b"a\n", b"a\n", []),
        (b"", b"a\n", ["+a"]),
        (b"a\n", b"", ["-a"]),
        (b"a", b"b", ["-a⏎", "+b⏎"]),
        (b"a\n", b"a", ["-a", "+a⏎"]),
        (b"a\nb", b"a\nb\nc", [" a", "-b⏎", "+b", "+c⏎"]),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", [" a\r", "-b\r", "+c\r"]),
        (
            b"--- a\n+++ b\n@@ -1 +1 @@\n",
            b"--- a\n+++ c\n@@ -1 +1 @@\n",
            [" --- a", "-+++ b", "++++ c", " @@ -1 +1 @@"],
        ),
        (b"\\ No newline at end of file\n", b"x\n", ["-\\ No newline at end of file", "+x"]),
        ("日本\n".encode(), "日光😀\n".encode(), ["-日本", "+日光😀"]),
        (b"a\xe9\n", b"b\xe9\n", ["-a\ufffd", "+b\ufffd"]),
        (b"a\x0cb\x85\xe2\x80\xa8c\n", b"x\n", ["-a\x0cb\ufffd\u2028c", "+x"]),
        (b"\n\n", b"\n", [" ", "-"]),
    ],
)
def test_lines_come_as_they_are(old: bytes, new: bytes, expected: list[str]) -> None:
    assert marks(old, new) == expected


def test_binary_texts_have_no_hunks() -> None:
    assert diff_texts(b"a\0b", b"a\0c").hunks == ()


@given(
    st.lists(st.sampled_from("abc\r\x0b \u2028"), max_size=12),
    st.lists(st.sampled_from("abc\r\x0b \u2028"), max_size=12),
)
def test_the_lines_of_whole_context_are_both_texts(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    found = diff_texts(before.encode(), after.encode(), 1_000)
    if before == after:
        assert found.hunks == ()
        return
    lines = [line for hunk in found.hunks for line in hunk.lines]
    for kind, number, text in (("removed", "old", before), ("added", "new", after)):
        side = [line for line in lines if line.kind in ("context", kind)]
        assert "".join(line.text + ("\n" if line.newline else "") for line in side) == text
        assert [getattr(line, number) for line in side] == list(range(1, len(side) + 1))


def test_a_hundred_thousand_lines() -> None:
    old = b"".join(b"line %d of the text\n" % number for number in range(100_000))
    found = diff_texts(old, old.replace(b"5 of", b"5 OF"))
    whole = diff_texts(old, old.replace(b"t", b"T"))
    assert (found.added, len(found.hunks), whole.removed, len(whole.hunks)) == (10_000, 10_000, 100_000, 1)


def test_a_million_characters_on_a_line_behave() -> None:
    old = b"x" * 1_000_000
    assert [len(line) for line in marks(old + b"\n", old + b"y\n")] == [1_000_001, 1_000_002]


FILES: dict[str, str | bytes] = {
    "a.py": "1\n2\n3\n",
    "b c.txt": "b\n" * 20,
    "日/x.md": "x\n",
    "gone": "gone\n",
    "bin": b"\0\1",
    "mode.sh": "x\n",
}


@pytest.fixture
def commits(tmp_path: Path) -> tuple[Path, str, str]:
    folder = make_repository(tmp_path / "r", FILES)
    first = git(folder, "rev-parse", "HEAD").decode().strip()
    write_files(
        folder,
        {"a.py": "1\n2x\n3", "d/e.txt": "b\n" * 20, "日/x.md": "y\n", "bin": b"\0\2", "empty": "", 'q"\t': "q\n"},
    )
    (folder / "b c.txt").unlink()
    (folder / "gone").unlink()
    (folder / "mode.sh").chmod(0o755)
    return folder, first, commit_all(folder, "second")


def test_a_saved_diff_of_git_is_read_back(commits: tuple[Path, str, str]) -> None:
    folder, first, second = commits
    read = {file.path: file for file in read_diff(git(folder, "diff", "-M", first, second).decode())}
    assert {path: (file.kind, file.added, file.removed) for path, file in read.items()} == {
        "a.py": ("modified", 2, 2),
        "bin": ("modified", 0, 0),
        "d/e.txt": ("renamed", 0, 0),
        "empty": ("added", 0, 0),
        "gone": ("deleted", 0, 1),
        "mode.sh": ("modified", 0, 0),
        'q"\t': ("added", 1, 0),
        "日/x.md": ("modified", 1, 1),
    }
    assert read["d/e.txt"].old_path == "b c.txt"
    assert read["bin"].binary
    assert (read["mode.sh"].old_mode, read["mode.sh"].new_mode) == (0o100644, 0o100755)
    assert (read["gone"].new_mode, read["empty"].old_mode) == (None, None)
    assert read["a.py"].hunks[0].lines[-1] == DiffLine("added", "3", None, 3, newline=False)


@pytest.mark.parametrize("context", [0, 1, 3, 100])
def test_the_files_of_two_commits_differ_as_git_says(commits: tuple[Path, str, str], context: int) -> None:
    folder, first, second = commits
    theirs = read_diff(git(folder, "diff", "-M", f"-U{context}", first, second).decode())
    assert len(theirs) == 8
    for file in theirs:
        old = b"" if file.kind == "added" else git(folder, "show", f"{first}:{file.old_path or file.path}")
        new = b"" if file.kind == "deleted" else git(folder, "show", f"{second}:{file.path}")
        assert diff_texts(old, new, context) == (file.hunks, file.added, file.removed)


@pytest.mark.parametrize(
    "text", ["", "no diff", "diff --git", "@@ -1 +1 @@\n-a\n+b", "--- a/x\n+++ b/x\n", "diff --git a/x b/x"]
)
def test_a_diff_that_is_none_breaks_nothing(text: str) -> None:
    assert all(file.hunks == () for file in read_diff(text))


@pytest.mark.parametrize("line", ["old mode 100999", "old mode 1²", f"new mode {'7' * 9_000}", "index 1..2 ²"])
def test_a_mode_that_is_none_is_left_out(line: str) -> None:
    [file] = read_diff(f"diff --git a/x b/x\n{line}\n")
    assert (file.path, file.old_mode, file.new_mode) == ("x", None, None)


@pytest.mark.parametrize("number", ["1" * 5_000, "1" * 10, "١"])
def test_a_hunk_of_lines_that_no_file_has_is_none(number: str) -> None:
    [file] = read_diff(f"diff --git a/x b/x\n@@ -{number} +1 @@\n-a\n+b\n")
    assert file.hunks == ()


@given(st.text(alphabet="@-+ \\\na0,1dif", max_size=120))
def test_no_text_breaks_the_reader(text: str) -> None:
    read_diff("diff --git a/x b/x\n@@ -1,3 +1,3 @@\n" + text)


@given(st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1))
def test_paths_are_quoted_and_back(path: str) -> None:
    assert unquote_path(quote_path(path)) == path or path[0] == path[-1] == '"'
    assert quote_path(path).isascii()
    assert quote_path(path).isprintable()
