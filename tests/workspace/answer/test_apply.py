"""Applying answers to real repositories, compared with what git itself makes of the same trees."""

from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.repositories import ReadObjects, git, make_repository
from tests.support.work import count_lines, is_linear
from tui.model.errors import WorkspaceError
from tui.model.results import Change, TrialKey
from tui.model.suite import Case
from tui.workspace.answer import apply, blocks
from tui.workspace.answer.apply import Applied, apply_answer, branch_name
from tui.workspace.answer.blocks import find_blocks
from tui.workspace.answer.choose import choose_blocks
from tui.workspace.git.base import Base, open_base, read_blob

FILES: dict[str, str | bytes] = {
    "a.py": "one\ntwo\nthree\n",
    "src/b.ts": "export const b = 1;\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "cr.txt": "one\rtwo\rthree\r",
    "mixed.txt": "one\r\ntwo\nthree\r\nfour\r\n",
    "open.txt": "one\ntwo",
    "open-crlf.txt": "one\r\ntwo",
    "mark.txt": "\ufeffone\ntwo\n",
    "empty.txt": "",
    "single": "one",
    "bin.dat": b"a\0b",
    "latin.txt": "é\nx\n".encode("latin-1"),
    "a file.txt": "one\n",
    "日本/語.md": "one\n",
    'q"uote.txt': "one\n",
    "run.sh": "echo one\n",
}
TRIAL = TrialKey("case-1", "openai/gpt-5.2", 1)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("apply")
    work = make_repository(folder / "work", FILES)
    (work / "run.sh").chmod(0o755)
    (work / "link.txt").symlink_to("/etc/passwd")
    (work / "out").symlink_to("..")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "second")
    git(folder, "clone", "-q", "--bare", "work", "clone.git")
    return folder / "clone.git"


@pytest.fixture
def base(clone: Path) -> Base:
    return open_base(clone)


def case(target: str | None = None, apply: bool = True) -> Case:
    return Case("case-1", "n", "c", (), apply_changes=apply, target_file=target)


def fenced(text: str, info: str = "") -> str:
    return f"Here it is:\n\n````{info}\n{text}{'' if text.endswith(chr(10)) or not text else chr(10)}````\n"


def content(base: Base, applied: Applied, path: str) -> bytes:
    assert applied.commit is not None
    return git(Path(base.repository.path), "show", f"{applied.commit}:{path}")


def git_diff(base: Base, applied: Applied) -> bytes:
    assert applied.commit is not None
    return git(Path(base.repository.path), "diff", str(base.commit.id), applied.commit)


def reason(applied: Applied, block: int = 0) -> str:
    return next(refused.reason for refused in applied.not_applied if refused.block == block)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "one\n2\nthree\n", b"one\n2\nthree\n"),
        ("a.py", "", b""),
        ("a.py", "\n", b"\n"),
        ("new.py", "x", b"x\n"),
        ("deep/er/new.py", "x\n\n", b"x\n\n"),
        ("new-empty.py", "", b""),
        ("crlf.txt", "one\n2\nthree\n", b"one\r\n2\r\nthree\r\n"),
        ("cr.txt", "one\n2\nthree\n", b"one\r2\rthree\r"),
        ("mixed.txt", "one\ntwo\nnew\nthree\nfour\n", b"one\r\ntwo\nnew\r\nthree\r\nfour\r\n"),
        ("mixed.txt", "two\nfour\n", b"two\nfour\r\n"),
        ("open.txt", "one\n2\n", b"one\n2"),
        ("open-crlf.txt", "one\n2\n", b"one\r\n2"),
        ("single", "two\n", b"two"),
        ("mark.txt", "one\n2\n", b"\xef\xbb\xbfone\n2\n"),
        ("empty.txt", "x\n", b"x\n"),
        ("a file.txt", "two\n", b"two\n"),
        ("日本/語.md", "two\n", b"two\n"),
        ("日本/new file.md", "two\n", b"two\n"),
        ("run.sh", "echo two\n", b"echo two\n"),
        ("a.py", "one\ntwo\u2028two\nthree\n", "one\ntwo\u2028two\nthree\n".encode()),
        ("latin.txt", "e\nx\n", b"e\nx\n"),
    ],
)
def test_a_file_keeps_its_shape_and_the_diff_is_gits(base: Base, path: str, text: str, expected: bytes) -> None:
    applied = apply_answer(base, case(path), fenced(text), TRIAL)
    assert applied.not_applied == ()
    assert content(base, applied, path) == expected
    assert applied.changes[0].diff == git_diff(base, applied).decode("utf-8", "replace")
    assert applied.branch is not None
    assert git(Path(base.repository.path), "rev-parse", applied.branch).decode().strip() == applied.commit
    numbers = git(Path(base.repository.path), "diff", "--numstat", str(base.commit.id), str(applied.commit)).split()[:2]
    assert [str(applied.changes[0].added), str(applied.changes[0].removed)] == [part.decode() for part in numbers]


