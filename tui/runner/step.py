"""Running one step: send the request, report checks while the answer streams, decide them on the whole answer."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

from tui.checks.checker import Answer, Watch
from tui.model.errors import ProviderError, WorkspaceError
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
    RecordedChunk,
    Request,
    Sent,
    ServedByChunk,
    Text,
    ToolCall,
    UsageChunk,
    Waiting,
)
from tui.model.results import CheckResult, Prompt, Retry, ServedBy, StepResult, Timing, ToolUse, TrialKey, Usage
from tui.model.secrets import Secrets
from tui.model.suite import Check, Step
from tui.model.values import JsonValue
from tui.providers.protocol import Provider
from tui.runner.control import Control, EventBuffer, uncancel_current_task
from tui.runner.prompt import without_secrets
from tui.runner.trial_context import TrialContext

_PACE_MS = 50
_MOST_NOTES, _LONGEST_NOTE = 50, 2_000  # of one answer: a server may cause them
_MOST_TOOL_CALLS, _LONGEST_TOOL_TEXT = 200, 4_000  # kept with their details


@dataclass(slots=True)
class PartialStep:
    """The answer to one step as far as it was received.

    Clocks are monotonic and restart when the request is sent. `paused_s` is how long a pause of the run delayed the
    request.
    """

    memory: JsonValue = None
    remembers: bool = False
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    first: float | None = None
    parts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    tool_calls: list[ToolUse] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    pace: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    usage: Usage = field(default_factory=Usage)
    served_by: ServedBy | None = None
    finish_reason: str | None = None
    fault: ProviderError | None = None
    cancelled: bool = False
    paused_s: float = 0.0
    recorded: RecordedChunk | None = None

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self.parts)

    def begin(self) -> None:
        """Start the clock: the request was sent (again)."""
        self.started = time.monotonic()

    def add_text(self, text: str) -> None:
        """Add a chunk of the answer's text."""
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
        """Stop the clock: the answer has ended."""
        self.ended = time.monotonic()

    def timing(self) -> Timing:
        """Return the milliseconds since the request that was answered."""
        ended = self.ended if self.ended is not None else time.monotonic()
        first = None if self.first is None else round((self.first - self.started) * 1000, 1)
        return Timing(first, round((ended - self.started) * 1000, 1))


@dataclass(frozen=True, slots=True)
class StepPlace:
    """The identity of a step: its trial, attempt and number, with the buffer of its events."""

    trial: TrialKey
    attempt: int
    step: int
    events: EventBuffer

    def emit(self, event: Event) -> None:
        """Add an event to the run's stream."""
        self.events.add(event)


