"""Importing logs of OpenAI's evals (`oaieval`) as a run: samples become cases, samplings steps, matches checks."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Discriminator, Field, Tag, with_config
from typing_extensions import TypedDict

from tui.imports.assertions import overall_criteria
from tui.imports.imported import Evaluation, ImportedRun, time_of
from tui.imports.result_file import MOST_PROBLEMS, STRICT, Count, ResultFile
from tui.imports.texts import MOST_NOTES, as_text, detail_of, messages_of, name_of
from tui.model.errors import Problem
from tui.model.results import (
    Attempt,
    CheckResult,
    Message,
    Prompt,
    StepResult,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suite import Case, Check, Step

PROVIDER = "openai-evals"
_FIX = "Pass the log that `oaieval` wrote: the file of `--record_path`."
_NO_ANSWER = "The log has no answer of this sample"
_NUMBERED = re.compile(r"(.*?)([0-9]{1,18})", re.ASCII | re.DOTALL)

_SampleId = Annotated[str, Field(min_length=1, max_length=1_000)]


@with_config(STRICT)
class RunSpecShape(TypedDict):
    """What was evaluated: the models are `completion_fns`, of which the first one gives the answers."""

    completion_fns: Annotated[list[str], Field(min_length=1)]
    eval_name: str
    run_id: str
    created_at: str


@with_config(STRICT)
class SpecLine(TypedDict):
    """The first line of a log."""

    spec: RunSpecShape


@with_config(STRICT)
class FinalReportLine(TypedDict):
    """The line that a log has if its evaluation came to its end."""

    final_report: Any


@with_config(STRICT)
class _EventLine(TypedDict):
    """What the events of a sample have in common."""

    sample_id: _SampleId
    event_id: Count
    type: str
    created_at: NotRequired[str | None]


@with_config(STRICT)
class SamplingUsageShape(TypedDict):
    """The tokens of one sampling."""

    prompt_tokens: NotRequired[Count | None]
    completion_tokens: NotRequired[Count | None]


@with_config(STRICT)
class SamplingShape(TypedDict):
    """What was sampled from a model: one text, or a list with one for each completion."""

    prompt: Any
    sampled: str | list[str] | None
    model: NotRequired[str | None]
    usage: NotRequired[SamplingUsageShape | None]


@with_config(STRICT)
class SamplingLine(_EventLine):
    """An answer of a model."""

    data: SamplingShape


@with_config(STRICT)
class MatchShape(TypedDict):
    """Whether an answer is what was expected."""

    correct: bool
    expected: NotRequired[Any]
    picked: NotRequired[Any]
    sampled: NotRequired[Any]


@with_config(STRICT)
class MatchLine(_EventLine):
    """A verdict."""

    data: MatchShape


@with_config(STRICT)
class ExceptionShape(TypedDict):
    """An exception."""

    type: NotRequired[str | None]
    message: NotRequired[str | None]


@with_config(STRICT)
class ErrorLine(_EventLine):
    """An exception in a sample."""

    data: ExceptionShape


@with_config(STRICT)
class FunctionCallShape(TypedDict):
    """A call of a tool."""

    name: str
    arguments: NotRequired[Any]
    return_value: NotRequired[Any]


@with_config(STRICT)
class FunctionCallLine(_EventLine):
    """A tool that was called."""

    data: FunctionCallShape


@with_config(STRICT)
class MetricsLine(_EventLine):
    """Numbers and words about a sample."""

    data: dict[str, Any]


@with_config(STRICT)
class OtherLine(_EventLine):
    """An event that is not used."""


_EVENTS = ("sampling", "match", "error", "function_call", "metrics")


def _tag(value: object) -> str:
    """Return which shape a line has to have; pydantic puts it before the place of an error."""
    if not isinstance(value, dict):
        return "event"
    if "type" not in value:
        return next((key for key in ("spec", "final_report") if key in value), "event")
    return kind if isinstance(kind := value["type"], str) and kind in _EVENTS else "event"


LogLine = Annotated[
    Annotated[SpecLine, Tag("spec")]
    | Annotated[FinalReportLine, Tag("final_report")]
    | Annotated[SamplingLine, Tag("sampling")]
    | Annotated[MatchLine, Tag("match")]
    | Annotated[ErrorLine, Tag("error")]
    | Annotated[FunctionCallLine, Tag("function_call")]
    | Annotated[MetricsLine, Tag("metrics")]
    | Annotated[OtherLine, Tag("event")],
    Discriminator(_tag),
]


@dataclass(slots=True)
class _Sample:
    """The events of one sample in the order of the log."""

    samplings: list[SamplingShape] = field(default_factory=list)
    calls: list[tuple[int, FunctionCallShape]] = field(default_factory=list)
    matches: list[MatchShape] = field(default_factory=list)
    errors: list[ExceptionShape] = field(default_factory=list)
    metrics: dict[str, Any] = field(default_factory=dict)
    grading: str = ""


@dataclass(slots=True)
class _Log:
    """A whole log; `last` is the time of its last event."""

    spec: RunSpecShape | None = None
    samples: dict[str, _Sample] = field(default_factory=dict)
    is_finished: bool = False
    last: str = ""
    model: str = ""


def read_openai_evals(path: Path, name: str | None = None, secrets: Secrets | None = None) -> ImportedRun:
    """Read a log of OpenAI's evals; `name` is the name of the suite. Raises SuiteError with every problem found."""
    file = ResultFile(path, _FIX, secrets, "The log cannot be imported")
    log, digest = _read(file)
    spec = log.spec
    if spec is None or not log.samples:
        raise file.refusal([file.problem("has no sample" if spec else "has no line with the `spec` of the run")])
    started = time_of(path, "spec.created_at", spec["created_at"])
    begun = started.isoformat(timespec="milliseconds")
    model = sanitize_line(spec["completion_fns"][0], 200) or "unnamed model"
    samples = {sample_id: log.samples[sample_id] for sample_id in sorted(log.samples, key=_in_order)}
    return Evaluation(
        path=path,
        name=name or sanitize_line(spec["eval_name"], 200) or path.stem,
        description=f"Imported from OpenAI's evals, run {sanitize_line(spec['run_id'], 100)}.",
        digest=digest,
        cases=tuple(_case(sample_id, sample, spec["eval_name"]) for sample_id, sample in samples.items()),
        subjects=(Subject(model, PROVIDER, log.model or model, how=IMPORTED),),
        results=tuple(_result(sample, TrialKey(sample_id, model), begun) for sample_id, sample in samples.items()),
        started=started,
        finished=max(started, time_of(path, "created_at", log.last)) if log.last else started,
        state="finished" if log.is_finished else "interrupted",
    ).as_run()


