"""Importing promptfoo's JSON results as a run: tests become cases, providers models, rows results."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.imports.assertions import as_json, check_of, criteria_of, result_of
from tui.imports.imported import ImportedRun, run_id_of, start_of
from tui.imports.shapes import read_file, read_lines
from tui.model.errors import Problem
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
from tui.model.run import Plan, RunOptions
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import Subject
from tui.model.suite import Case, Step, Suite

if TYPE_CHECKING:
    from tui.imports.shapes import FileShape, RowShape, TokensShape

_TIMED_OUT = re.compile(r"\btime(?:d[ -]?|[ -]?)out\b", re.IGNORECASE)
_ROLES: Mapping[object, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
# ResultFailureReason.ERROR
_ERROR = 2


def result_from(row: "RowShape", key: TrialKey, started_at: str) -> TrialResult:
    """Return a row as a result with one attempt.

    The verdict is promptfoo's own, with two exceptions: a pass without assertions is `unchecked`, and a pass of an
    answer that the provider stopped early is `incomplete`.
    """
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
    """Return the result of each assertion."""
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    return [component for component in grading.get("componentResults") or () if component is not None]


def variables_of(row: "RowShape") -> dict[str, Any]:
    """Return the variables of the prompt and the assertions."""
    test: Mapping[str, Any] = row.get("testCase") or {}
    return row.get("vars") or test.get("vars") or {}


def _verdict(row: "RowShape") -> tuple[Verdict, str | None]:
    response = row.get("response") or {}
    error = row.get("error") or response.get("error")
    failure_reason = row.get("failureReason")
    broke = bool(response.get("error")) or (error is not None and not row.get("gradingResult"))
    if failure_reason == _ERROR or (broke and failure_reason is None) or (row["success"] and error):
        error = error or "promptfoo recorded an error without a reason"
        return ("timed_out" if _TIMED_OUT.search(error) else "error"), error
    return ("passed" if row["success"] else "failed"), None


def _checks(row: "RowShape", response: str) -> tuple[CheckResult, ...]:
    components, variables = components_of(row), variables_of(row)
    if components:
        return tuple(result_of(component, check_of(component, variables), response) for component in components)
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    reason = grading.get("reason") or ""
    if row["success"]:
        # Files may omit the results of assertions; the test then shows that there are assertions.
        asserted = (row.get("testCase") or {}).get("assert")
        return (CheckResult("recorded", "promptfoo", "passed", reason),) if asserted else ()
    if not (grading or row.get("failureReason") == 1):
        return ()
    return (CheckResult("recorded", "promptfoo", "failed", reason or row.get("error") or ""),)


def _text(output: object) -> str:
    return output if isinstance(output, str) else "" if output is None else as_json(output)


def _messages(raw: str) -> tuple[Message, ...]:
    """Return the messages of a prompt; a prompt that is a conversation in JSON becomes several messages."""
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
    """Return the token counts. Answers from promptfoo's cache have none, which differs from zero."""
    if not tokens or not (tokens.get("prompt") or tokens.get("completion")):
        return Usage()
    details = tokens.get("completionDetails") or {}
    return Usage(tokens.get("prompt"), tokens.get("completion"), details.get("reasoning"))


def _notes(row: "RowShape") -> tuple[str, ...]:
    notes = []
    if (score := row.get("score")) is not None:
        notes.append(f"promptfoo score: {score:g}")
    if (cost := _cost(row)) is not None:
        notes.append(f"cost according to promptfoo: {cost:.6g} USD")
    return tuple(notes)


def _cost(row: "RowShape") -> float | None:
    """Return the cost reported by promptfoo, or None for its 0, which means a cached answer or an unknown price."""
    cost = row.get("cost")
    return cost if cost is not None and 0 < cost <= MOST_USD else None


PROVIDER = "promptfoo"
_NEWEST = 4
_NAME = 80


class _Place(NamedTuple):
    """The case and the model that a row belongs to."""

    case: str
    model: str


def read_promptfoo(
    path: Path, name: str | None = None, secrets: Secrets | None = None, *, lines: bool = False
) -> ImportedRun:
    """Read the evaluation in a file that `promptfoo eval -o` wrote; `name` is the name of the suite.

    A file of JSON `lines` has one result on each line, and not the time of the evaluation.

    A test with each prompt is a case of its own; rows with the same test, prompt and provider are repeats. Raises
    SuiteError with every problem found.
    """
    file = read_lines(path, secrets or Secrets()) if lines else read_file(path, secrets or Secrets())
    summary = file["results"]
    started = start_of(path, "results.timestamp", summary["timestamp"])
    rows = sorted(summary["results"], key=lambda row: (row.get("testIdx") or 0, row.get("promptIdx") or 0))
    places = _places(rows)
    cases = _cases(rows, places)
    results = _results(rows, places, cases, started.isoformat(timespec="milliseconds"))
    subjects = {
        place.model: Subject(place.model, PROVIDER, row["provider"].get("id") or place.model, how="imported")
        for row, place in zip(rows, places, strict=True)
    }
    content = _digest(summary["results"] if lines else file)
    suite = Suite(
        name=name or _suite_name(file) or path.stem,
        description=f"Imported from promptfoo{_evaluation(file)}.",
        path=str(path),
        sha256=content,
        format="schema-1.0.0",
        cases=tuple(cases.values()),
        models=tuple(subjects),
    )
    repeats = max(result.trial.repeat for result in results)
    plan = Plan(
        run_id=run_id_of(started, content),
        suite=suite,
        subjects=tuple(subjects.values()),
        options=RunOptions(repeats=repeats, delay_ms=0),
        trials=tuple(result.trial for result in results),
        command=f"assay import {path.name}",
    )
    lasted = timedelta(milliseconds=(summary.get("stats") or {}).get("durationMs") or 0)
    finished = _end(started, lasted).isoformat(timespec="milliseconds")
    begun = started.isoformat(timespec="milliseconds")
    return ImportedRun(plan, results, begun, finished, _warnings(path, file), is_named_by_content=lines)