class ChunkHandler:
    """Handles the chunks of one step: collects them, removes secrets, and emits events."""

    def __init__(self, place: StepPlace, secrets: Secrets, partial: PartialStep, watch: Watch | None) -> None:
        self._place, self._secrets, self._partial, self._watch = place, secrets, partial, watch
        self._text, self._reasoning = secrets.stream(), secrets.stream()

    def take(self, chunk: Chunk) -> None:
        """Handle the next chunk of the answer."""
        match chunk:
            case Text(text):
                self._add_text(self._text.feed(text))
            case Reasoning(text):
                self._add_reasoning(self._reasoning.feed(text))
            case Sent():
                self._partial.begin()
                self._place.emit(RequestSent(self._place.trial, self._place.attempt, self._place.step))
            case Waiting(reason, wait_ms):
                self._add_retry(self._secrets.hide(reason), wait_ms)
            case ToolCall():
                self._add_tool(chunk)
            case MemoryChunk(memory):
                self._partial.remembers = True
                if memory is not None:
                    self._partial.memory = hide_in(self._secrets, memory)
            case UsageChunk() | ServedByChunk() | NoteChunk() | RecordedChunk() | End():
                self._take_report(chunk)

    def _take_report(self, chunk: UsageChunk | ServedByChunk | NoteChunk | RecordedChunk | End) -> None:
        """Handle what the provider reports about its answer."""
        match chunk:
            case UsageChunk(usage):
                self._partial.usage = usage
            case ServedByChunk(by):
                self._partial.served_by = ServedBy(
                    *map(self._secrets.hide, (by.model, by.fingerprint, by.api_version, by.server))
                )
            case NoteChunk(note):
                self._add_note(self._secrets.hide(note)[:_LONGEST_NOTE])
            case RecordedChunk():
                self._partial.recorded = chunk
            case End(reason):
                self._partial.finish_reason = reason

    def _add_tool(self, call: ToolCall) -> None:
        partial, hide = self._partial, self._secrets.hide
        name = hide(call.name)
        partial.tools.append(name)
        if len(partial.tool_calls) < _MOST_TOOL_CALLS:
            arguments, result = (_cut(hide(text)) for text in (call.arguments, call.result))
            partial.tool_calls.append(ToolUse(name, arguments, result, call.duration_ms))

    def _add_note(self, note: str) -> None:
        notes = self._partial.notes
        if note not in notes and len(notes) < _MOST_NOTES:
            notes.append(note)

    def flush(self) -> None:
        """Emit the text that was held back, at the end of the answer."""
        self._add_text(self._text.flush())
        self._add_reasoning(self._reasoning.flush())

    def _add_text(self, text: str) -> None:
        if not text:
            return
        self._partial.add_text(text)
        if self._watch is not None:
            self._watch.feed(text)
        self._place.emit(TextArrived(self._place.trial, self._place.attempt, self._place.step, text))

    def _add_reasoning(self, text: str) -> None:
        if text:
            self._partial.reasoning.append(text)
            self._place.emit(ReasoningArrived(self._place.trial, self._place.attempt, self._place.step, text))

    def _add_retry(self, reason: str, wait_ms: int) -> None:
        self._partial.retries.append(Retry(reason, wait_ms))
        place = self._place
        place.emit(RequestRetried(place.trial, place.attempt, place.step, reason, wait_ms))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TOOL_TEXT else f"{text[: _LONGEST_TOOL_TEXT - 1]}…"


def hide_in(secrets: Secrets, value: JsonValue) -> JsonValue:
    """Return the JSON value with all secrets removed from its texts and keys."""
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
    """The outcome of a step: its result, and the failure or cancellation that made it incomplete.

    `paused_s` is how long a pause of the run delayed the request.
    """

    result: StepResult
    fault: ProviderError | None
    cancelled: bool
    paused_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepOrder:
    """The request of a step with its provider and time limit; `final` is true for the last step of the trial."""

    request: Request
    step: Step
    provider: Provider
    timeout_ms: int
    final: bool = False


async def run_step(place: StepPlace, order: StepOrder, context: TrialContext, control: Control) -> StepOutcome:
    """Run one step. A failure of the provider is part of the outcome; only a stop of the whole run is raised."""
    prompt = without_secrets(order.request.prompt, context.secrets)
    place.emit(StepStarted(place.trial, place.attempt, place.step, prompt))
    partial = PartialStep(memory=order.request.memory)
    checks: tuple[CheckResult, ...] = ()
    try:
        await _gather(order, partial, context, place, control)
        partial.end()
        if order.final:
            control.mark_answered(place.trial)
        partial.fault = partial.fault or _incomplete_fault(partial)
        checks = await _decide(order, partial, context)
    except asyncio.CancelledError:
        if not control.should_stop(place.trial):
            raise
        uncancel_current_task()
        partial.end()
        partial.cancelled = True
    result = _to_result(order, prompt, partial, checks)
    place.emit(StepFinished(place.trial, place.attempt, place.step, result))
    return StepOutcome(result, partial.fault, partial.cancelled, partial.paused_s)


async def _gather(
    order: StepOrder, partial: PartialStep, context: TrialContext, place: StepPlace, control: Control
) -> None:
    watch = context.checker.watch(order.step.checks) if order.request.stream and order.step.checks else None
    chunk_handler = ChunkHandler(place, context.secrets, partial, watch)
    try:
        async with _reporting(watch, place):
            partial.paused_s += await control.wait_while_paused()
            while not await _receive(order, chunk_handler, place, control):
                partial.notes.clear()
                partial.paused_s += await control.wait_while_paused()
    except TimeoutError:
        partial.fault = ProviderError("timed_out", f"No complete answer within {order.timeout_ms / 1000:g} s")
    except ProviderError as error:
        partial.fault = error
    finally:
        chunk_handler.flush()


