"""The `assertions` of a case of schema 1.0.0: the values that each type expects, and the checks made of them."""

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from tui.documents.positions import Path
from tui.documents.problems import Finding
from tui.model.suite import ASSERTION, Check, CheckKind, comma_separated
from tui.suites.context import Around
from tui.suites.messages import quoted

_LONGEST_TARGET = 1_000
_LIMITED = {"latency": "ms", "cost": "USD", "tokens": "tokens"}
_SCORED = ("levenshtein", "rouge-n")
_SCHEMAS = ("is-json", "contains-json")
_WITHOUT_VALUE = (*_LIMITED, "refusal")


def assertion_check(assertion: Mapping[str, Any]) -> Check:
    """Return the check of a valid assertion."""
    kind, value, threshold = assertion["type"], assertion.get("value"), assertion.get("threshold")
    if kind in _WITHOUT_VALUE:
        value = None
    if kind not in _LIMITED and kind not in _SCORED:
        threshold = None
    limit = None if threshold is None else float(threshold)
    return Check(cast("CheckKind", f"{ASSERTION}{kind}"), _target(kind, value, limit), value, limit)


def _target(kind: str, value: Any, threshold: float | None) -> str:
    """Return the text that stands for the assertion on screens and in reports."""
    if threshold is not None and kind in _LIMITED:
        return f"at most {threshold:,.15g} {_LIMITED[kind]}"
    if kind == "word-count":
        limits = value if isinstance(value, dict) else {"min": value, "max": value}
        least, most = limits.get("min"), limits.get("max")
        if least == most:
            return f"{least:,} words"
        ends = (f"at least {least:,}" if least is not None else "", f"at most {most:,}" if most is not None else "")
        return f"{' and '.join(filter(None, ends))} words"
    if value is None:
        return ""
    if kind == "command":
        return shlex.join(value)
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:_LONGEST_TARGET]


def assertion_findings(assertion: Mapping[str, Any], at: Path, around: Around) -> Iterator[Finding]:
    """Return all problems of an assertion whose fields have the right types."""
    kind = assertion.get("type")
    if kind is None:  # reported already
        return
    value, given = assertion.get("value"), "value" in assertion
    if kind in _WITHOUT_VALUE:
        if given:
            what = f"has no effect on `{kind}`; remove it"
            yield Finding((*at, "value"), what, "warning", at_key=True)
    elif not given and kind not in _SCHEMAS:
        yield Finding((*at, "value"), f"is missing; `{kind}` expects {_EXPECTED[kind]}")
    elif given and (fault := _VALUE_FAULTS[kind](value)):
        yield Finding((*at, "value"), f"{fault}; `{kind}` expects {_EXPECTED[kind]}")
    elif given and kind in _SCHEMAS and (reason := _schema_reason(kind, value, around)):
        yield Finding((*at, "value"), f"is not a JSON Schema that can be used: {quoted(reason, 200)}; correct it")
    yield from _threshold_findings(kind, assertion, at)


def _schema_reason(kind: str, schema: Any, around: Around) -> str | None:
    return None if schema is None else around.pattern_error(cast("CheckKind", f"{ASSERTION}{kind}"), json.dumps(schema))


def _threshold_findings(kind: str, assertion: Mapping[str, Any], at: Path) -> Iterator[Finding]:
    threshold = assertion.get("threshold")
    if kind in _LIMITED:
        if "threshold" not in assertion:
            yield Finding((*at, "threshold"), f"is missing; `{kind}` expects the limit in {_LIMITED[kind]}")
    elif kind not in _SCORED:
        if "threshold" in assertion:
            yield Finding((*at, "threshold"), f"has no effect on `{kind}`; remove it", "warning", at_key=True)
    elif kind == "rouge-n" and threshold is not None and threshold > 1:
        yield Finding((*at, "threshold"), f"expected a number from 0 to 1, got {quoted(threshold)}; write a share")


def _text_fault(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"expected text, got {_shown(value)}"
    return None if value else "is empty"


def _texts_fault(value: Any) -> str | None:
    if isinstance(value, str):
        parts = comma_separated(value)
        if parts is None:
            return "has a quotation mark that is not closed"
        return None if all(parts) else "has an empty text"
    if not isinstance(value, list) or not value:
        return f"expected a list of texts, got {_shown(value)}"
    return next((fault for item in value if (fault := _text_fault(item))), None)


def _equal_fault(value: Any) -> str | None:
    return "expected a value, got null" if value is None else None


def _schema_fault(value: Any) -> str | None:
    return None if value is None or isinstance(value, dict | bool) else f"expected an object, got {_shown(value)}"


def _count_fault(value: Any) -> str | None:
    if _is_count(value):
        return None
    if not isinstance(value, dict) or not value or not set(value) <= {"min", "max"}:
        return f"expected `min` and `max`, got {_shown(value)}"
    if bad := next((each for each in value.values() if not _is_count(each)), None):
        return f"expected a whole number, got {_shown(bad)}"
    if not all(map(_is_count, value.values())):
        return "expected whole numbers from 0"
    return "`max` is below `min`" if value.get("max", 1 << 31) < value.get("min", 0) else None


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _words_fault(value: Any) -> str | None:
    if not isinstance(value, list) or not value:
        return f"expected a list, got {_shown(value)}"
    if not all(isinstance(word, str) for word in value) or not value[0]:
        return "expected texts, the first of which is a program"
    return "contains a NUL character" if any("\0" in word for word in value) else None


def _shown(value: Any) -> str:
    return quoted("null" if value is None else json.dumps(value, ensure_ascii=False))


_VALUE_FAULTS: Mapping[str, Callable[[Any], str | None]] = {
    **dict.fromkeys(
        ("contains", "icontains", "not-contains", "starts-with", "levenshtein", "rouge-n", "finish-reason"), _text_fault
    ),
    "contains-all": _texts_fault,
    "contains-any": _texts_fault,
    "equals": _equal_fault,
    "is-json": _schema_fault,
    "contains-json": _schema_fault,
    "word-count": _count_fault,
    "command": _words_fault,
}
_TEXT, _TEXTS, _SCHEMA = "a text", "a list of texts", "a JSON Schema, or no value"
_EXPECTED: Mapping[str, str] = {
    "contains": _TEXT,
    "icontains": _TEXT,
    "not-contains": _TEXT,
    "starts-with": _TEXT,
    "levenshtein": _TEXT,
    "rouge-n": _TEXT,
    "finish-reason": "a finish reason, such as `stop`",
    "contains-all": _TEXTS,
    "contains-any": _TEXTS,
    "equals": "a text, or another value to be equal to as JSON",
    "is-json": _SCHEMA,
    "contains-json": _SCHEMA,
    "word-count": "`{min, max}`, one of them, or a number",
    "command": "a list: a program and its arguments",
}
