"""The progress of one trial: its attempts, steps and checks, as far as events or a stored result say."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from tui.model.events import (
    AttemptFinished,
    AttemptStarted,
    CheckMoved,
    Event,
    LiveState,
    ReasoningArrived,
    RequestRetried,
    RequestSent,
    StepFinished,
    StepStarted,
    TextArrived,
    ToolsCalled,
    TrialDelayed,
    TrialStarted,
)
from tui.model.outcomes import Outcome
from tui.model.results import (
    Attempt,
    CheckState,
    Prompt,
    Retry,
    Span,
    StepResult,
    ToolUse,
    TrialKey,
    TrialResult,
    Verdict,
)
from tui.model.suite import FORBIDDING, Case, SuiteCase

TrialStatus = Literal["waiting", "delayed", "running"] | Verdict
OPEN: frozenset[str] = frozenset({"waiting", "delayed", "running"})


_LIVE_AFTER: dict[CheckState, dict[bool, LiveState]] = {
    "passed": {True: "clear", False: "found"},
    "failed": {True: "forbidden", False: "waiting"},
    "timed_out": {True: "timed_out", False: "timed_out"},
}


@dataclass(slots=True)
class LiveCheck:
    """The current state of a check; `decided` is None while it is provisional."""

    state: LiveState = "waiting"
    spans: tuple[Span, ...] = ()
    decided: CheckState | None = None
    detail: str = ""


@dataclass(slots=True)
class StepProgress:
    """The progress of a step.

    Times are the monotonic seconds passed with the events. `pieces` only grows until a turn of the model ends with
    calls of tools; `turns` counts these turns live, and `tool_calls` are their calls. `newlines` are the offsets of
    line ends.
    """

    prompt: Prompt | None = None
    pieces: list[str] = field(default_factory=list)
    newlines: list[int] = field(default_factory=list)
    size: int = 0
    reasoning: list[str] = field(default_factory=list)
    checks: dict[int, LiveCheck] = field(default_factory=dict)
    retries: list[Retry] = field(default_factory=list)
    tool_calls: list[ToolUse] = field(default_factory=list)
    turns: int = 0
    sent_at: float | None = None
    first_at: float | None = None
    result: StepResult | None = None

    @property
    def text(self) -> str:
        """The answer received so far."""
        return self.result.response if self.result is not None else "".join(self.pieces)

    def line_of(self, offset: int) -> int:
        """Return the line, counted from 1, of a code point of the answer."""
        if self.result is not None:
            return self.result.response.count("\n", 0, offset) + 1
        return bisect_left(self.newlines, offset) + 1

    def begin_request(self, at: float) -> None:
        """Start the clock of the step, which later turns of the model continue."""
        if self.sent_at is None or not self.turns:
            self.sent_at = at

    def end_turn(self, calls: Iterable[ToolUse], at: float) -> None:
        """Add the calls of a turn of the model, whose text is not the answer."""
        self.first_at = at if self.first_at is None else self.first_at
        self.turns += 1
        self.tool_calls += calls
        self.pieces, self.newlines, self.size, self.checks = [], [], 0, {}

    def append(self, text: str, at: float) -> None:
        """Add text of the answer."""
        if self.first_at is None:
            self.first_at = at
        self.pieces.append(text)
        if "\n" in text:
            self.newlines += [self.size + at for at, sign in enumerate(text) if sign == "\n"]
        self.size += len(text)

    def settle(self, result: StepResult) -> None:
        """End the step with its result."""
        self.result, self.prompt = result, result.prompt
        self.size = len(result.response)
        self.checks = {
            index: LiveCheck(_LIVE_AFTER[check.state][check.kind in FORBIDDING], check.spans, check.state, check.detail)
            for index, check in enumerate(result.checks)
        }


@dataclass(slots=True)
class AttemptProgress:
    """The progress of an attempt; `of` is the maximum number of attempts."""

    number: int
    of: int
    steps: list[StepProgress] = field(default_factory=list)
    tokens_seen: int = 0
    finished: Attempt | None = None

    @property
    def turns(self) -> int:
        """The number of turns that ended with calls of tools."""
        return sum(step.turns for step in self.steps)

    def step(self, number: int) -> StepProgress:
        """Return a step by its number from 0, a new one if it has not begun."""
        while len(self.steps) <= number:
            self.steps.append(StepProgress())
        return self.steps[number]


@dataclass(slots=True)
class TrialProgress:
    """The progress of a trial.

    `waits` is the pending transport retry; `version` grows with every event of the trial; `kept` is the outcome of a
    stored result that was not loaded yet. `asked` is the case as it was run, None if it is the one that is displayed;
    `run` is the id of its run, and `definition` what the name of its model stood for, each empty if unknown. `before`
    is the result or outcome that it had before its rerun, which counts until the rerun ends.
    """

    key: TrialKey
    status: TrialStatus = "waiting"
    attempts: list[AttemptProgress] = field(default_factory=list)
    delay_ms: int | None = None
    waits: Retry | None = None
    result: TrialResult | None = None
    version: int = 0
    kept: Outcome | None = None
    asked: SuiteCase | None = None
    run: str = ""
    definition: str = ""
    before: TrialResult | Outcome | None = None

    @property
    def case(self) -> Case | None:
        """The case as it was run, or None if it is the one that is displayed."""
        return self.asked.case if self.asked is not None else None

    @property
    def has_another_prompt(self) -> bool:
        """Whether the answer is a recorded one to another prompt than that of the case that was run."""
        return self.result is not None and any(each.has_another_prompt for each in self.result.attempts[-1:])

    @property
    def ended(self) -> TrialResult | Outcome | None:
        """The result or outcome of the trial, or None while it has no verdict."""
        return self.result or self.kept

    @property
    def counted(self) -> TrialResult | Outcome | None:
        """The result or outcome that counts in figures: during a rerun it is the earlier one."""
        return self.before if self.is_open else self.ended

    @property
    def flaky(self) -> bool:
        """Whether the run that counts passed, but not on its first attempt."""
        return self.ended is not None and self.ended.flaky

    @property
    def is_unread(self) -> bool:
        """Whether only the outcome of the stored result was loaded."""
        return self.result is None and not self.is_open

    @property
    def attempt(self) -> AttemptProgress | None:
        """The last attempt, or None."""
        return self.attempts[-1] if self.attempts else None

    @property
    def is_open(self) -> bool:
        """Whether the trial has no verdict yet."""
        return self.status in OPEN

    @property
    def is_answered(self) -> bool:
        """Whether a request of the trial is in progress or its answer is being judged."""
        attempt = self.attempt
        if self.status != "running" or self.waits is not None or attempt is None or not attempt.steps:
            return False
        return attempt.finished is None and attempt.steps[-1].sent_at is not None and attempt.steps[-1].result is None

    @classmethod
    def of(cls, result: TrialResult, asked: SuiteCase | None = None, run: str = "") -> "TrialProgress":
        """Return the progress of a trial that has ended with a result."""
        trial = cls(result.trial, result.verdict, result=result, asked=asked, run=run)
        for attempt in result.attempts:
            progress = AttemptProgress(attempt.number, len(result.attempts), finished=attempt)
            for place, step in enumerate(attempt.steps):
                progress.step(place).settle(step)
            trial.attempts.append(progress)
        return trial

    def finish(self, result: TrialResult) -> None:
        """End the trial with its result; what was received live stays."""
        live, ended = self.attempt, TrialProgress.of(result)
        self.status, self.attempts, self.result = ended.status, ended.attempts, result
        self.delay_ms = self.waits = self.before = None
        if live and self.attempt and live.number == self.attempt.number:
            self.attempt.of, self.attempt.tokens_seen = live.of, live.tokens_seen
            for step, received in zip(self.attempt.steps, live.steps, strict=False):
                step.pieces, step.turns = received.pieces, received.turns

    def take(self, event: Event, at: float) -> None:
        """Apply an event of the trial other than its end; `at` is its time in monotonic seconds."""
        match event:
            case TrialDelayed(_, wait_ms):
                self.status, self.delay_ms = "delayed", wait_ms
            case TrialStarted():
                self.status, self.delay_ms = "running", None
            case AttemptStarted(_, number, of):
                self.status, self.delay_ms, self.waits = "running", None, None
                self.attempts.append(AttemptProgress(number, of))
            case AttemptFinished(_, attempt):
                self._attempt(attempt.number).finished = attempt
                self.waits = None
            case StepStarted(_, number, step, prompt):
                self._attempt(number).step(step).prompt = prompt
            case StepFinished(_, number, step, result):
                self._attempt(number).step(step).settle(result)
            case _:
                self._receive(event, at)

    def _receive(self, event: Event, at: float) -> None:
        match event:
            case RequestSent(_, number, step):
                self._attempt(number).step(step).begin_request(at)
                self.waits = None
            case RequestRetried(_, number, step, reason, wait_ms):
                self.waits = Retry(reason, wait_ms)
                self._attempt(number).step(step).retries.append(self.waits)
            case TextArrived(_, number, step, text):
                attempt = self._attempt(number)
                attempt.step(step).append(text, at)
                attempt.tokens_seen += 1
            case ReasoningArrived(_, number, step, text):
                self._attempt(number).step(step).reasoning.append(text)
            case ToolsCalled(_, number, step, calls):
                self._attempt(number).step(step).end_turn(calls, at)
            case CheckMoved(_, number, step, check, state, spans):
                self._attempt(number).step(step).checks[check] = LiveCheck(state, spans)

    def _attempt(self, number: int) -> AttemptProgress:
        for attempt in reversed(self.attempts):
            if attempt.number == number:
                return attempt
        self.attempts.append(AttemptProgress(number, number))
        return self.attempts[-1]
