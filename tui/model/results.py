"""The results of trials: attempts, steps, checks, usage and timing, and the verdict that counts in figures."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, Protocol

from tui.model.suite import FORBIDDING, CheckKind
from tui.model.values import JsonObject, JsonValue

Verdict = Literal["passed", "failed", "error", "timed_out", "incomplete", "cancelled", "unchecked"]
CountedVerdict = Literal["passed", "flaky", "failed", "unchecked", "error"]
JUDGED: frozenset[Verdict] = frozenset({"passed", "failed", "unchecked"})
"""The verdicts on a complete answer. A trial with another verdict has no judged answer, and a rerun replaces it."""
CheckState = Literal["passed", "failed", "timed_out"]
Role = Literal["system", "user", "assistant"]
Span = tuple[int, int]
MOST_SPANS = 1_000  # of one check in one answer; further matches are not recorded
MOST_SPANS_TOGETHER = 100_000  # of all checks of an answer; after them only the first match of a check is recorded


class TrialKey(NamedTuple):
    """The identity of a trial: case × model × repeat. `repeat` counts from 1."""

    case: str
    model: str
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class IncludedFile:
    """A file that was sent along: its path and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class LeftOutFile:
    """A file that was not sent along, with the reason."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was sent: `input` is the step's own text, `messages` the conversation with context and system message."""

    input: str
    messages: tuple[Message, ...]
    included: tuple[IncludedFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. Spans are half-open ranges of Unicode code points in the response."""

    kind: CheckKind
    target: str
    state: CheckState
    detail: str = ""
    spans: tuple[Span, ...] = ()


RAN_UNCHANGED = "The command ran on the unchanged repository: no change of the answer was applied."
"""The end of the detail of such a command, which says nothing about the answer."""


MOST_TOKENS = 2**53
"""The largest token count: every JSON reader represents it exactly, and figures can be computed with it."""
_COUNTS = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", "cache_writing_tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that the provider counted, each None if not reported; of several turns, their sum.

    Reasoning tokens are part of the output; tokens read from a cache and tokens written to one are part of the input.
    A count below 0 or above 2^53 is no count and becomes None, wherever it comes from: a server, a file, the history.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_writing_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in _COUNTS:
            count = getattr(self, name)
            if count is not None and not 0 <= count <= MOST_TOKENS:
                object.__setattr__(self, name, None)

    def __add__(self, other: "Usage") -> "Usage":
        """Return the sum; a count that one of them lacks is unknown."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in _COUNTS)
        return Usage(*(None if one is None or two is None else one + two for one, two in pairs))


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds since the request.

    `first_token_ms` is None if no text and no call of an offered tool arrived. `duration_ms` is 0 if it is unknown: the
    imported answers of other programs may have no times.
    """

    first_token_ms: float | None
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Retry:
    """A retry in transport: its reason and the wait before it. A retry is not counted as an attempt."""

    reason: str
    waited_ms: int


@dataclass(frozen=True, slots=True)
class ServedBy:
    """What a server reports about itself with an answer, each field empty if not reported.

    `model` is the full id of the model, `fingerprint` that of the system that runs it, `api_version` the version of the
    API, `server` the server's name.
    """

    model: str = ""
    fingerprint: str = ""
    api_version: str = ""
    server: str = ""

    @property
    def words(self) -> str:
        """The known fields: `gpt-5.2-2026-01-01, fingerprint fp_1, API 2020-10-01, server cloudflare`."""
        fields = {"": self.model, "fingerprint": self.fingerprint, "API": self.api_version, "server": self.server}
        return ", ".join(f"{name} {value}".strip() for name, value in fields.items() if value)


CallKind = Literal["tool", "model", "agent", "other"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool, or a call that tools were used in: of a model, of an agent, or another part of its work.

    `arguments` and `result` are JSON or text, empty if not reported; long ones are cut. `parent` is the index, in the
    same list, of the call that made this one, which comes before it; None if there is none or it is unknown.
    """

    name: str
    arguments: str = ""
    result: str = ""
    duration_ms: float | None = None
    kind: CallKind = "tool"
    parent: int | None = None

    @property
    def has_details(self) -> bool:
        """Whether more than the name of a tool is known."""
        return (
            bool(self.arguments or self.result)
            or self.duration_ms is not None
            or self.kind != "tool"
            or self.parent is not None
        )


@dataclass(frozen=True, slots=True)
class RecordedFigures:
    """The figures of a recorded answer, by which its checks are decided whenever it is judged again.

    `duration_ms` is the time of its request, `cost_usd` its cost; None is unknown. `is_imported` says that another
    program recorded it, perhaps without tools and memory.
    """

    duration_ms: float | None
    cost_usd: float | None
    is_imported: bool = False


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of one step.

    `tools_used` names all calls of tools in order, as the checks compare them; `tool_calls` are the first of the calls
    with their details, as a tree in which callers come first; none if none has any.
    `pace` lists (milliseconds since the request, code points so far) for replay. `memory_before` and `memory` are an
    agent's memory before and after the step, None for a chat model. `cost_usd` uses the price at the time of the
    request and is None if unknown. `stopped` says why the last calls of tools were not answered: the model would have
    continued. `recorded` has the figures of an answer that was replayed, whose time and cost here are those of the
    replay.
    """

    input: str
    response: str
    prompt: Prompt
    reasoning: str = ""
    tools_used: tuple[str, ...] = ()
    memory_before: JsonObject | None = None
    memory: JsonValue = None
    checks: tuple[CheckResult, ...] = ()
    usage: Usage = Usage()
    timing: Timing = Timing(None, 0.0)
    retries: tuple[Retry, ...] = ()
    finish_reason: str | None = None
    notes: tuple[str, ...] = ()
    pace: tuple[tuple[int, int], ...] = ()
    cost_usd: float | None = None
    served_by: ServedBy | None = None
    tool_calls: tuple[ToolUse, ...] = ()
    stopped: str = ""
    recorded: RecordedFigures | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt at a whole case.

    `number` counts from 1. `asking` is 0 for the first run of the trial and n for its n-th rerun by a user. `fault` is
    the kind of a provider's failure (`tui.model.errors.ProviderFault`). `is_retry` says that its replayed answer is
    that of a retry.
    """

    number: int
    verdict: Verdict
    error: str | None
    steps: tuple[StepResult, ...]
    started_at: str = ""
    duration_ms: float = 0.0
    asking: int = 0
    fault: str | None = None
    is_retry: bool = False

    @property
    def answer_ms(self) -> float | None:
        """The total time of the steps in milliseconds, each from the request to the last byte; None if unknown.

        This is the duration that every screen and report shows; `duration_ms` includes checks and preparation.
        """
        return round(sum(step.timing.duration_ms for step in self.steps), 3) or None

    @property
    def has_another_prompt(self) -> bool:
        """Whether the answer is a recorded one to another prompt than that of its case (`OTHER_PROMPT`)."""
        return any(OTHER_PROMPT in step.notes for step in self.steps)


@dataclass(frozen=True, slots=True)
class Change:
    """A file that an answer changed; `added` and `removed` count lines, `diff` is a unified diff."""

    path: str
    kind: Literal["added", "modified", "deleted"]
    added: int
    removed: int
    diff: str


@dataclass(frozen=True, slots=True)
class NotApplied:
    """A code block of an answer that was not applied; `block` counts from 0; `reason` is never empty."""

    block: int
    path: str | None
    language: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial.

    `verdict` is that of the last attempt, `first_verdict` the one that counts in figures. `flaky` is true if the
    counting run of the trial passed on a later attempt. `changes` and `not_applied` belong to the current answer.
    """

    trial: TrialKey
    verdict: Verdict
    flaky: bool
    error: str | None
    attempts: tuple[Attempt, ...]
    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()

    @property
    def first_verdict(self) -> Verdict:
        """The verdict that counts: that of the first run or rerun with a judged answer, else the latest."""
        if not self.reruns:
            return self.verdict
        return counted_asking(self.attempts)[-1].verdict

    @property
    def counted_attempt(self) -> Attempt | None:
        """The attempt whose verdict counts, or None if there are no stored attempts."""
        return counted_asking(self.attempts)[-1] if self.attempts else None

    @property
    def first_judged(self) -> Attempt | None:
        """The attempt with the first judged answer, else the last one; None if there are no stored attempts.

        Other checks judge this answer: a later one exists only because this one did not pass.
        """
        judged = (attempt for attempt in self.attempts if attempt.verdict in JUDGED)
        return next(judged, self.attempts[-1] if self.attempts else None)

    @property
    def current_attempt(self) -> Attempt | None:
        """The attempt with the current answer, which reviewers score; None if there are no stored attempts."""
        return current_attempt(self.attempts)

    @property
    def current_steps(self) -> tuple[StepResult, ...]:
        """The steps of the current answer; none if there are no stored attempts."""
        current = self.current_attempt
        return current.steps if current is not None else ()

    @property
    def has_answer(self) -> bool:
        """Whether there is anything to score: a text or a change."""
        return bool(self.changes) or _has_text(self.current_steps)

    @property
    def reruns(self) -> int:
        """The number of reruns by a user."""
        return self.attempts[-1].asking if self.attempts else 0


class HasFirstVerdict(Protocol):
    """A protocol of values that have the counting verdict of a trial."""

    @property
    def verdict(self) -> Verdict:
        """The latest verdict of the trial."""
        ...

    @property
    def first_verdict(self) -> Verdict:
        """The verdict that counts in figures."""
        ...

    @property
    def flaky(self) -> bool:
        """Whether the trial passed only on a later attempt."""
        ...

    @property
    def reruns(self) -> int:
        """The number of reruns by a user."""
        ...


def counted_as(outcome: HasFirstVerdict) -> CountedVerdict:
    """Return the category in which figures count a trial; `error` is any trial without a judged answer."""
    verdict = outcome.first_verdict
    if verdict == "passed":
        return "flaky" if outcome.flaky else "passed"
    return verdict if verdict == "failed" or verdict == "unchecked" else "error"


def has_passed_since(outcome: HasFirstVerdict) -> bool:
    """Return whether the trial counts as failed although a later rerun passed."""
    return outcome.first_verdict == "failed" and outcome.verdict == "passed"


def has_failed_since(outcome: HasFirstVerdict) -> bool:
    """Return whether the trial counts as passed although the last rerun failed."""
    return outcome.first_verdict == "passed" and outcome.verdict == "failed"


def rerun_note(outcome: HasFirstVerdict) -> str:
    """Return a note such as `passed on rerun 2, counts as failed`; empty if the latest verdict counts."""
    if outcome.verdict == outcome.first_verdict:
        return ""
    return f"{outcome.verdict} on rerun {outcome.reruns}, counts as {counted_as(outcome)}".replace("_", " ")


def counted_asking(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts of the first run or rerun that ended with a judged answer, else of the last rerun."""
    asking: tuple[Attempt, ...] = ()
    for _, group in groupby(attempts, key=lambda attempt: attempt.asking):
        asking = tuple(group)
        if asking[-1].verdict in JUDGED:
            break
    return asking


def current_attempt(attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the attempt with the current answer, or None if there are no attempts.

    It is the last attempt, unless that belongs to a rerun that ended with less than an earlier run: a rerun replaces a
    judged answer only by a judged one, an incomplete answer not by an error, and no text by nothing.
    """
    ends = [tuple(group)[-1] for _, group in groupby(attempts, key=lambda attempt: attempt.asking)]
    return max(reversed(ends), key=_completeness, default=None)


def _completeness(attempt: Attempt) -> int:
    if attempt.verdict in JUDGED:
        return 3
    return 2 if attempt.verdict == "incomplete" else int(_has_text(attempt.steps))


def _has_text(steps: Iterable[StepResult]) -> bool:
    return any(step.response.strip() for step in steps)


def is_flaky(attempts: Sequence[Attempt]) -> bool:
    """Return whether the run or rerun that counts passed after another attempt.

    That is an earlier attempt of its own, or of an earlier run if its answer failed the checks: without the error that
    ended that run, the trial would have passed on a later attempt too.
    """
    asking = counted_asking(attempts)
    if not asking or asking[-1].verdict != "passed":
        return False
    has_failed = any(each.verdict == "failed" for each in attempts if each.asking < asking[0].asking)
    return len(asking) > 1 or asking[0].is_retry or has_failed


OTHER_PROMPT = "the prompt of the recorded answer differs from that of the case"
"""The note of a step whose answer was replayed or imported, and given to another prompt than that of its case."""
CHECK_NOT_EVALUATED = "A check could not be evaluated"
"""The error of an imported answer that Assay's checks could not judge."""


def verdict_of_checks(checks: Sequence[CheckResult], *, is_incomplete: bool, is_checked: bool) -> Verdict:
    """Return the verdict that the results of its checks give an answer.

    In an answer that the provider stopped early, a match of a forbidden pattern makes it `failed`; any other check
    leaves it `incomplete`, because the missing part could change its result. A check that could not be evaluated makes
    it an `error`, unless another one failed.
    """
    if is_incomplete:
        found = any(check.kind in FORBIDDING and check.state == "failed" for check in checks)
        return "failed" if found else "incomplete"
    if any(check.state == "failed" for check in checks):
        return "failed"
    if any(check.state == "timed_out" for check in checks):
        return "error"
    return "passed" if is_checked else "unchecked"
