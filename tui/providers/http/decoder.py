"""What the decoders of all protocols share: bytes in, chunks out, and the ways in which an answer is none."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from tui.model.provider_messages import Chunk, FinishReason
from tui.providers.answer_text import AnswerText
from tui.providers.http.sse import SseDecoder, SseEvent

# A server says by these that it is still there, which is no part of an answer.
_PINGS = ("ping", "keepalive")


class Unreadable(Exception):
    """What came is not JSON; the text says what, for a person."""


class NoAnswer(Exception):
    """What came is JSON, but no answer of this protocol."""


class ErrorObject(Exception):
    """The server sent an error in place of an answer, or in the midst of one: `error` is it, decoded."""

    def __init__(self, error: object) -> None:
        super().__init__("error object")
        self.error = error


class AnswerDecoder(ABC):
    """Decodes one answer: feed bytes, take chunks. `finish` is the finish reason once it came, `done` whether nothing
    more will come, `events` how many events came, `thinks` whether the model is at work without showing anything,
    `model` and `fingerprint` what the server says of itself. After an exception, `take` still gives what had been
    decoded before it.

    `what` is what an answer is called in a sentence; `done_by_mark` says that [DONE] is the last event.
    """

    what: ClassVar[str]
    done_by_mark: ClassVar[bool] = False

    def __init__(self, answer_size: int, event_size: int) -> None:
        self._sse = SseDecoder(event_size)
        self._text = AnswerText(answer_size)
        self.finish: FinishReason | None = None
        self.done = False
        self.thinks = False
        self.events = 0
        self.model = ""
        self.fingerprint = ""

    def take(self) -> list[Chunk]:
        """The chunks decoded since the last time."""
        return self._text.take()

    def feed(self, data: bytes) -> None:
        """Bytes of a stream. Raises EventTooLong, AnswerTooLong, Unreadable, ErrorObject."""
        for event in self._sse.feed(data):
            self._take_event(event)

    def end(self) -> None:
        """The body is over: an event without its blank line counts, and tool calls are whole. Raises as `feed`."""
        for event in self._sse.flush():
            self._take_event(event)
        self._text.end()
        self._take_end()

    def take_whole(self, data: bytes) -> None:
        """The body of an answer that is no stream. Raises Unreadable, NoAnswer, ErrorObject, AnswerTooLong."""
        answer = _json_object(data.decode("utf-8-sig", errors="replace"), "Unreadable answer (not JSON)")
        self._take_answer(answer)
        self.finish = self.finish or "other"
        self.done = True
        self.end()

    def _take_event(self, event: SseEvent) -> None:
        if self.done or not event.data or event.name in _PINGS:
            return
        if event.data.startswith("[DONE]"):
            self.events += 1
            self.done = self.done_by_mark
            return
        chunk = _json_object(event.data, f"Unreadable chunk {self.events + 1}")
        if chunk.get("type") in _PINGS:
            return
        self.events += 1
        if event.name == "error" and not chunk.get("error"):
            raise ErrorObject(chunk)
        self._take_chunk(chunk)

    def _hear_of_server(self, told: Mapping[str, Any]) -> None:
        """What stands beside an answer, or a part of it."""
        self.model = text_of(told, "model") or self.model
        self.fingerprint = text_of(told, "system_fingerprint") or self.fingerprint

    @abstractmethod
    def _take_chunk(self, chunk: Mapping[str, Any]) -> None:
        """The data of one event."""

    @abstractmethod
    def _take_answer(self, answer: Mapping[str, Any]) -> None:
        """An answer in one piece. Raises NoAnswer where it is none."""

    @abstractmethod
    def _take_end(self) -> None:
        """Nothing more will come; what was gathered is handed on."""


def _json_object(text: str, otherwise: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(otherwise) from None
    if not isinstance(value, dict):
        raise Unreadable(otherwise)
    return value


def count_of(value: object) -> int | None:
    """A number of tokens; None where it is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def part_of(chunk: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object under that name; an empty one where there is none."""
    value = chunk.get(name)
    return value if isinstance(value, dict) else {}


def text_of(chunk: Mapping[str, Any], name: str) -> str:
    """The text under that name; empty where there is none."""
    value = chunk.get(name)
    return value if isinstance(value, str) else ""