HEADINGS = (
    "def " + "é" * 100, "x" + "y" * 200, "fn trailing   \t", "fn\x0c", "a\x0bb \x0b", "$dollar", "_under", "日本 start",
    "a b" * 40, "x" * 79 + " y", "x" * 80 + "y", "  inner", "-- @@ -1 +1 @@",
)  # fmt: skip


@pytest.mark.parametrize("heading", HEADINGS, ids=ascii)
def test_headings_of_hunks_are_gits(tmp_path: Path, heading: str) -> None:
    lines = [f"  line {number}" for number in range(90)]
    old = "\n".join([heading, *lines, "z" * 90, *lines, ""])
    make_repository(tmp_path / "work", {"f.txt": old})
    base = open_base(tmp_path / "work" / ".git")
    new = old.replace("line 15\n", "LINE\n", 1).replace("line 35\n", "", 1).replace("line 55\n", "line 55\nnew\n")
    applied = apply_answer(base, case("f.txt"), fenced(new), TRIAL)
    assert applied.changes[0].diff == git_diff(base, applied).decode("utf-8", "replace")


def test_modes_are_kept(base: Base) -> None:
    applied = apply_answer(base, case("run.sh"), fenced("echo 2"), TRIAL)
    listed = git(Path(base.repository.path), "ls-tree", str(applied.commit), "run.sh", "a.py").decode()
    assert [line.split()[0] for line in listed.splitlines()] == ["100644", "100755"]


def test_several_files_at_once_in_path_order(base: Base) -> None:
    answer = (
        fenced("z\n", "py z/y/x.py") + fenced("b\n", "ts src/b.ts") + fenced("y\n", "z/y/w.py") + fenced("1\n", "py")
    )
    applied = apply_answer(base, case("a.py"), answer, TRIAL)
    assert [(change.path, change.kind) for change in applied.changes] == [
        ("a.py", "modified"),
        ("src/b.ts", "modified"),
        ("z/y/w.py", "added"),
        ("z/y/x.py", "added"),
    ]
    assert "".join(change.diff for change in applied.changes).encode() == git_diff(base, applied)


def test_a_block_equal_to_the_file_is_no_change(base: Base) -> None:
    for path in ("a.py", "crlf.txt", "open.txt", "mark.txt", "mixed.txt", "cr.txt"):
        text = str(FILES[path]).replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
        applied = apply_answer(base, case(path), fenced(text), TRIAL)
        assert applied.changes == ()
        assert applied.branch is None
        assert reason(applied) == "is equal to the file"


def test_the_longest_fitting_block_goes_to_the_target(base: Base) -> None:
    answer = fenced("a\n", "python") + fenced("long " * 9, "js") + fenced("longer\n", "PY") + fenced("b\n")
    applied = apply_answer(base, case("a.py"), answer, TRIAL)
    assert content(base, applied, "a.py") == b"longer\n"
    assert [refused.block for refused in applied.not_applied] == [0, 1, 3]
    assert reason(applied, 0) == "has no path, and block 3 is at least as long"
    assert reason(applied, 1) == "its language does not fit a.py"
    assert [refused.language for refused in applied.not_applied] == ["python", "js", None]


