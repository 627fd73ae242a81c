"""Checks a value of schema 1.0.0, with a fast way for suites in which nothing is wrong."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tui.suites.around import Around
from tui.suites.columns import fits
from tui.suites.findings import MOST_PROBLEMS, Finding
from tui.suites.pruning import pruned
from tui.suites.schema_checks import suite_findings
from tui.suites.shapes import CaseShape, SuiteShape
from tui.suites.wording import shape_findings

_CHUNK = 1_000


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def schema_is_fine(suite: dict[str, Any], around: Around) -> bool:
    """Whether nothing at all is wrong with a suite's value."""
    cases = suite.get("testCases")
    rest = {key: value for key, value in suite.items() if key != "$schema"}
    if isinstance(cases, list) and fits(CaseShape, cases):
        rest["testCases"] = []
    fine: bool = _adapter(SuiteShape).validator.isinstance_python(rest)
    return fine and next(suite_findings(suite, around, sound=True), None) is None


def schema_findings(suite: dict[str, Any], around: Around) -> Iterator[Finding]:
    """Everything wrong with a suite's value; what does not fit is taken out of it on the way."""
    suite.pop("$schema", None)
    found = _shape_findings(suite)
    yield from found
    # Of a file with so many faults the rest is left for another time.
    if len(found) < MOST_PROBLEMS:
        pruned(suite, found)
        yield from suite_findings(suite, around, sound=False)


def _shape_findings(suite: dict[str, Any]) -> list[Finding]:
    cases = suite.get("testCases")
    if not isinstance(cases, list):
        return shape_findings(_adapter(SuiteShape), suite)
    found = shape_findings(_adapter(SuiteShape), {**suite, "testCases": []})
    for start in range(0, len(cases), _CHUNK):
        if len(found) >= MOST_PROBLEMS:
            break
        for finding in shape_findings(_adapter(list[CaseShape]), cases[start : start + _CHUNK]):
            index, *rest = finding.path
            found.append(replace(finding, path=("testCases", start + int(index), *rest)))
    return found
