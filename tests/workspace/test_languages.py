"""Languages: one name each, whatever people write, and the files that they fit."""

import pytest

from tui.workspace.languages import (
    LANGUAGES,
    fits,
    is_known_file,
    language_id,
    language_of,
    language_title,
    languages_of,
)


def test_no_name_means_two_languages() -> None:
    names = [name for language in LANGUAGES for name in (language.id, *language.aliases.split())]
    assert sorted(names) == sorted(set(names))
    files = [name for language in LANGUAGES for name in language.names.split()]
    assert sorted(files) == sorted(set(files))


@pytest.mark.parametrize(
    ("written", "known"),
    [("TS", "typescript"), ("tsx", "typescript"), ("Py", "python"), ("c++", "cpp"), ("C#", "csharp"), ("bash", "shell"),
     ("golang", "go"), ("yml", "yaml"), ("MD", "markdown"), ("docker", "dockerfile"), (" rs ", "rust"),
     ("Brainf", "brainf")],
)  # fmt: skip
def test_aliases_are_one_language(written: str, known: str) -> None:
    assert language_id(written) == known


@pytest.mark.parametrize(
    ("path", "language"),
    [("a/b.PY", "python"), ("x.d.ts", "typescript"), ("Makefile", "makefile"), ("a/Dockerfile.dev", "dockerfile"),
     ("x.h", "c"), ("a.b/c", None), ("noext", None), (".gitignore", None), ("a.", None), ("CMakeLists.txt", "cmake")],
)  # fmt: skip
def test_files_have_a_language(path: str, language: str | None) -> None:
    assert language_of(path) == language
    assert is_known_file(path) is (language is not None)


@pytest.mark.parametrize(
    ("language", "path", "expected"),
    [(None, "a.py", True), ("", "a.py", True), ("python", "a.py", True), ("PY3", "a.py", True), ("js", "a.ts", False),
     ("jsx", "a.js", True), ("cpp", "a.h", True), ("c", "a.h", True), ("objc", "a.h", True), ("rust", "a.h", False),
     ("text", "a.py", False), ("text", "LICENSE", True), ("xyz", "a.xyz", True), ("xyz", "a.zzz", False),
     ("diff", "a.py", False)],
)  # fmt: skip
def test_a_block_fits_files_of_its_language(language: str | None, path: str, expected: bool) -> None:
    assert fits(language, path) is expected


def test_titles_are_as_their_makers_write_them() -> None:
    assert [language_title(name) for name in ("cpp", "ts", "c#", "odd")] == ["C++", "TypeScript", "C#", "odd"]
    assert languages_of("x.h") == ("c", "cpp", "objective-c")
