"""Importing Inspect's logs (inspect_ai), `.json` and `.eval`, as a run: samples become cases, epochs repeats."""

import hashlib
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, with_config
from typing_extensions import TypedDict

from tui.documents.files import NotRead
from tui.imports.assertions import overall_criteria
from tui.imports.imported import Evaluation, ImportedRun, time_of, with_common_checks
from tui.imports.result_file import MOST_PROBLEMS, STRICT, Count, MemoryLimit, Number, ResultFile, Seconds
from tui.imports.texts import as_json, detail_of, name_of
from tui.model.errors import Problem, SuiteError
from tui.model.finish_reasons import early_stop
from tui.model.prices import MOST_USD
from tui.model.results import (
    Attempt,
    CheckResult,
    CheckState,
    Message,
    Prompt,
    StepResult,
    Timing,
    TrialKey,
    TrialResult,
    Usage,
    Verdict,
)
from tui.model.run import RunState
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import IMPORTED, Subject
from tui.model.suite import Case, Check, Step

PROVIDER = "inspect"
MOST_BYTES = 512 << 20
"""How many bytes the members of a `.eval` file may have in total when they are decompressed."""
MOST_MEMBERS = 200_000
MOST_MESSAGES = 500_000
"""The most messages of all samples of a log: each needs 400 bytes of memory, also if it is empty."""
_MOST_MEMBER_BYTES = 128 << 20
_MOST_PARTS = 1_000  # of a message
_MOST_WINDOW = 128 << 20
_TOO_MANY_MESSAGES = f"has more than {MOST_MESSAGES:,} messages"
_FIX = "Pass a log that `inspect eval` wrote: a file ending in .eval, or in .json with `--log-format json`."
_SAMPLE = re.compile(r"samples/.+_epoch_\d+\.json", re.DOTALL)
_ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)
_DIRECTORY_ENTRY = b"PK\x01\x02"
_LOCAL_HEADER = 30
_ENCRYPTED = 1
_ZSTD = 93
_STATES: Mapping[str, RunState] = {"success": "finished", "cancelled": "cancelled"}
_PASSED, _FAILED = frozenset(("c", "yes", "true")), frozenset(("i", "p", "n", "no", "false"))


@with_config(STRICT)
class ContentShape(TypedDict):
    """A part of a message's content: `text`, `reasoning`, or another type without text."""

    type: str
    text: NotRequired[str | None]
    reasoning: NotRequired[str | None]


@with_config(STRICT)
class CallShape(TypedDict):
    """A call of a tool."""

    function: str
    arguments: NotRequired[Any]


@with_config(STRICT)
class MessageShape(TypedDict):
    """A message of a sample's conversation; `function` is the tool that a tool's message answers for."""

    role: str
    content: str | Annotated[list[ContentShape], Field(max_length=_MOST_PARTS)]
    tool_calls: NotRequired[Annotated[list[CallShape], Field(max_length=_MOST_PARTS)] | None]
    function: NotRequired[str | None]


@with_config(STRICT)
class UsageShape(TypedDict):
    """The tokens of one model in a sample."""

    input_tokens: NotRequired[Count | None]
    output_tokens: NotRequired[Count | None]
    total_tokens: NotRequired[Count | None]
    reasoning_tokens: NotRequired[Count | None]
    input_tokens_cache_read: NotRequired[Count | None]
    input_tokens_cache_write: NotRequired[Count | None]
    total_cost: NotRequired[Number | None]


@with_config(STRICT)
class ChoiceShape(TypedDict):
    """One answer of a model."""

    message: MessageShape
    stop_reason: NotRequired[str | None]


@with_config(STRICT)
class OutputShape(TypedDict):
    """The output of a sample; without a choice if the model was not asked."""

    choices: NotRequired[list[ChoiceShape] | None]
    completion: NotRequired[str | None]
    usage: NotRequired[UsageShape | None]


