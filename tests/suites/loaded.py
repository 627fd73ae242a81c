"""Loads suites in tests, with the real engines of patterns."""

from pathlib import Path

from tui.checks.patterns import pattern_error
from tui.model.suite import Suite
from tui.suites.load import load_suite

__all__ = ["lines_of", "pattern_error", "suite_of"]


def lines_of(folder: Path, name: str, content: str | bytes) -> list[str]:
    """What validation says of a file, with `FOLDER` for the folder it is in."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    loaded = load_suite(path, pattern_error)
    assert (loaded.suite is None) == any(problem.level == "error" for problem in loaded.problems)
    return [str(problem).replace(str(folder), "FOLDER") for problem in loaded.problems]


def suite_of(folder: Path, name: str, content: str) -> Suite:
    """The suite of a file in which nothing is wrong."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    loaded = load_suite(path, pattern_error)
    assert [str(problem) for problem in loaded.problems] == []
    assert loaded.suite is not None
    return loaded.suite
