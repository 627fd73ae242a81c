"""The Chat Completions protocol, streamed or whole: bytes in, chunks out. Does no network access."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tui.model.finish_reasons import finish_reason_of
from tui.model.provider_messages import Request, TurnEcho, UsageChunk
from tui.model.results import Usage
from tui.model.subjects import TokenLimitParameter
from tui.model.tools import AnsweredTurn, OfferedTool
from tui.model.values import JsonObject, JsonValue
from tui.providers.http.decoder import (
    AnswerDecoder,
    ErrorObject,
    Kind,
    NoAnswer,
    ToolCallPieces,
    count_of,
    encode_body,
    joined_halves,
    part_of,
    plain,
    text_of,
)


class ChatDecoder(AnswerDecoder):
    """Decodes one chat completion; [DONE] ends it."""

    what = "chat completion"
    done_by_mark = True

    def __init__(self, answer_size: int, event_size: int) -> None:
        super().__init__(answer_size, event_size)
        self._tools: dict[object, ToolCallPieces] = {}
        self._calls: list[ToolCallPieces] = []
        self._thoughts: list[str] = []
        self._thought_details: list[JsonValue] = []
        self._refused = False
        self._may_come_again = True

    def _take_answer(self, answer: Mapping[str, Any]) -> None:
        self._take_chunk(answer)
        if not isinstance(answer.get("choices"), list):
            raise NoAnswer

    def _take_end(self) -> None:
        for call in self._calls:
            self._text.add(call.chunk())
        if self._calls and (echo := self._echo()):
            self._text.add(TurnEcho(echo))
        self._calls.clear()
        self._tools.clear()

    def _echo(self) -> JsonObject:
        """Return the reasoning in the fields in which some servers need it back after tool calls."""
        echo: JsonObject = {"reasoning_content": joined_halves("".join(self._thoughts))} if self._thoughts else {}
        return echo | ({"reasoning_details": self._thought_details} if self._thought_details else {})

    def _take_chunk(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("error"):
            raise ErrorObject(chunk["error"])
        if chunk.get("object") == "error":
            raise ErrorObject(chunk)
        self._read_server_info(chunk)
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                self._take_choice(choice)
        if (usage := read_usage(chunk)) is not None:
            self._text.add(UsageChunk(usage))

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        delta, room = choice.get("delta") or choice.get("message"), self._text.room
        reason = choice.get("finish_reason")
        if isinstance(delta, dict):
            if thought := _reasoning_of(delta):
                self._text.add_text("reasoning", thought)
                self._keep_thought(delta)
            content = delta.get("content")
            if isinstance(content, str):
                if content:
                    self._text.add_text("text", content)
            elif isinstance(content, list):
                self._take_parts(content)
            if (refusal := delta.get("refusal")) and isinstance(refusal, str):
                self._refused = True
                self._text.add_text("text", refusal)
            self._take_tools(delta)
            if self._text.room < room:
                self._withdraw_finish()
                self._may_come_again = self._may_come_again and bool(reason)
        if choice.get("error"):  # a router whose upstream failed in the middle of an answer
            raise ErrorObject(choice["error"])
        if isinstance(reason, str) and reason:
            finish = finish_reason_of(reason)
            self._finish("declined" if self._refused and finish == "stop" else finish)

    def _keep_thought(self, delta: Mapping[str, Any]) -> None:
        if thought := text_of(delta, "reasoning_content"):
            self._thoughts.append(thought)
        if isinstance(details := delta.get("reasoning_details"), list):
            if self._text.may_keep(details):
                self._thought_details += details
            else:  # none of them, because a server cannot read a part
                self._thought_details.clear()

    def _take_parts(self, parts: list[Any]) -> None:
        """Decode content that is a list of typed parts, as some servers send it."""
        for part in parts:
            if isinstance(part, dict):
                kind: Kind = "reasoning" if "think" in str(part.get("type")) else "text"
                text = part.get("text", part.get("thinking"))
                if isinstance(text, str) and text:
                    self._text.add_text(kind, text)

    def _take_tools(self, delta: Mapping[str, Any]) -> None:
        calls = delta.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                index = call.get("index")
                self._add_tool(place if index is None else str(index), call.get("function"), call)
        if delta.get("function_call"):
            self._add_tool("function_call", delta["function_call"], {})

    def _add_tool(self, index: object, function: object, piece: Mapping[str, Any]) -> None:
        """Add a piece to the call at an index.

        Some servers send all calls at one index, with different ids, or each one whole and without an id.
        """
        call, identity = self._tools.get(index), text_of(piece, "id")
        named = function if isinstance(function, dict) and function.get("name") else None
        if call is None or (named is not None and call.is_other(identity, text_of(named, "arguments"))):
            call = self._tools[index] = ToolCallPieces(self._text, awaits_result=True)
            self._calls.append(call)
        call.id = call.id or identity
        if extra := part_of(piece, "extra_content"):  # Google's signature of the thought before the call
            call.extra = {"extra_content": dict(extra)} if self._text.may_keep(dict(extra)) else None
        if isinstance(function, dict):
            call.add_name(text_of(function, "name"))
            call.add_arguments(text_of(function, "arguments"))


def _reasoning_of(delta: Mapping[str, Any]) -> str:
    """Return the reasoning text, which has three names; a server that uses several repeats the text in each."""
    for name in ("reasoning_content", "reasoning"):
        if (text := delta.get(name)) and isinstance(text, str):
            return text
    details = delta.get("reasoning_details")
    if not isinstance(details, list):
        return ""
    texts = [detail.get("text") or detail.get("summary") for detail in details if isinstance(detail, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """Return the token counts of a chunk or an answer; from llama.cpp's `timings` if there is no `usage`."""
    usage = chunk.get("usage")
    if isinstance(usage, dict):
        read, details = part_of(usage, "prompt_tokens_details"), part_of(usage, "completion_tokens_details")
        return Usage(
            count_of(usage.get("prompt_tokens")),
            _output_of(usage),
            count_of(details.get("reasoning_tokens")),
            count_of(read.get("cached_tokens")),
            count_of(read.get("cache_write_tokens")),
        )
    timings = chunk.get("timings")
    if isinstance(timings, dict):
        return Usage(count_of(timings.get("prompt_n")), count_of(timings.get("predicted_n")), None)
    return None


