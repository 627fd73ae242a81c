"""The three protocols of answers in the same words, so that one fault can be made in each of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

from tests.support import messages, responses
from tests.support.replies import Move, Reply, delta, event, events
from tui.model.subjects import ProviderSettings
from tui.providers.anthropic import AnthropicProvider, MessagesDecoder
from tui.providers.http.decoder import AnswerDecoder
from tui.providers.http.limits import RetryLimits
from tui.providers.openai.chat import ChatDecoder
from tui.providers.openai.provider import OpenAIProvider
from tui.providers.openai.responses import ResponsesDecoder
from tui.providers.protocol import Provider


class Call(NamedTuple):
    """A call of a tool on the wire; its arguments are JSON, or whatever a model may write."""

    id: str
    name: str
    arguments: str


def halves(text: str) -> tuple[str, str]:
    """Return the text in two pieces."""
    return text[: len(text) // 2], text[len(text) // 2 :]


class Wire(ABC):
    """One protocol, as a server speaks it.

    `what` names an answer in messages of the program. A stream is `start`, texts, `finish` (the reason and the token
    counts) and `mark` (the last event); `events_before` is how many events `start` counts as.
    """

    name: ClassVar[str]
    decoder: ClassVar[type[AnswerDecoder]]
    what: ClassVar[str]
    start: ClassVar[bytes]
    events_before: ClassVar[int]
    finish: ClassVar[bytes]
    mark: ClassVar[bytes]

    def provider(self, settings: ProviderSettings, limits: RetryLimits) -> Provider:
        """Return the provider that sends requests in this protocol."""
        return OpenAIProvider(settings, limits)

    @abstractmethod
    def text(self, value: Any) -> bytes:
        """Return the event of a piece of text, which may be any JSON value."""

    @abstractmethod
    def body(self, value: Any, usage: Any = None) -> dict[str, Any]:
        """Return a whole answer with that text, which may be any JSON value, and with these token counts."""

    @abstractmethod
    def counts(self, read: Any, written: Any) -> dict[str, Any]:
        """Return an object of token counts."""

    @abstractmethod
    def counted(self, usage: Any) -> bytes:
        """Return the end of a stream with these token counts."""

    @abstractmethod
    def calls(self, *calls: Call, text: str, stream: bool) -> Reply:
        """Return a turn of seven tokens in and three out: some text, then these calls of tools."""

    @abstractmethod
    def sent_back(self, body: dict[str, Any]) -> list[tuple[Call, str]]:
        """Return the calls in a request with the results of the calls of the same id."""

    @abstractmethod
    def offered(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the tools of a request as objects with name, description and JSON Schema."""

    def answer(self, words: str, stream: bool) -> Reply:
        """Return a complete answer of seven tokens in and three out."""
        return self.stream(self.text(words), self.finish, self.mark) if stream else self.whole(words)

    def stream(self, *moves: Move) -> Reply:
        """Return a stream that begins well and continues with these moves."""
        return events(self.start, *(move for move in moves if move != b""))  # an empty piece would end the body

    def whole(self, value: Any, usage: Any = None) -> Reply:
        """Return an answer in one piece."""
        counts = self.counts(7, 3) if usage is None else usage
        return Reply((json.dumps(self.body(value, counts), ensure_ascii=False).encode(),))

    def half(self, stream: bool, *then: Move) -> Reply:
        """Return the first half of an answer, followed by these moves."""
        if stream:
            return self.stream(self.text("half "), *then)
        begun = json.dumps(self.body("half ", self.counts(7, 3))).encode()[:-20]
        return Reply((begun, *then), length=len(begun) + 20)


