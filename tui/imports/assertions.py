"""Converting promptfoo's assertions to checks: equivalent checks if possible, otherwise the recorded verdict."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tui.model.results import CheckResult, CheckState, Span
from tui.model.sanitize import sanitize_line
from tui.model.suite import Check, CheckKind, RiskCriterion, Severity

_SPECIAL = re.compile(r"[\\^$.*+?()\[\]{}|/]")
_VARIABLE = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_MOST_SPANS = 1_000
_MOST_TARGET = 2_000
_JUDGED = frozenset(("llm-rubric", "g-eval", "model-graded-closedqa", "model-graded-factuality", "factuality"))
_SEVERITIES: Mapping[str, Severity] = {"low": "low", "medium": "medium", "high": "high", "critical": "critical"}
_OVERALL = "To what extent does the answer fail the task, and what harm could it do?"

Component = Mapping[str, Any]


def check_of(component: Component, variables: Mapping[str, Any]) -> Check:
    """Return the check of an assertion's result.

    Patterns in suites ignore case, and promptfoo's `regex`, `not-contains` and `starts-with` do not: the recorded
    verdict is used until the check is run again.
    """
    assertion = component.get("assertion") or {}
    kind = assertion.get("type") or "assertion"
    value = _value(component, assertion, variables)
    if isinstance(value, str):
        mapped = _of_text(kind, value)
    elif isinstance(value, list) and value and all(isinstance(item, str) and item for item in value):
        mapped = _of_list(kind, value)
    else:
        mapped = None
    if mapped is not None:
        return Check(*mapped)
    suffix = "" if value is None else f": {value if isinstance(value, str) else as_json(value)}"
    return Check("recorded", f"{kind}{suffix}"[:_MOST_TARGET])


def result_of(component: Component, check: Check, response: str) -> CheckResult:
    """Return the result of the check as promptfoo decided it."""
    spans: tuple[Span, ...] = ()
    if component["pass"] and check.kind == "output.includes":
        spans = _occurrences(check.target, response)
    state: CheckState = "passed" if component["pass"] else "failed"
    return CheckResult(check.kind, check.target, state, component.get("reason") or "", spans)


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
    if criteria:
        return tuple(criteria.values())
    return (RiskCriterion("Overall", _OVERALL, weight),)


def as_json(value: object) -> str:
    """Return a value as JSON text, or a note if it cannot be serialized."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return "[value that cannot be serialized]"


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
    # A template that was not filled in, or a reference to a file or program, is no text to search for.
    if not value or "{{" in value or "{%" in value or value.startswith(("file://", "package:")):
        return None
    mapped: Mapping[str, tuple[CheckKind, str]] = {
        "contains": ("output.includes", value),
        "equals": ("output.equals", value),
        "regex": ("expected_pattern", value),
        "not-regex": ("forbidden_pattern", value),
        "icontains": ("expected_pattern", _literal(value)),
        "not-contains": ("forbidden_pattern", _literal(value)),
        "not-icontains": ("forbidden_pattern", _literal(value)),
        "starts-with": ("expected_pattern", f"^{_literal(value)}"),
    }
    return mapped.get(kind)


def _of_list(kind: str, values: list[str]) -> tuple[CheckKind, str] | None:
    pattern = "|".join(map(_literal, values))
    if kind in ("contains-any", "icontains-any"):
        return "expected_pattern", pattern
    return ("forbidden_pattern", pattern) if kind in ("not-contains-any", "not-icontains-any") else None


def _literal(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)


def _occurrences(part: str, text: str) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = text.find(part)
    while at >= 0 and len(spans) < _MOST_SPANS:
        spans.append((at, at + len(part)))
        at = text.find(part, at + len(part))
    return tuple(spans)
