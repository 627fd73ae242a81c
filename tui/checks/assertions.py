"""Checks without patterns, evaluated in this process in time linear in the length of the answer."""

from dataclasses import dataclass

from tui.checks.messages import quote, words_for_matches, words_for_values
from tui.checks.protocol import Matches
from tui.checks.values import MISSING, same, value_at
from tui.model.results import MOST_SPANS, CheckResult, Span
from tui.model.suite import Check
from tui.model.values import JsonValue


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its text, the names of the tools used in order, and the memory after it.

    `duration_ms` is that of its last request, `finish_reason` the provider's word; None if they are unknown. If
    `has_only_text`, the tools and the memory are unknown too.
    """

    text: str
    tools_used: tuple[str, ...] = ()
    memory: JsonValue = None
    duration_ms: float | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    finish_reason: str | None = None
    has_only_text: bool = False


_EXCERPT = 200


def decide_assertion(check: Check, answer: Answer) -> CheckResult:
    """Return the result of an assertion of TestHaven that is not a pattern."""
    match check.kind:
        case "output.includes":
            return _includes(check, answer.text)
        case "output.equals":
            return _equals(check, answer.text)
        case "tools_used" | "memory" | "expected" if answer.has_only_text:
            return _without_state(check, answer.text)
        case "tools_used":
            return _values(check, list(answer.tools_used))
        case "memory":
            return _remembers(check, answer.memory)
        case "expected":
            return _expected(check, answer)
        case "recorded":
            detail = "this check was evaluated by another tool and cannot be repeated here"
            return CheckResult(check.kind, check.target, "timed_out", detail)  # not evaluated: neither met nor not
    raise ValueError(f"a check of kind {check.kind} is not evaluated on the answer")


def occurrences(part: str, text: str, start: int = 0) -> Matches:
    """Return the non-overlapping occurrences of a part in a text, from `start` on."""
    spans: list[Span] = []
    at = text.find(part, start)
    while at >= 0 and len(spans) < MOST_SPANS:
        spans.append((at, at + len(part)))
        if not part:  # an empty text occurs everywhere; one occurrence is enough
            return Matches(1, tuple(spans))
        at = text.find(part, at + len(part))
    return Matches(len(spans) + (text.count(part, at) if at >= 0 else 0), tuple(spans))


def excerpt(text: str) -> str:
    """Return the beginning of an answer, for a line that starts with `got`."""
    return quote(text[: _EXCERPT + 1]) if text else "an empty answer"


def _includes(check: Check, text: str) -> CheckResult:
    found = occurrences(check.target, text)
    if found.count:
        return CheckResult(check.kind, check.target, "passed", words_for_matches(found, text), found.spans)
    other_case = check.target.casefold() in text.casefold()
    hint = "\nthe text occurs with different case; output.includes is case-sensitive" if other_case else ""
    detail = f"not found\nexpected a text that includes {quote(check.target)}\ngot {excerpt(text)}{hint}"
    return CheckResult(check.kind, check.target, "failed", detail)


def _equals(check: Check, text: str) -> CheckResult:
    if text == check.target:
        spans = ((0, len(text)),) if text else ()
        return CheckResult(check.kind, check.target, "passed", "the same", spans)
    return CheckResult(check.kind, check.target, "failed", words_for_values(check.target, text))


def _values(check: Check, got: JsonValue) -> CheckResult:
    if same(check.expected, got):
        return CheckResult(check.kind, check.target, "passed", f"got {quote(got)}")
    return CheckResult(check.kind, check.target, "failed", words_for_values(check.expected, got))


def _without_state(check: Check, text: str) -> CheckResult:
    """Return the result for an answer whose tools and memory are unknown: only another output decides it."""
    if isinstance(check.expected, dict) and check.kind == "expected":
        output = check.expected.get("output", "")
        if not same(output, text):
            return CheckResult(check.kind, check.target, "failed", words_for_values(output, text, "output"))
    detail = "could not be evaluated: the tools and the memory of the answer are unknown"
    return CheckResult(check.kind, check.target, "timed_out", detail)


def _remembers(check: Check, memory: JsonValue) -> CheckResult:
    got = value_at(memory, check.target)
    if not same(check.expected, got):
        return CheckResult(check.kind, check.target, "failed", words_for_values(check.expected, got))
    detail = "missing, which equals null" if got is MISSING else f"got {quote(got)}"
    return CheckResult(check.kind, check.target, "passed", detail)


def _expected(check: Check, answer: Answer) -> CheckResult:
    """Compare all three fields: a field that was left out is empty, and so is a missing memory."""
    expected = check.expected if isinstance(check.expected, dict) else {}
    pairs: tuple[tuple[str, JsonValue, JsonValue], ...] = (
        ("output", expected.get("output", ""), answer.text),
        ("tools_used", expected.get("tools_used", []), list(answer.tools_used)),
        ("memory", expected.get("memory", {}), {} if answer.memory is None else answer.memory),
    )
    unequal = [(name, want, got) for name, want, got in pairs if not same(want, got)]
    if not unequal:
        return CheckResult(check.kind, check.target, "passed", "output, tools_used and memory are equal")
    detail = "\n".join(words_for_values(want, got, name) for name, want, got in unequal)
    return CheckResult(check.kind, check.target, "failed", detail)
