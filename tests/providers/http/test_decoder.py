"""Limits that the decoders of all protocols share."""

from typing import Any

import pytest

from tests.support.copilot_sdk import ToolExecutionStartData
from tests.support.copilot_sdk import event as copilot_event
from tests.support.replies import event
from tui.model.provider_messages import Text, ToolCall, TurnEcho
from tui.providers.anthropic import MessagesDecoder
from tui.providers.copilot_events import CopilotDecoder
from tui.providers.http.decoder import LONGEST_TOOL_NAME, AnswerDecoder, AnswerTooLong, Unreadable
from tui.providers.openai.chat import ChatDecoder
from tui.providers.openai.responses import ResponsesDecoder

MIB = 1024 * 1024
LIMIT = 4_096


def chat(number: int, name: str, arguments: str) -> dict[str, Any]:
    call = {"index": number, "function": {"name": name, "arguments": arguments}}
    return {"choices": [{"delta": {"tool_calls": [call]}}]}


def response(number: int, name: str, arguments: str) -> dict[str, Any]:
    item = {"type": "function_call", "id": f"c{number}", "name": name, "arguments": arguments}
    return {"type": "response.output_item.done", "item": item}


def message(number: int, name: str, arguments: str) -> dict[str, Any]:
    block = {"type": "tool_use", "name": name, "input": {"a": arguments}}
    return {"type": "content_block_start", "index": number, "content_block": block}


DECODERS = [(ChatDecoder, chat), (ResponsesDecoder, response), (MessagesDecoder, message)]


@pytest.mark.parametrize(("make", "call"), DECODERS)
def test_the_name_of_a_tool_is_cut(make: Any, call: Any) -> None:
    decoder: AnswerDecoder = make(LIMIT, MIB)
    decoder.feed(event(call(0, "n" * LIMIT, "")))
    decoder.end()
    (found,) = decoder.take()
    assert isinstance(found, ToolCall)
    assert found.name == "n" * (LONGEST_TOOL_NAME - 1) + "…"


@pytest.mark.parametrize(("make", "call"), DECODERS)
def test_arguments_count_toward_the_limit_of_an_answer(make: Any, call: Any) -> None:
    decoder: AnswerDecoder = make(LIMIT, MIB)
    with pytest.raises(AnswerTooLong):
        decoder.feed(event(call(0, "look", "x" * LIMIT)))


@pytest.mark.parametrize(("make", "call"), DECODERS)
def test_calls_without_name_and_arguments_count_too(make: Any, call: Any) -> None:
    decoder: AnswerDecoder = make(LIMIT, MIB)
    most = LIMIT // LONGEST_TOOL_NAME
    with pytest.raises(AnswerTooLong):
        decoder.feed(b"".join(event(call(number, "", "")) for number in range(most + 1)))


def details(values: int) -> dict[str, Any]:
    return {"choices": [{"delta": {"reasoning_details": [{"text": "a"}, *[[]] * values]}}]}


def signature(values: int) -> dict[str, Any]:
    return {"choices": [{"delta": {"tool_calls": [{"index": 0, "extra_content": {"x": [[]] * values}}]}}]}


def test_values_that_are_sent_back_are_dropped_if_all_chunks_have_too_many() -> None:
    def fed(make: Any, times: int) -> list[Any]:
        decoder = ChatDecoder(LIMIT * 100, MIB)
        decoder.feed(event(chat(0, "look", "{}")) + event(make(100_000)) * times)
        decoder.feed(event({"choices": [{"delta": {"content": "yes"}}]}))
        decoder.end()
        return decoder.take()

    (echo,) = (chunk for chunk in fed(details, 4) if isinstance(chunk, TurnEcho))
    assert isinstance(echo.value, dict)
    assert isinstance(sent_back := echo.value["reasoning_details"], list)
    assert len(sent_back) == 400_004
    assert [chunk.text for chunk in fed(details, 5) if isinstance(chunk, Text)] == ["yes"]
    assert not any(isinstance(chunk, TurnEcho) for chunk in fed(details, 5))
    (call,) = (chunk for chunk in fed(signature, 4) if isinstance(chunk, ToolCall))
    assert call.extra is not None
    (call,) = (chunk for chunk in fed(signature, 5) if isinstance(chunk, ToolCall))
    assert call.extra is None


@pytest.mark.parametrize("make", [ChatDecoder, ResponsesDecoder, MessagesDecoder])
def test_a_chunk_with_too_many_values_is_not_parsed(make: Any) -> None:
    decoder: AnswerDecoder = make(LIMIT, MIB)
    with pytest.raises(Unreadable, match=r"chunk 1 \(more than 500,000 values\)"):
        decoder.feed(b'data: {"type": "x", "padding": [' + b"[]," * 300_000 + b"[]]}\n\n")
    decoder = make(LIMIT, MIB)
    decoder.feed(event({"type": "x", "padding": ",[" * 300_000}))


def test_blocks_of_thoughts_count_toward_the_limit_of_an_answer() -> None:
    decoder = MessagesDecoder(LIMIT, MIB)
    blocks = [
        {"type": "content_block_start", "index": number, "content_block": {"type": "thinking"}}
        for number in range(LIMIT // LONGEST_TOOL_NAME + 1)
    ]
    with pytest.raises(AnswerTooLong):
        decoder.feed(b"".join(map(event, blocks)))


def test_a_name_in_many_pieces_does_not_grow() -> None:
    decoder = ChatDecoder(LIMIT, MIB)
    decoder.feed(event(chat(0, "look", "")))
    for _ in range(3):
        decoder.feed(event({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "x"}}] * 9_000}}]}))
    decoder.feed(event(chat(0, "y", "")))
    decoder.end()
    (found,) = decoder.take()
    assert isinstance(found, ToolCall)
    assert len(found.name) == LONGEST_TOOL_NAME


def test_the_calls_of_copilot_are_limited_too() -> None:
    decoder = CopilotDecoder(LIMIT)
    decoder.take_event(copilot_event(ToolExecutionStartData("1", "n" * LIMIT)))
    (found,) = decoder.take()
    assert isinstance(found, ToolCall)
    assert len(found.name) == LONGEST_TOOL_NAME
    with pytest.raises(AnswerTooLong):
        decoder.take_event(copilot_event(ToolExecutionStartData("2", "look", {"a": "x" * LIMIT})))