def _read(file: ResultFile) -> tuple[_Log, str]:
    """Return the log and a digest of its lines."""
    from pydantic import TypeAdapter
    from pydantic_core import to_json

    shape: TypeAdapter[Any] = TypeAdapter(LogLine)
    log, digest, lines = _Log(), hashlib.sha256(), dict[int, int]()
    problems: list[Problem] = []
    for number, line in file.parse_lines(shape):
        digest.update(to_json(line))
        if "spec" in line:
            if log.spec is not None:
                problems.append(
                    file.problem("a second run begins; import each run as a file of its own", "spec", number)
                )
            log.spec = line["spec"]
        elif "final_report" in line:
            log.is_finished = True
        elif line["event_id"] in lines:
            first = lines[line["event_id"]]
            problems.append(
                file.problem(f"the event {line['event_id']} is on line {first} already", "event_id", number)
            )
        else:
            lines[line["event_id"]] = number
            _add(log, line)
        if len(problems) >= MOST_PROBLEMS:
            break
    if problems:
        raise file.refusal(problems)
    for sample in log.samples.values():
        _take_grading(sample)
    return log, digest.hexdigest()


def _add(log: _Log, line: Any) -> None:
    """Add an event to its sample."""
    sample = log.samples.setdefault(line["sample_id"], _Sample())
    log.last = line.get("created_at") or log.last
    match line["type"]:
        case "sampling":
            sample.samplings.append(line["data"])
            log.model = log.model or sanitize_line(line["data"].get("model") or "", 200)
        case "function_call":
            sample.calls.append((len(sample.samplings), line["data"]))
        case "match":
            sample.matches.append(line["data"])
        case "error":
            sample.errors.append(line["data"])
        case "metrics":
            sample.metrics.update(line["data"])


def _take_grading(sample: _Sample) -> None:
    """Keep the last sampling of a sample that a model graded apart: it is the grader's answer, with its choice."""
    if "choice" in sample.metrics and len(sample.samplings) > 1:
        sample.grading = _sampled(sample.samplings.pop())


def _in_order(sample_id: str) -> tuple[str, int]:
    """Return the key by which samples are ordered: `towns.dev.10` after `towns.dev.9`; a log is in random order."""
    found = _NUMBERED.fullmatch(sample_id)
    return (found[1], int(found[2])) if found else (sample_id, -1)


