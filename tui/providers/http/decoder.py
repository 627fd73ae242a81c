"""The base of all protocols' decoders: bytes in, chunks out, and the errors in place of an answer."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal

from tui.model.finish_reasons import combined_reason
from tui.model.provider_messages import Chunk, FinishReason, Reasoning, Text, ToolCall
from tui.model.results import MOST_TOKENS, Message
from tui.model.values import (
    MOST_JSON_DEPTH,
    MOST_JSON_VALUES,
    SURROGATE,
    JsonObject,
    JsonValue,
    has_too_many_values,
    is_deeper,
)
from tui.providers.http.sse import SseDecoder, SseEvent

Kind = Literal["text", "reasoning"]
LONGEST_TOOL_NAME = 256
_TOO_MANY = f"more than {MOST_JSON_VALUES:,} values"
_REPLACEMENT = "\ufffd"


class AnswerTooLong(Exception):
    """The answer is longer than the limit; the part that fits has been decoded."""


class ResponseTooLong(Exception):
    """The response is longer than the limit, most of it without content: comments, unknown events."""


class AnswerText:
    """Joins adjacent pieces of the same kind.

    A server may split a character into two `\\uXXXX` halves over two chunks: the first is held until the second
    comes; a half without a partner becomes U+FFFD.
    """

    def __init__(self, longest: int) -> None:
        self._room = longest
        self._kept_values = 0
        self._kind: Kind = "text"
        self._run: list[str] = []
        self._halves: dict[Kind, str] = {"text": "", "reasoning": ""}
        self._chunks: list[Chunk] = []

    @property
    def room(self) -> int:
        """The number of characters that may still come."""
        return self._room

    def add_text(self, kind: Kind, text: str) -> None:
        """Add a piece of text. Raises AnswerTooLong."""
        if kind != self._kind:
            self._close_run()
            self._kind = kind
        self._run.append(text if len(text) <= self._room else text[: self._room])
        self.count(len(text))

    def count(self, size: int) -> None:
        """Count characters that are collected elsewhere toward the limit. Raises AnswerTooLong."""
        self._room -= size
        if self._room < 0:
            raise AnswerTooLong

    def may_keep(self, value: JsonValue) -> bool:
        """Return whether a JSON value may be collected elsewhere, to be sent back: its values are limited, too."""
        rest = [value]
        while rest and self._kept_values <= MOST_JSON_VALUES:
            each = rest.pop()
            self._kept_values += 1
            rest += each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        return self._kept_values <= MOST_JSON_VALUES

    def add(self, chunk: Chunk) -> None:
        """Add a chunk that is not text."""
        self._close_run()
        self._chunks.append(chunk)

    def take(self) -> list[Chunk]:
        """Return the chunks since the last call."""
        self._close_run()
        chunks, self._chunks = self._chunks, []
        return chunks

    def end(self) -> None:
        """Flush a half character: no more text will come."""
        self._close_run()
        for kind, half in self._halves.items():
            if half:
                self._chunks.append(_chunk(kind, _REPLACEMENT))
        self._halves = {"text": "", "reasoning": ""}

    def _close_run(self) -> None:
        if not self._run:
            return
        text = self._run[0] if len(self._run) == 1 else "".join(self._run)
        self._run = []
        if not text.isascii():
            text = self._mend(text)
        if text:
            self._chunks.append(_chunk(self._kind, text))

    def _mend(self, text: str) -> str:
        text = self._halves[self._kind] + text
        self._halves[self._kind] = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        text = text.removesuffix(self._halves[self._kind])
        if not SURROGATE.search(text):
            return text
        return joined_halves(text)


def utf16(text: str) -> bytes:
    """Return the text as UTF-16, in which a character and its two halves are the same."""
    return text.encode("utf-16-le", "surrogatepass")


def joined_halves(text: str) -> str:
    """Return the text with the halves of each character joined; a half without a partner becomes U+FFFD."""
    return utf16(text).decode("utf-16-le", "replace")


class ToolCallPieces:
    """A tool call whose name and arguments arrive in pieces.

    Its arguments and, whatever its length, the longest name count toward the limit of the answer: a server may send
    any number of calls. A longer name is cut. `awaits_result` says that it is a call of a tool that the request offers,
    and not one of the server's own; `extra` are fields that the server needs back with the call.
    """

    def __init__(self, answer: AnswerText, name: str = "", *, id: str = "", awaits_result: bool = False) -> None:
        answer.count(LONGEST_TOOL_NAME)
        self._answer = answer
        self._arguments: list[str] = []
        self._awaits_result = awaits_result
        self.id = id
        self.extra: JsonObject | None = None
        self.name = ""
        self.add_name(name)

    def add_name(self, piece: str) -> None:
        """Add a piece of the name; some servers repeat the whole name instead."""
        if piece != self.name and len(self.name) < LONGEST_TOOL_NAME:
            name = self.name + piece[: LONGEST_TOOL_NAME + 1]
            self.name = name if len(name) <= LONGEST_TOOL_NAME else name[: LONGEST_TOOL_NAME - 1] + "…"

    def add_arguments(self, piece: str) -> None:
        """Add a piece of the arguments. Raises AnswerTooLong."""
        self._answer.count(len(piece))
        self._arguments.append(piece)

    def is_other(self, id: str, piece: str) -> bool:
        """Return whether a piece of arguments with this id, or without one, begins another call.

        Without ids both have to be whole. Arguments in several pieces are not tried: each further piece would parse
        them again.
        """
        if id or self.id:
            return bool(id and self.id) and id != self.id
        return len(self._arguments) == 1 and _is_object(piece) and _is_object(self._arguments[0])

    def chunk(self) -> ToolCall:
        """Return the call as far as it arrived."""
        arguments = joined_halves("".join(self._arguments))
        return ToolCall(
            self.name, arguments, awaits_result=self._awaits_result, id=joined_halves(self.id), extra=self.extra
        )


def _is_object(text: str) -> bool:
    try:
        return text.lstrip()[:1] == "{" and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _chunk(kind: Kind, text: str) -> Chunk:
    return Text(text) if kind == "text" else Reasoning(text)


# Servers send these to keep the connection alive; they are not part of an answer.
_PINGS = ("ping", "keepalive")


class Unreadable(Exception):
    """The response is not JSON; the text says what it is, for the user."""


class NoAnswer(Exception):
    """The response is JSON, but not an answer of this protocol."""


class ErrorObject(Exception):
    """The server sent an error in place of an answer or in the middle of one: `error` is its JSON value."""

    def __init__(self, error: object) -> None:
        super().__init__("error object")
        self.error = error


class AnswerDecoder(ABC):
    """Decodes one answer: feed it bytes, take chunks.

    `finish` is the finish reason once it has arrived after all content (some servers send one with each piece of the
    text, and only [DONE] then says that none is missing), `done` whether nothing more will come, `events` the number of
    events, `thinks` whether the model is working without visible output, `model` and `fingerprint` how the server
    identifies itself. After an exception, `take` still returns what was decoded before it.

    `what` names an answer in messages; `done_by_mark` says that [DONE] is the last event.
    """

    what: ClassVar[str]
    done_by_mark: ClassVar[bool] = False

    def __init__(self, answer_size: int, event_size: int) -> None:
        self._sse = SseDecoder(event_size)
        self._text = AnswerText(answer_size)
        self.finish: FinishReason | None = None
        self._reported: FinishReason | None = None
        self._came_too_early = False
        self._may_come_again = False
        self.done = False
        self.thinks = False
        self.events = 0
        self.model = ""
        self.fingerprint = ""

    @property
    def is_finished(self) -> bool:
        """Whether nothing of the answer can be missing: after [DONE], or a finish reason that is none of each piece.

        If all content so far came with one, more may follow: then the end of the body has to confirm it.
        """
        return self.done or (self.finish is not None and not self._may_come_again)

    def take(self) -> list[Chunk]:
        """Return the chunks decoded since the last call."""
        return self._text.take()

    def feed(self, data: bytes) -> None:
        """Decode bytes of a stream. Raises EventTooLong, AnswerTooLong, Unreadable, ErrorObject."""
        for event in self._sse.feed(data):
            self._take_event(event)

    def end(self) -> None:
        """Decode the end of the body: an event without its blank line counts, and tool calls are complete.

        Raises as `feed`.
        """
        for event in self._sse.flush():
            self._take_event(event)
        self._text.end()
        self._take_end()

    def take_whole(self, data: bytes) -> None:
        """Decode the body of an answer that is not streamed.

        Raises Unreadable, NoAnswer, ErrorObject, AnswerTooLong.
        """
        if has_too_many_values(data):
            raise Unreadable(f"Unreadable answer ({_TOO_MANY})")
        answer = _json_object(data.decode("utf-8-sig", errors="replace"), "Unreadable answer (not JSON)")
        self._take_answer(answer)
        self.finish = self.finish or self._reported
        self.done = True
        self.end()

    def _take_event(self, event: SseEvent) -> None:
        if self.done or not event.data or event.name in _PINGS:
            return
        if event.data.startswith("[DONE]"):
            self.events += 1
            if self.done_by_mark:
                self.done, self.finish = True, self._reported
            return
        what = f"Unreadable chunk {self.events + 1}"
        if len(event.data) > MOST_JSON_VALUES and has_too_many_values(event.data.encode()):
            raise Unreadable(f"{what} ({_TOO_MANY})")
        chunk = _json_object(event.data, what)
        if chunk.get("type") in _PINGS:
            return
        self.events += 1
        if event.name == "error" and not chunk.get("error"):
            raise ErrorObject(chunk)
        self._take_chunk(chunk)

    def _finish(self, reason: FinishReason) -> None:
        """Record a finish reason; a server that sends `stop` after `length` has cut the answer all the same."""
        self._reported = combined_reason(self._reported, reason)
        self.finish = None if self._came_too_early else self._reported

    def _withdraw_finish(self) -> None:
        """Withdraw a finish reason that content follows: where the content ends is unknown until [DONE]."""
        if self.finish is not None:
            self._came_too_early, self.finish = True, None

    def _read_server_info(self, response: Mapping[str, Any]) -> None:
        """Read the model and fingerprint that the server reports in a response or a chunk."""
        self.model = text_of(response, "model") or self.model
        self.fingerprint = text_of(response, "system_fingerprint") or self.fingerprint

    @abstractmethod
    def _take_chunk(self, chunk: Mapping[str, Any]) -> None:
        """Decode the data of one event."""

    @abstractmethod
    def _take_answer(self, answer: Mapping[str, Any]) -> None:
        """Decode a complete answer. Raises NoAnswer if it is none."""

    @abstractmethod
    def _take_end(self) -> None:
        """Add what was collected until the end of the answer."""


def arguments_text(arguments: Any) -> str:
    """Return the arguments of a tool call as JSON; empty without any, and for those that are nested too deeply."""
    return "" if arguments is None or is_deeper(arguments, MOST_JSON_DEPTH) else json.dumps(arguments, default=str)


def _json_object(text: str, otherwise: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise Unreadable(otherwise) from None
    if not isinstance(value, dict):
        raise Unreadable(otherwise)
    return value


def count_of(value: object) -> int | None:
    """Return a token count, or None if the value is none; a server can send any number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS else None


def part_of(chunk: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the object under that name, empty if there is none."""
    value = chunk.get(name)
    return value if isinstance(value, dict) else {}


def text_of(chunk: Mapping[str, Any], name: str) -> str:
    """Return the text under that name, empty if there is none."""
    value = chunk.get(name)
    return value if isinstance(value, str) else ""


_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


def encode_body(body: Mapping[str, Any], optional: Iterable[tuple[str, Any]]) -> bytes:
    """Return the body as JSON with those optional fields that are not None."""
    return _ENCODE({**body, **{name: value for name, value in optional if value is not None}}).encode("ascii")


def plain(messages: Iterable[Message]) -> list[dict[str, str]]:
    """Return the messages as objects with `role` and `content`."""
    return [{"role": message.role, "content": message.content} for message in messages]


def split_system(messages: Iterable[Message]) -> tuple[str | None, list[dict[str, str]]]:
    """Return the system message (None if there is none) and the turns of the conversation."""
    turns = list(messages)
    system = [message.content for message in turns if message.role == "system"]
    return "\n\n".join(system) or None, plain(message for message in turns if message.role != "system")
