"""Validation of a case of schema 1.0.0 beyond the types of its fields."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any, cast

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.assertions import EXPECTED_VALUES, LIMITED, SCORED, WITH_SCHEMA, WITHOUT_VALUE, value_fault
from tui.model.finish_reasons import FINISH_WORDS, finish_reason_of
from tui.model.suggest import nearest
from tui.model.suite import ASSERTION, CheckKind
from tui.suites.context import Around, refused_path
from tui.suites.messages import ID_PATTERN, quoted
from tui.suites.schema1.tools import tool_findings

_ID = re.compile(ID_PATTERN)
PATTERN_KINDS: tuple[tuple[str, CheckKind], ...] = (
    ("expectedPatterns", "expected_pattern"),
    ("forbiddenPatterns", "forbidden_pattern"),
)
_EXTENSION, _REMOVE_IT = "is an extension of Assay", "; remove it if another tool for schema 1.0.0 rejects it"
EXTENSIONS = ("assertions", "minPassRate", "cluster", "data", "vars", "tools", "maxTurns")
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
    return Finding(path, f"{_EXTENSION}{_REMOVE_IT}", "warning", at_key=True)


def extensions_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings, with one for each key that schema 1.0.0 does not have: the first, with the number of others."""
    found: dict[str | int, list[Finding]] = {}
    for finding in findings:
        if finding.what == f"{_EXTENSION}{_REMOVE_IT}":
            found.setdefault(finding.path[-1], []).append(finding)
        else:
            yield finding
    for first, *others in found.values():
        places = f", and used in {len(others)} more case{'s' if others[1:] else ''}" if others else ""
        yield replace(first, what=f"{_EXTENSION}{places}{_REMOVE_IT}")


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
            yield from _assertion_findings(assertion, (*at, "assertions", index), around)
    yield from tool_findings(case, at, around)
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


def _assertion_findings(assertion: Mapping[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    """Return all problems of an assertion whose fields have the right types."""
    kind = assertion.get("type")
    if kind is None:  # reported already
        return
    value, given = assertion.get("value"), "value" in assertion
    if kind in WITHOUT_VALUE:
        if given:
            what = f"has no effect on `{kind}`; remove it"
            yield Finding((*at, "value"), what, "warning", at_key=True)
    elif not given and kind not in WITH_SCHEMA:
        yield Finding((*at, "value"), f"is missing; `{kind}` expects {EXPECTED_VALUES[kind]}")
    elif given and (fault := value_fault(kind, value)):
        yield Finding((*at, "value"), fault)
    elif given and kind in WITH_SCHEMA and (reason := _schema_reason(kind, value, around)):
        yield Finding((*at, "value"), f"is not a JSON Schema that can be used: {quoted(reason, 200)}; correct it")
    elif kind == "finish-reason" and isinstance(value, str) and finish_reason_of(value) == "other":
        meant = nearest(value, FINISH_WORDS)
        hint = f"did you mean `{meant}`?" if meant else "use one such as `stop` or `length`"
        yield Finding((*at, "value"), f"{quoted(value)} is no known finish reason; {hint}", "warning")
    yield from _threshold_findings(kind, assertion, at)


def _schema_reason(kind: str, schema: Any, around: Around) -> str | None:
    return None if schema is None else around.pattern_error(cast("CheckKind", f"{ASSERTION}{kind}"), json.dumps(schema))


def _threshold_findings(kind: str, assertion: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    threshold = assertion.get("threshold")
    if kind in LIMITED:
        if "threshold" not in assertion:
            yield Finding((*at, "threshold"), f"is missing; `{kind}` expects the limit in {LIMITED[kind]}")
    elif kind not in SCORED:
        if "threshold" in assertion:
            yield Finding((*at, "threshold"), f"has no effect on `{kind}`; remove it", "warning", at_key=True)
    elif kind == "rouge-n" and threshold is not None and threshold > 1:
        yield Finding((*at, "threshold"), f"expected a number from 0 to 1, got {quoted(threshold)}; write a share")


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
