"""Validation of one case while it is edited: the problems that the suite's file would have with it."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.suite import Suite
from tui.model.values import JsonObject
from tui.suites.context import Around, PatternError
from tui.suites.messages import quoted
from tui.suites.schema1.case_checks import PATTERN_KINDS
from tui.suites.schema1.checks import examine_schema
from tui.suites.testhaven.load import testhaven_findings

_WARNED = frozenset(key for key, _ in PATTERN_KINDS)


def draft_faults(
    suite: Suite, draft: JsonObject, own: str | None, pattern_error: PatternError, pattern_warning: PatternError
) -> Mapping[Path, Finding]:
    """Return the first problem at each path of a case that is edited: its errors, and the warnings about its patterns.

    `own` is the id of the case in the file, None if it is not in the file yet.
    """
    around = Around(suite.home, pattern_error, pattern_warning=pattern_warning)
    if suite.format == "schema-1.0.0":
        found = _schema_findings(suite, draft, own, around)
    else:
        found = [*testhaven_findings(deepcopy(draft), around)]
    faults: dict[Path, Finding] = {}
    for finding in sorted(found, key=lambda each: each.level != "error"):
        if finding.level == "error" or _WARNED.intersection(map(str, finding.path)):
            faults.setdefault(finding.path, finding)
    return faults


def _schema_findings(suite: Suite, draft: JsonObject, own: str | None, around: Around) -> list[Finding]:
    """Return the problems of a case in a suite without other cases, and that of an id that another case has."""
    around.clone = suite.repo_clone is not None
    value: dict[str, Any] = {"name": "-", "description": "", "models": ["-"], "testCases": [deepcopy(draft)]}
    if suite.repository_context is not None:
        value["repositoryContext"] = {"path": suite.repository_context.path}
    findings, _ = examine_schema(value, around)
    found = [replace(each, path=each.path[2:]) for each in findings if each.path[:2] == ("testCases", 0)]
    ids = {case.row.template if case.row else case.id for case in suite.cases}
    if draft.get("id") != own and draft.get("id") in ids:
        what = f"duplicate id {quoted(draft['id'])}, already used by another case; choose another"
        found.append(Finding(("id",), what))
    return found
