"""The provider for Anthropic and other servers with the Messages API."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tui.model.finish_reasons import combined_reason, finish_reason_of
from tui.model.provider_messages import FinishReason, NoteChunk, Request, TurnEcho, UsageChunk
from tui.model.results import Usage
from tui.model.subjects import ProviderSettings
from tui.model.tools import AnsweredTurn
from tui.model.values import JsonObject, JsonValue
from tui.providers.http.decoder import (
    LONGEST_TOOL_NAME,
    AnswerDecoder,
    ErrorObject,
    NoAnswer,
    ToolCallPieces,
    arguments_text,
    count_of,
    encode_body,
    joined_halves,
    part_of,
    split_system,
    text_of,
)
from tui.providers.http.limits import RetryLimits
from tui.providers.http.server import Dialect, ServerProvider

_NOTES = {
    "model_context_window_exceeded": "The answer ended because the model's context window was full",
    "pause_turn": "The server paused the answer before the model finished",
}
_THINKING = ("thinking", "redacted_thinking")
_TOOLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_INPUTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class MessagesDecoder(AnswerDecoder):
    """Decodes one message. Only `message_stop` completes it."""

    what = "message"

    def __init__(self, answer_size: int, event_size: int) -> None:
        super().__init__(answer_size, event_size)
        self._tools: dict[str, ToolCallPieces] = {}
        self._thoughts: dict[str, _Thought] = {}
        self._awaits_results = False
        self._counts: dict[str, Any] = {}
        self._stopped: FinishReason | None = None

    def _take_answer(self, answer: Mapping[str, Any]) -> None:
        _raise_error(answer)
        blocks = answer.get("content", "")
        if blocks is None:
            blocks = []  # some gateways send null for an answer without a block
        if not isinstance(blocks, list):
            raise NoAnswer
        self._read_server_info(answer)
        for index, block in enumerate(blocks):
            if isinstance(block, dict):
                self._open_block(index, block)
        self._take_stop(answer)
        self._count(part_of(answer, "usage"))
        self.finish = self._stopped

    def _take_end(self) -> None:
        for index in list(self._tools):
            self._close_tool(index)
        blocks: list[JsonValue] = [thought.block() for thought in self._thoughts.values()]
        if self._awaits_results and blocks:
            self._text.add(TurnEcho(blocks))
        self._thoughts.clear()

    def _take_chunk(self, chunk: Mapping[str, Any]) -> None:
        _raise_error(chunk)
        match chunk.get("type"):
            case "message_start":
                message = part_of(chunk, "message")
                self._read_server_info(message)
                # Its number of output tokens belongs to an answer that has only begun.
                started = part_of(message, "usage")
                self._count({name: count for name, count in started.items() if name in _INPUTS})
            case "content_block_start":
                self._open_block(chunk.get("index"), part_of(chunk, "content_block"))
            case "content_block_delta":
                self._take_delta(chunk.get("index"), part_of(chunk, "delta"))
            case "content_block_stop":
                self.thinks = False
                self._close_tool(chunk.get("index"))
            case "message_delta":
                self._take_stop(part_of(chunk, "delta"))
                self._count(part_of(chunk, "usage"))
            case "message_stop":
                self.finish = self._stopped
                self.done = True

    def _open_block(self, index: object, block: Mapping[str, Any]) -> None:
        kind = text_of(block, "type")
        self.thinks = kind in _THINKING
        if kind in _TOOLS:
            is_offered = kind == "tool_use"
            call = self._tools[str(index)] = ToolCallPieces(
                self._text, text_of(block, "name"), id=text_of(block, "id"), awaits_result=is_offered
            )
            self._awaits_results = self._awaits_results or is_offered
            if block.get("input"):
                call.add_arguments(arguments_text(block["input"]))
        else:
            if self.thinks:
                self._text.count(LONGEST_TOOL_NAME)  # as a call: a server may send any number of blocks
                self._thoughts[str(index)] = _Thought(block)
            self._add_text(block)

    def _take_delta(self, index: object, delta: Mapping[str, Any]) -> None:
        """Decode a part of a block. Signatures and citations are not text for the user."""
        if (thought := self._thoughts.get(str(index))) is not None:
            thought.add(delta)
        if delta.get("type") == "input_json_delta":
            if (call := self._tools.get(str(index))) is None:
                call = self._tools[str(index)] = ToolCallPieces(self._text)
            call.add_arguments(text_of(delta, "partial_json"))
        else:
            self._add_text(delta)

    def _add_text(self, piece: Mapping[str, Any]) -> None:
        if thought := text_of(piece, "thinking"):
            self.thinks = False
            self._text.add_text("reasoning", thought)
        if text := text_of(piece, "text"):
            self._text.add_text("text", text)

    def _close_tool(self, index: object) -> None:
        if (call := self._tools.pop(str(index), None)) is not None:
            self._text.add(call.chunk())

    def _take_stop(self, ended: Mapping[str, Any]) -> None:
        reason = text_of(ended, "stop_reason")
        if not reason:
            return
        self._stopped = combined_reason(self._stopped, finish_reason_of(reason))
        details = part_of(ended, "stop_details")
        words = [part for name in ("category", "explanation") if (part := text_of(details, name))]
        if note := _NOTES.get(reason, f"Refused: {': '.join(words)}" if words else ""):
            self._text.add(NoteChunk(note))

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Update the token counts, which are cumulative; a missing one keeps its value."""
        self._counts.update((name, value) for name, value in usage.items() if value is not None)
        inputs = [count_of(self._counts.get(name)) for name in _INPUTS]
        thought = count_of(part_of(self._counts, "output_tokens_details").get("thinking_tokens"))
        known = None if inputs[0] is None else sum(count or 0 for count in inputs)
        _, stored, cached = inputs
        if usage:
            written = count_of(self._counts.get("output_tokens"))
            self._text.add(UsageChunk(Usage(known, written, thought, cached, stored)))


