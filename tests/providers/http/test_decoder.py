"""Limits that the decoders of all protocols share."""

from typing import Any

import pytest

from tests.support.copilot_sdk import ToolExecutionStartData
from tests.support.copilot_sdk import event as copilot_event
from tests.support.replies import event
from tui.model.provider_messages import ToolCall
from tui.providers.anthropic import MessagesDecoder
from tui.providers.copilot_events import CopilotDecoder
from tui.providers.http.decoder import LONGEST_TOOL_NAME, AnswerDecoder, AnswerTooLong
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
