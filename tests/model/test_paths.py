"""Which paths are refused, each with its reason, and which are fine."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.paths import path_fault

UP = "contains `..`"
LIKE_UP = "has a part that looks like `..`"
EMPTY_PART = "has an empty part (`//`, or `/` at its end)"
DOT = "has a part `.`; remove it"
HOME = "begins with `~`, a home folder"
ABSOLUTE = "is absolute; write it relative to the root"
DRIVE = "has a drive letter; write it relative to the root"
BACKSLASH = "has a backslash; write `/` between folders"
CONTROL = "has a control character"
FORMAT = "has a control or format character"
UNSEEN = "has an invisible character"
TAIL = "has a part that ends with a dot or a space"
GIT = "has a part that is or looks like `.git`"
MODULES = "has a part that is or looks like `.gitmodules`"
SHORT = "has a part that Windows treats as `.git` or `.gitmodules`"
DEVICE = "has a reserved device name (such as `con`, `nul`, `com1`)"
DEEP = "has more than 32 parts"
LONG = "has a part longer than 255 bytes"

HOSTILE: dict[str, tuple[str, ...]] = {
    "is empty": ("",),
    ABSOLUTE: ("/", "/etc/passwd", "//server/share/x", "\\server", "\\\\server\\share\\x", "/../x", "\\\\?\\C:\\x"),
    HOME: ("~", "~/x", "~root/.ssh/authorized_keys", "~+/x", "~.txt"),
    DRIVE: ("C:", "c:/Windows/x", "C:\\Windows\\x", "C:x", "z:../x"),
    BACKSLASH: ("a\\b", "a/b\\c", "..\\x", "a\\..\\..\\x", ".git\\config", "a\\"),
    UP: ("..", "../x", "../../etc/passwd", "a/..", "a/../b", "a/../../b", "a/b/../../../c", ".github/../../x"),
    LIKE_UP: ("‥", "‥/x", "．．/x", "a/..／..／x", "a／．．／x"),
    EMPTY_PART: ("a//b", "a/", "a/b//", "a///b"),
    DOT: (".", "./a", "a/.", "a/./b", "./.git/config"),
    CONTROL: ("a\0b", "\0", "a\nb", "a\r", "a\tb", "a/\x1b[31mb", "a\x7f", "a/\x08b", "x\x00.png"),
    FORMAT: (
        "a\x85b",
        "a\x9bb",
        "a\u200bb",
        ".g\u200bit/config",
        ".git\u200c",
        "\ufeffa",
        "a\u202egnp.exe",
        "a\u2066b",
        "a\u00adb",
        "a\u2028b",
        "a\u2029b",
        "a\ud800b",
        "\udfff",
        "a\ufffe",
        "a\uffff",
        "a\U0001ffff",
        "a\ufdd0",
        "a\U000e0041",
        ".\u2060git",
        "a\u061cb",
    ),
    UNSEEN: ("a\u3164b", "a\u115fb", ".git\uffa0", "a\u034fb", "a\U000e0100", "a\u180bb"),
    "has the character `<`": ("a<b", "<script>"),
    "has the character `>`": ("a>b",),
    "has the character `:`": ("ab:c", ".git::$INDEX_ALLOCATION/config", "file.txt:stream", "https://x/y", "ab:/x"),
    'has the character `"`': ('a"b',),
    "has the character `|`": ("a|b", "|sh"),
    "has the character `?`": ("a?b", "日本?"),
    "has the character `*`": ("a*b", "*"),
    TAIL: (
        "a.",
        "a ",
        "a./b",
        "a /b",
        "...",
        "a/..../b",
        ". ",
        ".. ",
        ".. /x",
        ".git.",
        ".git ",
        " ",
        "a\u00a0",
        "b\u3000",
    ),
    GIT: (
        ".git",
        ".git/config",
        ".git/hooks/post-checkout",
        "a/.git/config",
        "a/b/.git",
        ".GIT/config",
        ".Git",
        ".gIT/HEAD",
        "．git/config",
        ".ｇｉｔ",
        ".ᵍit",
        ".𝐠𝐢𝐭/config",
        ".ⓖⓘⓣ",
        ".gİt",
        ".gıt",
        ".gi\ufe0ft",
        ".git／config",
        "a/．ＧＩＴ",
        ".gi\u0307t",
        ".git＼config",
    ),
    MODULES: (".gitmodules", ".GITMODULES", "a/.gitmodules", "．gitmodules", ".gitｍodules", ".gitModules"),
    SHORT: (
        "git~1",
        "GIT~1/config",
        "a/Git~1",
        "git~2",
        "gitmod~1",
        "GITMOD~4",
        "gi7eba~1",
        "GI7EB~10",
        "ｇit~1",
        "GITATT~1",
        "lfscon~2",
        "LF1A2B~1",
    ),
    DEVICE: (
        "con",
        "CON",
        "nul",
        "NUL.txt",
        "a/aux",
        "a/Aux.c",
        "prn.tar.gz",
        "com1",
        "COM9.log",
        "com0",
        "lpt1/x",
        "LPT9",
        "com¹",
        "lpt³.txt",
        "conin$",
        "CONOUT$",
        "clock$",
        "nul .txt",
        "ｃｏｎ",
    ),
    DEEP: ("/".join("a" * 33), "a/" * 100 + "a", "a/" * 100_000 + "a", "/".join([".."] * 40)),
    LONG: ("a" * 256, "a/" + "b" * 256 + "/c", "語" * 86, "é" * 128, "a" * 1_000_000),
}
FINE = (
    "a",
    "README.md",
    "src/utils/stringUtils.js",
    "src/utils/password.ts",
    "middleware/logger.js",
    "a/-rf",
    "-rf",
    "--upload-pack=x",
    ".gitignore",
    ".gitattributes",
    ".gitkeep",
    "a/.gitignore",
    ".github/x.yml",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".git-blame-ignore-revs",
    ".gitmodules.bak",
    ".gitfoo/config",
    "git",
    "git/config",
    "project.git/config",
    "a.git",
    "..a",
    "a..b",
    "...a",
    ".a",
    ".env.example",
    "a/..b/c",
    "日本/語.md",
    "日本／語.md",
    "какие/то.py",
    "naïve/café.txt",
    "cafe\u0301.txt",
    "emoji/🎉.md",
    "❤\ufe0f.md",
    "what？.md",
    "a b/c d.txt",
    " a",
    "a~",
    "backup~1",
    "a/~b",
    "digit~1",
    "conf.d",
    "console.log",
    "auxiliary/x",
    "com10",
    "com",
    "lpt",
    "nullable.py",
    "printer.cfg",
    "aconaux",
    "a+b=c,d;e.txt",
    "[id]/page.tsx",
    "(group)/page.tsx",
    "@scope/pkg/index.js",
    "$HOME/x",
    "%2e%2e/x",
    "a'b`c",
    "!important",
    "#x",
    "a&b",
    "{a,b}",
    "x^y",
    "/".join("a" * 32),
    "a" * 255,
    "/".join(["a" * 255] * 32),
    "語" * 85,
    "é" * 127,
    "\ue0b0.txt",
)
CASES = [(path, fault) for fault, paths in HOSTILE.items() for path in paths]


@pytest.mark.parametrize(("path", "fault"), CASES, ids=[ascii(path)[:40] for path, _ in CASES])
def test_a_hostile_path_is_refused_with_its_reason(path: str, fault: str) -> None:
    assert path_fault(path) == fault


def test_the_table_is_large() -> None:
    assert len(CASES) >= 150


@pytest.mark.parametrize("path", FINE, ids=[ascii(path)[:40] for path in FINE])
def test_a_plain_path_is_fine(path: str) -> None:
    assert path_fault(path) is None


@given(st.text())
def test_what_is_fine_stays_below_its_root(path: str) -> None:
    if path_fault(path) is None:
        assert os.path.normpath(os.path.join("/root", path)).startswith("/root/")
        path.encode()
    else:
        assert path not in FINE
