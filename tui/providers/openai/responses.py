"""The Responses API, streamed or whole: bytes in, chunks out. Does no network access."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tui.model.finish_reasons import combined_reason, finish_reason_of
from tui.model.provider_messages import FinishReason, NoteChunk, Request, UsageChunk
from tui.model.results import Usage
from tui.model.tools import AnsweredTurn
from tui.model.values import JsonObject
from tui.providers.http.decoder import (
    AnswerDecoder,
    AnswerTooLong,
    ErrorObject,
    Kind,
    NoAnswer,
    ToolCallPieces,
    count_of,
    encode_body,
    joined_halves,
    part_of,
    split_system,
    text_of,
    utf16,
)
from tui.providers.openai.chat import function_of

_DELTAS: Mapping[str, Kind] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
}
_PARTS: Mapping[str, tuple[str, Kind]] = {
    "output_text": ("text", "text"),
    "refusal": ("refusal", "text"),
    "summary_text": ("text", "reasoning"),
    "reasoning_text": ("text", "reasoning"),
}
_DONE = {"response.output_text.done": "text", "response.refusal.done": "refusal"}
_BEGUN = ("response.created", "response.queued", "response.in_progress")
_ENDED = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


class _WholeTexts:
    """The texts of messages that a stream repeats, as items or as parts of items."""

    def __init__(self, longest: int) -> None:
        self._room = longest
        self._messages: list[list[str]] = []
        self._place: object = None

    def add(self, text: str, place: object) -> None:
        """Add a text of the message at this place. Raises AnswerTooLong."""
        if not text:
            return
        self._room -= len(text)
        if self._room < 0:
            raise AnswerTooLong
        if not self._messages or place != self._place:
            self._messages.append([])
        self._place = place
        self._messages[-1].append(text)

    def joined(self) -> str:
        """Return the texts, with an empty line between the messages."""
        return "\n\n".join("".join(message) for message in self._messages)


class _Call(NamedTuple):
    """A call of a tool without the ids, which some servers change from one event to the next."""

    kind: str
    name: str
    arguments: str


def _call_of(item: Mapping[str, Any]) -> _Call:
    kind = text_of(item, "type")
    name = text_of(item, "name") or kind.removesuffix("_call")
    return _Call(kind, name, text_of(item, "arguments") or text_of(item, "input"))


def _key_of(item: Mapping[str, Any]) -> str:
    """Return the id of a call; several calls may have the same `call_id`. Empty for another item."""
    return (text_of(item, "id") or text_of(item, "call_id")) if text_of(item, "type").endswith("_call") else ""


class ResponsesDecoder(AnswerDecoder):
    """Decodes one response. The last event repeats the whole response; only what is new in it is decoded."""

    what = "response"

    def __init__(self, answer_size: int, event_size: int) -> None:
        super().__init__(answer_size, event_size)
        self._shown: dict[Kind, list[str]] = {}
        self._refused = False
        self._calls: Counter[_Call] = Counter()
        self._calls_by_key: dict[str, _Call] = {}
        # Some servers leave the output of the last event empty.
        self._done_items, self._done_parts = _WholeTexts(answer_size), _WholeTexts(answer_size)
        self._has_incomplete_item = False

    def _take_answer(self, answer: Mapping[str, Any]) -> None:
        if answer.get("error"):
            raise ErrorObject(answer["error"])
        if not isinstance(answer.get("output"), list):
            raise NoAnswer
        self._take_response(answer)

    def _take_end(self) -> None:
        """Do nothing: all content was added as it came."""

    def _take_chunk(self, chunk: Mapping[str, Any]) -> None:
        kind = text_of(chunk, "type")
        if kind == "error" or chunk.get("error"):
            raise ErrorObject(chunk.get("error") or chunk)
        if kind in _DELTAS:
            self._refused = self._refused or kind == "response.refusal.delta"
            self._add_text(_DELTAS[kind], text_of(chunk, "delta"))
        elif kind in _BEGUN:
            self.thinks = True
            self._read_server_info(part_of(chunk, "response"))
        elif kind == "response.output_item.added":
            self._begin_item(part_of(chunk, "item"))
        elif kind == "response.output_item.done":
            self._end_item(part_of(chunk, "item"), chunk.get("output_index"))
        elif kind in _DONE:
            self._end_part(text_of(chunk, _DONE[kind]), chunk.get("output_index"), is_refusal=_DONE[kind] == "refusal")
        elif kind == "response.reasoning_summary_part.added" and chunk.get("summary_index"):
            self._add_text("reasoning", "\n\n")
        elif kind in _ENDED:
            self._take_response(part_of(chunk, "response"), kind.rpartition(".")[2])
            self.done = True

    def _begin_item(self, item: Mapping[str, Any]) -> None:
        self.thinks = item.get("type") == "reasoning"
        if item.get("type") == "message" and "text" in self._shown:
            self._add_text("text", "\n\n")

    def _end_item(self, item: Mapping[str, Any], place: object) -> None:
        self._take_tool(item)
        self._has_incomplete_item = self._has_incomplete_item or _is_incomplete(item)
        self._refused = self._refused or any(text_of(part, "refusal") for part in _parts_of(item))
        self._done_items.add(_text_in([item]), place)

    def _end_part(self, text: str, place: object, *, is_refusal: bool) -> None:
        self._refused = self._refused or (is_refusal and bool(text))
        self._done_parts.add(text, place)

    def _add_text(self, kind: Kind, text: str) -> None:
        if text:
            self.thinks = self.thinks and kind == "reasoning"
            self._shown.setdefault(kind, []).append(text)
            self._text.add_text(kind, text)

    def _take_tool(self, item: Mapping[str, Any]) -> None:
        """Add a call of a tool, unless one with its id was added."""
        added, key = _call_of(item), _key_of(item)
        if not added.kind.endswith("_call") or key in self._calls_by_key:
            return
        self._calls[added] += 1
        if key:
            self._calls_by_key[key] = added
        is_function = added.kind == "function_call"  # others are tools of the server
        call = ToolCallPieces(self._text, added.name, id=text_of(item, "call_id"), awaits_result=is_function)
        call.add_arguments(added.arguments)
        self._text.add(call.chunk())

    def _without_repeated_calls(self, items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the items of the whole response but the calls that were streamed, some of which may have other ids."""
        streamed = [self._calls_by_key.get(_key_of(item)) for item in items]
        left = self._calls - Counter(call for call in streamed if call is not None)
        others: list[Mapping[str, Any]] = []
        for item, call in zip(items, streamed, strict=True):
            if call is None and left[_call_of(item)] > 0:
                left[_call_of(item)] -= 1
            elif call is None:
                others.append(item)
        return others

    def _take_response(self, response: Mapping[str, Any], ended: str = "completed") -> None:
        """Decode a whole response; `ended` is the status in the name of the event that contains it."""
        self._read_server_info(response)
        shown = frozenset(self._shown)
        items = _items_of(response)
        for item in self._without_repeated_calls(items):
            self._take_item(item, shown)
        if not items:
            self._compare(self._done_items.joined() or self._done_parts.joined())
        elif "text" in shown:
            self._compare(_text_in(items))
        if usage := part_of(response, "usage"):
            self._text.add(UsageChunk(_usage_of(usage)))
        self._finish(self._finish_of(response, (ended, response.get("status"))))

    def _compare(self, final: str) -> None:
        """Add the end of the final text that was not streamed; a different final text makes the answer incomplete.

        A character that was streamed in two halves is one in the final text.
        """
        streamed = "".join(self._shown.get("text", ()))
        whole, begun = utf16(final), utf16(streamed)
        if whole.startswith(begun):
            self._add_text("text", whole[len(begun) :].decode("utf-16-le", "surrogatepass"))
        elif final.strip() and joined_halves(final).split() != joined_halves(streamed).split():
            self._text.add(NoteChunk("The final response contains another text than the stream"))
            self._finish("incomplete")

    def _take_item(self, item: Mapping[str, Any], shown: frozenset[Kind]) -> None:
        self._take_tool(item)
        if "text" not in shown:
            self._begin_item(item)
        for name in ("summary", "content"):
            parts = item.get(name)
            for part in parts if isinstance(parts, list) else ():
                self._take_part(part if isinstance(part, dict) else {}, shown)

    def _take_part(self, part: Mapping[str, Any], shown: frozenset[Kind]) -> None:
        field, kind = _PARTS.get(text_of(part, "type"), ("", "text"))
        self._refused = self._refused or (field == "refusal" and bool(text_of(part, field)))
        if field and kind not in shown:
            self._add_text(kind, text_of(part, field))

    def _finish_of(self, response: Mapping[str, Any], statuses: Sequence[object]) -> FinishReason:
        """Return the finish reason. Raises ErrorObject if the response contains an error or a status is a failure."""
        failure = next((status for status in statuses if status in ("failed", "cancelled")), None)
        if failure or response.get("error"):
            raise ErrorObject(response.get("error") or {"message": f"the response was {failure}"})
        reason = text_of(part_of(response, "incomplete_details"), "reason")
        is_complete = all(status in ("completed", None) for status in statuses)
        items = _items_of(response)
        has_incomplete_item = any(map(_is_incomplete, items)) if items else self._has_incomplete_item
        if reason or not is_complete or has_incomplete_item:
            return combined_reason(finish_reason_of(reason, "incomplete"), "incomplete")
        if self._refused:
            return "declined"
        return "tool_calls" if self._calls and "text" not in self._shown else "stop"