def test_another_block_can_be_picked() -> None:
    blocks = find_blocks(fenced("a\n", "python") + fenced("long " * 9, "js") + fenced("x\n", "py new.py"))
    chosen = choose_blocks(blocks, "a.py", 1)
    assert chosen.files == {"a.py": blocks[1], "new.py": blocks[2]}
    assert chosen.files["a.py"].text == "long " * 9 + "\n"
    assert [refused.reason for refused in chosen.refused] == ["has no path, and block 2 was selected for it"]
    assert choose_blocks(blocks, "a.py", 2).files == {"a.py": blocks[2]}
    for wrong in (-1, 3):
        with pytest.raises(WorkspaceError, match="cannot be applied"):
            choose_blocks(blocks, "a.py", wrong)


def test_a_block_that_names_the_target_takes_it(base: Base) -> None:
    applied = apply_answer(base, case("a.py"), fenced("named\n", "py a.py") + fenced("much longer\n", "py"), TRIAL)
    assert content(base, applied, "a.py") == b"named\n"
    assert reason(applied, 1) == "has no path, and block 1 has that path"


@pytest.mark.parametrize("named", ["`a.py`:\n", "Change `a.py`:\n", ""])
@pytest.mark.parametrize(
    ("sentence", "language", "why"),
    [
        ("Then test `a.py`:", "bash", "its language does not fit a.py"),
        ("This is what `a.py` shows:", "text", "its language does not fit a.py"),
        ("With `a.py` changed, you get:", "", "only a sentence assigns it to the file that block 1 has"),
    ],
)
def test_a_sentence_with_a_name_takes_no_file_from_its_content(
    base: Base, named: str, sentence: str, language: str, why: str
) -> None:
    answer = f"{named}```python\ncontent\n```\n\n{sentence}\n```{language}\npytest -q --all\n```\n"
    applied = apply_answer(base, case("a.py"), answer, TRIAL)
    assert content(base, applied, "a.py") == b"content\n"
    assert reason(applied, 1) == why


def test_output_that_is_longer_than_the_code_does_not_replace_it(base: Base) -> None:
    answer = (
        fenced("code\n", "python") + fenced("Traceback (most recent call last):\n  File\n") + fenced("ls -l " * 9, "sh")
    )
    applied = apply_answer(base, case("a.py"), answer, TRIAL)
    assert content(base, applied, "a.py") == b"code\n"
    assert reason(applied, 1) == "has no path, and block 1 has a language that fits"
    assert reason(applied, 2) == "its language does not fit a.py"


@pytest.mark.parametrize(
    "line",
    [
        "The function is already right. Running `a.py` prints:",
        "No change is needed. The output of `tests/test_a.py`:",
        "You can check it with `python a.py`:",
        "Run `pytest -q`:",
        "Output:",
        "**Expected output:**",
        "### Sample output",
        "The output is",
    ],
)
def test_a_command_or_an_output_does_not_replace_the_target(base: Base, line: str) -> None:
    applied = apply_answer(base, case("a.py"), f"{line}\n```\n3 passed\n```\n", TRIAL)
    assert applied.changes == ()
    assert reason(applied) == "is a command or an output, as the line before it says"
    with_code = f"{line}\n```\n3 passed\n```\nThe code:\n```\nx\n```\n"
    assert content(base, apply_answer(base, case("a.py"), with_code, TRIAL), "a.py") == b"x\n"
    for written in ("py", "a.py"):
        named = apply_answer(base, case("a.py"), f"{line}\n```{written}\nnew = 1\n```\n", TRIAL)
        assert content(base, named, "a.py") == b"new = 1\n"


