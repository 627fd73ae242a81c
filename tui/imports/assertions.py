"""Converting promptfoo's assertions to checks: the same assertion if there is one, a pattern, or a recorded check."""

import json
import re
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from tui.imports.texts import as_text
from tui.model.assertions import LIMITED, assertion_check, value_fault
from tui.model.results import CheckResult, CheckState
from tui.model.sanitize import sanitize_line
from tui.model.suite import Check, CheckKind, RiskCriterion, Severity

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_MOST_TARGET = 2_000
# The types that an assertion of a suite has too; `is-refusal` is `refusal` there.
_SAME = frozenset(
    (
        *("contains", "icontains", "contains-all", "contains-any", "not-contains", "starts-with", "equals"),
        *("is-json", "contains-json", "word-count", "levenshtein", "rouge-n"),
        *("latency", "cost", "finish-reason", "refusal"),
    )
)
_JUDGED = frozenset(("llm-rubric", "g-eval", "model-graded-closedqa", "model-graded-factuality", "factuality"))
_SEVERITIES: Mapping[str, Severity] = {"low": "low", "medium": "medium", "high": "high", "critical": "critical"}
_OVERALL = "To what extent does the answer fail the task, and what harm could it do?"

Component = Mapping[str, Any]


def check_of(component: Component, variables: Mapping[str, Any]) -> Check:
    """Return the check of an assertion's result.

    Patterns in suites ignore case, and promptfoo's `regex` and `not-regex` do not: the recorded verdict is used until
    the check is run again.
    """
    assertion = component.get("assertion") or {}
    kind = assertion.get("type") or "assertion"
    value = _value(component, assertion, variables)
    if (same := _same_assertion(kind, value, assertion)) is not None:
        return same
    if isinstance(value, str):
        mapped = _of_text(kind, value)
    elif isinstance(value, list) and value and all(isinstance(item, str) and item for item in value):
        mapped = _of_list(kind, value)
    else:
        mapped = None
    if mapped is not None:
        return Check(*mapped)
    suffix = "" if value is None else f": {as_text(value)}"
    return Check("recorded", f"{kind}{suffix}"[:_MOST_TARGET])


def _same_assertion(kind: str, value: Any, assertion: Mapping[str, Any]) -> Check | None:
    """Return the assertion of a suite that has the same name and meaning, or None."""
    kind = "refusal" if kind == "is-refusal" else kind
    threshold = assertion.get("threshold")
    if kind not in _SAME or assertion.get("transform") or not _is_usable(value):
        return None
    if kind in LIMITED if threshold is None else not 0 <= threshold <= (1 if kind == "rouge-n" else inf):
        return None
    if value_fault(kind, value):
        return None
    return assertion_check({"type": kind, "value": value, "threshold": threshold})


def _is_usable(value: Any) -> bool:
    """Return whether a value is what was compared: no template that was not filled in, and no file or program."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return not ("{{" in text or "{%" in text or text.startswith(("file://", "package:")))


def result_of(component: Component, check: Check) -> CheckResult:
    """Return the result of the check as promptfoo decided it."""
    state: CheckState = "passed" if component["pass"] else "failed"
    return CheckResult(check.kind, check.target, state, component.get("reason") or "")


def criteria_of(
    components: Sequence[Component], variables: Mapping[str, Any], severity: object
) -> tuple[RiskCriterion, ...]:
    """Return the criteria by which reviewers can score the answers.

    These are the rubrics that a model judged, else the answer as a whole.
    """
    weight = _SEVERITIES.get(severity, "medium") if isinstance(severity, str) else "medium"
    criteria: dict[str, RiskCriterion] = {}
    for component in components:
        assertion = component.get("assertion") or {}
        value = _value(component, assertion, variables)
        if assertion.get("type") in _JUDGED and isinstance(value, str) and value.strip():
            metric = assertion.get("metric")
            name = sanitize_line(metric, 80) if isinstance(metric, str) else ""
            name = name or f"Rubric {len(criteria) + 1}"
            if name in criteria:
                name = f"{name} ({len(criteria) + 1})"
            criteria[name] = RiskCriterion(name, value, weight)
    return tuple(criteria.values()) or overall_criteria(weight)


def overall_criteria(severity: Severity = "medium") -> tuple[RiskCriterion, ...]:
    """Return the only criterion of a case without rubrics: the answer as a whole."""
    return (RiskCriterion("Overall", _OVERALL, severity),)


def _value(component: Component, assertion: Mapping[str, Any], variables: Mapping[str, Any]) -> Any:
    rendered = (component.get("metadata") or {}).get("renderedAssertionValue")
    value = assertion.get("value") if rendered is None else rendered
    if isinstance(value, str):
        return _filled(value, variables)
    return [_filled(item, variables) for item in value] if isinstance(value, list) else value


def _filled(value: Any, variables: Mapping[str, Any]) -> Any:
    if not isinstance(value, str) or "{{" not in value:
        return value
    return _VARIABLE.sub(
        lambda found: variables[found[1]] if isinstance(variables.get(found[1]), str) else found[0], value
    )


def _of_text(kind: str, value: str) -> tuple[CheckKind, str] | None:
    if not value or not _is_usable(value):
        return None
    mapped: Mapping[str, tuple[CheckKind, str]] = {
        "regex": ("expected_pattern", value),
        "not-regex": ("forbidden_pattern", value),
        "not-icontains": ("forbidden_pattern", _literal(value)),
    }
    return mapped.get(kind)


def _of_list(kind: str, values: list[str]) -> tuple[CheckKind, str] | None:
    pattern = "|".join(map(_literal, values))
    if kind == "icontains-any":
        return "expected_pattern", pattern
    return ("forbidden_pattern", pattern) if kind in ("not-contains-any", "not-icontains-any") else None


def _literal(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)