def _items_of(response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    output = response.get("output")
    return [item for item in output if isinstance(item, dict)] if isinstance(output, list) else []


def _parts_of(item: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _text_in(items: Iterable[Mapping[str, Any]]) -> str:
    """Return the text of the items of a response, with an empty line between its messages, as it is streamed."""
    messages: list[str] = []
    for item in items:
        fields = [(part, *_PARTS.get(text_of(part, "type"), ("", "reasoning"))) for part in _parts_of(item)]
        text = "".join(text_of(part, name) for part, name, kind in fields if kind == "text")
        if text:
            messages.append(text)
    return "\n\n".join(messages)


def _is_incomplete(item: Mapping[str, Any]) -> bool:
    return item.get("status") not in ("completed", None)


def _usage_of(usage: Mapping[str, Any]) -> Usage:
    read, wrote = part_of(usage, "input_tokens_details"), part_of(usage, "output_tokens_details")
    return Usage(
        count_of(usage.get("input_tokens")),
        count_of(usage.get("output_tokens")),
        count_of(wrote.get("reasoning_tokens")),
        count_of(read.get("cached_tokens")),
        count_of(read.get("cache_write_tokens")),
    )


def _turn_items(turns: Iterable[AnsweredTurn]) -> Iterator[JsonObject]:
    """Yield the items of earlier turns, without ids and reasoning: the server has stored neither."""
    for turn in turns:
        if turn.text:
            yield {"role": "assistant", "content": turn.text}
        for call in turn.calls:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}
        for call in turn.calls:
            yield {"type": "function_call_output", "call_id": call.id, "output": call.result}


def responses_body(request: Request) -> bytes:
    """Return the request body, which asks the server to store nothing."""
    settings = request.subject.settings
    system, turns = split_system(request.prompt.messages)
    body: dict[str, Any] = {
        "model": request.subject.model_id,
        "input": [*turns, *_turn_items(request.turns)],
        "stream": request.stream,
        "store": False,
    }
    if request.tools:
        # The API's default is strict, which refuses schemas with optional properties.
        body["tools"] = [{"type": "function", "strict": False, **function_of(tool)} for tool in request.tools]
    optional = (
        ("instructions", system),
        ("temperature", settings.temperature),
        ("top_p", settings.top_p),
        ("max_output_tokens", settings.max_tokens),
    )
    return encode_body(body, optional)
