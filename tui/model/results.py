"""What happened to a trial: attempts of steps, with checks, usage and timing, and what the trial counts as in figures.
Kept by the store, read by reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple, Protocol

from tui.model.suite import CheckKind
from tui.model.values import JsonObject, JsonValue

Verdict = Literal["passed", "failed", "error", "timed_out", "incomplete", "cancelled", "unchecked"]
CountedVerdict = Literal["passed", "flaky", "failed", "unchecked", "error"]
JUDGED: frozenset[Verdict] = frozenset({"passed", "failed", "unchecked"})
"""Verdicts on a whole answer. A trial that ended otherwise has no judged answer: a rerun replaces it."""
CheckState = Literal["passed", "failed", "timed_out"]
Role = Literal["system", "user", "assistant"]
Span = tuple[int, int]
MOST_SPANS = 1_000  # of one check in one answer; what is found beyond them is not noted


class TrialKey(NamedTuple):
    """Case × model × repeat. `repeat` counts from 1."""

    case: str
    model: str
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class IncludedFile:
    """A file that was sent along: its path and its size in bytes as sent."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class LeftOutFile:
    """A file that was not sent along, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What was really sent. `input` is the step's own text, `messages` the conversation with context and system."""

    input: str
    messages: tuple[Message, ...]
    included: tuple[IncludedFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check that was decided. Spans are half-open ranges of Unicode code points in the response."""

    kind: CheckKind
    target: str
    state: CheckState
    detail: str = ""
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them; None where it does not say. Those of reasoning are part of the output; those
    read from a cache and those put into one are part of the input."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    cache_writing_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds from the request; None where no text came."""

    first_token_ms: float | None
    duration_ms: float


@dataclass(frozen=True, slots=True)
class Retry:
    """A transport retry: why, and how long it waited. It never uses up an attempt."""

    reason: str
    waited_ms: int


@dataclass(frozen=True, slots=True)
class ServedBy:
    """What a server says of itself with an answer: the model's full id, the fingerprint of what runs it, the version of
    its API, its name. Empty where it does not say."""

    model: str = ""
    fingerprint: str = ""
    api_version: str = ""
    server: str = ""

    @property
    def words(self) -> str:
        """`gpt-5.2-2026-01-01, fingerprint fp_1, API 2020-10-01, server cloudflare`, what is known of it."""
        said = {"": self.model, "fingerprint": self.fingerprint, "API": self.api_version, "server": self.server}
        return ", ".join(f"{name} {value}".strip() for name, value in said.items() if value)


@dataclass(frozen=True, slots=True)
class StepResult:
    """What came back for one step. `pace` is (milliseconds since the request, code points so far), for replay.
    `memory` is the memory after the step, None for a chat model; `memory_before` what the step began with. `cost_usd`
    is by the price that held when it was asked, None where it is not known."""

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


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a whole case; `number` counts from 1; `asking` is 0 for the attempts of the first run of the trial and
    n for those of its n-th rerun by a person; `fault` is the kind of a provider's failure
    (`tui.model.errors.ProviderFault`)."""

    number: int
    verdict: Verdict
    error: str | None
    steps: tuple[StepResult, ...]
    started_at: str = ""
    duration_ms: float = 0.0
    asking: int = 0
    fault: str | None = None

    @property
    def answer_ms(self) -> float:
        """The milliseconds that its steps took, each from the request to the last byte: the duration that every screen
        and report shows. `duration_ms` is the whole attempt, with checks and with what was prepared for it."""
        return sum(step.timing.duration_ms for step in self.steps)


@dataclass(frozen=True, slots=True)
class Change:
    """A file that an answer changed; counts are lines; `diff` is unified."""

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
    """How a trial ended. `verdict` is the latest one, that of the last attempt; `first_verdict` the one that counts in
    figures. `flaky` says that the asking that counts passed on a later attempt."""

    trial: TrialKey
    verdict: Verdict
    flaky: bool
    error: str | None
    attempts: tuple[Attempt, ...]
    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()

    @property
    def first_verdict(self) -> Verdict:
        """The verdict that counts: of the first asking that judged an answer, else the latest."""
        if not self.reruns:
            return self.verdict
        return counted_asking(self.attempts)[-1].verdict

    @property
    def counted_attempt(self) -> Attempt | None:
        """The attempt whose verdict counts; None where nothing was kept of any."""
        return counted_asking(self.attempts)[-1] if self.attempts else None

    @property
    def reruns(self) -> int:
        """How often a person asked again."""
        return self.attempts[-1].asking if self.attempts else 0


class HasFirstVerdict(Protocol):
    """Anything that knows which verdict of a trial counts."""

    @property
    def verdict(self) -> Verdict:
        """The latest verdict."""
        ...

    @property
    def first_verdict(self) -> Verdict:
        """The verdict that counts."""
        ...

    @property
    def flaky(self) -> bool:
        """Whether it is a pass on a later attempt."""
        ...

    @property
    def reruns(self) -> int:
        """How often a person asked again."""
        ...


def counted_as(outcome: HasFirstVerdict) -> CountedVerdict:
    """Return the word that every figure counts a trial under; `error` is for all that has no judged answer."""
    verdict = outcome.first_verdict
    if verdict == "passed":
        return "flaky" if outcome.flaky else "passed"
    return verdict if verdict == "failed" or verdict == "unchecked" else "error"


def has_passed_since(outcome: HasFirstVerdict) -> bool:
    """Return whether the trial counts as failed, and a rerun has passed."""
    return outcome.first_verdict == "failed" and outcome.verdict == "passed"


def rerun_note(outcome: HasFirstVerdict) -> str:
    """Return what a rerun made of a trial whose counting verdict is another: `passed on rerun 2, counts as failed`;
    empty where the latest verdict counts."""
    if outcome.verdict == outcome.first_verdict:
        return ""
    return f"{outcome.verdict} on rerun {outcome.reruns}, counts as {counted_as(outcome)}".replace("_", " ")


def counted_asking(attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return the attempts of the first asking that ended with a judged answer, of the last asking where none did."""
    asking: tuple[Attempt, ...] = ()
    for _, group in groupby(attempts, key=lambda attempt: attempt.asking):
        asking = tuple(group)
        if asking[-1].verdict in JUDGED:
            break
    return asking


def is_flaky(attempts: Sequence[Attempt]) -> bool:
    """Return whether the asking that counts passed, and not on its first attempt."""
    asking = counted_asking(attempts)
    return len(asking) > 1 and asking[-1].verdict == "passed"
