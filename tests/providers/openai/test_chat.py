"""Chat completions in every shape of the wire, with no network."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.replies import delta, event
from tui.model.provider_messages import Chunk, Reasoning, Text, ToolCall, UsageChunk
from tui.model.results import Usage
from tui.providers.http.decoder import AnswerTooLong, ErrorObject, NoAnswer, Unreadable
from tui.providers.http.sse import EventTooLong
from tui.providers.openai.chat import ChatDecoder

MIB = 1024 * 1024


def decoder(answer_size: int = 16 * MIB, event_size: int = MIB) -> ChatDecoder:
    return ChatDecoder(answer_size, event_size)


def chunks_of(raw: bytes, size: int | None = None) -> list[Chunk]:
    reader = decoder()
    chunks = []
    for start in range(0, len(raw), size or len(raw)):
        reader.feed(raw[start : start + (size or len(raw))])
        chunks += reader.take()
    reader.end()
    return chunks + reader.take()


def stream(*data: Any) -> bytes:
    return b"".join(item if isinstance(item, bytes) else event(item) for item in data)


def usage(**counts: Any) -> dict[str, Any]:
    return {"choices": [], "usage": counts}


def tool(index: int | None, name: str | None = None, arguments: str | None = None, **more: Any) -> dict[str, Any]:
    call = {"function": {"name": name, "arguments": arguments}, **more}
    return call if index is None else {"index": index, **call}


STREAMS: dict[str, tuple[Sequence[Any], list[Chunk]]] = {
    "text in pieces": ([delta("a"), delta("b")], [Text("ab")]),
    "role alone, null content, empty content": (
        [delta(role="assistant"), {**delta(), "choices": [{"delta": {"content": None}}]}, delta(""), delta("a")],
        [Text("a")],
    ),
    "empty choices, null choices, no choices": (
        [{"choices": []}, {"choices": None}, {"id": "x"}, delta("a")],
        [Text("a")],
    ),
    "null delta": ([{"choices": [{"delta": None, "finish_reason": None}]}, delta("a")], [Text("a")]),
    "unknown keys": ([{**delta("a"), "obfuscation": "xyz", "x_groq": {"id": 1}}], [Text("a")]),
    "a second choice is not ours": (
        [{"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "a"}}]}],
        [Text("a")],
    ),
    "reasoning_content": ([delta(reasoning_content="hm"), delta("a")], [Reasoning("hm"), Text("a")]),
    "reasoning": ([delta(reasoning="hm"), delta("a")], [Reasoning("hm"), Text("a")]),
    "reasoning_details": (
        [
            delta(reasoning_details=[{"type": "reasoning.text", "text": "h"}, {"summary": "m"}, {"data": "x"}]),
            delta("a"),
        ],
        [Reasoning("hm"), Text("a")],
    ),
    "reasoning said twice counts once": (
        [delta(reasoning="hm", reasoning_details=[{"text": "hm"}])],
        [Reasoning("hm")],
    ),
    "text and reasoning in turn": (
        [delta(reasoning="a"), delta("b"), delta(reasoning="c"), delta("d")],
        [Reasoning("a"), Text("b"), Reasoning("c"), Text("d")],
    ),
    "content as parts": (
        [delta([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}, {"type": "x"}, 7])],  # type: ignore[arg-type]
        [Reasoning("hm"), Text("a")],
    ),
    "content of another type": ([delta(5), delta("a")], [Text("a")]),  # type: ignore[arg-type]
    "usage at the end": (
        [delta("a"), usage(prompt_tokens=3, completion_tokens=4, completion_tokens_details={"reasoning_tokens": 2})],
        [Text("a"), UsageChunk(Usage(3, 4, 2))],
    ),
    "input from a cache": (
        [
            usage(
                prompt_tokens=9,
                completion_tokens=4,
                prompt_tokens_details={"cached_tokens": 5, "cache_write_tokens": 3},
            )
        ],
        [UsageChunk(Usage(9, 4, None, 5, 3))],
    ),
    "reasoning beside the completion, as xAI counts": (
        [
            usage(
                prompt_tokens=3,
                completion_tokens=4,
                total_tokens=17,
                completion_tokens_details={"reasoning_tokens": 10},
            )
        ],
        [UsageChunk(Usage(3, 14, 10))],
    ),
    "reasoning in the total only, as Google counts": (
        [usage(prompt_tokens=3, completion_tokens=4, total_tokens=9)],
        [UsageChunk(Usage(3, 6, None))],
    ),
    "a total that is too small": (
        [usage(prompt_tokens=3, completion_tokens=4, total_tokens=0)],
        [UsageChunk(Usage(3, 4, None))],
    ),
    "usage that is not all there": (
        [usage(prompt_tokens="3", completion_tokens=True, completion_tokens_details=None)],
        [UsageChunk(Usage(None, None, None))],
    ),
    "null usage": ([{**delta("a"), "usage": None}], [Text("a")]),
    "llama.cpp's timings": (
        [{**delta(finish="stop"), "timings": {"prompt_n": 5, "predicted_n": 6, "prompt_ms": 1.5}}],
        [UsageChunk(Usage(5, 6, None))],
    ),
    "a refusal": ([delta(refusal="I can"), delta(refusal="not.")], [Text("I cannot.")]),
    "tool calls are merged by index": (
        [
            delta(tool_calls=[tool(0, "look", "", id="a")]),
            delta(tool_calls=[tool(1, "add", '{"b"', id="b"), tool(0, None, '{"a": ')]),
            delta(tool_calls=[tool(0, None, "1}"), tool(1, None, ": 2}")]),
            delta(finish="tool_calls"),
        ],
        [ToolCall("look", '{"a": 1}'), ToolCall("add", '{"b": 2}')],
    ),
    "a tool's name that is repeated": (
        [delta(tool_calls=[tool(0, "look", "{")]), delta(tool_calls=[tool(0, "look", "}")])],
        [ToolCall("look", "{}")],
    ),
    "whole tool calls at one index without ids": (
        [
            delta(tool_calls=[tool(0, "look", '{"at": 1}', id="")]),
            delta(tool_calls=[tool(0, "look", '{"at": 2}', id="")]),
        ],
        [ToolCall("look", '{"at": 1}'), ToolCall("look", '{"at": 2}')],
    ),
    "a nested object in a repeated call without an id": (
        [delta(tool_calls=[tool(0, "look", piece)]) for piece in ('{"a": ', "{}", "}")],
        [ToolCall("look", '{"a": {}}')],
    ),
    "tool calls without an index": (
        [delta(tool_calls=[tool(None, "a", "1"), tool(None, "b", "2")])],
        [ToolCall("a", "1"), ToolCall("b", "2")],
    ),
    "the old function_call": (
        [delta(function_call={"name": "look", "arguments": "{"}), delta(function_call={"arguments": "}"})],
        [ToolCall("look", "{}")],
    ),
    "tool calls of another type": ([delta(tool_calls=7), delta(tool_calls=[7, {"index": 0}])], [ToolCall("", "")]),
    "a message where a delta should be": ([{"choices": [{"message": {"content": "a"}}]}], [Text("a")]),
    "nothing after [DONE]": ([delta("a"), "[DONE]", delta("b"), "nonsense"], [Text("a")]),
    "comments and events without data": ([b": hi\n\n", b"event: ping\n\n", delta("a"), b"data:\n\n"], [Text("a")]),
    "no blank line at the end": ([delta("a"), b"data: " + json.dumps(delta("b")).encode()], [Text("a"), Text("b")]),
    "a character torn into two chunks": (
        [r'{"choices":[{"delta":{"content":"x\ud83c"}}]}', r'{"choices":[{"delta":{"content":"\udf89y"}}]}'],
        [Text("x🎉y")],
    ),
    "half a character": ([rb'data: {"choices":[{"delta":{"content":"x\udf89y"}}]}', b"\n\n"], [Text("x\ufffdy")]),
    "half a character at the end": (
        [rb'data: {"choices":[{"delta":{"content":"x\ud83c"}}]}', b"\n\n"],
        [Text("x"), Text("\ufffd")],
    ),
}


@pytest.mark.parametrize(("data", "chunks"), STREAMS.values(), ids=STREAMS)
def test_a_stream_becomes_chunks(data: Sequence[Any], chunks: list[Chunk]) -> None:
    assert chunks_of(stream(*data)) == chunks


def test_long_arguments_are_not_parsed_again_with_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = ['{"a": "' + "x" * 10_000, *["{}"] * 50]
    data = stream(*(delta(tool_calls=[tool(0, "look", piece)]) for piece in pieces))
    loads, parsed = json.loads, 0

    def count(text: Any, **options: Any) -> Any:
        nonlocal parsed
        parsed += len(text)
        return loads(text, **options)

    monkeypatch.setattr(json, "loads", count)
    chunks_of(data)
    assert parsed < 3 * len(data)


@pytest.mark.parametrize(("data", "chunks"), STREAMS.values(), ids=STREAMS)
def test_a_stream_in_single_bytes_says_the_same(data: Sequence[Any], chunks: list[Chunk]) -> None:
    def chunk_texts(items: list[Chunk]) -> tuple[str, str, list[Chunk]]:
        texts = "".join(item.text for item in items if isinstance(item, Text))
        thoughts = "".join(item.text for item in items if isinstance(item, Reasoning))
        return texts, thoughts, [item for item in items if not isinstance(item, Text | Reasoning)]

    assert chunk_texts(chunks_of(stream(*data), size=1)) == chunk_texts(chunks)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("function_call", "tool_calls"),
        ("content_filter", "content_filter"),
        ("content_filter: RECITATION", "content_filter"),
        ("something new", "other"),
        (None, None),
        ("", None),
    ],
)
def test_finish_reasons(reason: str | None, finish: str | None) -> None:
    reader = decoder()
    reader.feed(stream(delta("a", reason)))
    assert reader.finish == finish
    assert not reader.done


def test_a_refusal_is_the_finish_reason() -> None:
    reader = decoder()
    reader.feed(stream(delta(refusal="No."), delta(finish="stop"), "[DONE]"))
    assert reader.finish == "declined"
    assert reader.done


ERRORS: dict[str, tuple[Any, object]] = {
    "OpenAI": ({"error": {"message": "m", "type": "server_error"}}, {"message": "m", "type": "server_error"}),
    "vLLM": ({"object": "error", "message": "m"}, {"object": "error", "message": "m"}),
    "OpenRouter": (
        {"error": {"code": 502, "message": "m"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
        {"code": 502, "message": "m"},
    ),
    "a text": ({"error": "m"}, "m"),
    "by the event's name": (b'event: error\ndata: {"message": "m"}\n\n', {"message": "m"}),
}


@pytest.mark.parametrize(("data", "error"), ERRORS.values(), ids=ERRORS)
def test_an_error_object_in_a_stream(data: Any, error: object) -> None:
    reader = decoder()
    with pytest.raises(ErrorObject) as caught:
        reader.feed(stream(delta("a"), data))
    assert caught.value.error == error
    assert reader.take() == [Text("a")]


@pytest.mark.parametrize(
    "data",
    ["{", "nonsense", "[1]", "7", "null", '{"choices":[{"delta":{"content":"abc', "[" * 100_000, "1" * 5000],
    ids=lambda text: text[:20],
)
def test_an_unreadable_chunk_is_named_by_its_number(data: str) -> None:
    reader = decoder()
    with pytest.raises(Unreadable, match=r"^Unreadable chunk 3$"):
        reader.feed(stream(delta("a"), b": comment\n\n", delta("b"), data, delta("c")))
    assert reader.take() == [Text("ab")]


def test_an_answer_over_the_limit_is_cut_there() -> None:
    reader = decoder(answer_size=10)
    reader.feed(stream(delta("1234567"), delta(reasoning="89")))
    with pytest.raises(AnswerTooLong):
        reader.feed(stream(delta("0AB"), delta("C")))
    assert reader.take() == [Text("1234567"), Reasoning("89"), Text("0")]


def test_a_chunk_over_the_limit_is_refused() -> None:
    reader = decoder(event_size=1000)
    with pytest.raises(EventTooLong):
        reader.feed(stream(delta("x" * 1000)))


def whole(message: Any, finish: str | None = "stop", **more: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}).encode()


WHOLES: dict[str, tuple[bytes, list[Chunk], str | None]] = {
    "text and usage": (
        whole({"content": "a"}, usage={"prompt_tokens": 1, "completion_tokens": 2}),
        [Text("a"), UsageChunk(Usage(1, 2, None))],
        "stop",
    ),
    "null content": (whole({"content": None}, "length"), [], "length"),
    "no finish reason": (whole({"content": "a"}, None), [Text("a")], None),
    "reasoning": (whole({"content": "a", "reasoning_content": "hm"}), [Reasoning("hm"), Text("a")], "stop"),
    "refusal": (whole({"content": None, "refusal": "No."}), [Text("No.")], "declined"),
    "tools": (
        whole({"content": None, "tool_calls": [tool(None, "a", "{}"), tool(None, "b", "1")]}, "tool_calls"),
        [ToolCall("a", "{}"), ToolCall("b", "1")],
        "tool_calls",
    ),
    "no choices": (b'{"choices": []}', [], None),
}


@pytest.mark.parametrize(("raw", "chunks", "finish"), WHOLES.values(), ids=WHOLES)
def test_a_whole_answer_becomes_chunks(raw: bytes, chunks: list[Chunk], finish: str | None) -> None:
    reader = decoder()
    reader.take_whole(raw)
    assert reader.take() == chunks
    assert (reader.finish, reader.done) == (finish, True)


@pytest.mark.parametrize("raw", [b"", b"{", b'{"choices": [}', b"[]", b"7", b"\xff\xfe", b"[" * 100_000])
def test_a_whole_answer_that_is_no_json_object(raw: bytes) -> None:
    with pytest.raises(Unreadable, match="not JSON"):
        decoder().take_whole(raw)


def test_a_whole_answer_that_is_something_else() -> None:
    with pytest.raises(NoAnswer):
        decoder().take_whole(b'{"status": "ok"}')
    with pytest.raises(ErrorObject):
        decoder().take_whole(b'{"error": {"message": "m"}}')
