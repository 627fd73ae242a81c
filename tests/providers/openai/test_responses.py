"""OpenAI's Responses protocol in every shape of the wire, with no network."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.support.messages import named
from tests.support.responses import (
    added,
    begun,
    call,
    done,
    ended,
    message,
    reasoning,
    response,
    text,
    thought,
    usage,
)
from tui.model.provider_messages import Chunk, FinishReason, NoteChunk, Reasoning, Text, ToolCall, UsageChunk
from tui.model.results import Usage
from tui.providers.http.decoder import AnswerTooLong, ErrorObject, NoAnswer, Unreadable
from tui.providers.openai.responses import ResponsesDecoder

MIB = 1024 * 1024
COUNTED = UsageChunk(Usage(7, 3, 0, 0))
REFUSAL = {"type": "refusal", "refusal": "No."}


def decoder(answer_size: int = 16 * MIB) -> ResponsesDecoder:
    return ResponsesDecoder(answer_size, MIB)


def read(raw: bytes, size: int | None = None) -> tuple[ResponsesDecoder, list[Chunk]]:
    reader = decoder()
    chunks = []
    for start in range(0, len(raw), size or len(raw)):
        reader.feed(raw[start : start + (size or len(raw))])
        chunks += reader.take()
    reader.end()
    return reader, chunks + reader.take()


STREAMS: dict[str, tuple[Sequence[bytes], list[Chunk], FinishReason]] = {
    "text, which the last event repeats": (
        [begun(), added(message()), text("Grüß "), text("Gott 🎉"), done(message("Grüß Gott 🎉")),
         ended("completed", "Grüß Gott 🎉", usage=usage())],
        [Text("Grüß Gott 🎉"), COUNTED],
        "stop",
    ),
    "text in the last event only": ([begun(), ended("completed", "a", usage=usage())], [Text("a"), COUNTED], "stop"),
    "a character in two halves, which the last event repeats": (
        [text("a \ud83c"), text("\udf89"), ended("completed", "a 🎉")], [Text("a 🎉")], "stop",
    ),
    "half a character, which the last event completes": (
        [text("a \ud83c"), ended("completed", "a 🎉 b")], [Text("a 🎉 b")], "stop",
    ),
    "a half without a partner, which the last event repeats": (
        [text("a \ud83c b"), ended("completed", "a \ud83c b")], [Text("a \ufffd b")], "stop",
    ),
    "a half without a partner, which the last event replaces": (
        [text("a \ud83c b"), ended("completed", "a \ufffd b")], [Text("a \ufffd b")], "stop",
    ),
    "a thought, then text": (
        [begun(), added(reasoning()), thought("h"), thought("m"), done(reasoning("hm")), added(message()), text("a"),
         ended("completed", reasoning("hm"), "a", usage=usage(7, 3, 2))],
        [Reasoning("hm"), Text("a"), UsageChunk(Usage(7, 3, 2, 0))],
        "stop",
    ),
    "a thought in two parts": (
        [named("response.reasoning_summary_part.added", summary_index=0), thought("a"),
         named("response.reasoning_summary_part.added", summary_index=1), thought("b"), text("c"), ended()],
        [Reasoning("a\n\nb"), Text("c")],
        "stop",
    ),
    "a thought in full": (
        [named("response.reasoning_text.delta", delta="hm"), text("a"), ended()], [Reasoning("hm"), Text("a")], "stop",
    ),
    "a thought in the last event only": (
        [text("a"), ended("completed", reasoning("hm"), "a")], [Text("a"), Reasoning("hm")], "stop",
    ),
    "two messages": (
        [added(message()), text("a"), added(message()), text("b"), ended("completed", "a", "b")],
        [Text("a\n\nb")],
        "stop",
    ),
    "two messages in the last event only": ([ended("completed", "a", "b")], [Text("a\n\nb")], "stop"),
    "a refusal": (
        [named("response.refusal.delta", delta="No"), named("response.refusal.delta", delta="."),
         ended("completed", message(REFUSAL))],
        [Text("No.")],
        "declined",
    ),
    "a refusal in the last event after text": (
        [text("a "), ended("completed", message("a ", REFUSAL))], [Text("a No.")], "declined",
    ),
    "a refusal in pieces only": ([named("response.refusal.delta", delta="No."), ended()], [Text("No.")], "declined"),
    "a refusal in the last event only": ([ended("completed", message(REFUSAL))], [Text("No.")], "declined"),
    "a call, once": (
        [added(call("look", "")), named("response.function_call_arguments.delta", delta="{}"), done(call("look", "{}")),
         ended("completed", call("look", "{}"))],
        [ToolCall("look", "{}")],
        "tool_calls",
    ),
    "a call of the server's own": (
        [done({"id": "ws", "type": "web_search_call", "status": "completed"}), text("a"), ended("completed", "a")],
        [ToolCall("web_search"), Text("a")],
        "stop",
    ),
    "cut by the limit": (
        [text("a"), ended("incomplete", incomplete_details={"reason": "max_output_tokens"}, usage=usage())],
        [Text("a"), COUNTED],
        "length",
    ),
    "cut by a filter": ([text("a"), ended("incomplete", incomplete_details={"reason": "content_filter"})],
                        [Text("a")], "content_filter"),
    "cut for a reason that is none": (
        [text("a"), ended("incomplete", incomplete_details={"reason": "stop"})],
        [Text("a")],
        "incomplete",
    ),
    "cut for another reason": ([text("a"), ended("incomplete", incomplete_details=None)], [Text("a")], "incomplete"),
    "unknown events and items": (
        [named("response.hologram.delta", delta="x"), added({"type": "hologram"}), done({"type": "hologram"}),
         named("response.output_item.added", item=None), named("response.output_text.delta", delta=5),
         text("a"), named("response.output_text.done", text="a"), named("response.content_part.added", part={}),
         ended("completed", 7, {"type": "hologram", "content": [7, {"type": "x"}], "summary": 5})],
        [Text("a")],
        "stop",
    ),
    "keep-alives": ([named("keepalive", sequence_number=3), text("a"), ended()], [Text("a")], "stop"),
    "nothing after the end": ([text("a"), ended(), text("b"), b"data: nonsense\n\n"], [Text("a")], "stop"),
    "counts that are none": (
        [ended("completed", usage={"input_tokens": "7", "output_tokens": True, "output_tokens_details": None})],
        [UsageChunk(Usage(None, None, None))],
        "stop",
    ),
    "no response in the last event": ([text("a"), named("response.completed")], [Text("a")], "stop"),
}  # fmt: skip


@pytest.mark.parametrize(("data", "chunks", "finish"), STREAMS.values(), ids=STREAMS)
def test_a_stream_becomes_chunks(data: Sequence[bytes], chunks: list[Chunk], finish: FinishReason) -> None:
    reader, found = read(b"".join(data))
    assert found == chunks
    assert (reader.finish, reader.done) == (finish, True)


@pytest.mark.parametrize(("data", "chunks", "finish"), STREAMS.values(), ids=STREAMS)
def test_a_stream_in_single_bytes_says_the_same(
    data: Sequence[bytes], chunks: list[Chunk], finish: FinishReason
) -> None:
    def merged(items: list[Chunk]) -> tuple[str, str, list[Chunk]]:
        texts = "".join(item.text for item in items if isinstance(item, Text))
        thoughts = "".join(item.text for item in items if isinstance(item, Reasoning))
        return texts, thoughts, [item for item in items if not isinstance(item, Text | Reasoning)]

    reader, found = read(b"".join(data), size=1)
    assert merged(found) == merged(chunks)
    assert reader.finish == finish


@pytest.mark.parametrize(
    ("streamed", "last"),
    [
        ({"id": "a"}, {"id": "b"}),
        ({"id": None}, {}),
        ({}, {"id": None, "call_id": None}),
        ({}, {"call_id": "another"}),
        ({"id": "a", "call_id": "a"}, {"id": "b", "call_id": "b"}),
    ],
)
def test_a_call_with_other_ids_in_the_last_event_is_the_same_one(
    streamed: dict[str, Any], last: dict[str, Any]
) -> None:
    once = {**call("look", "{}"), **streamed}
    again = {**call("look", "{}"), **last}
    other = {**call("look", '{"a": 1}'), "id": "other", "call_id": "other"}
    _, chunks = read(done(once) + ended("completed", again, other))
    assert [(each.name, each.arguments) for each in chunks if isinstance(each, ToolCall)] == [
        ("look", "{}"),
        ("look", '{"a": 1}'),
    ]
    twin = {**again, "id": "twin", "call_id": "twin"}
    _, chunks = read(done(once) + ended("completed", twin, again))
    assert len([each for each in chunks if isinstance(each, ToolCall)]) == 2, "a second call with the same arguments"


def test_a_stream_without_its_last_event_is_not_finished() -> None:
    reader, chunks = read(begun() + text("half") + done(message("half")) + b"data: [DONE]\n\n")
    assert (chunks, reader.finish, reader.done) == ([Text("half")], None, False)


def test_a_model_thinks_until_it_says_something() -> None:
    reader = decoder()
    seen = []
    for data in (begun(), added(reasoning()), thought("hm"), added(message()), text("a")):
        reader.feed(data)
        seen.append(reader.thinks)
    assert seen == [True, True, True, False, False]


FAILURE = {"code": "server_error", "message": "m"}
ERRORS: dict[str, tuple[bytes, object]] = {
    "failed": (ended("failed", error=FAILURE), FAILURE),
    "failed without a word": (ended("failed"), {"message": "the response was failed"}),
    "cancelled": (ended("cancelled"), {"message": "the response was cancelled"}),
    "an error event": (
        named("error", code="rate_limit_exceeded", message="m", param=None),
        {"type": "error", "code": "rate_limit_exceeded", "message": "m", "param": None},
    ),
    "an error event with an object": (named("error", error=FAILURE), FAILURE),
    "an error of chat completions": (b'data: {"error": {"message": "m"}}\n\n', {"message": "m"}),
}


@pytest.mark.parametrize(("data", "error"), ERRORS.values(), ids=ERRORS)
def test_an_error_in_a_stream(data: bytes, error: object) -> None:
    reader = decoder()
    with pytest.raises(ErrorObject) as caught:
        reader.feed(begun() + text("a") + data)
    assert caught.value.error == error
    assert reader.take() == [Text("a")]


def test_what_cannot_be_read_is_reported() -> None:
    with pytest.raises(Unreadable, match=r"^Unreadable chunk 4$"):
        decoder().feed(begun() + text("a") + b"data: {no\n\n")
    reader = decoder(answer_size=3)
    with pytest.raises(AnswerTooLong):
        reader.feed(text("ab") + text("cd"))
    assert reader.take() == [Text("abc")]


WHOLES: dict[str, tuple[dict[str, Any], list[Chunk], FinishReason]] = {
    "text": (response("completed", "a", usage=usage()), [Text("a"), COUNTED], "stop"),
    "a thought and text": (response("completed", reasoning("h", "m"), "a"), [Reasoning("hm"), Text("a")], "stop"),
    "several parts": (response("completed", message("a", "b")), [Text("ab")], "stop"),
    "a call": (response("completed", call("look", "{}")), [ToolCall("look", "{}")], "tool_calls"),
    "a refusal": (response("completed", message(REFUSAL)), [Text("No.")], "declined"),
    "cut": (
        response("incomplete", "a", incomplete_details={"reason": "max_output_tokens"}),
        [Text("a")],
        "length",
    ),
    "nothing": (response("completed"), [], "stop"),
}


@pytest.mark.parametrize(("answer", "chunks", "finish"), WHOLES.values(), ids=WHOLES)
def test_a_whole_response_becomes_chunks(answer: dict[str, Any], chunks: list[Chunk], finish: FinishReason) -> None:
    reader = decoder()
    reader.take_whole(json.dumps(answer).encode())
    assert reader.take() == chunks
    assert (reader.finish, reader.done) == (finish, True)


def test_a_whole_answer_that_is_something_else() -> None:
    for raw in (b"", b"{", b"[]"):
        with pytest.raises(Unreadable, match="not JSON"):
            decoder().take_whole(raw)
    with pytest.raises(NoAnswer):
        decoder().take_whole(b'{"choices": []}')
    for answer in (response("failed", error=FAILURE), {"error": FAILURE}):
        with pytest.raises(ErrorObject) as caught:
            decoder().take_whole(json.dumps(answer).encode())
        assert caught.value.error == FAILURE


@pytest.mark.parametrize(
    ("final", "chunks", "finish"),
    [
        ("Paris. More", [Text("Paris. More")], "stop"),
        ("Paris.\n", [Text("Paris.\n")], "stop"),
        (
            "Lyon.",
            [Text("Paris."), NoteChunk("The final response contains another text than the stream")],
            "incomplete",
        ),
    ],
)
def test_the_final_text_is_compared_with_the_stream(final: str, chunks: list[Chunk], finish: FinishReason) -> None:
    reader, found = read(added(message()) + text("Paris.") + ended("completed", final))
    assert found == chunks
    assert reader.finish == finish


@pytest.mark.parametrize("status", ["incomplete", "failed", "in_progress"])
def test_an_item_that_is_unfinished_in_a_stream_without_a_final_output_is_incomplete(status: str) -> None:
    reader, found = read(added(message()) + text("a") + done({**message("a"), "status": status}) + ended("completed"))
    assert (found, reader.finish) == ([Text("a")], "incomplete")


def test_a_final_item_replaces_the_state_of_that_in_the_stream() -> None:
    reader, _ = read(text("a") + done({**message("a"), "status": "in_progress"}) + ended("completed", "a"))
    assert reader.finish == "stop"


@pytest.mark.parametrize(
    "last",
    [
        named("response.output_text.done", text="a and more"),
        named("response.output_text.done", text="a ") + named("response.output_text.done", text="and more"),
        named("response.refusal.done", refusal="a and more"),
        done(message("a and more")),
        done(message("a", " and more")) + named("response.output_text.done", text="a"),
    ],
)
@pytest.mark.parametrize("begun", [b"", text("a")])
def test_the_end_of_a_text_that_was_not_streamed_in_pieces(last: bytes, begun: bytes) -> None:
    _, found = read(begun + last + ended("completed"))
    assert found == [Text("a and more")]


def test_messages_that_were_not_streamed_in_pieces_are_separated() -> None:
    parts = [named("response.output_text.done", output_index=number, text=text) for number, text in enumerate("ab")]
    reader, found = read(added(message()) + text("a") + b"".join(parts) + ended("completed"))
    assert (found, reader.finish) == ([Text("a\n\nb")], "stop")


@pytest.mark.parametrize("last", [named("response.refusal.done", refusal="No."), done(message(REFUSAL))])
def test_a_refusal_that_was_not_streamed_in_pieces_is_declined(last: bytes) -> None:
    reader, found = read(last + ended("completed"))
    assert (found, reader.finish) == ([Text("No.")], "declined")


def test_whole_items_of_a_stream_are_limited_as_its_text_is() -> None:
    reader = decoder(answer_size=100)
    with pytest.raises(AnswerTooLong):
        reader.feed(done(message("x" * 60)) * 2)


@pytest.mark.parametrize(
    "answer",
    [
        {**response("completed", "a"), "status": "in_progress"},
        {**response("completed", "a"), "status": "queued"},
        {**response("completed", "a"), "status": "completed", "output": [{**message("a"), "status": "incomplete"}]},
        {**response("completed", "a"), "status": "completed", "output": [{**message("a"), "status": "failed"}]},
        {**response("completed", "a"), "status": "completed", "output": [{**message("a"), "status": "cancelled"}]},
    ],
)
def test_an_unfinished_response_is_incomplete(answer: dict[str, Any]) -> None:
    reader = decoder()
    reader.take_whole(json.dumps(answer).encode())
    assert reader.finish == "incomplete"


def test_details_of_an_incomplete_response_count_whatever_its_status() -> None:
    reader = decoder()
    answer = {**response("completed", "a"), "incomplete_details": {"reason": "max_output_tokens"}}
    reader.take_whole(json.dumps(answer).encode())
    assert reader.finish == "length"
