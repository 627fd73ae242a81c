"""The three protocols of answers in the same words, so that one fault can be made in each of them."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

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


WIRES: Sequence[Wire] = (Chat(), Responses(), Messages())
