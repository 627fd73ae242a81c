"""The answer to one step as it arrives: collected, without secrets, and reported as events."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tui.checks.checker import Watch
from tui.model.errors import ProviderError
from tui.model.events import (
    Event,
    ReasoningArrived,
    RequestRetried,
    RequestSent,
    TextArrived,
    ToolsCalled,
)
from tui.model.prices import Price, add_costs, cost
from tui.model.provider_messages import (
    CallTree,
    Chunk,
    End,
    MemoryChunk,
    NoteChunk,
    Reasoning,
    RecordedChunk,
    Sent,
    ServedByChunk,
    Text,
    ToolCall,
    TurnEcho,
    UsageChunk,
    Waiting,
)
from tui.model.results import Retry, ServedBy, Timing, ToolUse, TrialKey, Usage
from tui.model.secrets import Secrets, hide_number
from tui.model.tools import AnsweredCall
from tui.model.values import JsonValue
from tui.runner.control import EventBuffer
from tui.runner.prompt import without_secrets

_PACE_MS = 50
_MOST_NOTES, _LONGEST_NOTE = 50, 2_000  # of one answer: a server may cause them
_MOST_TOOL_CALLS, _LONGEST_TOOL_TEXT = 200, 4_000  # kept with their details


@dataclass(slots=True)
class PartialStep:
    """The answer to one step as far as it was received.

    Clocks are monotonic and restart when the request is sent. `paused_s` is how long a pause of the run delayed the
    request.

    With tools, an answer has several turns: `parts` and `pace` are those of the current turn, `calls` its calls that
    wait for results, and `spent_s` the time of the turns before it. `stopped` says why its calls were not answered.
    `is_complete` says that the provider has ended the current turn; its `finish_reason` may be unknown.
    """

    memory: JsonValue = None
    remembers: bool = False
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    first_ms: float | None = None
    parts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    tool_calls: list[ToolUse] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    pace: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    turn_usage: Usage = field(default_factory=Usage)
    usages: list[Usage] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    echo: JsonValue = None
    spent_s: float = 0.0
    stopped: str = ""
    served_by: ServedBy | None = None
    is_complete: bool = False
    finish_reason: str | None = None
    fault: ProviderError | None = None
    cancelled: bool = False
    paused_s: float = 0.0
    recorded: RecordedChunk | None = None

    @property
    def text(self) -> str:
        """The text received so far."""
        return "".join(self.parts)

    @property
    def usage(self) -> Usage:
        """The sum of the tokens of all turns."""
        return sum(self.usages, self.turn_usage) if self.usages else self.turn_usage

    def cost_at(self, price: Price | None) -> float | None:
        """Return the cost of all turns, each of which has its own price range."""
        return add_costs(cost(usage, price) for usage in (*self.usages, self.turn_usage))

    def begin(self) -> None:
        """Start the clock: the request was sent (again). It continues from the time of the turns before."""
        self.started = time.monotonic() - self.spent_s

    def note_first(self) -> float:
        """Record the time of the first output, if it is the first; return the current time."""
        now = time.monotonic()
        if self.first_ms is None:
            self.first_ms = round((now - self.started) * 1000, 1)
        return now

    def end_turn(self, elapsed_s: float) -> None:
        """Begin the next turn: the current one ended with calls of tools at `elapsed_s`."""
        self.usages.append(self.turn_usage)
        self.spent_s, self.turn_usage = elapsed_s, Usage()
        self.parts, self.pace, self.size = [], [], 0
        self.calls, self.echo, self.is_complete, self.finish_reason = [], None, False, None

    def add_text(self, text: str) -> None:
        """Add a chunk of the answer's text."""
        now = self.note_first()
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
        return Timing(self.first_ms, round((ended - self.started) * 1000, 1))


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

    def __init__(
        self, place: StepPlace, secrets: Secrets, partial: PartialStep, watch: Watch | None, *, offers_tools: bool
    ) -> None:
        self._place, self._secrets, self._partial, self._watch = place, secrets, partial, watch
        self._offers_tools = offers_tools
        self._text, self._reasoning = secrets.stream(), secrets.stream()

    @property
    def spent_s(self) -> float:
        """The seconds of the turns before the current one."""
        return self._partial.spent_s

    def end_turn(self, answered: Sequence[AnsweredCall]) -> None:
        """Keep the current turn with its calls and their results: the text of the next turn replaces its text."""
        partial, place = self._partial, self._place
        elapsed_s, before = time.monotonic() - partial.started, len(partial.tool_calls)
        duration_ms = round((elapsed_s - partial.spent_s) * 1000, 1)
        turn = ToolUse(f"turn {len(partial.usages) + 1}", "", partial.text, duration_ms, "model")
        partial.tool_calls += [self._kept(turn)] if before < _MOST_TOOL_CALLS else []
        for call, answer in zip(partial.calls, answered, strict=True):
            self._add_tool(replace(call, result=answer.result), before)
        partial.end_turn(elapsed_s)
        self._text, self._reasoning = self._secrets.stream(), self._secrets.stream()
        if partial.reasoning:
            self._add_reasoning("\n\n")
        if self._watch is not None:
            self._watch.restart()
        place.emit(ToolsCalled(place.trial, place.attempt, place.step, tuple(partial.tool_calls[before:])))

    def close(self) -> None:
        """Add what was held back until the end of the answer: text, and calls that were not answered."""
        self.flush()
        for call in self._partial.calls:
            self._add_tool(call)

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
                if chunk.awaits_result and self._offers_tools:
                    self._partial.note_first()
                    self._partial.calls.append(chunk)
                else:
                    self._add_tool(chunk)
            case TurnEcho(value):
                self._partial.echo = value
            case CallTree(calls):
                self._partial.tool_calls = [self._kept(call) for call in calls[:_MOST_TOOL_CALLS]]
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
                self._partial.turn_usage = usage
            case ServedByChunk(by):
                self._partial.served_by = ServedBy(
                    *map(self._secrets.hide, (by.model, by.fingerprint, by.api_version, by.server))
                )
            case NoteChunk(note):
                self._add_note(self._secrets.hide(note)[:_LONGEST_NOTE])
            case RecordedChunk():
                self._partial.recorded = self._cleaned(chunk)
            case End(reason):
                self._partial.is_complete, self._partial.finish_reason = True, reason

    def _cleaned(self, recorded: RecordedChunk) -> RecordedChunk:
        """Return the recorded figures without the secrets that became known after the recording."""
        prompt = None if recorded.prompt is None else without_secrets(recorded.prompt, self._secrets)
        return replace(recorded, prompt=prompt, stopped=self._secrets.hide(recorded.stopped))

    def _add_tool(self, call: ToolCall, parent: int | None = None) -> None:
        partial = self._partial
        partial.tools.append(self._secrets.hide(call.name))
        if len(partial.tool_calls) < _MOST_TOOL_CALLS:
            use = ToolUse(call.name, call.arguments, call.result, call.duration_ms, parent=parent)
            partial.tool_calls.append(self._kept(use))

    def _kept(self, call: ToolUse) -> ToolUse:
        """Return a call as it may be stored: without secrets, its texts cut."""
        name, arguments, result = (_cut(self._secrets.hide(text)) for text in (call.name, call.arguments, call.result))
        return replace(call, name=name, arguments=arguments, result=result)

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
    """Return the JSON value with all secrets removed from its texts, numbers and keys."""
    return _hide_in(secrets, value) if secrets.may_occur_in(json.dumps(value, ensure_ascii=False)) else value


def _hide_in(secrets: Secrets, value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return secrets.hide(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return hide_number(value, secrets.hide)
    if isinstance(value, list):
        return [_hide_in(secrets, item) for item in value]
    if isinstance(value, dict):
        return {secrets.hide(key): _hide_in(secrets, item) for key, item in value.items()}
    return value