def _places(rows: Sequence["RowShape"]) -> list[_Place]:
    """Return the case and the model of each row."""
    tests: dict[str, list[str]] = {}
    for row in rows:
        prompts = tests.setdefault(_test_of(row), [])
        if _prompt_of(row) not in prompts:
            prompts.append(_prompt_of(row))
    numbers = {test: number for number, test in enumerate(tests, 1)}
    columns: dict[tuple[str, str], list[int | None]] = {}
    places = []
    for row in rows:
        model, prompt = _model_of(row), _prompt_of(row)
        test = _test_of(row)
        case, prompts = f"test-{numbers[test]}", tests[test]
        if len(prompts) > 1:
            case += f".prompt-{prompts.index(prompt) + 1}"
        # The same provider name with other settings is in another column.
        same = columns.setdefault((model, prompt), [])
        if row.get("promptIdx") not in same:
            same.append(row.get("promptIdx"))
        nth = same.index(row.get("promptIdx")) + 1
        places.append(_Place(case, model if nth == 1 else f"{model} ({nth})"))
    return places


def _cases(rows: Sequence["RowShape"], places: Sequence[_Place]) -> dict[str, Case]:
    """Return the cases by id, in order; their checks come from the first row that was graded."""
    first: dict[str, RowShape] = {}
    for row, place in zip(rows, places, strict=True):
        known = first.setdefault(place.case, row)
        if not components_of(known) and components_of(row):
            first[place.case] = row
    return {case_id: _case(case_id, row) for case_id, row in first.items()}


def _case(case_id: str, row: "RowShape") -> Case:
    test: Mapping[str, Any] = row.get("testCase") or {}
    metadata: Mapping[str, Any] = test.get("metadata") or {}
    components, variables = components_of(row) or _asserted_by(test), variables_of(row)
    raw = row["prompt"]["raw"]
    category = next((word for key in ("category", "pluginId") if (word := _word(metadata.get(key)))), "Imported")
    tags = metadata.get("tags")
    variables_text = ", ".join(
        f"{key}: {value}" for key, value in variables.items() if isinstance(value, str | int | float)
    )
    return Case(
        id=case_id,
        name=_word(test.get("description"))
        or sanitize_line(variables_text, _NAME)
        or sanitize_line(raw, _NAME)
        or case_id,
        category=category,
        steps=(Step(raw, tuple(check_of(component, variables) for component in components)),),
        tags=tuple(filter(None, map(_word, tags))) if isinstance(tags, list) else (),
        risk_criteria=criteria_of(components, variables, metadata.get("severity")),
    )


def _results(
    rows: Sequence["RowShape"], places: Sequence[_Place], cases: Mapping[str, Case], started_at: str
) -> tuple[TrialResult, ...]:
    """Return the results, ordered by case and model."""
    counts: dict[_Place, int] = {}
    results = []
    for row, place in zip(rows, places, strict=True):
        repeat = counts[place] = counts.get(place, 0) + 1
        results.append(result_from(row, TrialKey(place.case, place.model, repeat), started_at))
    case_order = {case_id: at for at, case_id in enumerate(cases)}
    model_order = {model: at for at, model in enumerate(dict.fromkeys(place.model for place in places))}
    results.sort(key=lambda each: (case_order[each.trial.case], model_order[each.trial.model], each.trial.repeat))
    return tuple(results)


def _prompt_of(row: "RowShape") -> str:
    return row["prompt"].get("label") or row["prompt"].get("display") or row["prompt"]["raw"]


def _test_of(row: "RowShape") -> str:
    test: Mapping[str, Any] = row.get("testCase") or {}
    return as_json([variables_of(row), test.get("description"), test.get("assert")])


def _model_of(row: "RowShape") -> str:
    return sanitize_line(row["provider"].get("label") or row["provider"].get("id") or "", 200) or "unnamed provider"


def _asserted_by(test: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the assertions of a test without graded rows."""
    asserted = [each for each in test.get("assert") or () if isinstance(each, dict)]
    return [
        {"assertion": each} for each in asserted if isinstance(each.get("type"), str) and each["type"] != "assert-set"
    ]


def _word(value: object) -> str:
    return sanitize_line(value, _NAME) if isinstance(value, str) else ""


def _suite_name(file: "FileShape") -> str:
    return sanitize_line((file.get("config") or {}).get("description") or "", 200)


def _evaluation(file: "FileShape") -> str:
    version = (file.get("metadata") or {}).get("promptfooVersion")
    parts = [f" {sanitize_line(version, 40)}" if version else ""]
    if evaluation := file.get("evalId"):
        parts.append(f", evaluation {sanitize_line(evaluation, 100)}")
    return "".join(parts)


def _end(started: datetime, lasted: timedelta) -> datetime:
    try:
        return started + lasted
    except OverflowError:
        return started


def _digest(file: "FileShape | list[RowShape]") -> str:
    from pydantic_core import to_json

    return hashlib.sha256(to_json(file)).hexdigest()


def _warnings(path: Path, file: "FileShape") -> tuple[Problem, ...]:
    version = file["results"]["version"]
    if 2 <= version <= _NEWEST:
        return ()
    what = f"version {version} is unknown; it was read like versions 2 to {_NEWEST}"
    return (Problem(str(path), None, None, "warning", "results.version", what),)