@pytest.mark.parametrize(
    "line",
    [
        "This fixes the output:",
        "`main` now calls `helper`:",
        "`total` returns the sum:",
        "The function that prints the output:",
        "Here is the code, which you can run:",
        "## Output of the report",
    ],
)
def test_a_line_about_something_else_takes_no_content_from_the_target(base: Base, line: str) -> None:
    applied = apply_answer(base, case("a.py"), f"{line}\n```\nx\n```\n", TRIAL)
    assert content(base, applied, "a.py") == b"x\n"


def test_a_sentence_is_enough_if_no_other_block_has_the_file(base: Base) -> None:
    for language in ("", "py"):
        applied = apply_answer(base, case(), f"Put this into `a.py`:\n```{language}\nx\n```\n", TRIAL)
        assert content(base, applied, "a.py") == b"x\n"
    later = "First, in `a.py`:\n```py\n1\n```\nBetter, in `a.py`:\n```py\n2\n```\n"
    assert content(base, apply_answer(base, case(), later, TRIAL), "a.py") == b"2\n"


def test_the_last_of_several_blocks_for_a_file_counts(base: Base) -> None:
    applied = apply_answer(base, case(), fenced("1\n", "a.py") + fenced("2\n", "py ./a.py"), TRIAL)
    assert content(base, applied, "a.py") == b"2\n"
    assert reason(applied, 0) == "block 2 has the same path and comes later"


@pytest.mark.parametrize(
    ("target", "answer", "words"),
    [
        (None, fenced("x\n", "py"), "has no path, and the case has no targetFile"),
        ("a.py", fenced("x\n", "diff a.py"), "is a diff"),
        ("bin.dat", fenced("x\n"), "is binary"),
        ("link.txt", fenced("x\n"), "link.txt is a symbolic link"),
        ("out/x.txt", fenced("x\n"), "out is a symbolic link"),
        ("src", fenced("x\n"), "src is a folder"),
        ("a.py/b.py", fenced("x\n"), "a.py is a file in the repository, not a folder"),
        ("a.py", fenced("a\ud800b\n"), "cannot be written as UTF-8"),
        ("a.py", fenced("a\0b\n"), "NUL"),
        ("../a.py", fenced("x\n"), "targetFile is not allowed"),
        ("x.ts", fenced("x\n", "py"), "its language does not fit"),
        ("x.ts", fenced("x\n", "js"), "its language does not fit"),
    ],
)
def test_what_is_not_applied_says_why(base: Base, target: str | None, answer: str, words: str) -> None:
    applied = apply_answer(base, case(target), answer, TRIAL)
    assert applied.changes == ()
    assert words in reason(applied)


def test_a_file_and_a_file_below_it_cannot_both_be(base: Base) -> None:
    applied = apply_answer(base, case(), fenced("x\n", "py n/x.py") + fenced("y\n", "py n/x.py/y.py"), TRIAL)
    assert [change.path for change in applied.changes] == ["n/x.py"]
    assert reason(applied, 1) == "is inside a path that the same answer writes as a file"


@pytest.mark.parametrize(
    ("info", "target"), [("TypeScript", "a.tsx"), ("c++", "x.h"), ("C", "x.h"), ("yml", "a.yaml"), ("SH", "run.sh"),
                         ("golang", "a.go"), ("C#", "a.cs"), ("docker", "Dockerfile"), ("txt", "LICENSE"), ("", "x.q")]
)  # fmt: skip
def test_languages_go_by_alias(base: Base, info: str, target: str) -> None:
    assert [change.path for change in apply_answer(base, case(target), fenced("new\n", info)).changes] == [target]


def test_an_open_last_fence_counts(base: Base) -> None:
    applied = apply_answer(base, case("a.py"), "```python\none\n2", TRIAL)
    assert content(base, applied, "a.py") == b"one\n2\n"


def test_no_blocks_and_no_apply_change_nothing(base: Base) -> None:
    assert apply_answer(base, case("a.py"), "no code here", TRIAL) == Applied()
    assert apply_answer(base, case("a.py", apply=False), fenced("x\n"), TRIAL) == Applied()


