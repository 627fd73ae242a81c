"""One step: ask the provider, watch the checks while the answer arrives, decide them on the whole."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from tui.checks.checker import Answer, Watch
from tui.model.errors import ProviderError
from tui.model.events import (
    CheckMoved,
    Event,
    LimitMoved,
    ReasoningArrived,
    RequestRetried,
    RequestSent,
    StepFinished,
    StepStarted,
    TextArrived,
)
from tui.model.prices import cost
from tui.model.provider_messages import (
    Chunk,
    End,
    Limited,
    MemoryChunk,
    NoteChunk,
    Reasoning,
    Request,
    Sent,
    ServedByChunk,
    Text,
    ToolCall,
    UsageChunk,
    Waiting,
)
from tui.model.results import CheckResult, Prompt, Retry, ServedBy, StepResult, Timing, TrialKey, Usage
from tui.model.secrets import Secrets
from tui.model.suite import Step
from tui.model.values import JsonValue
from tui.providers.protocol import Provider
from tui.runner.control import Control, EventBuffer, go_on_after_cancel
from tui.runner.prompt import without_secrets
from tui.runner.trial_context import TrialContext

_PACE_MS = 50


@dataclass(slots=True)
class PartialStep:
    """Gathers one answer. Clocks are monotonic; they start (again) when the request goes out. `held_s` is how long a
    pause of the run kept it from being asked."""

    memory: JsonValue = None
    remembers: bool = False
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    first: float | None = None
    parts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    pace: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    usage: Usage = field(default_factory=Usage)
    served_by: ServedBy | None = None
    finish_reason: str | None = None
    fault: ProviderError | None = None
    cancelled: bool = False
    held_s: float = 0.0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self.parts)

    def begin(self) -> None:
        """The request goes out (again)."""
        self.started = time.monotonic()

    def add_text(self, text: str) -> None:
        """A piece of the answer came."""
        now = time.monotonic()
        if self.first is None:
            self.first = now
        self.parts.append(text)
        self.size += len(text)
        elapsed = round((now - self.started) * 1000)
        if self.pace and elapsed - self.pace[-1][0] < _PACE_MS:
            self.pace[-1] = (self.pace[-1][0], self.size)
        else:
            self.pace.append((elapsed, self.size))

    def end(self) -> None:
        """The last byte came, or none will come."""
        self.ended = time.monotonic()

    def timing(self) -> Timing:
        """Milliseconds since the request that was answered."""
        ended = self.ended if self.ended is not None else time.monotonic()
        first = None if self.first is None else round((self.first - self.started) * 1000, 1)
        return Timing(first, round((ended - self.started) * 1000, 1))


@dataclass(frozen=True, slots=True)
class StepPlace:
    """Which step of which attempt, and where its events go."""

    trial: TrialKey
    attempt: int
    step: int
    outbox: EventBuffer

    def tell(self, event: Event) -> None:
        """Add an event to the run's stream."""
        self.outbox.tell(event)


class Pieces:
    """Takes the chunks of one step."""

    def __init__(self, place: StepPlace, secrets: Secrets, arrival: PartialStep, watch: Watch | None) -> None:
        self._place, self._secrets, self._arrival, self._watch = place, secrets, arrival, watch
        self._text, self._thought = secrets.stream(), secrets.stream()

    def take(self, chunk: Chunk) -> None:
        """Handle one chunk."""
        match chunk:
            case Text(text):
                self._add_text(self._text.feed(text))
            case Reasoning(text):
                self._add_reasoning(self._thought.feed(text))
            case Sent():
                self._arrival.begin()
                self._place.tell(RequestSent(self._place.trial, self._place.attempt, self._place.step))
            case Waiting(reason, wait_ms):
                self._add_retry(self._secrets.hide(reason), wait_ms)
            case ToolCall(name):
                self._arrival.tools.append(self._secrets.hide(name))
            case MemoryChunk(memory):
                self._arrival.remembers = True
                if memory is not None:
                    self._arrival.memory = hide_in(self._secrets, memory)
            case UsageChunk(usage):
                self._arrival.usage = usage
            case ServedByChunk(by):
                self._arrival.served_by = ServedBy(
                    *map(self._secrets.hide, (by.model, by.fingerprint, by.api_version, by.server))
                )
            case NoteChunk(note):
                self._arrival.notes.append(self._secrets.hide(note))
            case End(reason):
                self._arrival.finish_reason = reason

    def flush(self) -> None:
        """Nothing more will come: pass on what was held back."""
        self._add_text(self._text.flush())
        self._add_reasoning(self._thought.flush())

    def _add_text(self, text: str) -> None:
        if not text:
            return
        self._arrival.add_text(text)
        if self._watch is not None:
            self._watch.feed(text)
        self._place.tell(TextArrived(self._place.trial, self._place.attempt, self._place.step, text))

    def _add_reasoning(self, text: str) -> None:
        if text:
            self._arrival.reasoning.append(text)
            self._place.tell(ReasoningArrived(self._place.trial, self._place.attempt, self._place.step, text))

    def _add_retry(self, reason: str, wait_ms: int) -> None:
        self._arrival.retries.append(Retry(reason, wait_ms))
        place = self._place
        place.tell(RequestRetried(place.trial, place.attempt, place.step, reason, wait_ms))


def hide_in(secrets: Secrets, value: JsonValue) -> JsonValue:
    """The value with every secret in its texts and keys removed."""
    if isinstance(value, str):
        return secrets.hide(value)
    if isinstance(value, list):
        return [hide_in(secrets, item) for item in value]
    if isinstance(value, dict):
        return {secrets.hide(key): hide_in(secrets, item) for key, item in value.items()}
    return value


