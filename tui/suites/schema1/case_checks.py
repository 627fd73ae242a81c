"""Validation of a case of schema 1.0.0 beyond the types of its fields."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import Any

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.suite import CheckKind
from tui.suites.context import Around, refused_path
from tui.suites.messages import ID_PATTERN, quoted
from tui.suites.schema1.assertions import assertion_findings

_ID = re.compile(ID_PATTERN)
PATTERN_KINDS: tuple[tuple[str, CheckKind], ...] = (
    ("expectedPatterns", "expected_pattern"),
    ("forbiddenPatterns", "forbidden_pattern"),
)
EXTENSIONS = ("assertions", "minPassRate", "cluster", "data", "vars")
"""The keys of a case that schema 1.0.0 does not have, except `command`."""
FILE_KEYS = frozenset(("applyChanges", "targetFile", "codeContext", "command"))


def is_blank(value: str | None) -> bool:
    """Return whether a text is present but blank."""
    return value is not None and not value.strip()


def blank(path: Path) -> Finding:
    """Return the finding about a text that must not be blank."""
    return Finding(path, "is empty; add text")


def extension(path: Path) -> Finding:
    """Return the finding about a key that schema 1.0.0 does not have."""
    what = "is an extension of Assay; remove it if another tool for schema 1.0.0 rejects it"
    return Finding(path, what, "warning", at_key=True)


def case_findings(
    case: dict[str, Any], at: Path, cloned: bool, roots: tuple[FilePath, ...], around: Around
) -> Iterator[Finding]:
    """Return all problems of the case at the path `at`.

    `roots` are the folders that are searched for its files, in order; empty if they are not known yet.
    """
    identity = case.get("id")
    if is_blank(identity):
        yield blank((*at, "id"))
    elif identity is not None and not _ID.fullmatch(identity):
        what = f"the id {quoted(identity)} has a character that is not allowed; use letters, digits, `-`, `_` and `.`"
        yield Finding((*at, "id"), what)
    for key in ("name", "category", "prompt"):
        if is_blank(case.get(key)):
            yield blank((*at, key))
    yield from _pattern_findings(case, at, around)
    yield from file_findings(case, at, cloned, roots, around)
    yield from _criterion_findings(case.get("riskCriteria") or (), (*at, "riskCriteria"))
    for index, assertion in enumerate(case.get("assertions") or ()):
        if assertion is not None:
            yield from assertion_findings(assertion, (*at, "assertions", index), around)
    for key in EXTENSIONS:
        if key in case:
            yield extension((*at, key))
    if is_blank(case.get("cluster")):
        yield blank((*at, "cluster"))


def file_findings(
    case: dict[str, Any], at: Path, cloned: bool, roots: tuple[FilePath, ...], around: Around
) -> Iterator[Finding]:
    """Return all problems of the files that the case reads or changes, and of its command: its FILE_KEYS."""
    yield from _change_findings(case, at, cloned)
    for index, context in enumerate(case.get("codeContext") or ()):
        if context is not None:
            yield from _context_findings(context, (*at, "codeContext", index), roots, around)


def _pattern_findings(case: dict[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    for key, kind in PATTERN_KINDS:
        for index, pattern in enumerate(case.get(key) or ()):
            if pattern == "":
                what = "an empty pattern matches every answer; write a pattern, or remove it"
                yield Finding((*at, key, index), what, "warning")
            elif pattern is not None and (fault := around.pattern_fault(kind, pattern)):
                yield Finding((*at, key, index), fault)
            elif pattern is not None and (risk := around.pattern_risk(kind, pattern)):
                yield Finding((*at, key, index), risk, "warning")


def _change_findings(case: dict[str, Any], at: Path, cloned: bool) -> Iterator[Finding]:
    target, applies = case.get("targetFile"), case.get("applyChanges")
    if target is not None:
        if is_blank(target):
            yield blank((*at, "targetFile"))
        elif what := refused_path(target):
            yield Finding((*at, "targetFile"), what)
    if applies:
        if not cloned:
            what = "requires a repository to change; add `repoClone` to the suite, or remove this key"
            yield Finding((*at, "applyChanges"), what)
        if "targetFile" not in case:
            what = "is missing, but required by `applyChanges`; add the path of the file to write"
            yield Finding((*at, "targetFile"), what)
    elif target is not None and ("applyChanges" not in case or applies is False):
        what = "has no effect without `applyChanges: true`; add that, or remove this key"
        yield Finding((*at, "targetFile"), what, "warning", at_key=True)
    yield from _command_findings(case, at, cloned)


def _command_findings(case: dict[str, Any], at: Path, cloned: bool) -> Iterator[Finding]:
    command = case.get("command")
    if command is None:
        return
    run = command if isinstance(command, str) else command.get("run")
    if is_blank(run):
        yield blank((*at, "command") if isinstance(command, str) else (*at, "command", "run"))
    if not cloned:
        what = "requires a repository to run in; add `repoClone` to the suite, or remove this key"
        yield Finding((*at, "command"), what, at_key=True)
    elif not case.get("applyChanges") and not ("applyChanges" in case and case["applyChanges"] is None):
        what = "runs on the unchanged repository without `applyChanges: true`; add that, or remove this key"
        yield Finding((*at, "command"), what, "warning", at_key=True)


def _context_findings(
    context: dict[str, Any], at: Path, roots: tuple[FilePath, ...], around: Around
) -> Iterator[Finding]:
    path, content = context.get("filePath"), context.get("content")
    if path is not None and (what := _file_problem(path, () if "content" in context else roots, around)):
        yield Finding((*at, "filePath"), what)
    lines = context.get("lineRange") or {}
    start, end = lines.get("start"), lines.get("end")
    if start is not None and end is not None and end < start:
        what = f"expected a line not before `start` ({int(start)}), got {int(end)}; both lines are included"
        yield Finding((*at, "lineRange", "end"), what)
    elif start is not None and content is not None and start > (count := len(re.split(r"\r\n|\n|\r", content))):
        what = f"is after the last line of `content` ({count}), so nothing would be sent; correct it"
        yield Finding((*at, "lineRange", "start"), what)


def _file_problem(path: str, roots: tuple[FilePath, ...], around: Around) -> str | None:
    if is_blank(path):
        return "is empty; add text"
    return refused_path(path) or around.file_fault(roots, path)


def _criterion_findings(criteria: Iterable[dict[str, Any] | None], at: Path) -> Iterator[Finding]:
    seen = set()
    for index, criterion in enumerate(criteria):
        name = criterion.get("name") if criterion is not None else None
        if is_blank(name):
            yield blank((*at, index, "name"))
        elif name is not None and name in seen:
            what = f"duplicate criterion {quoted(name)}; rename one, so that scores can be assigned"
            yield Finding((*at, index, "name"), what)
        seen.add(name)