def test_without_a_trial_no_branch_is_made(base: Base) -> None:
    before = set(base.repository.branches)
    assert apply_answer(base, case("other.py"), fenced("x\n")).changes[0].path == "other.py"
    assert set(base.repository.branches) == before


def test_a_later_attempt_takes_the_branch_over(base: Base) -> None:
    trial = TrialKey("again", "m")
    first = apply_answer(base, case("a.py"), fenced("1\n"), trial)
    second = apply_answer(base, case("a.py"), fenced("2\n"), trial)
    assert first.branch == second.branch
    assert content(base, second, "a.py") == b"2\n"
    parents = git(Path(base.repository.path), "rev-list", "--parents", "-1", str(second.branch)).split()
    assert parents[1].decode() == str(base.commit.id)
    apply_answer(base, case("a.py"), "nothing", trial)
    assert first.branch
    assert first.branch not in base.repository.branches.local


def test_branch_names_are_safe_and_apart() -> None:
    keys = [
        TrialKey("a", "b"), TrialKey("a", "b", 2), TrialKey("a-b", ""), TrialKey("", ""), TrialKey("..", "@{x}.lock"),
        TrialKey("a/b", "c"), TrialKey("a", "b/c"), TrialKey("日本", "~^:?*[\\"), TrialKey("x" * 300, "y" * 300),
        TrialKey("a\nb", "\ud800"), TrialKey("A", "B"),
    ]  # fmt: skip
    names = [branch_name(key) for key in keys]
    assert len(set(names)) == len(names)
    for name in names:
        git(Path(), "check-ref-format", "--branch", name)
        assert len(name) < 120


# Each is refused: absolute, home, drive, upwards, empty parts, git's own names in every disguise, devices.
REFUSED = r"""
/etc/passwd //etc/passwd / ~/.bashrc ~root/x ../x ../../x a/../../x a/.. .. a/../b ./../x a//b a/ /a/ ././x a/./b . ./
C:\x C:/x c:x \\server\share\x \x a\b ..\x a\..\..\x file:///etc/passwd a:b a:$DATA x.py::$DATA ./.git/config
.git/config .git/hooks/post-checkout .GIT/config .Git/HEAD a/.git/hooks/x .git .git./config git~1/config GIT~1/hooks/x
.git::$INDEX_ALLOCATION/config .gitmodules .GITMODULES a/.gitmodules gitmod~1 a/././../b .git\hooks\x
con CON.txt nul aux.py prn com1 COM9.log lpt1.txt a/nul/b conin$ CONOUT$ clock$ nul.tar.gz
a. a./b b/a. ... a/.../b x.py. ..../x a<b a>b a|b a?b a*b < > * ? | x*.py
．git/config .ｇｉｔ/config .gıt/config .gitattributes src/.GitAttributes .lfsconfig .LFSCONFIG
"""
UNSEEN = (
    "a |a /b|.git /config|. .|x.py |a\tb|a\x1bb|a\x00b|a\x7fb|a\u202eb.py|a\u2066b|a\u00adb|a\u2028b|\x07|a\x85b|"
    "a\x0cb|a\ud800b|a\u115fb|a\U000e0041b|.g\u200cit/config|.gi\u200dt/x|\ufeff.git/x|.git\u200b/x|.gi\u0307t/x"
)
TOO_LONG = ("x/" * 33 + "y", "y" * 256, "é" * 128, "x/" + "z" * 300)
HOSTILE = sorted({*REFUSED.split(), *UNSEEN.split("|"), *TOO_LONG})


