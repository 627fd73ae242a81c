"""What goes along with a prompt, from a folder on disk and from a tree of a repository alike."""

import os
from collections.abc import Callable
from pathlib import Path

import pygit2
import pytest

from tests.support.repositories import Files, ReadObjects, git, make_repository, write_files
from tests.support.work import count_lines
from tui.model.errors import WorkspaceError
from tui.model.results import LeftOutFile
from tui.model.suite import CodeContext, LineRange, RepositoryContext
from tui.workspace.context import read as reading
from tui.workspace.context import walk as walking
from tui.workspace.context.globs import Selection
from tui.workspace.context.read import MOST_LEFT_OUT, context_root, read_code_context, read_repository
from tui.workspace.context.walk import walk
from tui.workspace.git import base
from tui.workspace.git.base import TreeSource, read_blob
from tui.workspace.sources import FolderSource, Source

Make = Callable[[Files], Path | TreeSource]


def tree_of(folder: Path) -> TreeSource:
    repository = pygit2.Repository(str(folder))
    return TreeSource(repository, repository[repository.head.target].peel(pygit2.Tree), "the clone")


@pytest.fixture(params=["folder", "tree"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param == "folder":
        return lambda files: write_files(tmp_path / "files", files)
    return lambda files: tree_of(make_repository(tmp_path / "repository", files))


def paths(root: Path | TreeSource, **settings: object) -> list[str]:
    context = RepositoryContext(**{"path": ".", **settings})  # type: ignore[arg-type]
    return [file.path for file in read_repository(context, root).files]


def reasons(root: Path | TreeSource, **settings: object) -> dict[str, str]:
    context = RepositoryContext(**{"path": ".", **settings})  # type: ignore[arg-type]
    return {out.path: out.reason for out in read_repository(context, root).left_out}


def test_files_come_in_path_order_with_their_language(make: Make) -> None:
    root = make({"b.py": "b\n", "a/z.ts": "z\n", "a.md": "a\n", "a-b/x.txt": "x\n", "Makefile": "all:\n"})
    files = read_repository(RepositoryContext("."), root).files
    assert [(file.path, file.language) for file in files] == [
        ("Makefile", "makefile"),
        ("a-b/x.txt", "text"),
        ("a.md", "markdown"),
        ("a/z.ts", "typescript"),
        ("b.py", "python"),
    ]
    assert files[3].content == "z\n"
    assert files[3].size == 2


def test_the_seeds_complete_example_selects_its_files(make: Make) -> None:
    root = make({"src/a.ts": "", "src/a.test.ts": "", "src/v/b.tsx": "", "src/c.js": "", "d.ts": "", "src/n.md": ""})
    settings = {
        "path": "./src",
        "include_files": ("**/*.ts", "**/*.tsx"),
        "exclude_files": ("**/*.test.ts",),
        "languages": ("typescript",),
    }
    above = "src/" if isinstance(root, TreeSource) else ""
    assert paths(root, **settings) == [f"{above}a.ts", f"{above}v/b.tsx"]
    assert reasons(root, **settings) == {
        f"{above}a.test.ts": "is excluded by excludeFiles",
        f"{above}c.js": "is not in includeFiles",
        f"{above}n.md": "is not in includeFiles",
    }


def test_gitignore_holds_nested_and_taken_back(make: Make) -> None:
    root = make(
        {
            ".gitignore": "*.tmp\n/only.txt\ngen/\n",
            "a.tmp": "",
            "only.txt": "",
            "sub/only.txt": "",
            "sub/.gitignore": "!keep.tmp\nlocal.txt\n",
            "sub/keep.tmp": "",
            "sub/x.tmp": "",
            "sub/local.txt": "",
            "x/gen/deep/file.txt": "",
            "local.txt": "",
        }
    )
    assert paths(root) == [".gitignore", "local.txt", "sub/.gitignore", "sub/keep.tmp", "sub/only.txt"]
    assert reasons(root)["x/gen/"] == "is ignored by .gitignore"


def test_a_gitignore_above_the_folder_holds_too(make: Make) -> None:
    root = make(
        {".gitignore": "/src/out\n*.tmp\n", "src/a.c": "", "src/out/b.c": "", "src/x.tmp": "", "src/s/out/c.c": ""}
    )
    if isinstance(root, Path):
        git(root, "init", "-q")
    above = "src/" if isinstance(root, TreeSource) else ""
    assert paths(root, path="src") == [f"{above}a.c", f"{above}s/out/c.c"]


def test_a_folder_that_its_repository_ignores_can_be_asked_for(make: Make) -> None:
    root = make({".gitignore": "made/\n*.tmp\n", "made/a.c": "", "made/b/c.c": ""})
    if isinstance(root, Path):
        git(root, "init", "-q")
    assert len(paths(root, path="made")) == 2


def test_the_common_exclusions_hold_besides_given_ones(make: Make) -> None:
    root = make(
        {
            "node_modules/x/index.js": "",
            "a/__pycache__/m.pyc": "",
            "a/.env": "KEY=1",
            "a/.env.example": "KEY=",
            "server.pem": "",
            "yarn.lock": "",
            "src/app.min.js": "",
            "src/app.js": "",
            ".github/x.yml": "",
            "sub/dist/y.js": "",
        }
    )
    assert paths(root, exclude_files=("nothing",)) == [".github/x.yml", "a/.env.example", "src/app.js"]
    assert paths(root, include_files=("**",)) == [".github/x.yml", "a/.env.example", "src/app.js"]
    assert reasons(root)["node_modules/"] == "is excluded by default"
    assert reasons(root)["a/.env"] == "is excluded by default"


def test_a_file_of_exactly_the_limit_is_in(make: Make) -> None:
    root = make({"exact.txt": "é" * 50, "over.txt": "x" * 101, "under.txt": "x" * 99})
    assert paths(root, max_file_size_bytes=100) == ["exact.txt", "under.txt"]
    assert reasons(root, max_file_size_bytes=100) == {"over.txt": "is larger than maxFileSizeBytes (101 of 100 bytes)"}


def test_the_first_files_by_path_are_taken(make: Make) -> None:
    root = make({f"{name}/f.txt": name for name in "dcbae"} | {"a.bin": b"\0"})
    assert paths(root, max_files=2) == ["a/f.txt", "b/f.txt"]
    found = reasons(root, max_files=2)
    assert found["a.bin"] == "is binary"
    assert found["c/f.txt"] == "is beyond maxFiles (2)"
    assert paths(root, max_files=0) == []


def test_binary_and_other_encodings_are_out_and_a_mark_is_dropped(make: Make) -> None:
    root = make(
        {
            "a.bin": b"x\0y",
            "b.txt": "\ufeffhello\r\n",
            "latin.txt": "é".encode("latin-1"),
            "w.txt": "hi".encode("utf-16"),
        }
    )
    files = read_repository(RepositoryContext("."), root).files
    assert [(file.path, file.content) for file in files] == [("b.txt", "hello\r\n")]
    assert reasons(root) == {"a.bin": "is binary", "latin.txt": "is not UTF-8 text", "w.txt": "is binary"}


@pytest.mark.parametrize(
    ("languages", "expected"),
    [
        (("ts",), ["a.ts", "b.tsx"]),
        (("TypeScript", "py"), ["a.ts", "b.tsx", "c.py"]),
        (("c++",), ["d.cc", "e.h"]),
        (("C",), ["e.h", "f.c"]),
        (("c#",), ["g.cs"]),
        (("csharp", "golang"), ["g.cs", "h.go"]),
        (("sh",), ["i.bash"]),
        (("docker",), ["Dockerfile"]),
        (("xyz",), ["j.xyz"]),
        (("cobol",), []),
    ],
)
def test_languages_go_by_extension_and_alias(make: Make, languages: tuple[str, ...], expected: list[str]) -> None:
    names = ["a.ts", "b.tsx", "c.py", "d.cc", "e.h", "f.c", "g.cs", "h.go", "i.bash", "j.xyz", "Dockerfile"]
    assert paths(make(dict.fromkeys(names, "x")), languages=languages) == expected


def test_links_and_special_files_are_out(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = write_files(tmp_path / "files", {"a.txt": "a", "d/b.txt": "b"})
    (folder / "link.txt").symlink_to("../secret.txt")
    (folder / "inner.txt").symlink_to("a.txt")
    (folder / "up").symlink_to("..")
    os.mkfifo(folder / "pipe.txt")
    assert paths(folder) == ["a.txt", "d/b.txt"]
    found = reasons(folder)
    assert found["pipe.txt"] == "is not a regular file"
    assert {found[name] for name in ("link.txt", "inner.txt", "up")} == {"is a symbolic link"}


def test_links_and_submodules_of_a_tree_are_out(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "r", {"a.txt": "a"})
    (folder / "link.txt").symlink_to("/etc/passwd")
    root = tree_of(make_repository(folder, {}))
    assert paths(root) == ["a.txt"]
    assert reasons(root) == {"link.txt": "is a symbolic link"}


def test_a_long_list_of_left_out_files_is_reported_by_folder(make: Make) -> None:
    files = {f"lib/d{number % 3}/f{number}.js": "" for number in range(600)} | {"a.py": "", "b.txt": ""}
    found = reasons(make(files), include_files=("*.py",))
    assert found == {
        "lib/d0/": "200 × is not in includeFiles",
        "lib/d1/": "200 × is not in includeFiles",
        "lib/d2/": "200 × is not in includeFiles",
        "./": "1 × is not in includeFiles",
    }
    many = {f"d{number}/f.js": "" for number in range(2 * MOST_LEFT_OUT)}
    context = RepositoryContext(".", include_files=("*.py",))
    assert len(read_repository(context, make(many)).left_out) == MOST_LEFT_OUT


def test_the_walk_has_an_end(make: Make) -> None:
    root = make({f"f{number:03}.txt": "" for number in range(50)})
    found = read_repository(RepositoryContext("."), root, most_entries=10)
    assert found.files == ()
    assert [out.reason for out in found.left_out] == ["the search stopped after 10 entries"]


def test_comparisons_with_patterns_have_an_end(tmp_path: Path) -> None:
    root = write_files(tmp_path, {".gitignore": "*.x\n" * 10, **{f"f{number}.txt": "" for number in range(10)}})
    walked = walk(FolderSource(root), None, Selection(()), most_comparisons=35)
    assert walked.paths == [".gitignore", "f0.txt", "f1.txt", "f2.txt"]
    assert walked.left_out == [LeftOutFile("./", "the search stopped after 35 comparisons with patterns")]


def test_gitignore_files_that_are_too_large_together_leave_their_folders_out(make: Make) -> None:
    rules = {name: "".join(f"{name}{number}{'x' * 3_500}\n" for number in range(40)) for name in "abc"}
    # The same rules again cost nothing: c2 is read first, then c1.
    files = {f"{name}/.gitignore": rules[name[0]] for name in ("a", "b", "c1", "c2")}
    root = make(files | {f"{name}/x.txt": "" for name in ("a", "b", "c1", "c2", "d")})
    assert paths(root, max_file_size_bytes=10) == ["c1/x.txt", "c2/x.txt", "d/x.txt"]
    assert reasons(root)["a/"] == "the .gitignore files of the repository are too large"


def test_a_gitignore_that_is_too_large_is_not_read_and_its_folder_left_out(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "MOST_IGNORE_BYTES", 20)
    monkeypatch.setattr(base, "MOST_IGNORE_BYTES", 20)
    rules = "x.txt\n" + "#" * 15
    root = make({"a/.gitignore": rules, "a/x.txt": "", "a/b/c.txt": "", "d/.gitignore": rules[:20], "d/x.txt": ""})
    read: list[int] = []

    def noted(repository: pygit2.Repository, oid: pygit2.Oid) -> bytes:
        read.append(len(data := read_blob(repository, oid)))
        return data

    monkeypatch.setattr(base, "read_blob", noted)
    assert paths(root, max_file_size_bytes=10) == []
    assert reasons(root)["a/"] == "its .gitignore is larger than 20 bytes"
    assert max(read, default=0) <= 20
    for path in ("a", "a/b"):
        if isinstance(root, TreeSource) or path == "a":
            with pytest.raises(WorkspaceError, match="larger than 20 bytes"):
                paths(root, path=path)
    assert max(read, default=0) <= 20


def test_a_file_that_is_larger_than_allowed_is_not_read(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make({"a.txt": "12345"})
    source = context_root(RepositoryContext("."), root)
    assert source.read("a.txt", 5) == b"12345"
    monkeypatch.delattr(base, "read_blob")
    with pytest.raises(WorkspaceError, match="larger than 4 bytes"):
        source.read("a.txt", 4)


def test_a_large_folder_of_a_clone_is_parsed_no_more_often_for_more_files(tmp_path: Path) -> None:
    # A tree of more than 4 KiB is not in the cache of the git library.
    make_repository(tmp_path, {f"d/e/f{number}.py": "" for number in range(200)})
    repository = pygit2.Repository(str(tmp_path))
    tree = repository[repository.head.target].peel(pygit2.Tree)
    read = ReadObjects(repository)

    def reads(count: int) -> int:
        read.ids.clear()
        assert len(paths(TreeSource(repository, tree, "the clone"), max_files=count)) == count
        return read.ids.count(tree["d/e"].id)

    assert reads(20) == reads(2) > 0


def test_the_files_of_a_prompt_are_limited_together(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_CONTEXT_BYTES", 8)
    root = make({"a.txt": "12345", "b.txt": "1234", "c.txt": "123", "d.txt": "1"})
    assert paths(root) == ["a.txt", "c.txt"]
    assert reasons(root) == dict.fromkeys(("b.txt", "d.txt"), "is beyond the 8 bytes that all files may have together")
    roots = [context_root(RepositoryContext("."), root)]
    assert len(read_code_context([CodeContext("a.txt"), CodeContext("c.txt"), CodeContext("a.txt")], roots)) == 2
    with pytest.raises(WorkspaceError, match=r"b\.txt: the codeContext of this case is larger than 8 bytes"):
        read_code_context([CodeContext("a.txt"), CodeContext("b.txt")], roots)


def test_a_file_of_many_ranges_is_read_and_searched_for_its_lines_once(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = context_root(RepositoryContext("."), make({"a.txt": "line\n" * 200}))
    reads: list[str] = []
    read = source.read

    def noted(path: str, limit: int) -> bytes:
        reads.append(path)
        return read(path, limit)

    monkeypatch.setattr(source, "read", noted)

    def cost(count: int) -> int:
        ranges = [CodeContext("a.txt", line_range=LineRange(2 * n + 1, 2 * n + 1)) for n in range(count)]
        found = count_lines(lambda: read_code_context(ranges, [source]))
        assert reads == ["a.txt"]
        reads.clear()
        return found

    assert cost(40) - cost(20) < 20 * 100, "a further range costs less than a look at each line of the file"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a\nb\r\nc\rd", ["a\n", "b\r\n", "c\r", "d"]),
        ("a\r\r\n\n", ["a\r", "\r\n", "\n"]),
        ("", [""]),
    ],
)
def test_lines_end_at_lf_crlf_or_cr(text: str, lines: list[str]) -> None:
    for number, line in enumerate(lines, 1):
        given = CodeContext("a.txt", content=text, line_range=LineRange(number, number))
        assert [file.content for file in read_code_context([given], [])] == [line]
    with pytest.raises(WorkspaceError, match="is outside a file"):
        read_code_context([CodeContext("a.txt", content=text, line_range=LineRange(len(lines) + 1, 99))], [])


def test_a_stopped_run_ends_the_reading(make: Make) -> None:
    root = make({".gitignore": "a\nb\n", "c.txt": "", "d.txt": ""})
    for before in range(10):
        answers = iter([False] * before + [True])
        with pytest.raises(WorkspaceError, match="the run was stopped"):
            read_repository(RepositoryContext("."), root, is_stopped=lambda: next(answers))  # noqa: B023


def test_a_folder_that_is_not_there_is_an_error(make: Make) -> None:
    root = make({"a.txt": ""})
    for path in ("missing", "a.txt", "x/../missing"):
        with pytest.raises(WorkspaceError):
            read_repository(RepositoryContext(path), root)


def test_a_clones_path_stays_in_the_clone(tmp_path: Path) -> None:
    root = tree_of(make_repository(tmp_path / "r", {"src/a.txt": ""}))
    for path in ("..", "../x", "/etc", "src/../../x"):
        with pytest.raises(WorkspaceError):
            read_repository(RepositoryContext(path), root)
    assert paths(root, path="./src/") == ["src/a.txt"]


def root_of(made: Path | TreeSource) -> Source:
    return context_root(RepositoryContext("."), made)


def test_code_is_given_or_loaded_and_cut(make: Make) -> None:
    root = root_of(make({"src/a.ts": "1\n2\r\n3\r4\u20285\n", "b.py": "x"}))
    contexts = [
        CodeContext("src/a.ts", line_range=LineRange(2, 4)),
        CodeContext("b.py"),
        CodeContext("given.js", content="a\nb\nc", language="TS", line_range=LineRange(2, 9)),
    ]
    files = read_code_context(contexts, [root])
    assert [(file.path, file.content, file.language) for file in files] == [
        ("src/a.ts", "2\r\n3\r4\u20285\n", "typescript"),
        ("b.py", "x", "python"),
        ("given.js", "b\nc", "typescript"),
    ]


def test_the_first_root_that_has_the_file_gives_it(tmp_path: Path) -> None:
    first = FolderSource(write_files(tmp_path / "1", {"a.txt": "first"}))
    second = FolderSource(write_files(tmp_path / "2", {"a.txt": "second", "b.txt": "b"}))
    read = read_code_context([CodeContext("a.txt"), CodeContext("b.txt")], [first, second])
    assert [file.content for file in read] == ["first", "b"]


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (CodeContext("none.py"), "none.py: this codeContext was not found in"),
        (CodeContext("../secret.txt"), "contains `..`"),
        (CodeContext("/etc/passwd"), "is absolute"),
        (CodeContext("d"), "d: this codeContext is a folder"),
        (CodeContext("bin"), "bin: this codeContext is not UTF-8 text"),
        (CodeContext("a.txt", line_range=LineRange(9, 10)), "a.txt: lineRange 9–10 is outside a file of 2 lines"),
        (CodeContext("a.txt", line_range=LineRange(2, 1)), "is outside a file"),
        (CodeContext("a.txt/b"), "was not found"),
    ],
)
def test_code_that_cannot_be_read_is_named(make: Make, context: CodeContext, words: str) -> None:
    root = root_of(make({"a.txt": "1\n2\n", "d/x": "", "bin": b"\0"}))
    with pytest.raises(WorkspaceError, match=words):
        read_code_context([context], [root])


def test_code_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.txt").write_text("secret")
    folder = write_files(tmp_path / "r", {"a.txt": ""})
    (folder / "link.txt").symlink_to("../out/secret.txt")
    (folder / "dir").symlink_to("../out")
    for root in (FolderSource(folder), root_of(tree_of(make_repository(folder, {})))):
        for path in ("link.txt", "dir/secret.txt"):
            with pytest.raises(WorkspaceError, match="is a symbolic link, or is behind one"):
                read_code_context([CodeContext(path)], [root])