_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step that is over: what came back, and what kept it from being whole; for `held_s` the run was paused before
    it was asked."""

    result: StepResult
    fault: ProviderError | None
    cancelled: bool
    held_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepOrder:
    """What has to be asked of whom, and how long it may take; `final` says that nothing follows in the trial."""

    request: Request
    step: Step
    provider: Provider
    timeout_ms: int
    final: bool = False


async def run_step(place: StepPlace, order: StepOrder, tools: TrialContext, control: Control) -> StepOutcome:
    """Ask one step. Failures of the provider end in the outcome; only a stop of the whole run is raised."""
    prompt = without_secrets(order.request.prompt, tools.secrets)
    place.tell(StepStarted(place.trial, place.attempt, place.step, prompt))
    arrival = PartialStep(memory=order.request.memory)
    checks: tuple[CheckResult, ...] = ()
    try:
        await _gather(order, arrival, tools, place, control)
        arrival.end()
        if order.final:
            control.asks_no_more(place.trial)
        arrival.fault = arrival.fault or _shortfall(arrival)
        checks = await _decide(order, arrival, tools)
    except asyncio.CancelledError:
        if not control.stops(place.trial):
            raise
        go_on_after_cancel()
        arrival.end()
        arrival.cancelled = True
    result = _to_result(order, prompt, arrival, checks)
    place.tell(StepFinished(place.trial, place.attempt, place.step, result))
    return StepOutcome(result, arrival.fault, arrival.cancelled, arrival.held_s)


async def _gather(
    order: StepOrder, arrival: PartialStep, tools: TrialContext, place: StepPlace, control: Control
) -> None:
    watch = tools.checker.watch(order.step.checks) if order.request.stream and order.step.checks else None
    pieces = Pieces(place, tools.secrets, arrival, watch)
    try:
        async with _reporting(watch, place):
            arrival.held_s += await control.may_ask()
            while not await _hear(order, pieces, place, control):
                arrival.notes.clear()
                arrival.held_s += await control.may_ask()
    except TimeoutError:
        arrival.fault = ProviderError("timed_out", f"No complete answer within {order.timeout_ms / 1000:g} s")
    except ProviderError as error:
        arrival.fault = error
    finally:
        pieces.flush()


async def _hear(order: StepOrder, pieces: Pieces, place: StepPlace, control: Control) -> bool:
    """Ask, and take what comes; False where a pause of the run took the question back before it went out."""
    loop, is_out = asyncio.get_running_loop(), False
    answer = cast("AsyncGenerator[Chunk, None]", order.provider.ask(order.request))
    clock = asyncio.timeout(None)
    try:
        async with clock, aclosing(answer) as chunks:
            control.may_take_back(clock)
            async for chunk in chunks:
                if isinstance(chunk, Sent):
                    is_out = True
                    control.keep(clock)
                    clock.reschedule(loop.time() + order.timeout_ms / 1000)
                elif isinstance(chunk, Waiting):
                    is_out = False
                    clock.reschedule(None)
                    control.may_take_back(clock)
                elif isinstance(chunk, Limited):
                    provider = order.request.subject.provider
                    place.tell(LimitMoved(provider, chunk.limit, chunk.most, chunk.reason))
                pieces.take(chunk)
    except TimeoutError:
        if is_out or not clock.expired():
            raise
        return False
    finally:
        control.keep(clock)
    return True


@asynccontextmanager
async def _reporting(watch: Watch | None, place: StepPlace) -> AsyncIterator[None]:
    """While text arrives, tell how the checks stand."""
    if watch is None:
        yield
        return
    reporting = asyncio.create_task(_report_moves(watch, place))
    try:
        yield
    finally:
        reporting.cancel()
        watch.close()


async def _report_moves(watch: Watch, place: StepPlace) -> None:
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        for moved in await watch.poll():
            place.tell(CheckMoved(place.trial, place.attempt, place.step, moved.check, moved.state, moved.spans))


def _shortfall(arrival: PartialStep) -> ProviderError | None:
    """What is wrong with an answer that came without a fault. An agent may say nothing: what it did counts as well."""
    if arrival.finish_reason is None:
        return ProviderError("incomplete", "The answer ended without saying that it was complete")
    if not arrival.size and not arrival.remembers:
        return ProviderError("empty", "empty answer")
    return None


async def _decide(order: StepOrder, arrival: PartialStep, tools: TrialContext) -> tuple[CheckResult, ...]:
    checks = [check for check in order.step.checks if check.kind != "command"]
    nothing_to_judge = arrival.fault is not None and not arrival.size
    if not checks or nothing_to_judge:
        return ()
    return await tools.checker.decide(checks, Answer(arrival.text, tuple(arrival.tools), arrival.memory))


def _to_result(order: StepOrder, prompt: Prompt, arrival: PartialStep, checks: tuple[CheckResult, ...]) -> StepResult:
    return StepResult(
        input=prompt.input,
        response=arrival.text,
        prompt=prompt,
        reasoning="".join(arrival.reasoning),
        tools_used=tuple(arrival.tools),
        memory_before=order.request.memory if arrival.remembers else None,
        memory=arrival.memory if arrival.remembers else None,
        checks=checks,
        usage=arrival.usage,
        timing=arrival.timing(),
        retries=tuple(arrival.retries),
        finish_reason=arrival.finish_reason,
        notes=tuple(arrival.notes),
        pace=tuple(arrival.pace),
        cost_usd=cost(arrival.usage, order.request.subject.price),
        served_by=arrival.served_by,
    )
