"""Checks a value of schema 1.0.0, with a fast way for suites in which nothing is wrong."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Any

from pydantic import TypeAdapter

from tui.documents.json_fast import QuickJson
from tui.documents.problems import MOST_PROBLEMS, Finding
from tui.suites.context import Around
from tui.suites.messages import shape_findings
from tui.suites.pruning import pruned
from tui.suites.schema1.checks import suite_findings
from tui.suites.schema1.fast_check import keys_in
from tui.suites.schema1.shapes import CaseShape, SuiteShape

_CHUNK = 1_000


@cache
def _adapter(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)


def schema_is_fine(quick: QuickJson, around: Around) -> bool:
    """Whether nothing at all is wrong with a suite's value, nor with its text."""
    suite = quick.value
    if not isinstance(suite, dict):
        return False
    cases = suite.get("testCases")
    keys = keys_in(CaseShape, cases) if isinstance(cases, list) else None
    rest = {key: value for key, value in suite.items() if key != "$schema"}
    if keys is not None:
        rest["testCases"] = []
    if not _adapter(SuiteShape).validator.isinstance_python(rest):
        return False
    keys = None if keys is None or _is_odd(suite) else keys + _keys_around_cases(suite)
    return quick.is_sound(keys) and next(suite_findings(suite, around, sound=True), None) is None


def _keys_around_cases(suite: dict[str, Any]) -> int:
    return len(suite) + sum(len(part) for part in suite.values() if isinstance(part, dict))


def _is_odd(suite: dict[str, Any]) -> bool:
    """Whether a suite that fits its shape has keys that are not of its shape, or a number with a fraction."""
    parts = [part for part in suite.values() if isinstance(part, dict)]
    numbers = chain.from_iterable(map(dict.values, parts))
    return not isinstance(suite.get("$schema", ""), str) or any(isinstance(number, float) for number in numbers)


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