def _output_of(usage: Mapping[str, Any]) -> int | None:
    """Return the output tokens including reasoning, which is billed.

    OpenAI counts reasoning in the completion; xAI and Google count it in the total only.
    """
    read, wrote, total = (count_of(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    if read is None or wrote is None or total is None:
        return wrote
    return max(wrote, total - read)


def function_of(tool: OfferedTool) -> JsonObject:
    """Return a tool as a function of the OpenAI protocols."""
    return {**tool.heading, "parameters": tool.schema}


def _turn_messages(turns: Iterable[AnsweredTurn]) -> Iterator[JsonObject]:
    for turn in turns:
        calls: list[JsonValue] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
                **(call.extra or {}),
            }
            for call in turn.calls
        ]
        echo = turn.echo if isinstance(turn.echo, dict) else {}
        # An empty text and not null, which the templates of some servers print as a word.
        yield {"role": "assistant", "content": turn.text, "tool_calls": calls, **echo}
        for call in turn.calls:
            yield {"role": "tool", "tool_call_id": call.id, "content": call.result}


def chat_body(request: Request, token_limit: TokenLimitParameter) -> bytes:
    """Return the request body; settings that are not set are left to the server.

    The system prefix is part of the prompt already.
    """
    settings = request.subject.settings
    body: dict[str, Any] = {
        "model": request.subject.model_id,
        "messages": [*plain(request.prompt.messages), *_turn_messages(request.turns)],
        "stream": request.stream,
    }
    if request.stream:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [{"type": "function", "function": function_of(tool)} for tool in request.tools]
    optional = (
        ("temperature", settings.temperature),
        ("top_p", settings.top_p),
        ("seed", settings.seed),
        (token_limit, settings.max_tokens),
    )
    return encode_body(body, optional)
