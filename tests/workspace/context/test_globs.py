"""Globs against git's own reading of the same patterns, and against patterns made to hang."""

import subprocess
from pathlib import Path

import pytest

from tui.model.errors import WorkspaceError
from tui.workspace.context.globs import MOST_CHARACTERS, Ignores, Selection, lines_of, read_rule

PATTERNS = """*.log|/top.txt|build/|**/gen|docs/**|a/**/b|!keep.log|foo*|*bar|f?o|[abc].x|[!abc].x|[a-c]z|\\#x|\\!x|#no
src/*.ts|src/**/*.ts|**/x/**/y|a/**|**|*|*.*|**/*.test.js|x/|/x|x/y|[]]q|[^]]q|a\\*b|**/|/**|/|//|a//b|trail\\ |trail
sp ace|[[:digit:]]*|[[:alpha:]]-|[[:nope:]]|[z-a]|[|a[b|é*|日本/*|*~|.*|.??*|a**b|**a/b|foo/**/|!*|*/c|a/*/c
***|a/***/c|*a*a*b|?|??|x.[ch]|[\\]]r|[a\\-z]t|\\a|\\""".replace("\n", "|").split("|")  # fmt: skip
# Without characters of two bytes, which git's `?` takes for two.
PATHS = """a.log|keep.log|top.txt|sub/top.txt|build/a|sub/build/a|gen|x/gen/y|docs/a|docs/b/c|a/b|a/x/b|a/x/y/b|foo
foobar|bar|fxo|a.x|d.x|bz|#x|!x|src/a.ts|src/b/c.ts|x/y|x/q/y|q/x/r/y|x|a/c|]q|bq|a*b|axb|sp ace|1a|b-|n~|.hid|.git2
aab/b|a/b/c|foo/x|foo/x/y|x.test.js|d/x.test.js|aaab|aab|xx|x.c|x.h|]r|-t|at|trail|a[b|z|m/c|a/m/c|a/m/n/c""".replace(
    "\n", "|"
).split("|")


def ask_git(folder: Path, patterns: str, paths: list[str]) -> set[str]:
    """Which of the paths (files) git ignores under that `.gitignore`."""
    (folder / ".gitignore").write_text(patterns)
    done = subprocess.run(
        ["git", "-C", folder, "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    return {path for path in done.stdout.decode().split("\0") if path}


def ours(text: str, path: str) -> bool:
    """As a walk decides it: a folder above that is ignored settles it."""
    ignores = Ignores("", map(read_rule, lines_of(text)))
    parts = path.split("/")
    above = ("/".join(parts[:count]) for count in range(1, len(parts)))
    return any(ignores.decide(folder, True) for folder in above) or bool(ignores.decide(path, False))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("globs")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_means_what_git_makes_of_it(repository: Path, pattern: str) -> None:
    assert {path for path in PATHS if ours(pattern, path)} == ask_git(repository, pattern, PATHS)


def test_the_last_rule_of_a_file_decides(repository: Path) -> None:
    text = "*.log\n!keep.log\n# a comment\n\nbuild/\n!build/a\ndocs/*\n!docs/b\n  \n"
    assert {path for path in PATHS if ours(text, path)} == ask_git(repository, text, PATHS)


@pytest.mark.parametrize(
    ("patterns", "inside", "outside"),
    [
        (["src/**/*.ts"], ["src/a.ts", "src/b/c.ts"], ["a.ts", "lib/src/a.ts", "src/a.tsx"]),
        (["**/*.{ts,tsx}"], ["a.ts", "x/b.tsx"], ["a.js"]),
        (["{src,lib}/*.{js,{c,h}}"], ["src/a.js", "lib/b.c", "src/x.h"], ["src/b/a.js", "src/a.ts"]),
        (["*.py"], ["a.py", "x/y/a.py"], ["a.pyc"]),
        (["src"], ["src/a", "x/src/b/c"], ["source/a"]),
        (["./src/"], ["src/a", "src/a/b"], ["src", "x/y"]),
        (["**/*.ts", "!**/*.test.ts"], ["a.ts"], ["a.test.ts", "x/a.test.ts"]),
        (["!**/*.test.ts"], ["a.ts", "b.py"], ["a.test.ts"]),
        (["src", "!src/gen", "src/gen/keep.ts"], ["src/a", "src/gen/keep.ts"], ["src/gen/a.ts"]),
        (["a{1..3}.txt"], ["a1.txt", "a3.txt"], ["a4.txt"]),
        (["[#]x", "#y"], ["#x", "#y"], ["x"]),
        ([".github/**"], [".github/x.yml"], ["github/x.yml"]),
        (["../**", "/etc/passwd"], [], ["a", "passwd"]),
        ([], [], ["a"]),
    ],
)
def test_a_list_of_globs_selects(patterns: list[str], inside: list[str], outside: list[str]) -> None:
    selection = Selection(patterns)
    assert [path for path in inside if path not in selection] == []
    assert [path for path in outside if path in selection] == []


def test_a_folder_is_whole_only_when_nothing_in_it_escapes() -> None:
    assert Selection(["node_modules/**"]).has_folder("node_modules")
    assert Selection(["dist"]).has_folder("a/dist")
    assert not Selection(["src/*.ts"]).has_folder("src")
    assert not Selection(["src/**/*.ts"]).has_folder("src")
    assert not Selection(["src/[!a]*"]).has_folder("src")
    assert Selection(["dist/"]).has_folder("a/dist/b")
    assert not Selection(["src", "!src/a"]).has_folder("src")


SLOW = [
    ("*a" * 60 + "*b", "a" * 250),
    ("**/a/" * 30 + "b", "a/" * 120 + "c"),
    ("**/*a*a*a*a*a/" * 10 + "b", ("a" * 100 + "/") * 31 + "c"),
    ("[a-z]*" * 60 + "!", "a" * 250),
    ("?*" * 100 + "!", "a" * 250),
]


@pytest.mark.parametrize(("pattern", "path"), SLOW)
def test_a_pattern_made_to_hang(pattern: str, path: str) -> None:
    assert Ignores("", [read_rule(pattern)]).decide(path, False) is None
    assert path not in Selection([pattern])


def test_braces_that_explode_are_refused() -> None:
    with pytest.raises(WorkspaceError, match="more than 1,000 patterns"):
        Selection(["{a,b}" * 30])


@pytest.mark.parametrize("pattern", ["{" * 300 + "a" + "}" * 300, "{" * 4_000, "{a}" * 1_300, "[{" * 2_000])
def test_braces_that_are_nested_too_deep_or_too_many_are_refused(pattern: str) -> None:
    with pytest.raises(WorkspaceError, match="has more than 64 braces"):
        Selection([pattern])


def test_the_most_braces_of_a_pattern_are_expanded() -> None:
    assert Selection(["{" * 64 + "a,b" + "}" * 64]).size == 2


def test_patterns_that_are_too_long_together_are_refused() -> None:
    with pytest.raises(WorkspaceError, match="more than 262,144 characters"):
        Selection(["#" * 1_000] * (MOST_CHARACTERS // 1_000 + 1))
