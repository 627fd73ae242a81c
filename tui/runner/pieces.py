"""A provider's chunks, one by one: cleaned of secrets, gathered, and told as events."""

from dataclasses import dataclass

from tui.checks.checker import Watch
from tui.model.events import Event, ReasoningArrived, RequestRetried, RequestSent, TextArrived
from tui.model.provider_messages import (
    Chunk,
    Counted,
    End,
    Noted,
    Reasoning,
    Remembered,
    Sent,
    Served,
    Text,
    ToolCall,
    Waiting,
)
from tui.model.results import Retry, ServedBy, TrialKey
from tui.model.secrets import Secrets
from tui.model.values import JsonValue
from tui.runner.arrival import Arrival
from tui.runner.outbox import Outbox


@dataclass(frozen=True, slots=True)
class StepPlace:
    """Which step of which attempt, and where its events go."""

    trial: TrialKey
    attempt: int
    step: int
    outbox: Outbox

    def tell(self, event: Event) -> None:
        """Add an event to the run's stream."""
        self.outbox.tell(event)


class Pieces:
    """Takes the chunks of one step."""

    def __init__(self, place: StepPlace, secrets: Secrets, arrival: Arrival, watch: Watch | None) -> None:
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
            case Remembered(memory):
                self._arrival.remembers = True
                if memory is not None:
                    self._arrival.memory = hide_in(self._secrets, memory)
            case Counted(usage):
                self._arrival.usage = usage
            case Served(by):
                self._arrival.served_by = ServedBy(
                    *map(self._secrets.hide, (by.model, by.fingerprint, by.api_version, by.server))
                )
            case Noted(note):
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