@with_config(STRICT)
class ScoreShape(TypedDict):
    """The value of a scorer: text, a number, a boolean, or several of them."""

    value: Any
    explanation: NotRequired[str | None]


@with_config(STRICT)
class ErrorShape(TypedDict):
    """The error that ended a sample."""

    message: str


@with_config(STRICT)
class LimitShape(TypedDict):
    """The limit that ended a sample."""

    type: str
    limit: NotRequired[Number | None]


@with_config(STRICT)
class InvalidationShape(TypedDict):
    """Why somebody has invalidated a sample after the evaluation."""

    reason: NotRequired[str | None]


@with_config(STRICT)
class SampleShape(TypedDict):
    """One sample in one epoch."""

    id: Annotated[str, Field(min_length=1, max_length=1_000)] | int
    epoch: Annotated[int, Field(ge=1, le=1_000_000)]
    input: str | Annotated[list[MessageShape], Field(max_length=MOST_MESSAGES)]
    target: NotRequired[str | list[str] | None]
    messages: NotRequired[Annotated[list[MessageShape], Field(max_length=MOST_MESSAGES)] | None]
    output: NotRequired[OutputShape | None]
    scores: NotRequired[dict[str, ScoreShape] | None]
    metadata: NotRequired[dict[str, Any] | None]
    attachments: NotRequired[dict[str, str] | None]
    model_usage: NotRequired[dict[str, UsageShape] | None]
    started_at: NotRequired[str | None]
    total_time: NotRequired[Seconds | None]
    error: NotRequired[ErrorShape | None]
    error_retries: NotRequired[list[Any] | None]
    limit: NotRequired[LimitShape | None]
    invalidation: NotRequired[InvalidationShape | None]


@with_config(STRICT)
class DatasetShape(TypedDict):
    """The samples of the data set, in order."""

    sample_ids: NotRequired[list[str | int] | None]


@with_config(STRICT)
class EvalShape(TypedDict):
    """The evaluation: task and model."""

    task: str
    model: Annotated[str, Field(min_length=1)]
    created: str
    eval_id: NotRequired[str | None]
    dataset: NotRequired[DatasetShape | None]
    packages: NotRequired[dict[str, Any] | None]


@with_config(STRICT)
class StatsShape(TypedDict):
    """The time at which the evaluation ended; empty if it did not."""

    completed_at: NotRequired[str | None]


@with_config(STRICT)
class HeaderShape(TypedDict):
    """A log without its samples."""

    eval: EvalShape
    status: NotRequired[str | None]
    stats: NotRequired[StatsShape | None]


@with_config(STRICT)
class LogShape(HeaderShape):
    """A whole log in one JSON file."""

    samples: Annotated[list[SampleShape], Field(min_length=1)]


def read_inspect(path: Path, name: str | None = None, secrets: Secrets | None = None) -> ImportedRun:
    """Read a log of Inspect; `name` is the name of the suite. Raises SuiteError with every problem found."""
    file = ResultFile(path, _FIX, secrets, "The log cannot be imported")
    header, samples = _read(file)
    digest = _digest(header, samples)
    for sample in samples:
        sample["id"] = file.hide(str(sample["id"]))  # a number becomes a name
    ids = (header["eval"].get("dataset") or {}).get("sample_ids") or ()
    order = {file.hide(str(each)): number for number, each in enumerate(ids)}
    samples = sorted(samples, key=lambda sample: (order.get(str(sample["id"]), len(order)), sample["epoch"]))
    _refuse_doubles(file, samples)
    started = time_of(path, "eval.created", header["eval"]["created"])
    completed = (header.get("stats") or {}).get("completed_at")
    finished = time_of(path, "stats.completed_at", completed) if completed else started
    begun = started.isoformat(timespec="milliseconds")
    model = sanitize_line(header["eval"]["model"], 200) or "unnamed model"
    version = (header["eval"].get("packages") or {}).get("inspect_ai")
    task = sanitize_line(header["eval"]["task"], 200)
    reader = _SampleReader(task, model, header["eval"]["model"], begun, _graded(samples))
    cases = [reader.case(case_id, sample) for case_id, sample in _first_samples(samples).items()]
    results = _results(file, samples, reader)
    return Evaluation(
        path=path,
        name=name or task or path.stem,
        description=f"Imported from Inspect{f' {sanitize_line(version, 40)}' if isinstance(version, str) else ''}.",
        digest=digest,
        cases=with_common_checks(cases, results),
        subjects=(Subject(model, PROVIDER, header["eval"]["model"], how=IMPORTED),),
        results=results,
        started=started,
        finished=finished,
        state=_STATES.get(header.get("status") or "", "interrupted"),
    ).as_run()


