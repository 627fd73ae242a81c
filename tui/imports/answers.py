"""A row of promptfoo's results as a trial's result."""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tui.imports.assertions import as_json, check_of, result_of
from tui.model.finish_reasons import early_stop
from tui.model.prices import MOST_USD
from tui.model.results import (
    Attempt,
    CheckResult,
    Message,
    Prompt,
    Role,
    StepResult,
    Timing,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)

if TYPE_CHECKING:
    from tui.imports.shapes import RowShape, TokensShape

_TIMED_OUT = re.compile(r"\btime(?:d[ -]?|[ -]?)out\b", re.IGNORECASE)
_ROLES: Mapping[object, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# ResultFailureReason.ERROR
_ERROR = 2


def result_from(row: "RowShape", key: TrialKey, started_at: str) -> TrialResult:
    """The row as the result of one attempt. Its verdict is promptfoo's own, but that a pass which nothing was asserted
    of is `unchecked`, and a pass of an answer that the provider stopped early `incomplete`."""
    verdict, error = _verdict(row)
    raw = row["prompt"]["raw"]
    response = row.get("response") or {}
    text, took = _text(response.get("output")), row.get("latencyMs") or 0.0
    step = StepResult(
        input=raw,
        response=text,
        prompt=Prompt(raw, _messages(raw)),
        checks=_checks(row, text),
        usage=_usage(response.get("tokenUsage") or row.get("tokenUsage")),
        timing=Timing(None, took),
        finish_reason=response.get("finishReason"),
        notes=_notes(row),
        cost_usd=_cost(row),
    )
    if verdict == "passed":
        if early := early_stop(step.finish_reason):
            verdict, error = "incomplete", early
        elif not step.checks:
            verdict = "unchecked"
    attempt = Attempt(1, verdict, error, (step,), started_at, took)
    return TrialResult(key, verdict, False, error, (attempt,))


def components_of(row: "RowShape") -> list[dict[str, Any]]:
    """What was decided of each assertion."""
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    return [component for component in grading.get("componentResults") or () if component is not None]


def variables_of(row: "RowShape") -> dict[str, Any]:
    """The variables of the prompt and the assertions."""
    test: Mapping[str, Any] = row.get("testCase") or {}
    return row.get("vars") or test.get("vars") or {}


def _verdict(row: "RowShape") -> tuple[Verdict, str | None]:
    response = row.get("response") or {}
    said = row.get("error") or response.get("error")
    asked = row.get("failureReason")
    broke = bool(response.get("error")) or (said is not None and not row.get("gradingResult"))
    if asked == _ERROR or (broke and asked is None) or (row["success"] and said):
        said = said or "promptfoo recorded an error and no reason"
        return ("timed_out" if _TIMED_OUT.search(said) else "error"), said
    return ("passed" if row["success"] else "failed"), None


def _checks(row: "RowShape", response: str) -> tuple[CheckResult, ...]:
    components, variables = components_of(row), variables_of(row)
    if components:
        return tuple(result_of(component, check_of(component, variables), response) for component in components)
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    reason = grading.get("reason") or ""
    if row["success"]:
        # Files may leave out what was decided of each assertion; that there was one is told by the test.
        asserted = (row.get("testCase") or {}).get("assert")
        return (CheckResult("recorded", "promptfoo", "passed", reason),) if asserted else ()
    if not (grading or row.get("failureReason") == 1):
        return ()
    return (CheckResult("recorded", "promptfoo", "failed", reason or row.get("error") or ""),)


def _text(output: object) -> str:
    return output if isinstance(output, str) else "" if output is None else as_json(output)


def _messages(raw: str) -> tuple[Message, ...]:
    """A prompt that is a conversation as JSON is told as one."""
    if raw.lstrip()[:1] == "[":
        try:
            turns = json.loads(raw)
        except (ValueError, RecursionError):
            turns = None
        if isinstance(turns, list) and turns and all(map(_is_turn, turns)):
            return tuple(Message(_ROLES[turn["role"]], turn["content"]) for turn in turns)
    return (Message("user", raw),)


def _is_turn(turn: object) -> bool:
    return (
        isinstance(turn, dict)
        and isinstance(turn.get("content"), str)
        and isinstance(turn.get("role"), str)
        and turn["role"] in _ROLES
    )


def _usage(tokens: "TokensShape | None") -> Usage:
    """What was counted; answers from promptfoo's cache count nothing, which is not the same as none."""
    if not tokens or not (tokens.get("prompt") or tokens.get("completion")):
        return Usage()
    details = tokens.get("completionDetails") or {}
    return Usage(tokens.get("prompt"), tokens.get("completion"), details.get("reasoning"))


def _notes(row: "RowShape") -> tuple[str, ...]:
    notes = []
    if (score := row.get("score")) is not None:
        notes.append(f"promptfoo's score: {score:g}")
    if (cost := _cost(row)) is not None:
        notes.append(f"cost as promptfoo reckoned it: {cost:.6g} USD")
    return tuple(notes)


def _cost(row: "RowShape") -> float | None:
    """What promptfoo reckoned; its 0 stands for an answer from its cache and for a price that it does not know."""
    cost = row.get("cost")
    return cost if cost is not None and 0 < cost <= MOST_USD else None
