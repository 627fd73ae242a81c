"""Checks a file of schema 1.0.0, with a fast way for suites in which nothing is wrong."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from tui.suites.around import Around
from tui.suites.columns import fits
from tui.suites.findings import Finding
from tui.suites.pruning import pruned
from tui.suites.schema_checks import suite_findings
from tui.suites.shapes import CaseShape, SuiteShape
from tui.suites.wording import shape_findings


@cache
def _adapter() -> TypeAdapter[Any]:
    return TypeAdapter(SuiteShape)


def schema_findings(suite: dict[str, Any], around: Around) -> Iterator[Finding]:
    """Everything wrong with a suite's value; what does not fit is taken out of it on the way."""
    suite.pop("$schema", None)
    cases = suite.get("testCases")
    plain = isinstance(cases, list) and fits(CaseShape, cases)
    found = shape_findings(_adapter(), {**suite, "testCases": []} if plain else suite)
    yield from found
    pruned(suite, found)
    yield from suite_findings(suite, around, sound=plain)