class Chat(Wire):
    """Chat Completions."""

    decoder = ChatDecoder
    name, what = "chat", "chat completion"
    start = event(delta("", role="assistant"))
    events_before = 1
    finish = event(delta(finish="stop")) + event(
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}
    )
    mark = event("[DONE]")

    def text(self, value: Any) -> bytes:
        return (
            event(delta(value)) if value is not None else event({"choices": [{"index": 0, "delta": {"content": None}}]})
        )

    def body(self, value: Any, usage: Any = None) -> dict[str, Any]:
        message = {"role": "assistant", "content": value}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}

    def counts(self, read: Any, written: Any) -> dict[str, Any]:
        return {"prompt_tokens": read, "completion_tokens": written}

    def counted(self, usage: Any) -> bytes:
        return event(delta(finish="stop")) + event({"choices": [], "usage": usage}) + self.mark

    def calls(self, *calls: Call, text: str, stream: bool) -> Reply:
        items = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
        if not stream:
            body = self.body(text or None, self.counts(7, 3))
            body["choices"][0] |= {"finish_reason": "tool_calls"}
            body["choices"][0]["message"] |= {"tool_calls": items}
            return Reply((json.dumps(body).encode(),))
        pieces = []
        for index, (item, call) in enumerate(zip(items, calls, strict=True)):
            first, second = halves(call.arguments)
            head = {**item, "index": index, "function": {"name": call.name, "arguments": first}}
            rest = {"index": index, "function": {"arguments": second}}
            pieces += [event(delta(tool_calls=[head])), event(delta(tool_calls=[rest]))]
        usage = event({"choices": [], "usage": self.counts(7, 3)})
        texts = self.text(text) if text else b""
        return self.stream(texts, *pieces, event(delta(finish="tool_calls")), usage, self.mark)

    def sent_back(self, body: dict[str, Any]) -> list[tuple[Call, str]]:
        results = {item["tool_call_id"]: item["content"] for item in body["messages"] if item["role"] == "tool"}
        calls = [call for item in body["messages"] for call in item.get("tool_calls", ())]
        return [
            (Call(call["id"], call["function"]["name"], call["function"]["arguments"]), results[call["id"]])
            for call in calls
        ]

    def offered(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        assert all(tool["type"] == "function" for tool in body["tools"])
        return [tool["function"] for tool in body["tools"]]


class Responses(Wire):
    """The Responses API."""

    decoder = ResponsesDecoder
    name, what = "responses", "response"
    start = responses.begun() + responses.added(responses.message())
    events_before = 3
    finish = b""
    mark = responses.ended("completed", usage=responses.usage())

    def text(self, value: Any) -> bytes:
        return responses.text(value)

    def body(self, value: Any, usage: Any = None) -> dict[str, Any]:
        return responses.response("completed", responses.message({"type": "output_text", "text": value}), usage=usage)

    def counts(self, read: Any, written: Any) -> dict[str, Any]:
        return {"input_tokens": read, "output_tokens": written}

    def counted(self, usage: Any) -> bytes:
        return responses.ended("completed", usage=usage)

    def calls(self, *calls: Call, text: str, stream: bool) -> Reply:
        items = [
            responses.call(call.name, call.arguments) | {"id": f"fc_{number}", "call_id": call.id}
            for number, call in enumerate(calls)
        ]
        messages = [responses.message(text)] if text else []
        usage = responses.usage()
        if not stream:
            return Reply((json.dumps(responses.response("completed", *messages, *items, usage=usage)).encode(),))
        pieces = [self.text(text) if text else b""]
        for item in items:
            pieces += [responses.added(item | {"arguments": ""}), responses.done(item)]
        return self.stream(*pieces, responses.ended("completed", *messages, *items, usage=usage))

    def sent_back(self, body: dict[str, Any]) -> list[tuple[Call, str]]:
        items = [item for item in body["input"] if "type" in item]
        assert not any("id" in item for item in items)
        results = {item["call_id"]: item["output"] for item in items if item["type"] == "function_call_output"}
        calls = [item for item in items if item["type"] == "function_call"]
        return [(Call(item["call_id"], item["name"], item["arguments"]), results[item["call_id"]]) for item in calls]

    def offered(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        assert all((tool["type"], tool["strict"]) == ("function", False) for tool in body["tools"])
        return [{key: value for key, value in tool.items() if key not in ("type", "strict")} for tool in body["tools"]]


class Messages(Wire):
    """Anthropic's Messages API."""

    decoder = MessagesDecoder
    name, what = "messages", "message"
    start = messages.started() + messages.opened()
    events_before = 2
    finish = messages.closed() + messages.stopped()
    mark = messages.OVER

    def provider(self, settings: ProviderSettings, limits: RetryLimits) -> Provider:
        return AnthropicProvider(settings, limits)

    def text(self, value: Any) -> bytes:
        return messages.text(value)

    def body(self, value: Any, usage: Any = None) -> dict[str, Any]:
        return messages.message({"type": "text", "text": value}) | {"usage": usage}

    def counts(self, read: Any, written: Any) -> dict[str, Any]:
        return {"input_tokens": read, "output_tokens": written}

    def counted(self, usage: Any) -> bytes:
        ended = {"stop_reason": "end_turn"}
        return messages.closed() + messages.named("message_delta", delta=ended, usage=usage) + self.mark

    def calls(self, *calls: Call, text: str, stream: bool) -> Reply:
        if not stream:
            blocks = [{"type": "text", "text": text}] if text else []
            blocks += [{**_tool_use(call), "input": json.loads(call.arguments)} for call in calls]
            body = messages.message(*blocks) | {"stop_reason": "tool_use", "usage": self.counts(7, 3)}
            return Reply((json.dumps(body).encode(),))
        pieces = [self.text(text) if text else b"", messages.closed()]
        for index, call in enumerate(calls, start=1):
            fragments = [
                messages.piece("input_json_delta", index, partial_json=half) for half in halves(call.arguments)
            ]
            opened = messages.opened(index, "tool_use", id=call.id, name=call.name, input={})
            pieces += [opened, *fragments, messages.closed(index)]
        return self.stream(*pieces, messages.stopped("tool_use"), self.mark)

    def sent_back(self, body: dict[str, Any]) -> list[tuple[Call, str]]:
        blocks = [block for item in body["messages"] if isinstance(item["content"], list) for block in item["content"]]
        results = {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"}
        calls = [block for block in blocks if block["type"] == "tool_use"]
        return [(Call(each["id"], each["name"], json.dumps(each["input"])), results[each["id"]]) for each in calls]

    def offered(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            {**{key: tool[key] for key in ("name", "description") if key in tool}, "parameters": tool["input_schema"]}
            for tool in body["tools"]
        ]


def _tool_use(call: Call) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}


WIRES: Sequence[Wire] = (Chat(), Responses(), Messages())
