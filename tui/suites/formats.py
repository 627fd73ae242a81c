"""Tells which of the two formats a value is meant to be."""

from collections.abc import Iterable

from tui.documents.problems import Finding, Unreadable
from tui.model.suite import SuiteFormat
from tui.model.values import JsonValue
from tui.suites.spelling import suggestion

_NEEDS = (
    "a schema-1.0.0 suite has `name`, `description`, `models` and `testCases`; "
    "a TestHaven test has `steps`, or `input` with `assert`"
)
_SCHEMA_KEYS = ("testCases", "models", "options", "repositoryContext", "repoClone")
_TESTHAVEN_KEYS = ("steps", "input", "assert", "expected", "memory", "agent")
_CASE_KEYS = frozenset(("prompt", "expectedPatterns", "forbiddenPatterns", "testType"))


def format_of(value: JsonValue) -> SuiteFormat:
    """The format of a file's value. Raises Unreadable where it is neither."""
    if isinstance(value, list):
        return _format_of_list(value)
    if value is None:
        raise Unreadable(Finding((), "is empty; `assay init` writes a suite to begin with"))
    if not isinstance(value, dict):
        raise Unreadable(Finding((), f"holds neither an object nor a list; {_NEEDS}"))
    if "testCases" in value:
        return "schema-1.0.0"
    if "steps" in value or "input" in value:
        return "testhaven"
    for found in (_exact, _meant):
        if found(value, _SCHEMA_KEYS):
            return "schema-1.0.0"
        if found(value, _TESTHAVEN_KEYS):
            return "testhaven"
    raise Unreadable(Finding((), f"is neither of the two formats; {_NEEDS}"))


def _format_of_list(value: list[JsonValue]) -> SuiteFormat:
    if not value:
        raise Unreadable(Finding((), "is an empty list; add at least one test"))
    objects = [item for item in value[:100] if isinstance(item, dict)]
    if objects and all(_CASE_KEYS.intersection(item) and "input" not in item for item in objects):
        what = "is a bare list of cases; put it under `testCases` of an object with `name`, `description` and `models`"
        raise Unreadable(Finding((), what))
    if not objects and len(value) > 100:
        raise Unreadable(Finding((), f"is a list without tests; {_NEEDS}"))
    return "testhaven"


def _exact(keys: Iterable[str], known: Iterable[str]) -> bool:
    return not set(known).isdisjoint(keys)


def _meant(keys: Iterable[str], known: Iterable[str]) -> bool:
    return any(suggestion(key, known) for key in list(keys)[:100])