def test_there_are_hostile_paths_enough() -> None:
    assert len(HOSTILE) >= 100


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:60])
def test_a_hostile_path_is_refused_with_its_reason(base: Base, path: str) -> None:
    infos, comments = [f'python title="{path}"', f'x "{path}"'], [f"# file: '{path}'"]
    if " " not in path and "\t" not in path:
        infos, comments = [*infos, f"python:{path}", f"path={path}"], [*comments, f"# path: {path}"]
    answers = [fenced("evil\n", info) for info in infos] + [fenced(f"{comment}\nevil\n") for comment in comments]
    for answer in answers:
        applied = apply_answer(base, case("a.py"), answer, TRIAL)
        assert applied.changes == (), answer
        assert "not allowed" in reason(applied)
        assert applied.not_applied[0].path == path
    targeted = apply_answer(base, case(path), fenced("evil\n"), TRIAL)
    assert targeted.changes == ()
    assert "not allowed" in reason(targeted)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("New.py", "new.py", "New.py"),
        ("src/Util/a.py", "src/util/b.py", "src/Util"),
        ("ｎew.py", "new.py", "new.py"),
        ("SS.py", "ß.py", "SS.py"),
    ],
)
def test_names_that_differ_only_in_case_are_written_once(base: Base, first: str, second: str, same: str) -> None:
    applied = apply_answer(base, case(), fenced("one\n", f"path={first}") + fenced("two\n", f"path={second}"), TRIAL)
    assert len(applied.changes) == 1
    [refused] = applied.not_applied
    assert refused.reason == f"differs only in case from {same}, which the same answer writes"
    for twin, there in {"A.py": "a.py", "SRC/new.ts": "src", "src/B.ts": "b.ts"}.items():
        refused_twin = apply_answer(base, case(), fenced("one\n", f"path={twin}"), TRIAL)
        assert refused_twin.changes == ()
        assert reason(refused_twin) == f"differs only in case from {there} in the repository"
    beside = apply_answer(base, case(), fenced("1\n", "path=n/A.py") + fenced("2\n", "path=n/b.py"), TRIAL)
    assert len(beside.changes) == 2


@pytest.mark.parametrize("path", ["{deep}/f{n}.py", "d{n}/{deep}/f.py", "{deep}/F{n}.py {deep}/f{n}.py"])
def test_many_files_in_deep_folders_cost_no_more_each(base: Base, path: str) -> None:
    def prepare(count: int) -> Callable[[], object]:
        named = [path.format(deep="é/" * 20 + "x", n=n) for n in range(count)]
        answer = "".join(fenced("x=1\n", f"python {each}") for two in named for each in two.split())
        return lambda: apply_answer(base, case(), answer)

    assert is_linear(prepare, 15)


def test_a_large_folder_is_searched_once_for_names_that_differ_only_in_case(tmp_path: Path) -> None:
    make_repository(tmp_path, {f"f{number}.py": "" for number in range(1_000)})
    large = open_base(tmp_path / ".git")

    def cost(count: int) -> int:
        answer = "".join(fenced("x=1\n", f"python new{number}.py") for number in range(count))
        return count_lines(lambda: apply_answer(large, case(), answer))

    assert cost(40) - cost(20) < 20 * 1_000, "a further file costs less than a look at each file of the folder"


@pytest.mark.parametrize("path", ["d/e/f{n}.py", "d/e/new{n}.py"])
def test_a_large_folder_is_parsed_no_more_often_for_more_files(tmp_path: Path, path: str) -> None:
    # A tree of more than 4 KiB is not in the cache of the git library.
    make_repository(tmp_path, {f"d/e/f{number}.py": "" for number in range(200)})
    large = open_base(tmp_path / ".git")
    folder = large.tree["d/e"].id
    read = ReadObjects(large.repository)

    def reads(count: int) -> int:
        read.ids.clear()
        answer = "".join(fenced("x=1\n", f"python {path.format(n=number)}") for number in range(count))
        assert len(apply_answer(large, case(), answer).changes) == count
        return read.ids.count(folder)

    assert reads(20) == reads(2) > 0