async def _receive(order: StepOrder, chunk_handler: ChunkHandler, place: StepPlace, control: Control) -> bool:
    """Send the request and handle its chunks; return False if a pause of the run took it back before it was sent."""
    loop, is_sent = asyncio.get_running_loop(), False
    answer = cast("AsyncGenerator[Chunk, None]", order.provider.ask(order.request))
    clock = asyncio.timeout(None)
    try:
        async with clock, aclosing(answer) as chunks:
            control.track_unsent(clock)
            async for chunk in chunks:
                if isinstance(chunk, Sent):
                    is_sent = True
                    control.untrack_unsent(clock)
                    clock.reschedule(loop.time() + order.timeout_ms / 1000)
                elif isinstance(chunk, Waiting):
                    is_sent = False
                    clock.reschedule(None)
                    control.track_unsent(clock)
                elif isinstance(chunk, Limited):
                    provider = order.request.subject.provider
                    place.emit(LimitMoved(provider, chunk.limit, chunk.most, chunk.reason))
                chunk_handler.take(chunk)
    except TimeoutError:
        if is_sent or not clock.expired():
            raise
        return False
    finally:
        control.untrack_unsent(clock)
    return True


@asynccontextmanager
async def _reporting(watch: Watch | None, place: StepPlace) -> AsyncIterator[None]:
    """Report the provisional states of the checks while text arrives."""
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
            place.emit(CheckMoved(place.trial, place.attempt, place.step, moved.check, moved.state, moved.spans))


def _incomplete_fault(partial: PartialStep) -> ProviderError | None:
    """Return the fault of an answer that is incomplete or empty (white space only), or None.

    An agent's answer may be empty if it reported its memory.
    """
    if partial.finish_reason is None:
        return ProviderError("incomplete", "The answer ended without an end marker and may be incomplete")
    if not partial.remembers and not any(part.strip() for part in partial.parts):
        return ProviderError("empty", "empty answer")
    return None


async def _decide(order: StepOrder, partial: PartialStep, context: TrialContext) -> tuple[CheckResult, ...]:
    checks = [check for check in order.step.checks if check.kind != "command"]
    nothing_to_judge = partial.fault is not None and not partial.size
    if not checks or nothing_to_judge:
        return ()
    usage = partial.usage
    figures = partial.recorded or RecordedChunk(
        partial.timing().duration_ms, cost(usage, order.request.subject.price), partial.finish_reason
    )
    answer = Answer(
        partial.text,
        tuple(partial.tools),
        partial.memory,
        figures.duration_ms,
        figures.cost_usd,
        None if usage.output_tokens is None else usage.output_tokens + (usage.input_tokens or 0),
        figures.finish_reason,
    )
    decided = iter(await context.checker.decide(checks, answer))
    return tuple(
        [
            await _run_command(check, answer, context) if check.kind == "assert.command" else next(decided)
            for check in checks
        ]
    )


async def _run_command(check: Check, answer: Answer, context: TrialContext) -> CheckResult:
    assert context.commands is not None, "the session prepares commands for every suite"
    try:
        return await context.commands.check_answer(check, answer.text)
    except WorkspaceError as error:
        return CheckResult(check.kind, check.target, "timed_out", f"could not be evaluated: {error}")


def _to_result(order: StepOrder, prompt: Prompt, partial: PartialStep, checks: tuple[CheckResult, ...]) -> StepResult:
    return StepResult(
        input=prompt.input,
        response=partial.text,
        prompt=prompt,
        reasoning="".join(partial.reasoning),
        tools_used=tuple(partial.tools),
        tool_calls=tuple(partial.tool_calls) if any(call.has_details for call in partial.tool_calls) else (),
        memory_before=order.request.memory if partial.remembers else None,
        memory=partial.memory if partial.remembers else None,
        checks=checks,
        usage=partial.usage,
        timing=partial.timing(),
        retries=tuple(partial.retries),
        finish_reason=partial.finish_reason,
        notes=tuple(partial.notes),
        pace=tuple(partial.pace),
        cost_usd=cost(partial.usage, order.request.subject.price),
        served_by=partial.served_by,
    )