def _results(file: ResultFile, samples: Iterable[SampleShape], reader: "_SampleReader") -> tuple[TrialResult, ...]:
    # Many messages may refer to one long attachment, and each is stored with all of it.
    limit = MemoryLimit()
    try:
        return tuple(limit.add(reader.result(sample)) for sample in samples)
    except NotRead as error:
        raise file.refusal([file.problem(str(error))]) from error


def _refuse_doubles(file: ResultFile, samples: Sequence[SampleShape]) -> None:
    seen: set[tuple[str, int]] = set()
    for sample in samples:
        if (place := (str(sample["id"]), sample["epoch"])) in seen:
            what = f"sample {place[0]!r}, epoch {place[1]}: appears twice"
            raise file.refusal([file.problem(what, "samples")])
        seen.add(place)


def _first_samples(samples: Iterable[SampleShape]) -> dict[str, SampleShape]:
    """Return the first sample of each id, or the first that was scored."""
    found: dict[str, SampleShape] = {}
    for sample in samples:
        known = found.setdefault(str(sample["id"]), sample)
        if sample.get("scores") and not known.get("scores"):
            found[str(sample["id"])] = sample
    return found


def _read(file: ResultFile) -> tuple[HeaderShape, list[SampleShape]]:
    from pydantic import TypeAdapter

    data = file.read()
    if not data.startswith(b"PK"):
        log: LogShape = file.parse(TypeAdapter(LogShape), file.json_text(data))
        if sum(map(_messages_of, log["samples"])) > MOST_MESSAGES:
            raise file.refusal([file.problem(_TOO_MANY_MESSAGES)])
        return log, log["samples"]
    limit = MemoryLimit()
    header: HeaderShape | None = None
    samples: list[SampleShape] = []
    problems: list[Problem] = []
    messages = 0
    header_shape, sample_shape = TypeAdapter(HeaderShape), TypeAdapter(SampleShape)
    try:
        for member, content in _members(data):
            try:
                if _SAMPLE.fullmatch(member):
                    samples.append(limit.add(file.parse(sample_shape, file.json_text(content))))
                    messages += _messages_of(samples[-1])
                    if messages > MOST_MESSAGES:
                        raise NotRead(_TOO_MANY_MESSAGES)
                else:
                    header = file.parse(header_shape, file.json_text(content))
            except SuiteError as error:
                name = sanitize_line(member, 100)
                problems += (file.problem(each.what, f"{name}: {each.where}") for each in error.problems)
            if len(problems) >= MOST_PROBLEMS:
                break
    except NotRead as error:
        problems.append(file.problem(str(error)))
    if header is None and not problems:
        problems.append(file.problem("has no header.json"))
    if header is None or problems or not samples:
        raise file.refusal(problems[:MOST_PROBLEMS] or [file.problem("has no samples")])
    return header, samples