def test_files_over_the_limit_of_all_replaced_files_are_not_even_read(
    base: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def noted(repository: pygit2.Repository, oid: pygit2.Oid) -> bytes:
        read.append(len(data := read_blob(repository, oid)))
        return data

    monkeypatch.setattr(apply, "read_blob", noted)
    monkeypatch.setattr(apply, "_MOST_BYTES", 20)
    files = ("a.py", "crlf.txt", "open.txt", "run.sh")  # 14, 17, 7 and 9 bytes
    applied = apply_answer(base, case(), "".join(fenced("new\n", f"path={path}") for path in files))
    assert [change.path for change in applied.changes] == ["a.py"]
    assert {refused.path for refused in applied.not_applied} == {"crlf.txt", "open.txt", "run.sh"}
    assert reason(applied, 1) == "the files that the answer replaces are larger than 20 bytes together"
    assert read == [14]
    assert apply_answer(base, case(), fenced("new\n", "path=brand-new.txt")).changes, "a new file replaces none"


@pytest.mark.parametrize("path", ["a.py", "crlf.txt", "cr.txt"])
def test_files_with_too_many_lines_together_are_not_replaced(
    base: Base, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(apply, "MOST_LINES", 3)
    applied = apply_answer(base, case(), fenced("new\n", f"path={path}") + fenced("new\n", "path=src/b.ts"))
    assert [change.path for change in applied.changes] == [path]
    assert reason(applied, 1) == "the files that the answer replaces have more than 3 lines together"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_blocks_of_an_answer_with_too_many_lines_are_ignored(
    base: Base, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    answer = fenced("new\n", "path=a.py").replace("\n", end)  # 5 lines
    monkeypatch.setattr(blocks, "MOST_LINES", 5)
    assert apply_answer(base, case(), answer, TRIAL).changes
    monkeypatch.setattr(blocks, "MOST_LINES", 4)
    applied = apply_answer(base, case(), answer, TRIAL)
    assert (applied.changes, applied.branch, find_blocks(answer)) == ((), None, ())
    assert reason(applied).startswith("the answer has more than ")


LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", " x", "\tif", "}", "def f():", "é", "-- a", "+++ b", "@@ -1 +1 @@"])
)
ENDS = st.sampled_from(["\n", "\r\n", "mixed"])


NAMES = ("a.txt", "b c.txt", "d/é.txt", "d/e/f", "g", "n/ew")


@st.composite
def old_texts(draw: st.DrawFn) -> str:
    lines, end = draw(LINES), draw(ENDS)
    ends = [draw(st.sampled_from(["\n", "\r\n"])) if end == "mixed" else end for _ in lines]
    text = "".join(line + mark for line, mark in zip(lines, ends, strict=True))
    return text + draw(st.sampled_from(["", "last"]))


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    files=st.dictionaries(st.sampled_from(NAMES[:-1]), old_texts(), min_size=1),
    edits=st.dictionaries(st.sampled_from(NAMES), LINES, min_size=1),
)
def test_saved_patches_give_git_the_same_tree(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, str], edits: dict[str, list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("patch")
    make_repository(folder / "work", files)
    git(folder, "clone", "-q", "--bare", "work", "clone.git")
    base = open_base(folder / "clone.git")
    answer = "".join(fenced("".join(f"{line}\n" for line in lines), f'title="{path}"') for path, lines in edits.items())
    applied = apply_answer(base, case(), answer, TRIAL)
    patch = "".join(change.diff for change in applied.changes).encode()
    assert len(applied.changes) + len(applied.not_applied) == len(edits)
    if not applied.changes:
        return
    assert patch == git_diff(base, applied)
    git(folder / "work", "apply", "--index", "--whitespace=nowarn", "-", stdin=patch)
    tree = git(folder / "work", "write-tree").decode().strip()
    assert tree == git(folder / "clone.git", "rev-parse", f"{applied.commit}^{{tree}}").decode().strip()


def test_a_change_is_a_plain_value(base: Base) -> None:
    change = apply_answer(base, case("src/b.ts"), fenced("export const b = 2;\n")).changes[0]
    assert isinstance(change, Change)
    assert (change.path, change.kind, change.added, change.removed) == ("src/b.ts", "modified", 1, 1)
