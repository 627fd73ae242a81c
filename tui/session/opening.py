"""Suites as the front ends open them: loaded, with their patterns compiled once."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from tui.checks.backtracking import pattern_warning
from tui.checks.patterns import pattern_error
from tui.model.problems import Problem
from tui.model.suite import Suite
from tui.suites.finding import find_suites
from tui.suites.load import Loaded, load_suite


def open_suite(
    path: Path,
    *,
    clone: bool = False,
    repository: Path | None = None,
    unlisted: Mapping[str, str] = MappingProxyType({}),
) -> Loaded:
    """A suite with everything that is wrong with it; `clone` and `repository` say that the command line names a
    repository to clone, or a folder to read instead of the suite's own; `unlisted` which models nobody offers, each
    with the warning."""
    loaded = load_suite(
        path,
        pattern_error,
        clone=clone,
        repository=repository,
        unlisted=unlisted,
        pattern_warning=pattern_warning,
    )
    if loaded.suite is None:
        return loaded
    return replace(loaded, suite=replace(loaded.suite, folder=str(path.absolute().parent)))


def unchecked_problem(suite: Suite) -> Problem | None:
    """Return a warning for a suite in which nothing is checked, at its first case."""
    if any(case.is_checked for case in suite.cases):
        return None
    if suite.format == "testhaven":
        where, keys = "steps", "`assert` or `expected`"
    else:
        where, keys = "testCases", "`expectedPatterns` or `forbiddenPatterns`"
    what = f"no case has a check, so every answer will be `unchecked`; add {keys}, or score the answers by hand"
    return Problem(suite.path, suite.cases[0].line, 1, "warning", where, what)


def suites_at(path: Path) -> list[Path]:
    """The file itself, or every suite file below a folder."""
    return find_suites(path) if path.is_dir() else [path]