def _messages_of(sample: SampleShape) -> int:
    given = sample["input"]
    return len(sample.get("messages") or ()) + (0 if isinstance(given, str) else len(given))


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of the header and of each sample. Raises NotRead.

    The contents are taken from memory: names only choose what is read, and no path is made of them.
    """
    if data.count(_DIRECTORY_ENTRY) > MOST_MEMBERS:  # Counted first: zipfile makes an object for each entry.
        raise NotRead(f"has more than {MOST_MEMBERS:,} members")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            members = file.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OSError) as error:
        raise NotRead(f"is damaged ({sanitize_line(str(error), 100)})") from error
    if sum(info.compress_size for info in members) > len(data):
        raise NotRead("is damaged: its members overlap")  # Each would be copied, up to the whole file.
    names = Counter(info.filename for info in members)
    head = "header.json" if "header.json" in names else "_journal/start.json"
    left = MOST_BYTES
    for info in members:
        name = info.filename
        if name == head or _SAMPLE.fullmatch(name):
            if names[name] > 1:
                raise NotRead(f"is damaged: {sanitize_line(name, 100)} appears twice")
            content = _content(data, info, left)
            left -= len(content)
            yield name, content


def _content(data: bytes, info: zipfile.ZipInfo, most: int) -> bytes:
    name = sanitize_line(info.filename, 100)
    start = info.header_offset
    local = data[start : start + _LOCAL_HEADER]
    if len(local) < _LOCAL_HEADER or not local.startswith(b"PK\x03\x04"):
        raise NotRead(f"is damaged: {name} has no header")
    if info.flag_bits & _ENCRYPTED:
        raise NotRead(f"is encrypted: {name}")
    start += _LOCAL_HEADER + int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    raw = data[start : start + info.compress_size]
    content = _decompressed(raw, info.compress_type, min(most, _MOST_MEMBER_BYTES), name)
    if _MOST_MEMBER_BYTES < len(content) <= most:
        raise NotRead(f"has a member of more than {_MOST_MEMBER_BYTES >> 20} MiB when decompressed: {name}")
    if len(content) > most:
        raise NotRead(f"is larger than {MOST_BYTES >> 20} MiB when decompressed")
    if zlib.crc32(content) != info.CRC:
        raise NotRead(f"is damaged: the checksum of {name} is wrong")
    return content


def _decompressed(raw: bytes, method: int, most: int, name: str) -> bytes:
    """Return the content of a member; one byte more than `most` if it is larger."""
    damaged = f"is damaged: {name} cannot be decompressed"
    if method == zipfile.ZIP_STORED:
        return raw[: most + 1]
    if method == zipfile.ZIP_DEFLATED:
        try:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, most + 1)
        except zlib.error as error:
            raise NotRead(damaged) from error
    if method == _ZSTD:
        import zstandard

        decompressor = zstandard.ZstdDecompressor(max_window_size=_MOST_WINDOW)
        try:
            return decompressor.stream_reader(raw, read_across_frames=True).read(most + 1)
        except zstandard.ZstdError as error:
            raise NotRead(damaged) from error
    raise NotRead(f"has a member with an unknown compression, {method}: {name}")


def _digest(header: HeaderShape, samples: Sequence[SampleShape]) -> str:
    from pydantic_core import to_json

    evaluation = {key: value for key, value in header["eval"].items() if key != "dataset"}
    return hashlib.sha256(to_json([evaluation, samples])).hexdigest()


@dataclass(frozen=True, slots=True)
class _SampleReader:
    """Makes cases and results of the samples of a log.

    `model` is the name that is shown, `asked` the one in the log; `graded` are the scores whose numbers and words judge
    nothing.
    """

    task: str
    model: str
    asked: str
    begun: str
    graded: frozenset[str]

    def case(self, case_id: str, sample: SampleShape) -> Case:
        """Return the case of the samples with one id."""
        given = _input(sample)
        category = (sample.get("metadata") or {}).get("category")
        target = sample.get("target") or ""
        checks = dict.fromkeys(check.target for check in self._checks(sample))
        return Case(
            id=case_id,
            name=name_of(given) or case_id,
            category=name_of(category) or self.task or "Imported",
            steps=(Step(given, tuple(Check("recorded", target) for target in checks)),),
            expected_behavior=target if isinstance(target, str) else "\n".join(target),
            risk_criteria=overall_criteria(),
        )

    def result(self, sample: SampleShape) -> TrialResult:
        """Return the result of a sample with one attempt, with the verdict of its scores, error or limit."""
        output = sample.get("output") or {}
        choices = output.get("choices") or []
        messages = sample.get("messages") or ([choices[0]["message"]] if choices else [])
        last = messages[-1] if messages and messages[-1]["role"] == "assistant" else None
        text = _text(sample, choices[0]["message"]) if choices else output.get("completion") or ""
        before = messages[:-1] if last else messages
        took = (sample.get("total_time") or 0.0) * 1_000
        usage = (sample.get("model_usage") or {}).get(self.asked) or output.get("usage") or {}
        cost = usage.get("total_cost")
        step = StepResult(
            input=_input(sample),
            response=text,
            prompt=Prompt(_input(sample), tuple(_message(sample, each) for each in before)),
            reasoning="\n\n".join(filter(None, (_reasoning(sample, each) for each in messages))),
            tools_used=tuple(call["function"] for each in messages for call in each.get("tool_calls") or ()),
            checks=self._checks(sample),
            usage=_usage(usage),
            timing=Timing(None, took),
            finish_reason=choices[0].get("stop_reason") if choices else None,
            notes=self._notes(sample),
            cost_usd=cost if cost is not None and 0 < cost <= MOST_USD else None,
        )
        verdict, error = _verdict(sample, step)
        trial = TrialKey(str(sample["id"]), self.model, sample["epoch"])
        attempt = Attempt(1, verdict, error, (step,), self.begun, took)
        return TrialResult(trial, verdict, False, error, (attempt,))

    def _checks(self, sample: SampleShape) -> tuple[CheckResult, ...]:
        """Return a recorded check for each score that says correct or incorrect."""
        return tuple(
            CheckResult("recorded", name, state, detail_of(f"score {_shown(value)}{reason}"))
            for name, value, reason in _scores(sample)
            if (state := self._state(name, value))
        )

    def _notes(self, sample: SampleShape) -> tuple[str, ...]:
        found = ((name, value) for name, value, _ in _scores(sample) if not self._state(name, value))
        notes = [f"Inspect score of {name}: {_shown(value)}" for name, value in found]
        if retries := len(sample.get("error_retries") or ()):
            notes.append(f"Inspect repeated this sample {retries} times after an error")
        return tuple(notes)

    def _state(self, name: str, value: object) -> CheckState | None:
        """Return what a value says: C, yes, true and 1 passed; I, P, N, no, false and 0 failed; others neither.

        A number or word of a score that is a degree or a label says neither.
        """
        number = _number(value)
        if name in self.graded and not isinstance(value, bool):
            return None
        if isinstance(value, str) and number is None:
            word = value.casefold()
            return "passed" if word in _PASSED else "failed" if word in _FAILED else None
        if isinstance(value, bool) or number in (0, 1):
            return "passed" if number else "failed"
        return None


def _verdict(sample: SampleShape, step: StepResult) -> tuple[Verdict, str | None]:
    invalidation = sample.get("invalidation")
    if invalidation is not None:
        reason = sanitize_line(invalidation.get("reason") or "", 300)
        return "error", f"The sample was invalidated in Inspect{f': {reason}' if reason else ''}"
    if error := sample.get("error"):
        return "error", error["message"] or "Inspect recorded an error without a message"
    if limit := sample.get("limit"):
        size = limit.get("limit")
        words = f"The sample ended at its {limit['type']} limit{'' if size is None else f' of {size:,.15g}'}"
        return ("timed_out" if limit["type"] in ("time", "working") else "incomplete"), words
    if any(check.state == "failed" for check in step.checks):
        return "failed", None
    if early := early_stop(step.finish_reason):
        return "incomplete", early
    return ("passed" if step.checks else "unchecked"), None


def _scores(sample: SampleShape) -> Iterator[tuple[str, Any, str]]:
    """Yield the name, the value and the explanation of each score; each part of a score with several values."""
    for name, score in (sample.get("scores") or {}).items():
        shown, value = sanitize_line(name, 200) or "score", score["value"]
        reason = f"\n{score.get('explanation')}" if score.get("explanation") else ""
        if isinstance(value, dict):
            yield from ((f"{shown}.{sanitize_line(str(key), 200)}", part, reason) for key, part in value.items())
        elif isinstance(value, list):
            yield from ((f"{shown}[{number}]", part, reason) for number, part in enumerate(value))
        else:
            yield shown, value, reason


def _graded(samples: Iterable[SampleShape]) -> frozenset[str]:
    """Return the names of scores that are degrees or labels, which judge nothing: with a number other than 0 and 1, or
    a word that says neither correct nor incorrect, in any sample.

    The share of the ones among the ones and zeros of degrees would be no pass rate, and the `C` of `A` to `F` is no
    pass. NaN is the score of a sample without one.
    """
    found = ((name, value) for sample in samples for name, value, _ in _scores(sample))
    return frozenset(name for name, value in found if _is_degree(value))


def _is_degree(value: object) -> bool:
    number = _number(value)
    if isinstance(value, str) and number is None:
        return bool(value.strip()) and value.casefold() not in _PASSED | _FAILED
    return number == number and number not in (None, 0, 1)


def _number(value: object) -> float | None:
    """Return a value that is a number, also one written as text, as Inspect reads it."""
    if isinstance(value, str):
        return float(value) if _DECIMAL.fullmatch(value) else None
    return value if isinstance(value, int | float) else None


def _shown(value: object) -> str:
    if isinstance(value, str):
        return sanitize_line(value, 200)
    return as_json(value)[:200]


def _usage(usage: Mapping[str, Any]) -> Usage:
    """Return the token counts; Inspect counts the tokens of a cache beside those of the input."""
    given, output = usage.get("input_tokens"), usage.get("output_tokens")
    cached, written = usage.get("input_tokens_cache_read"), usage.get("input_tokens_cache_write")
    if given is not None and usage.get("total_tokens") != given + (output or 0):
        given += (cached or 0) + (written or 0)
    return Usage(given, output, usage.get("reasoning_tokens"), cached, written)


def _input(sample: SampleShape) -> str:
    given = sample["input"]
    if isinstance(given, str):
        return _attached(sample, given)
    return "\n\n".join(_text(sample, each) for each in given if each["role"] == "user")


def _message(sample: SampleShape, message: MessageShape) -> Message:
    """Return a message; a call of a tool and the tool's result become text."""
    text, role = _text(sample, message), message["role"]
    if role == "tool":
        return Message("user", f"[result of {message.get('function') or 'a tool'}]\n{text}")
    calls = [
        f"[call of {call['function']}] {as_json(call.get('arguments'))}" for call in message.get("tool_calls") or ()
    ]
    content = "\n".join(filter(None, (text, *calls)))
    return Message("system" if role == "system" else "assistant" if role == "assistant" else "user", content)


def _text(sample: SampleShape, message: MessageShape) -> str:
    content = message["content"]
    if isinstance(content, str):
        return _attached(sample, content)
    texts = (each.get("text") or "" if each["type"] == "text" else _other(each["type"]) for each in content)
    return _attached(sample, "\n".join(filter(None, texts)))


def _other(kind: str) -> str:
    return "" if kind == "reasoning" else f"[{sanitize_line(kind, 40)}]"


def _reasoning(sample: SampleShape, message: MessageShape) -> str:
    content = message["content"]
    if isinstance(content, str):
        return ""
    return _attached(sample, "\n".join(filter(None, (each.get("reasoning") for each in content))))


def _attached(sample: SampleShape, text: str) -> str:
    """Return a text with the long texts that the log holds beside it; no more than the log's own size."""
    kept = sample.get("attachments") or {}
    found = _ATTACHMENT.fullmatch(text)
    return kept.get(found[1], text) if found else text
