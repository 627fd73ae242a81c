"""Importing promptfoo's JSON results as a run: tests become cases, providers models, rows results."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tui.imports.assertions import check_of, criteria_of, result_of
from tui.imports.imported import Evaluation, ImportedRun, time_of
from tui.imports.promptfoo_file import read_file, read_lines
from tui.imports.result_file import ResultFile
from tui.imports.texts import as_json, as_text, messages_of, name_of
from tui.model.errors import Problem
from tui.model.finish_reasons import early_stop
from tui.model.prices import MOST_USD
from tui.model.results import (
    Attempt,
    CheckResult,
    Message,
    Prompt,
    StepResult,
    Timing,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suite import Case, Step
from tui.model.values import parse_json

if TYPE_CHECKING:
    from tui.imports.promptfoo_file import FileShape, RowShape, TokensShape

PROVIDER = "promptfoo"
_FIX = "To write a file that can be imported, run `promptfoo eval -o results.json`."
_NEWEST = 4
"""The newest known version of the format."""
_TIMED_OUT = re.compile(r"\btime(?:d[ -]?|[ -]?)out\b", re.IGNORECASE)
# ResultFailureReason.ERROR
_ERROR = 2


class _Place(NamedTuple):
    """The case and the model that a row belongs to."""

    case: str
    model: str


def _result(row: "RowShape", key: TrialKey, started_at: str) -> TrialResult:
    """Return a row as a result with one attempt.

    The verdict is promptfoo's own, with two exceptions: a pass without assertions is `unchecked`, and a pass of an
    answer that the provider stopped early is `incomplete`.
    """
    verdict, error = _verdict(row)
    raw = row["prompt"]["raw"]
    response = row.get("response") or {}
    output, took = response.get("output"), row.get("latencyMs") or 0.0
    text = "" if output is None else as_text(output)
    step = StepResult(
        input=raw,
        response=text,
        prompt=Prompt(raw, _messages(raw)),
        checks=_checks(row),
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


def _components(row: "RowShape") -> list[dict[str, Any]]:
    """Return the result of each assertion."""
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    return [component for component in grading.get("componentResults") or () if component is not None]


def _variables(row: "RowShape") -> dict[str, Any]:
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


def _checks(row: "RowShape") -> tuple[CheckResult, ...]:
    components, variables = _components(row), _variables(row)
    if components:
        return tuple(result_of(component, check_of(component, variables)) for component in components)
    grading: Mapping[str, Any] = row.get("gradingResult") or {}
    reason = grading.get("reason") or ""
    if row["success"]:
        # Files may omit the results of assertions; the test then shows that there are assertions.
        asserted = (row.get("testCase") or {}).get("assert")
        return (CheckResult("recorded", "promptfoo", "passed", reason),) if asserted else ()
    if not (grading or row.get("failureReason") == 1):
        return ()
    return (CheckResult("recorded", "promptfoo", "failed", reason or row.get("error") or ""),)


def _messages(raw: str) -> tuple[Message, ...]:
    """Return the messages of a prompt; a prompt that is a conversation in JSON becomes several messages."""
    if raw.lstrip()[:1] == "[":
        try:
            turns = parse_json(raw)
        except ValueError:
            turns = None
        if messages := messages_of(turns):
            return messages
    return (Message("user", raw),)


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


def read_promptfoo(
    path: Path, name: str | None = None, secrets: Secrets | None = None, *, lines: bool = False
) -> ImportedRun:
    """Read the evaluation in a file that `promptfoo eval -o` wrote; `name` is the name of the suite.

    A file of JSON `lines` has one result on each line, and not the time of the evaluation.

    A test with each prompt is a case of its own; rows with the same test, prompt and provider are repeats. Raises
    SuiteError with every problem found.
    """
    source = ResultFile(path, _FIX, secrets)
    file = read_lines(source) if lines else read_file(source)
    summary = file["results"]
    started = time_of(path, "results.timestamp", summary["timestamp"])
    lasted = timedelta(milliseconds=(summary.get("stats") or {}).get("durationMs") or 0)
    rows = sorted(summary["results"], key=lambda row: (row.get("testIdx") or 0, row.get("promptIdx") or 0))
    places = _places(rows)
    cases = _cases(rows, places)
    subjects = {
        place.model: Subject(place.model, PROVIDER, row["provider"].get("id") or place.model, how=IMPORTED)
        for row, place in zip(rows, places, strict=True)
    }
    return Evaluation(
        path=path,
        name=name or _suite_name(file) or path.stem,
        description=f"Imported from promptfoo{_evaluation(file)}.",
        digest=_digest(summary["results"] if lines else file),
        cases=tuple(cases.values()),
        subjects=tuple(subjects.values()),
        results=_results(rows, places, cases, started.isoformat(timespec="milliseconds")),
        started=started,
        finished=_end(started, lasted),
        warnings=_warnings(path, file),
    ).as_run(is_named_by_content=lines)


def _places(rows: Sequence["RowShape"]) -> list[_Place]:
    """Return the case and the model of each row."""
    tests: dict[str, dict[str, int]] = {}
    tests_of_rows = _tests(rows)
    for row, test in zip(rows, tests_of_rows, strict=True):
        prompts = tests.setdefault(test, {})
        prompts.setdefault(_prompt_of(row), len(prompts) + 1)
    numbers = {test: number for number, test in enumerate(tests, 1)}
    columns: dict[tuple[str, str], dict[int | None, int]] = {}
    names = _ColumnNames(map(_model_of, rows))
    places = []
    for row, test in zip(rows, tests_of_rows, strict=True):
        model, prompt = _model_of(row), _prompt_of(row)
        case, prompts = f"test-{numbers[test]}", tests[test]
        if len(prompts) > 1:
            case += f".prompt-{prompts[prompt]}"
        # The same provider name with other settings is in another column.
        same = columns.setdefault((model, prompt), {})
        places.append(_Place(case, names.name_of(model, same.setdefault(row.get("promptIdx"), len(same) + 1))))
    return places


class _ColumnNames:
    """The names of the models: those of the providers, and other names for further columns of a provider."""

    def __init__(self, providers: Iterable[str]) -> None:
        self._taken = set(providers)
        self._given: dict[tuple[str, int], str] = {}
        self._numbers: dict[str, Iterator[int]] = {}

    def name_of(self, provider: str, column: int) -> str:
        """Return the name of a provider's column, counted from 1, such as `p (2)` or the next that is free."""
        if column == 1:
            return provider
        if (provider, column) not in self._given:
            numbers = self._numbers.setdefault(provider, count(2))
            named = (f"{provider} ({number})" for number in numbers)
            self._given[provider, column] = next(name for name in named if name not in self._taken)
        return self._given[provider, column]


