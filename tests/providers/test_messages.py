"""Anthropic's Messages protocol in every shape of the wire, with no network."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from tests.support.messages import OVER, PING, closed, message, named, opened, piece, started, stopped, text
from tui.model.provider_messages import Chunk, FinishReason, NoteChunk, Reasoning, Text, ToolCall, UsageChunk
from tui.model.results import Usage
from tui.providers.anthropic import MessagesDecoder
from tui.providers.http.decoder import AnswerTooLong, ErrorObject, NoAnswer, Unreadable
from tui.providers.http.sse import EventTooLong

MIB = 1024 * 1024
BEGUN = UsageChunk(Usage(7, None, None))
COUNTED = UsageChunk(Usage(7, 3, None))


def decoder(answer_size: int = 16 * MIB, event_size: int = MIB) -> MessagesDecoder:
    return MessagesDecoder(answer_size, event_size)


def read(raw: bytes, size: int | None = None) -> tuple[MessagesDecoder, list[Chunk]]:
    reader = decoder()
    chunks = []
    for start in range(0, len(raw), size or len(raw)):
        reader.feed(raw[start : start + (size or len(raw))])
        chunks += reader.take()
    reader.end()
    return reader, chunks + reader.take()


STREAMS: dict[str, tuple[Sequence[bytes], list[Chunk]]] = {
    "text in pieces": (
        [started(), opened(), text("Grüß "), text("Gott 🎉"), closed(), stopped(), OVER],
        [BEGUN, Text("Grüß Gott 🎉"), COUNTED],
    ),
    "text in the block's start": ([opened(text="a"), text("b")], [Text("ab")]),
    "pings at any place": ([PING, started(), PING, opened(), PING, text("a"), PING], [BEGUN, Text("a")]),
    "a ping by its type alone": ([b'data: {"type": "ping"}\n\n', text("a")], [Text("a")]),
    "events without names": ([text("a").partition(b"\n")[2], OVER.partition(b"\n")[2]], [Text("a")]),
    "thinking, then text": (
        [
            opened(0, "thinking"),
            piece("thinking_delta", thinking="h"),
            piece("thinking_delta", thinking="m"),
            piece("signature_delta", signature="EqQBCgIYAhIM"),
            closed(),
            opened(1),
            text("a", 1),
            closed(1),
        ],
        [Reasoning("hm"), Text("a")],
    ),
    "redacted thinking": ([opened(0, "redacted_thinking", data="gAAA"), closed(), text("a", 1)], [Text("a")]),
    "citations": (
        [opened(), text("a"), piece("citations_delta", citation={"cited_text": "no"}), text("b")],
        [Text("ab")],
    ),
    "several blocks of text are one text": ([opened(), text("a"), closed(), opened(1), text("b", 1)], [Text("ab")]),
    "a tool in fragments": (
        [
            opened(0, "tool_use", id="t1", name="look", input={}),
            piece("input_json_delta", partial_json=""),
            piece("input_json_delta", partial_json='{"a": '),
            piece("input_json_delta", partial_json="1}"),
            closed(),
            stopped("tool_use"),
            OVER,
        ],
        [ToolCall("look", '{"a": 1}'), UsageChunk(Usage(None, 3, None))],
    ),
    "two tools at once": (
        [
            opened(0, "tool_use", name="a", input={}),
            opened(1, "server_tool_use", name="b", input={}),
            piece("input_json_delta", 1, partial_json="2"),
            piece("input_json_delta", 0, partial_json="1"),
            closed(1),
            closed(0),
        ],
        [ToolCall("b", "2"), ToolCall("a", "1")],
    ),
    "a tool without fragments": (
        [opened(0, "tool_use", name="a", input={"b": 1}), closed()],
        [ToolCall("a", '{"b": 1}')],
    ),
    "a tool that is not closed": ([opened(0, "tool_use", name="a", input={})], [ToolCall("a", "")]),
    "a fragment without a tool": ([piece("input_json_delta", 5, partial_json="{}")], [ToolCall("", "{}")]),
    "a tool's result is not said": (
        [opened(0, "web_search_tool_result", tool_use_id="t", content=[{"title": "x"}]), closed(), text("a", 1)],
        [Text("a")],
    ),
    "input is all that was read": (
        [
            started(input_tokens=3, cache_creation_input_tokens=20, cache_read_input_tokens=100, output_tokens=1),
            stopped(output_tokens=9),
        ],
        [UsageChunk(Usage(123, None, None, 100, 20)), UsageChunk(Usage(123, 9, None, 100, 20))],
    ),
    "counts are cumulative, and the last holds": (
        [
            started(input_tokens=3, cache_creation_input_tokens=None, output_tokens=1),
            stopped(None, output_tokens=4),
            stopped(input_tokens=5, cache_read_input_tokens=2, output_tokens=9, output_tokens_details=None),
        ],
        [UsageChunk(Usage(3, None, None)), UsageChunk(Usage(3, 4, None)), UsageChunk(Usage(7, 9, None, 2))],
    ),
    "thinking is counted": (
        [stopped(output_tokens=9, output_tokens_details={"thinking_tokens": 6})],
        [UsageChunk(Usage(None, 9, 6))],
    ),
    "counts that are none": (
        [stopped(input_tokens="3", output_tokens=True, output_tokens_details={"thinking_tokens": -1})],
        [UsageChunk(Usage(None, None, None))],
    ),
    "unknown events, blocks and deltas": (
        [
            named("message_hologram", data=1),
            opened(0, "hologram", shape="x"),
            piece("hologram_delta", shape="y"),
            named("content_block_delta", index=0, delta=None),
            named("content_block_start", index=[], content_block=7),
            text("a"),
            named("message_delta", delta=7, usage=None),
            named("message_start", message=None),
        ],
        [Text("a")],
    ),
    "texts that are none": (
        [piece("text_delta", text=5), piece("thinking_delta", thinking=None), text("a")],
        [Text("a")],
    ),
    "nothing after message_stop": ([text("a"), OVER, text("b"), b"data: nonsense\n\n"], [Text("a")]),
    "[DONE], which this protocol has not": ([b"data: [DONE]\n\n", text("a")], [Text("a")]),
    "no blank line at the end": ([text("a"), text("b").rstrip()], [Text("a"), Text("b")]),
    "a character torn into two pieces": (
        [
            rb'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x\ud83c"}}', b"\n\n",
            rb'data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"\udf89y"}}', b"\n\n",
        ],
        [Text("x🎉y")],
    ),
    "a refusal that says why": (
        [stopped("refusal", {"type": "refusal", "category": "cyber", "explanation": "No."}), OVER],
        [NoteChunk("Refused: cyber: No."), UsageChunk(Usage(None, 3, None))],
    ),
    "a refusal without words": (
        [stopped("refusal", {"type": "refusal", "category": None}), OVER],
        [UsageChunk(Usage(None, 3, None))],
    ),
}  # fmt: skip


def merged(chunks: list[Chunk]) -> tuple[str, str, list[Chunk]]:
    texts = "".join(item.text for item in chunks if isinstance(item, Text))
    thoughts = "".join(item.text for item in chunks if isinstance(item, Reasoning))
    return texts, thoughts, [item for item in chunks if not isinstance(item, Text | Reasoning)]


@pytest.mark.parametrize(("data", "chunks"), STREAMS.values(), ids=STREAMS)
def test_a_stream_becomes_chunks(data: Sequence[bytes], chunks: list[Chunk]) -> None:
    assert read(b"".join(data))[1] == chunks


@pytest.mark.parametrize(("data", "chunks"), STREAMS.values(), ids=STREAMS)
def test_a_stream_in_single_bytes_says_the_same(data: Sequence[bytes], chunks: list[Chunk]) -> None:
    assert merged(read(b"".join(data), size=1)[1]) == merged(chunks)


REASONS: list[tuple[str | None, FinishReason | None, list[str]]] = [
    ("end_turn", "stop", []),
    ("stop_sequence", "stop", []),
    ("max_tokens", "length", []),
    ("tool_use", "tool_calls", []),
    ("refusal", "refusal", []),
    ("pause_turn", "pause", ["The server paused the answer before the model finished"]),
    (
        "model_context_window_exceeded",
        "context_window",
        ["The answer ended because the model's context window was full"],
    ),
    ("something new", "other", []),
    (None, None, []),
]


@pytest.mark.parametrize(("reason", "finish", "notes"), REASONS)
def test_stop_reasons(reason: str | None, finish: FinishReason | None, notes: list[str]) -> None:
    reader, chunks = read(text("a") + stopped(reason) + OVER)
    assert (reader.finish, reader.done) == (finish, True)
    assert [chunk.note for chunk in chunks if isinstance(chunk, NoteChunk)] == notes
    reader = decoder()
    reader.take_whole(json.dumps(message("a", reason=reason)).encode())
    assert (reader.finish, reader.done) == (finish, True)
    assert [chunk.note for chunk in reader.take() if isinstance(chunk, NoteChunk)] == notes


def test_without_message_stop_nothing_is_finished() -> None:
    reader, _ = read(started() + opened() + text("a") + closed() + stopped("end_turn") + b"data: [DONE]\n\n")
    assert (reader.finish, reader.done) == (None, False)


def test_pings_are_no_events() -> None:
    for ping in (PING, b'data: {"type": "ping"}\n\n', b"event: ping\ndata: {}\n\n"):
        reader, _ = read(ping + started() + ping + ping)
        assert reader.events == 1


def test_a_model_that_thinks_unseen_is_known_to_think() -> None:
    reader = decoder()
    seen = []
    for data in (
        opened(0, "thinking"),
        PING,
        piece("signature_delta", signature="x"),
        closed(),
        opened(1),
        text("a", 1),
    ):
        reader.feed(data)
        seen.append(reader.thinks)
    assert seen == [True, True, True, False, False, False]
    reader.feed(opened(2, "thinking") + piece("thinking_delta", 2, thinking="aloud"))
    assert not reader.thinks


OVERLOADED = {"type": "overloaded_error", "message": "Overloaded"}
ERRORS: dict[str, tuple[bytes, object]] = {
    "overloaded": (named("error", error=OVERLOADED, request_id="req_1"), OVERLOADED),
    "by its type alone": (b'data: {"type": "error", "error": {"type": "api_error"}}\n\n', {"type": "api_error"}),
    "by the event's name alone": (b'event: error\ndata: {"message": "m"}\n\n', {"message": "m"}),
    "without details": (named("error"), {"type": "error"}),
    "a gateway's": (b'data: {"error": {"message": "m", "code": 502}}\n\n', {"message": "m", "code": 502}),
}


@pytest.mark.parametrize(("data", "error"), ERRORS.values(), ids=ERRORS)
def test_an_error_in_a_stream(data: bytes, error: object) -> None:
    reader = decoder()
    with pytest.raises(ErrorObject) as caught:
        reader.feed(opened() + text("a") + data)
    assert caught.value.error == error
    assert reader.take() == [Text("a")]


def test_an_unreadable_chunk_is_named_by_its_number() -> None:
    reader = decoder()
    with pytest.raises(Unreadable, match=r"^Unreadable chunk 3$"):
        reader.feed(opened() + PING + text("a") + b"data: {nonsense\n\n")
    assert reader.take() == [Text("a")]


def test_sizes_are_bounded() -> None:
    reader = decoder(answer_size=3)
    with pytest.raises(AnswerTooLong):
        reader.feed(text("ab") + text("cd"))
    assert reader.take() == [Text("abc")]
    with pytest.raises(EventTooLong):
        decoder(event_size=1000).feed(text("x" * 1000))


THINKING = {"type": "thinking", "thinking": "hm", "signature": "x"}
TOOL = {"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}}
WHOLES: dict[str, tuple[dict[str, Any], list[Chunk]]] = {
    "text": (message("a"), [Text("a"), COUNTED]),
    "thinking and text": (message(THINKING, "a"), [Reasoning("hm"), Text("a"), COUNTED]),
    "several blocks": (message("a", {"type": "hologram"}, 7, "b"), [Text("ab"), COUNTED]),
    "a tool": (message("a", TOOL, reason="tool_use"), [Text("a"), COUNTED, ToolCall("look", '{"a": 1}')]),
    "no content": (message(), [COUNTED]),
    "null content": (message() | {"content": None}, [COUNTED]),
    "cached input": (
        message("a", input_tokens=1, cache_creation_input_tokens=2, cache_read_input_tokens=4, output_tokens=8),
        [Text("a"), UsageChunk(Usage(7, 8, None, 4, 2))],
    ),
    "no usage": ({"content": [{"type": "text", "text": "a"}]}, [Text("a")]),
}


@pytest.mark.parametrize(("answer", "chunks"), WHOLES.values(), ids=WHOLES)
def test_a_whole_message_becomes_chunks(answer: dict[str, Any], chunks: list[Chunk]) -> None:
    reader = decoder()
    reader.take_whole(json.dumps(answer).encode())
    assert reader.take() == chunks
    assert reader.done


def test_a_whole_answer_that_is_something_else() -> None:
    for raw in (b"", b"{", b"[]", b"7", b"[" * 100_000):
        with pytest.raises(Unreadable, match="not JSON"):
            decoder().take_whole(raw)
    for levels in range(850, 1_000):
        deep = json.dumps(message("a")).replace('"content": [', '"content": [{"type": "tool_use", "input": DEEP}, ')
        reader = decoder()
        with suppress(Unreadable):  # Python cannot parse the deepest
            reader.take_whole(deep.replace("DEEP", "[" * levels + "]" * levels).encode())
    for answer in ({"status": "ok"}, {"content": "a"}, {"choices": [{"message": {"content": "a"}}]}):
        with pytest.raises(NoAnswer):
            decoder().take_whole(json.dumps(answer).encode())
    with pytest.raises(ErrorObject) as caught:
        decoder().take_whole(json.dumps({"type": "error", "error": OVERLOADED}).encode())
    assert caught.value.error == OVERLOADED
