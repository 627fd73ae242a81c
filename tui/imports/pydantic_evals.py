"""Importing pydantic-evals' reports as a run: cases stay cases, repeats repeats, and the task is the model."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from tui.imports.assertions import overall_criteria
from tui.imports.imported import Evaluation, ImportedRun, with_common_checks
from tui.imports.result_file import STRICT, Number, ResultFile, Seconds
from tui.imports.texts import MOST_NOTES, as_json, as_text, detail_of, name_of
from tui.model.prices import MOST_USD
from tui.model.results import (
    MOST_TOKENS,
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
    verdict_of_checks,
)
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suite import Case, Check, Step

PROVIDER = "pydantic-evals"
_FIX = "Pass a report as JSON: the text of `EvaluationReportAdapter.dump_json(report)` from `pydantic_evals.reporting`."
_RUN = re.compile(r" \[([1-9]\d{0,5})/[1-9]\d{0,5}\]", re.ASCII)
_TOKENS = ("input_tokens", "output_tokens", "reasoning_tokens")

_CaseName = Annotated[str, Field(min_length=1, max_length=1_000)]


@with_config(STRICT)
class AssertionResultShape(TypedDict):
    """The result of an evaluator that returned true or false."""

    value: bool
    reason: NotRequired[str | None]


@with_config(STRICT)
class ScoreResultShape(TypedDict):
    """The result of an evaluator that returned a number; null for one that JSON cannot represent."""

    value: int | Number | None
    reason: NotRequired[str | None]


@with_config(STRICT)
class LabelResultShape(TypedDict):
    """The result of an evaluator that returned a word."""

    value: str
    reason: NotRequired[str | None]


@with_config(STRICT)
class EvaluatorFailureShape(TypedDict):
    """An evaluator that raised an exception."""

    name: str
    error_message: str


@with_config(STRICT)
class _ReportTrial(TypedDict):
    """What a case that was run and one that failed have in common."""

    name: _CaseName
    inputs: Any
    metadata: NotRequired[Any]
    expected_output: NotRequired[Any]
    source_case_name: NotRequired[_CaseName | None]


@with_config(STRICT)
class ReportCaseShape(_ReportTrial):
    """A case in one repeat."""

    output: Any
    metrics: NotRequired[dict[str, Any] | None]
    attributes: NotRequired[dict[str, Any] | None]
    scores: NotRequired[dict[str, ScoreResultShape] | None]
    labels: NotRequired[dict[str, LabelResultShape] | None]
    assertions: NotRequired[dict[str, AssertionResultShape] | None]
    task_duration: NotRequired[Seconds | None]
    evaluator_failures: NotRequired[list[EvaluatorFailureShape] | None]


@with_config(STRICT)
class ReportFailureShape(_ReportTrial):
    """A case in one repeat whose task raised an exception."""

    error_message: str


@with_config(STRICT)
class EvaluationReportShape(TypedDict):
    """A report; it does not say when it was made."""

    name: str
    cases: list[ReportCaseShape]
    failures: NotRequired[list[ReportFailureShape] | None]
    experiment_metadata: NotRequired[dict[str, Any] | None]
    dataset_name: NotRequired[str | None]


class _RepeatPlace(NamedTuple):
    case: str
    repeat: int


def read_pydantic_evals(path: Path, name: str | None = None, secrets: Secrets | None = None) -> ImportedRun:
    """Read a report of pydantic-evals; `name` is the name of the suite. Raises SuiteError with every problem found.

    The end of the run's id is derived from the content.
    """
    from pydantic import TypeAdapter
    from pydantic_core import to_json

    file = ResultFile(path, _FIX, secrets, "The report cannot be imported")
    report: EvaluationReportShape = file.parse(TypeAdapter(EvaluationReportShape), file.json_text())
    failures = report.get("failures") or []
    if not report["cases"] and not failures:
        raise file.refusal([file.problem("expected at least one case", "cases")])
    places = _places(file, report["cases"], failures)
    cases = _cases([*report["cases"], *failures], places)
    model = sanitize_line(report["name"], 200) or "task"
    started = datetime.now(UTC)
    begun = started.isoformat(timespec="milliseconds")
    keys = [TrialKey(place.case, model, place.repeat) for place in places]
    results = [
        *map(_result, report["cases"], keys, [begun] * len(keys)),
        *map(_failure, failures, keys[len(report["cases"]) :], [begun] * len(keys)),
    ]
    order = {case.id: number for number, case in enumerate(cases)}
    results.sort(key=lambda result: (order[result.trial.case], result.trial.repeat))
    asked = (report.get("experiment_metadata") or {}).get("model")
    return Evaluation(
        path=path,
        name=name or sanitize_line(report.get("dataset_name") or "", 200) or path.stem,
        description="Imported from pydantic-evals.",
        digest=hashlib.sha256(to_json(report)).hexdigest(),
        cases=with_common_checks(cases, results),
        subjects=(Subject(model, PROVIDER, asked if isinstance(asked, str) and asked else model, how=IMPORTED),),
        results=tuple(results),
        started=started,
        finished=started,
    ).as_run(is_named_by_content=True)


def _places(
    file: ResultFile, cases: Sequence[ReportCaseShape], failures: Sequence[ReportFailureShape]
) -> list[_RepeatPlace]:
    """Return the case and the repeat of each case of the report, then of each failure."""
    places = [*map(_place, cases), *map(_place, failures)]
    where = [
        f"{kind}[{at}].name" for kind, part in (("cases", cases), ("failures", failures)) for at in range(len(part))
    ]
    seen: set[_RepeatPlace] = set()
    for at, place in enumerate(places):
        if place in seen:
            what = f"repeat {place.repeat} of the case {as_json(place.case)} appears twice"
            raise file.refusal([file.problem(what, where[at])])
        seen.add(place)
    return places


def _place(trial: _ReportTrial) -> _RepeatPlace:
    """Return the place that a name such as `france [2/3]` means, if it is of a case that was repeated."""
    source, name = trial.get("source_case_name"), trial["name"]
    if source and name.startswith(source) and (run := _RUN.fullmatch(name, len(source))):
        return _RepeatPlace(source, int(run[1]))
    return _RepeatPlace(source or name, 1)


def _cases(trials: Sequence[_ReportTrial], places: Sequence[_RepeatPlace]) -> list[Case]:
    """Return the cases in the order of the report; their checks are the assertions of all repeats."""
    first: dict[str, _ReportTrial] = {}
    checks: dict[str, dict[str, None]] = {}
    for trial, place in zip(trials, places, strict=True):
        first.setdefault(place.case, trial)
        checks.setdefault(place.case, {}).update(dict.fromkeys(check.target for check in _checks(trial)))
    return [_case(case_id, trial, tuple(checks[case_id])) for case_id, trial in first.items()]


def _case(case_id: str, trial: _ReportTrial, checks: Sequence[str]) -> Case:
    given, metadata, expected = as_text(trial["inputs"]), trial.get("metadata"), trial.get("expected_output")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    return Case(
        id=case_id,
        name=name_of(given) or case_id,
        category=name_of(category) or "Imported",
        steps=(Step(given, tuple(Check("recorded", target) for target in checks)),),
        expected_behavior="" if expected is None else as_text(expected),
        risk_criteria=overall_criteria(),
    )


def _result(trial: ReportCaseShape, key: TrialKey, begun: str) -> TrialResult:
    """Return the result of a case that was run; its verdict is that of the assertions."""
    given, took = as_text(trial["inputs"]), (trial.get("task_duration") or 0.0) * 1_000
    metrics = trial.get("metrics") or {}
    checks = _checks(trial)
    step = StepResult(
        input=given,
        response=as_text(trial["output"]),
        prompt=Prompt(given, (Message("user", given),)),
        checks=checks,
        usage=Usage(*(_tokens(metrics.get(name)) for name in _TOKENS)),
        timing=Timing(None, took),
        notes=tuple(_notes(trial))[:MOST_NOTES],
        cost_usd=_cost(metrics.get("cost")),
    )
    verdict = verdict_of_checks(checks, is_incomplete=False, is_checked=bool(checks))
    error = "An evaluator raised an exception" if verdict == "error" else None
    return TrialResult(key, verdict, False, error, (Attempt(1, verdict, error, (step,), begun, took),))


def _failure(trial: ReportFailureShape, key: TrialKey, begun: str) -> TrialResult:
    given, error = (
        as_text(trial["inputs"]),
        trial["error_message"] or "pydantic-evals recorded an error without a message",
    )
    verdict: Verdict = "timed_out" if error.startswith("TimeoutError") else "error"
    step = StepResult(input=given, response="", prompt=Prompt(given, (Message("user", given),)))
    return TrialResult(key, verdict, False, error, (Attempt(1, verdict, error, (step,), begun),))


def _checks(trial: Mapping[str, Any]) -> tuple[CheckResult, ...]:
    """Return a recorded check for each assertion, and for each evaluator that raised an exception."""
    assertions: Mapping[str, AssertionResultShape] = trial.get("assertions") or {}
    failures: Sequence[EvaluatorFailureShape] = trial.get("evaluator_failures") or ()
    return (
        *(
            CheckResult(
                "recorded",
                _word(name),
                "passed" if each["value"] else "failed",
                detail_of(each.get("reason")),
            )
            for name, each in assertions.items()
        ),
        *(
            CheckResult("recorded", _word(failed["name"]), "timed_out", detail_of(failed["error_message"]))
            for failed in failures
        ),
    )


def _notes(trial: ReportCaseShape) -> Iterator[str]:
    """Yield the scores, the labels, and the metrics and attributes that are shown nowhere else."""
    results: Mapping[str, ScoreResultShape | LabelResultShape] = {
        **{f"score of {name}": each for name, each in (trial.get("scores") or {}).items()},
        **{f"label of {name}": each for name, each in (trial.get("labels") or {}).items()},
    }
    for name, each in results.items():
        value, reason = each["value"], each.get("reason")
        yield f"pydantic-evals {_line(f'{name}: {as_text(value)}')}{f' ({_line(reason)})' if reason else ''}"
    for name, value in (trial.get("metrics") or {}).items():
        if name not in (*_TOKENS, "cost"):
            yield f"metric {_line(f'{name}: {as_text(value)}')}"
    for name, value in (trial.get("attributes") or {}).items():
        yield f"attribute {_line(f'{name}: {as_text(value)}')}"


def _word(text: str) -> str:
    return sanitize_line(text, 200) or "evaluator"


def _line(text: str) -> str:
    return sanitize_line(text, 300)


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def _cost(value: object) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= MOST_USD else None
