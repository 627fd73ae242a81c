"""Opens a suite file: the suite, or everything that is wrong with it."""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tui.documents.json_fast import QuickJson, read_quickly, too_deep
from tui.documents.json_reader import ExactJson
from tui.documents.positions import Path as Place
from tui.documents.positions import lines_of, offset_of, places_of
from tui.documents.problems import MOST_PROBLEMS, Finding, Unreadable, problems_of
from tui.model.problems import Problem
from tui.model.suite import Suite, SuiteFormat
from tui.model.values import JsonValue
from tui.suites.context import Around, PatternError
from tui.suites.reading import NotRead, Source, read_source

# Of a file with more faults than that, the first will do.
_MOST_FINDINGS = 2 * MOST_PROBLEMS
__all__ = ["Loaded", "PatternError", "load_suite"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A suite with its warnings; or, where there is an error, None with everything that was found."""

    suite: Suite | None
    problems: tuple[Problem, ...]


def load_suite(
    path: Path,
    pattern_error: PatternError,
    *,
    clone: bool = False,
    repository: Path | None = None,
    unlisted: Mapping[str, str] = MappingProxyType({}),
    pattern_warning: PatternError | None = None,
) -> Loaded:
    """Read and check the suite file at `path`; whatever is wrong with it is in the result, nothing is raised.

    `pattern_error` says why a pattern cannot compile, `pattern_warning` what to be warned of in one that can. `clone`
    tells that the command line names a repository to clone, `repository` a local one that takes the place of the
    suite's `repositoryContext.path`; `unlisted` maps models that nobody offers to the warning that says so.
    """
    around = Around(path.parent, pattern_error, clone, repository, unlisted, pattern_warning)
    try:
        source = read_source(path)
        with _no_collecting():
            quick = read_quickly(source.content) if source.syntax == "JSON" else None
            suite = _load_quickly(quick, path, source, around) if quick else None
            if suite is not None:
                return Loaded(suite, ())
            return _load_exactly(path, source, around)
    except NotRead as reason:
        return Loaded(None, (Problem(str(path), None, None, "error", "file", str(reason)),))


def _load_quickly(quick: QuickJson, path: Path, source: Source, around: Around) -> Suite | None:
    """The suite, if nothing at all is wrong with it."""
    from tui.suites.formats import format_of
    from tui.suites.schema_suite import schema_is_fine
    from tui.suites.testhaven.load import testhaven_findings

    try:
        kind = format_of(quick.value)
    except Unreadable:
        return None
    if kind == "schema-1.0.0":
        fine = schema_is_fine(quick, around)
    else:
        sound = not too_deep(quick.value) and quick.is_sound()
        fine = sound and next(testhaven_findings(quick.value, around), None) is None
    return _build(kind, quick.value, lines_of(quick.content, quick.starts), path, source.sha256) if fine else None


def _load_exactly(path: Path, source: Source, around: Around) -> Loaded:
    text = source.text()
    if source.syntax == "JSON":
        document: Any = ExactJson(text)
    else:
        from tui.documents.yaml_reader import ExactYaml

        document = ExactYaml(text)
    findings: list[Finding] = document.findings
    kind: SuiteFormat | None = None
    if document.read():
        try:
            kind, found = _examine(document.value, around)
            findings += found
        except Unreadable as reason:
            findings.append(reason.finding)
    problems = problems_of(str(path), text, document.tree, findings)
    if kind is None or any(problem.level == "error" for problem in problems):
        return Loaded(None, problems)
    starts = [offset_of(document.tree, case) for case in _case_paths(document.value)]
    places = places_of(text, starts)
    lines = [places[start][0] for start in starts]
    return Loaded(_build(kind, document.value, lines, path, source.sha256), problems)


def _examine(value: JsonValue, around: Around) -> tuple[SuiteFormat, list[Finding]]:
    """The format, and everything found. Raises Unreadable where the value is of neither format."""
    from tui.suites.formats import format_of
    from tui.suites.schema_suite import schema_findings
    from tui.suites.testhaven.load import testhaven_findings

    kind = format_of(value)
    if kind == "schema-1.0.0" and isinstance(value, dict):
        found = schema_findings(value, around)
    else:
        found = testhaven_findings(value, around)
    return kind, list(islice(found, _MOST_FINDINGS))


def _build(kind: SuiteFormat, value: Any, lines: list[int], path: Path, sha256: str) -> Suite:
    from tui.suites.schema1.build import build_suite
    from tui.suites.testhaven.load import build_testhaven

    if kind == "schema-1.0.0":
        return build_suite(value, lines, str(path), sha256)
    return build_testhaven(value, lines, path, sha256)


def _case_paths(value: Any) -> list[Place]:
    if isinstance(value, list):
        return [(index,) for index in range(len(value))]
    if "testCases" in value:
        return [("testCases", index) for index in range(len(value["testCases"]))]
    return [()]


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Hundreds of thousands of values that all stay: looking for garbage among them takes longer than reading them."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