def _cases(rows: Sequence["RowShape"], places: Sequence[_Place]) -> dict[str, Case]:
    """Return the cases by id, in order; their checks come from the first row that was graded."""
    first: dict[str, RowShape] = {}
    for row, place in zip(rows, places, strict=True):
        known = first.setdefault(place.case, row)
        if not _components(known) and _components(row):
            first[place.case] = row
    return {case_id: _case(case_id, row) for case_id, row in first.items()}


def _case(case_id: str, row: "RowShape") -> Case:
    test: Mapping[str, Any] = row.get("testCase") or {}
    metadata: Mapping[str, Any] = test.get("metadata") or {}
    components, variables = _components(row) or _asserted_by(test), _variables(row)
    raw = row["prompt"]["raw"]
    category = next((word for key in ("category", "pluginId") if (word := name_of(metadata.get(key)))), "Imported")
    tags = metadata.get("tags")
    variables_text = ", ".join(
        f"{key}: {value}" for key, value in variables.items() if isinstance(value, str | int | float)
    )
    return Case(
        id=case_id,
        name=name_of(test.get("description")) or name_of(variables_text) or name_of(raw) or case_id,
        category=category,
        steps=(Step(raw, tuple(check_of(component, variables) for component in components)),),
        tags=tuple(filter(None, map(name_of, tags))) if isinstance(tags, list) else (),
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
        results.append(_result(row, TrialKey(place.case, place.model, repeat), started_at))
    case_order = {case_id: at for at, case_id in enumerate(cases)}
    model_order = {model: at for at, model in enumerate(dict.fromkeys(place.model for place in places))}
    results.sort(key=lambda each: (case_order[each.trial.case], model_order[each.trial.model], each.trial.repeat))
    return tuple(results)


def _prompt_of(row: "RowShape") -> str:
    return row["prompt"].get("label") or row["prompt"].get("display") or row["prompt"]["raw"]


def _tests(rows: Sequence["RowShape"]) -> list[str]:
    """Return what identifies the test of each row; repeats of a test have the same, in rows with other numbers.

    Tests without variables (promptfoo can leave them out of the file) differ by the first prompt of their number.
    """
    first_prompts: dict[int | None, str] = {}
    found = []
    for row in rows:
        test: Mapping[str, Any] = row.get("testCase") or {}
        number, variables, raw = row.get("testIdx"), _variables(row), row["prompt"]["raw"]
        prompt = raw if number is None else first_prompts.setdefault(number, raw)
        found.append(as_json([variables or prompt, test.get("description"), test.get("assert")]))
    return found


def _model_of(row: "RowShape") -> str:
    return sanitize_line(row["provider"].get("label") or row["provider"].get("id") or "", 200) or "unnamed provider"


def _asserted_by(test: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the assertions of a test without graded rows."""
    asserted = [each for each in test.get("assert") or () if isinstance(each, dict)]
    return [
        {"assertion": each} for each in asserted if isinstance(each.get("type"), str) and each["type"] != "assert-set"
    ]


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
