"""Streams of server-sent events in every shape: line ends, splits, comments, order, errors and what follows the end."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.fault_server import (
    FaultServer,
    Maker,
    Mode,
    Outcome,
    always,
    differences,
    differences_after_one,
    failed,
    fine,
    partial,
    retried,
)
from tests.faults.wires import Wire
from tests.support.messages import named
from tests.support.replies import Move, Reply, delta, event, events
from tests.support.responses import ended, response

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORDS = "Grüß Gott 🎉 日本"
BEGUN = (7, None)
ENDED = "HOST ended the response before it was complete"


def well(wire: Wire, *before_mark: bytes, after: bytes = b"") -> Reply:
    """Return a complete stream with these events before its last one, and these bytes after it."""
    moves = (wire.text(WORDS), wire.finish, *before_mark, wire.mark, after)
    return wire.stream(*moves)


def kept(reply: Callable[[Reply], Reply]) -> Maker:
    """Return a complete stream as this function changes it."""
    return always(lambda wire: reply(well(wire)))


def joined(reply: Reply) -> bytes:
    return b"".join(move for move in reply.body if isinstance(move, bytes))


def framed(how: Callable[[bytes], bytes]) -> Callable[[Reply], Reply]:
    return lambda reply: replace(reply, body=(how(joined(reply)),))


def in_two(data: bytes) -> bytes:
    """Return the events with their data in two lines, divided between two members of the object."""
    return data.replace(b', "', b',\ndata: "').replace(b'","', b'",\ndata: "')


SHAPES = [
    Mode("CRLF", kept(lambda reply: reply.line_ends(b"\r\n")), fine(WORDS)),
    Mode("CR", kept(lambda reply: reply.line_ends(b"\r")), fine(WORDS)),
    Mode("in single bytes", kept(lambda reply: reply.split()), fine(WORDS)),
    Mode("in single bytes with CRLF", kept(lambda reply: reply.line_ends(b"\r\n").split()), fine(WORDS)),
    Mode("in single bytes with CR", kept(lambda reply: reply.line_ends(b"\r").split()), fine(WORDS)),
    Mode("in pieces of 2 bytes", kept(lambda reply: reply.split(2)), fine(WORDS)),
    Mode("in pieces of 7 bytes", kept(lambda reply: reply.split(7)), fine(WORDS)),
    Mode("by length", kept(lambda reply: replace(reply, framing="length")), fine(WORDS)),
    Mode("until the connection closes", kept(lambda reply: replace(reply, framing="close")), fine(WORDS)),
    Mode("a byte order mark", kept(framed(lambda data: b"\xef\xbb\xbf" + data)), fine(WORDS)),
    Mode("blank lines first", kept(framed(lambda data: b"\n\r\n\n" + data)), fine(WORDS)),
    Mode("no space after the colon", kept(framed(lambda data: data.replace(b"data: ", b"data:"))), fine(WORDS)),
    Mode("data in two lines", kept(framed(in_two)), fine(WORDS)),
    Mode(
        "ids and retries",
        kept(framed(lambda data: data.replace(b"data: ", b"id: 7\nretry: 1e400\ndata: "))),
        fine(WORDS),
    ),
    Mode("unknown fields", kept(framed(lambda data: data.replace(b"data: ", b"foo: bar\nfoo\ndata: "))), fine(WORDS)),
    Mode("comments between", kept(framed(lambda data: data.replace(b"\n\n", b"\n\n: PROCESSING\n\n"))), fine(WORDS)),
    Mode("comments within", kept(framed(lambda data: data.replace(b"data: ", b": x\ndata: "))), fine(WORDS)),
    Mode("events without data", kept(framed(lambda data: data.replace(b"\n\n", b"\n\nevent: x\n\n"))), fine(WORDS)),
    Mode("empty data", kept(framed(lambda data: data.replace(b"\n\n", b"\n\ndata:\n\ndata\n\n"))), fine(WORDS)),
    Mode("no blank line at the end", kept(framed(bytes.rstrip)), fine(WORDS)),
    Mode("one line end at the end", kept(framed(lambda data: data.rstrip() + b"\n")), fine(WORDS)),
    Mode("NUL between", kept(framed(lambda data: data.replace(b"\n\n", b"\n\n\0\n\n"))), fine(WORDS)),
    Mode(
        "events of unknown names",
        kept(framed(lambda data: data.replace(b"\n\n", b'\n\nevent: y\ndata: {"a": 1}\n\n'))),
        fine(WORDS),
    ),
    Mode("pings", kept(framed(lambda data: data.replace(b"\n\n", b"\n\nevent: ping\ndata: [\n\n"))), fine(WORDS)),
    Mode(
        "labelled as JSON",
        kept(lambda reply: replace(reply, headers=(("Content-Type", "application/json"),))),
        fine(WORDS),
    ),
    Mode(
        "labelled as text", kept(lambda reply: replace(reply, headers=(("Content-Type", "text/plain"),))), fine(WORDS)
    ),
    Mode("without a label", kept(lambda reply: replace(reply, headers=())), fine(WORDS)),
    Mode("one piece where a stream was requested", always(lambda wire: wire.whole("well")), fine()),
]

MOVES = [
    Mode("events after the last", always(lambda wire: well(wire, after=wire.text("more"))), fine(WORDS)),
    Mode("nonsense after the last", always(lambda wire: well(wire, after=b"data: nonsense\n\n")), fine(WORDS)),
    Mode("an error after the last", always(lambda wire: well(wire, after=event({"error": "late"}))), fine(WORDS)),
    Mode("the last event twice", always(lambda wire: well(wire, wire.mark)), fine(WORDS)),
    Mode("finished twice", always(lambda wire: well(wire, wire.finish or event({"type": "x"}))), fine(WORDS)),
    Mode(
        "started twice", always(lambda wire: events(wire.start, well(wire).body[0], *well(wire).body[1:])), fine(WORDS)
    ),
    Mode(
        "no start",
        always(lambda wire: events(*well(wire).body[1:])),
        {"messages": fine(WORDS, usage=(None, 3)), "": fine(WORDS)},
    ),
    Mode(
        "no last event",
        always(lambda wire: events(*well(wire).body[:-1])),
        {"chat": fine(WORDS), "responses": partial(ENDED, WORDS), "messages": partial(ENDED, WORDS, usage=(7, 3))},
    ),
    Mode(
        "no last event, but [DONE]",
        always(lambda wire: events(*well(wire).body[:-1], b"data: [DONE]\n\n")),
        {"chat": fine(WORDS), "responses": partial(ENDED, WORDS), "messages": partial(ENDED, WORDS, usage=(7, 3))},
    ),
    Mode(
        "no finish reason",
        always(lambda wire: wire.stream(wire.text(WORDS), wire.mark)),
        {"chat": fine(WORDS, usage=(None, None)), "responses": fine(WORDS), "messages": fine(WORDS, usage=BEGUN)},
    ),
    Mode(
        "the last event first",
        always(lambda wire: events(wire.mark, *well(wire).body)),
        {
            "responses": Outcome("error", "empty", "empty answer", usage=(7, 3)),
            "": Outcome("error", "empty", "empty answer"),
        },
    ),
    Mode(
        "the finish before the text",
        always(lambda wire: wire.stream(wire.finish, wire.text(WORDS), wire.mark)),
        fine(WORDS),
    ),
    Mode(
        "no text",
        always(lambda wire: wire.stream(wire.finish, wire.mark)),
        Outcome("error", "empty", "empty answer", usage=(7, 3)),
    ),
    Mode(
        "empty text",
        always(lambda wire: wire.stream(wire.text(""), wire.finish, wire.mark)),
        Outcome("error", "empty", "empty answer", usage=(7, 3)),
    ),
    Mode(
        "white space as text",
        always(lambda wire: wire.stream(wire.text(" \n"), wire.finish, wire.mark)),
        failed("empty", "empty answer", text=" \n", usage=(7, 3)),
    ),
]


def after_text(*moves: Move) -> Maker:
    return always(lambda wire: wire.stream(wire.text("half "), *moves))


def before_text(*moves: Move) -> Maker:
    return always(lambda wire: wire.stream(*moves))


def halved(error: str) -> dict[str, Outcome]:
    return {"messages": partial(error, usage=BEGUN), "": partial(error)}


def unbegun(outcome: Outcome) -> dict[str, Outcome]:
    return {"messages": replace(outcome, usage=BEGUN), "": outcome}


CHUNKS: list[tuple[str, bytes]] = [
    ("not JSON", b"data: nonsense\n\n"),
    ("half of an object", b'data: {"a": \n\n'),
    ("a number", b"data: 7\n\n"),
    ("a text", b'data: "x"\n\n'),
    ("null", b"data: null\n\n"),
    ("a list", b'data: [{"a": 1}]\n\n'),
    ("two objects", b'data: {"a": 1}{"b": 2}\n\n'),
    ("NUL in an object", b'data: {"a": "\0"}\n\n'),
    ("100,000 brackets", b"data: " + b'{"a":[' * 50_000 + b"\n\n"),
    ("a number of 5,000 digits", b'data: {"a": ' + b"9" * 5000 + b"}\n\n"),
]
FINAL = {"message": "no", "type": "invalid_request_error"}
ERRORS: list[tuple[str, bytes, Outcome]] = [
    ("an error", event({"error": {"message": "busy"}}), retried("refused", "HOST sent an error: busy")),
    ("a text as error", event({"error": "busy"}), retried("refused", "HOST sent an error: busy")),
    ("a number as error", event({"error": 7}), retried("refused", "HOST sent an error: an error without a message")),
    (
        "an empty error",
        event({"error": {"x": 1}}),
        retried("refused", "HOST sent an error: an error without a message"),
    ),
    ("a final error", event({"error": FINAL}), failed("refused", "HOST sent an error: no")),
    (
        "an error by its event's name",
        b'event: error\ndata: {"message": "busy"}\n\n',
        retried("refused", "HOST sent an error: busy"),
    ),
    (
        "a limit",
        event({"error": {"message": "slow", "type": "rate_limit_error"}}),
        retried("overloaded", "HOST rate limit reached: slow"),
    ),
    (
        "an overload",
        event({"error": {"message": "m", "type": "overloaded_error"}}),
        retried("overloaded", "HOST is overloaded: m"),
    ),
    (
        "a long error",
        event({"error": {"message": "x" * 5000}}),
        retried("refused", "HOST sent an error: " + "x" * 299 + "…"),
    ),
    (
        "an error with escapes",
        event({"error": {"message": "\x1b]52;c;x\x07\u202e"}}),
        retried("refused", "HOST sent an error: ␛]52;c;x␇<U+202E>"),
    ),
    (
        "an error of many levels",
        b'data: {"error":' + b'{"error":' * 900 + b'"m"' + b"}" * 901 + b"\n\n",
        retried("refused", "HOST sent an error: an error without a message"),
    ),
    (
        "an error with a code of 4,300 digits",
        b'data: {"error": {"message": "m", "code": ' + b"4" * 4300 + b"}}\n\n",
        retried("refused", "HOST sent an error: m"),
    ),
    (
        "an error whose type is a list",
        event({"error": {"message": "m", "type": [], "code": {}}}),
        retried("refused", "HOST sent an error: m"),
    ),
]


FAULTS = [
    *(
        Mode(
            f"{name} before the text",
            before_text(data),
            unbegun(retried("garbled", "Unreadable chunk {next} from HOST")),
        )
        for name, data in CHUNKS
    ),
    *(
        Mode(f"{name} after text", after_text(data), halved("Unreadable chunk {last} from HOST"))
        for name, data in CHUNKS
    ),
    *(Mode(f"{name} before the text", before_text(data), unbegun(outcome)) for name, data, outcome in ERRORS),
    *(Mode(f"{name} after text", after_text(data), halved(str(outcome.error))) for name, data, outcome in ERRORS),
    *(Mode(f"{name} first of all", events(data), outcome) for name, data, outcome in ERRORS),
]
MODES: Sequence[Mode] = [*SHAPES, *MOVES, *FAULTS]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_stream(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.is_retried], ids=str)
async def test_a_stream_that_fails_once(faults: FaultServer, mode: Mode) -> None:
    assert await differences_after_one(faults, mode) == []


DEEP: Any = json.loads("[" * 900 + "]" * 900)
# OpenRouter reports a failure of the server behind it within the choice.
BROKEN: dict[str, Any] = delta("", "error")
BROKEN["choices"][0]["error"] = {"code": 502, "message": "upstream died"}
WITHOUT_ERROR: dict[str, Any] = delta("well", "stop")
WITHOUT_ERROR["choices"][0]["error"] = None
CHAT = [
    Mode(
        "two choices",
        events(
            {"choices": [{"index": 1, "delta": {"content": "no"}}, {"index": 0, "delta": {"content": "well"}}]},
            delta(finish="stop"),
        ),
        fine(usage=(None, None)),
    ),
    Mode(
        "empty, null and no choices",
        events(
            {"choices": []},
            {"choices": None},
            {"choices": 7},
            {"id": "x"},
            {"choices": [None, 7, []]},
            delta("well", "stop"),
        ),
        fine(usage=(None, None)),
    ),
    Mode("null delta", events({"choices": [{"delta": None}]}, delta("well", "stop")), fine(usage=(None, None))),
    Mode(
        "two finish reasons",
        events(delta("well", "length"), delta(finish="stop"), "[DONE]"),
        Outcome("incomplete", error="The answer stopped early: token limit (length)", text="well", usage=(None, None)),
    ),
    Mode(
        "an error as the last event, without its blank line",
        events(delta("well", "stop"), b'data: {"error": {"message": "upstream aborted"}}'),
        partial("HOST sent an error: upstream aborted", "well"),
    ),
    Mode(
        "an error as the finish reason",
        events(delta("well", "error"), "[DONE]"),
        Outcome(
            "incomplete",
            error="The answer stopped early: incomplete, by the provider (incomplete)",
            text="well",
            usage=(None, None),
        ),
    ),
    Mode(
        "a finish reason with a prefix",
        events(delta("well", "content_filter: RECITATION"), "[DONE]"),
        Outcome(
            "incomplete",
            error="The answer stopped early: content filter (content_filter)",
            text="well",
            usage=(None, None),
        ),
    ),
    Mode(
        "an error in the choice after text",
        events(delta("half "), BROKEN),
        partial("HOST sent an error: upstream died"),
    ),
    Mode(
        "an error in the choice before the text",
        events(BROKEN),
        retried("refused", "HOST sent an error: upstream died"),
    ),
    Mode("null as the choice's error", events(WITHOUT_ERROR, "[DONE]"), fine(usage=(None, None))),
    Mode("a finish reason that is a number", events(delta("well", 7), "[DONE]"), fine(usage=(None, None))),  # type: ignore[arg-type]
    Mode("text after the finish reason", events(delta("we", "stop"), delta("ll"), "[DONE]"), fine(usage=(None, None))),
    Mode(
        "unreadable after the finish reason",
        events(delta("well", "stop"), "nonsense"),
        partial("Unreadable chunk 2 from HOST", "well"),
    ),
    Mode(
        "a type of 900 levels in a part",
        events({"choices": [{"delta": {"content": [{"type": DEEP, "text": "well"}]}, "finish_reason": "stop"}]}),
        fine(usage=(None, None)),
    ),
    Mode(
        "a tool's index of 900 levels",
        events(delta("well", tool_calls=[{"index": DEEP, "function": {"name": "f"}}]), delta(finish="stop")),
        fine(usage=(None, None)),
    ),
]
MESSAGES = [
    Mode(
        "an input of 900 levels",
        events(
            named(
                "content_block_start", index=0, content_block={"type": "tool_use", "name": "f", "input": {"a": DEEP}}
            ),
            named("content_block_start", index=DEEP, content_block={"type": "text", "text": "well"}),
            named("message_stop"),
        ),
        fine(usage=(None, None)),
    ),
]
RESPONSES = [
    Mode(
        "failed",
        events(ended("failed", error={"code": "server_error", "message": "oops"})),
        retried("refused", "HOST sent an error: oops"),
    ),
    Mode(
        "failed without an error",
        events(ended("failed")),
        retried("refused", "HOST sent an error: the response was failed"),
    ),
    Mode("cancelled", events(ended("cancelled")), retried("refused", "HOST sent an error: the response was cancelled")),
    Mode(
        "limited",
        events(named("error", code="rate_limit_exceeded", message="slow")),
        retried("overloaded", "HOST rate limit reached: slow"),
    ),
    Mode(
        "refused",
        events(ended("failed", error={"code": "invalid_prompt", "message": "no"})),
        failed("refused", "HOST sent an error: no"),
    ),
    Mode(
        "a failure with a completed response",
        events(named("response.failed", response=response("completed", "well"))),
        partial("HOST sent an error: the response was failed", "well"),
    ),
    Mode(
        "a completion with a failed response",
        events(named("response.completed", response=response("failed", "well"))),
        partial("HOST sent an error: the response was failed", "well"),
    ),
    Mode(
        "a cancellation with a completed response",
        events(named("response.cancelled", response=response("completed", "well"))),
        partial("HOST sent an error: the response was cancelled", "well"),
    ),
    Mode(
        "an early end with a completed response",
        events(named("response.incomplete", response=response("completed", "well"))),
        Outcome(
            "incomplete",
            error="The answer stopped early: incomplete, by the provider (incomplete)",
            text="well",
            usage=(None, None),
        ),
    ),
    Mode(
        "an error in a completed response",
        events(ended("completed", "well", error={"code": "server_error", "message": "oops"})),
        partial("HOST sent an error: oops", "well"),
    ),
    Mode(
        "failed after text",
        always(
            lambda wire: wire.stream(
                wire.text("half "), ended("failed", error={"code": "server_error", "message": "oops"})
            )
        ),
        partial("HOST sent an error: oops"),
    ),
]


OWN = [
    (name, mode) for name, modes in (("chat", CHAT), ("messages", MESSAGES), ("responses", RESPONSES)) for mode in modes
]


@pytest.mark.parametrize(("protocol", "mode"), OWN, ids=str)
async def test_a_stream_of_one_protocol(faults: FaultServer, protocol: str, mode: Mode) -> None:
    assert await differences(faults, mode, protocol) == []
    assert await differences_after_one(faults, mode, protocol) == []