def _case(sample_id: str, sample: _Sample, evaluation: str) -> Case:
    inputs = [_input(each["prompt"]) for each in sample.samplings] or [""]
    checks = tuple(Check("recorded", target) for target in dict.fromkeys(map(_target, sample.matches)))
    expected = next((each["expected"] for each in sample.matches if each.get("expected") is not None), "")
    texts = map(as_text, expected) if isinstance(expected, list) else [as_text(expected)]
    return Case(
        id=sample_id,
        name=name_of(inputs[0]) or sample_id,
        category=name_of(evaluation) or "Imported",
        steps=(*map(Step, inputs[:-1]), Step(inputs[-1], checks)),
        expected_behavior="\n".join(texts),
        risk_criteria=overall_criteria(),
    )


def _result(sample: _Sample, trial: TrialKey, begun: str) -> TrialResult:
    """Return the result of a sample with one attempt; its checks belong to its last step."""
    steps = [_step(each) for each in sample.samplings] or [_unsampled(sample)]
    tools: dict[int, list[str]] = {}
    for samplings, call in sample.calls:
        # A tool belongs to the step before it, and to the first one if it was called before any sampling.
        tools.setdefault(min(max(samplings - 1, 0), len(steps) - 1), []).append(call["name"])
    steps = [replace(step, tools_used=tuple(tools.get(number, ()))) for number, step in enumerate(steps)]
    steps[-1] = replace(steps[-1], checks=_checks(sample), notes=tuple(_notes(sample))[:MOST_NOTES])
    verdict, error = _verdict(sample, steps)
    return TrialResult(trial, verdict, False, error, (Attempt(1, verdict, error, tuple(steps), begun),))


def _step(sampling: SamplingShape) -> StepResult:
    prompt, usage = sampling["prompt"], sampling.get("usage") or {}
    given = _input(prompt)
    return StepResult(
        input=given,
        response=_sampled(sampling),
        prompt=Prompt(given, messages_of(prompt) or (Message("user", given),)),
        usage=Usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
    )


def _unsampled(sample: _Sample) -> StepResult:
    """Return the step of a sample without a sampling; a match may say which text it judged."""
    texts = (each.get("sampled") for each in sample.matches)
    return StepResult(
        input="", response=next((text for text in texts if isinstance(text, str)), ""), prompt=Prompt("", ())
    )


def _verdict(sample: _Sample, steps: Sequence[StepResult]) -> tuple[Verdict, str | None]:
    if sample.matches:
        return ("passed" if all(each["correct"] for each in sample.matches) else "failed"), None
    if sample.errors:
        kind, message = sample.errors[0].get("type"), sample.errors[0].get("message")
        error = ": ".join(filter(None, (kind, message))) or "The log has an error without a message"
        return ("timed_out" if kind == "TimeoutError" else "error"), error
    return ("unchecked", None) if any(step.response for step in steps) else ("error", _NO_ANSWER)


def _checks(sample: _Sample) -> tuple[CheckResult, ...]:
    return tuple(
        CheckResult("recorded", _target(each), "passed" if each["correct"] else "failed", detail_of(_picked(each)))
        for each in sample.matches
    )


def _target(match: MatchShape) -> str:
    expected = match.get("expected")
    return "match" if expected is None else f"match: {sanitize_line(as_text(expected), 300)}"


def _picked(match: MatchShape) -> str:
    picked = match.get("picked")
    return "" if picked is None else f"picked: {as_text(picked)}"


def _notes(sample: _Sample) -> Iterator[str]:
    if sample.grading:
        yield f"the grading model answered: {sanitize_line(sample.grading, 300)}"
    for name, value in sample.metrics.items():
        yield f"metric {sanitize_line(f'{name}: {as_text(value)}', 300)}"
    for error in sample.errors if sample.matches else ():
        yield f"error: {sanitize_line(error.get('message') or '', 300)}"


def _sampled(sampling: SamplingShape) -> str:
    sampled = sampling["sampled"]
    return "\n\n".join(sampled) if isinstance(sampled, list) else sampled or ""


def _input(prompt: object) -> str:
    """Return what was asked: the last message of the user, or the whole prompt if it is no conversation."""
    messages = messages_of(prompt)
    asked = [each.content for each in messages if each.role == "user"]
    return asked[-1] if asked else messages[-1].content if messages else as_text(prompt)
