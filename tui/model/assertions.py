"""The assertions of a case: the values that each type expects, and the checks made of them."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast

from tui.model.sanitize import sanitize_line
from tui.model.suite import ASSERTION, Check, CheckKind, comma_separated

_LONGEST_TARGET = 1_000
LIMITED: Mapping[str, str] = {"latency": "ms", "cost": "USD", "tokens": "tokens"}
"""The types whose `threshold` is a limit, and its unit."""
SCORED = ("levenshtein", "rouge-n")
"""The types with a `threshold` that may be left out."""
WITH_SCHEMA = ("is-json", "contains-json")
WITHOUT_VALUE = (*LIMITED, "refusal")


def assertion_check(assertion: Mapping[str, Any]) -> Check:
    """Return the check of a valid assertion."""
    kind, value, threshold = assertion["type"], assertion.get("value"), assertion.get("threshold")
    if kind in WITHOUT_VALUE:
        value = None
    if kind not in LIMITED and kind not in SCORED:
        threshold = None
    limit = None if threshold is None else float(threshold)
    return Check(cast("CheckKind", f"{ASSERTION}{kind}"), _target(kind, value, limit), value, limit)


def _target(kind: str, value: Any, threshold: float | None) -> str:
    """Return the target by which screens and reports show the assertion."""
    if threshold is not None and kind in LIMITED:
        return f"at most {threshold:,.15g} {LIMITED[kind]}"
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
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_TARGET else f"{text[: _LONGEST_TARGET - 1]}…"


def value_fault(kind: str, value: Any) -> str | None:
    """Return why a type of assertion cannot have a value, or None. JSON Schemas are not validated."""
    if kind in WITHOUT_VALUE:
        return None
    fault = _VALUE_FAULTS[kind](value)
    return f"{fault}; `{kind}` expects {EXPECTED_VALUES[kind]}" if fault else None


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


def _names_fault(value: Any) -> str | None:
    is_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return None if is_list else f"expected a list of names, got {_shown(value)}"


def _shown(value: Any) -> str:
    return f"`{sanitize_line(json.dumps(value, ensure_ascii=False), 60)}`"


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
    "tools-used": _names_fault,
}
_TEXT, _TEXTS, _SCHEMA = "a text", "a list of texts", "a JSON Schema, or no value"
EXPECTED_VALUES: Mapping[str, str] = {
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
    "tools-used": "a list of names, in the order of the calls; `[]` for none",
}