class _Thought:
    """A block of reasoning, which the server needs back with its signature after tool calls."""

    def __init__(self, block: Mapping[str, Any]) -> None:
        self._kind = text_of(block, "type")
        self._fields = {key: [text_of(block, key)] for key in ("thinking", "signature", "data") if key in block}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Add a piece of the block."""
        for key in ("thinking", "signature"):
            if piece := text_of(delta, key):
                self._fields.setdefault(key, []).append(piece)

    def block(self) -> JsonObject:
        """Return the whole block."""
        return {"type": self._kind, **{key: joined_halves("".join(parts)) for key, parts in self._fields.items()}}


def _raise_error(chunk: Mapping[str, Any]) -> None:
    if chunk.get("error"):
        raise ErrorObject(chunk["error"])
    if chunk.get("type") == "error":
        raise ErrorObject(chunk)


MAX_TOKENS = 4_096


def _turn_messages(turns: Iterable[AnsweredTurn]) -> Iterator[JsonObject]:
    for turn in turns:
        blocks: list[JsonValue] = list(turn.echo) if isinstance(turn.echo, list) else []
        blocks += [{"type": "text", "text": turn.text}] if turn.text.strip() else []
        blocks += [
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in turn.calls
        ]
        results: list[JsonValue] = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": call.result,
                **({"is_error": True} if call.is_error else {}),
            }
            for call in turn.calls
        ]
        yield {"role": "assistant", "content": blocks}
        yield {"role": "user", "content": results}


def messages_body(request: Request) -> bytes:
    """Return the request body. The protocol requires a token limit, so one is always set."""
    settings = request.subject.settings
    system, turns = split_system(request.prompt.messages)
    body: dict[str, Any] = {
        "model": request.subject.model_id,
        "max_tokens": MAX_TOKENS if settings.max_tokens is None else settings.max_tokens,
        "messages": [*turns, *_turn_messages(request.turns)],
        "stream": request.stream,
    }
    if request.tools:
        body["tools"] = [{**tool.heading, "input_schema": tool.schema} for tool in request.tools]
    optional = (("system", system), ("temperature", settings.temperature), ("top_p", settings.top_p))
    return encode_body(body, optional)


TOKEN_VARIABLE = "ANTHROPIC_AUTH_TOKEN"  # the name of a variable, not a token
# The newest version rejects `temperature` and `top_p`, by which variants differ; a header in the config selects
# another version.
_VERSION = "2023-06-01"
_KEY_HEADERS = ("authorization", "x-api-key")


class Messages:
    """The Messages API as a dialect."""

    path = "/v1/messages"
    thinks_long = True

    def body(self, request: Request) -> bytes:
        """Return the request body as JSON."""
        return messages_body(request)

    def unsupported(self, request: Request) -> tuple[str, ...]:
        """Return the settings that this API does not support: the seed."""
        if request.subject.settings.seed is None:
            return ()
        return ("The seed was not sent, because the Messages API does not support it",)

    def decoder(self, answer_size: int, event_size: int) -> MessagesDecoder:
        """Return a decoder for one answer."""
        return MessagesDecoder(answer_size, event_size)


class AnthropicProvider(ServerProvider):
    """The provider of one server. `settings.base_url` must be set, with or without `/v1` at its end."""

    def __init__(self, settings: ProviderSettings, patience: RetryLimits | None = None) -> None:
        super().__init__(
            replace(settings, base_url=_root(settings.base_url or "")),
            _headers(settings),
            patience=patience,
            list_path="/v1/models",
            list_query="limit=1000",
        )
        self._messages = Messages()

    def _dialect(self, request: Request) -> Dialect:  # noqa: ARG002 - there is one
        return self._messages

    def _is_offered(self, entry: Mapping[str, Any]) -> bool:
        """Return whether the model is in service: a retired model stays in the list, and requests to it fail."""
        return entry.get("lifecycle") != "retired"


def _root(base_url: str) -> str:
    """Return the URL without `/v1` at its end, which the paths add themselves."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(path=parts.path.rstrip("/").removesuffix("/v1")))


def _headers(settings: ProviderSettings) -> dict[str, str]:
    given = {name.lower() for name in settings.headers}
    headers = {} if "anthropic-version" in given else {"anthropic-version": _VERSION}
    if settings.api_key and not given.intersection(_KEY_HEADERS):
        if settings.key_name == TOKEN_VARIABLE:
            headers["Authorization"] = f"Bearer {settings.api_key}"
        else:
            headers["x-api-key"] = settings.api_key
    return {**headers, **settings.headers}
