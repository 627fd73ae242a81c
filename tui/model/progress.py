"""Trials, attempts, steps and checks as far as they are known while a run goes on."""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Literal

from tui.model.events import LiveState
from tui.model.outcomes import Outcome
from tui.model.results import (
    Attempt,
    CheckState,
    Prompt,
    Retry,
    Span,
    StepResult,
    TrialKey,
    TrialResult,
    Verdict,
    counted_as,
    has_passed_since,
)

TrialStatus = Literal["waiting", "delayed", "running"] | Verdict
OPEN: frozenset[str] = frozenset({"waiting", "delayed", "running"})


@dataclass(slots=True)
class LiveCheck:
    """A check as it stands; `decided` is None while it is provisional."""

    state: LiveState = "waiting"
    spans: tuple[Span, ...] = ()
    decided: CheckState | None = None
    detail: str = ""


@dataclass(slots=True)
class StepProgress:
    """A step as far as it is known. Times are the monotonic seconds that were given with the events; `pieces` only
    ever grows, so that a reader can remember how many it has seen; `newlines` are offsets of line ends."""

    prompt: Prompt | None = None
    pieces: list[str] = field(default_factory=list)
    newlines: list[int] = field(default_factory=list)
    size: int = 0
    reasoning: list[str] = field(default_factory=list)
    checks: dict[int, LiveCheck] = field(default_factory=dict)
    retries: list[Retry] = field(default_factory=list)
    sent_at: float | None = None
    first_at: float | None = None
    result: StepResult | None = None

    @property
    def text(self) -> str:
        """The answer so far."""
        return self.result.response if self.result is not None else "".join(self.pieces)

    def line_of(self, offset: int) -> int:
        """The line, counted from 1, in which a code point of the answer stands."""
        if self.result is not None:
            return self.result.response.count("\n", 0, offset) + 1
        return bisect_left(self.newlines, offset) + 1


@dataclass(slots=True)
class AttemptProgress:
    """An attempt as far as it is known; `of` is how many there may be."""

    number: int
    of: int
    steps: list[StepProgress] = field(default_factory=list)
    tokens_seen: int = 0
    finished: Attempt | None = None


@dataclass(slots=True)
class TrialProgress:
    """A trial as far as it is known. `waits` is the transport retry that is being waited for; `version` grows with
    every event that concerns it; `kept` is the outcome of a kept result that was not read yet."""

    key: TrialKey
    status: TrialStatus = "waiting"
    attempts: list[AttemptProgress] = field(default_factory=list)
    delay_ms: int | None = None
    waits: Retry | None = None
    result: TrialResult | None = None
    version: int = 0
    kept: Outcome | None = None

    @property
    def ended(self) -> TrialResult | Outcome | None:
        """How it ended, from the whole result or from its outcome; None while there is no verdict."""
        return self.result or self.kept

    @property
    def flaky(self) -> bool:
        """Whether the asking that counts passed, but not on its first attempt."""
        return self.ended is not None and self.ended.flaky

    @property
    def is_unread(self) -> bool:
        """Whether there is a kept result of which only the outcome was read."""
        return self.result is None and not self.is_open

    @property
    def attempt(self) -> AttemptProgress | None:
        """The attempt that counts: the last one."""
        return self.attempts[-1] if self.attempts else None

    @property
    def is_open(self) -> bool:
        """Whether there is no verdict yet."""
        return self.status in OPEN

    @property
    def is_answered(self) -> bool:
        """Whether a question of it is out, and its answer is coming or being judged."""
        attempt = self.attempt
        if self.status != "running" or self.waits is not None or attempt is None or not attempt.steps:
            return False
        return attempt.finished is None and attempt.steps[-1].sent_at is not None and attempt.steps[-1].result is None


@dataclass(frozen=True, slots=True)
class Limit:
    """How many questions a provider is asked at once, and how many it may be at `most`; `reason` and `narrowed_at`,
    the monotonic seconds that were given with the event, say why it is below that."""

    limit: int
    most: int
    reason: str = ""
    narrowed_at: float = 0.0


@dataclass(slots=True)
class Counts:
    """How the trials of the run ended, by what they count as; `errors` holds all that have no judged answer.
    `passed_since` are those that a rerun passed and that still count as what they were first."""

    trials: int = 0
    passed: int = 0
    failed: int = 0
    flaky: int = 0
    errors: int = 0
    unchecked: int = 0
    passed_since: int = 0

    def take(self, result: TrialResult) -> None:
        """Count a trial that is over."""
        match counted_as(result):
            case "passed":
                self.passed += 1
            case "failed":
                self.failed += 1
            case "flaky":
                self.flaky += 1
            case "unchecked":
                self.unchecked += 1
            case "error":
                self.errors += 1
        self.passed_since += has_passed_since(result)

    @property
    def done(self) -> int:
        """How many are over."""
        return self.passed + self.failed + self.flaky + self.errors + self.unchecked
