"""Answers in one piece and their fields: nothing, no JSON, the wrong type at each place, and numbers out of range."""

import functools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import astuple, replace
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
from tests.faults.wires import WIRES, Wire
from tests.support.replies import Reply, delta, events, page, status
from tests.support.responses import response
from tui.model.provider_messages import Chunk, Reasoning, Text, UsageChunk
from tui.model.results import MOST_TOKENS
from tui.providers.http.decoder import AnswerDecoder, ErrorObject, NoAnswer, Unreadable
from tui.providers.http.errors import Peer, error_object_fault
from tui.providers.http.limits import MIB

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_JSON = retried("garbled", "Unreadable answer (not JSON) from HOST")
PAGE = failed("garbled", "HOST sent a web page instead of an API response; check the base URL")
OTHER = failed("garbled", "HOST sent JSON that is not a {what}. Check the base URL.")
ENDED = retried("unreachable", "HOST ended the response before it was complete")
EMPTY = Outcome("error", "empty", "empty answer", usage=(7, 3))
UNCOUNTED = fine(usage=(None, None))


def sent(body: bytes, kind: str = "application/json", code: int = 200) -> Reply:
    return Reply((body,), code, (("Content-Type", kind),))


def whole(how: Callable[[bytes], bytes], kind: str = "application/json", code: int = 200) -> Maker:
    """Return an answer in one piece whose bytes are changed by this function."""
    return always(lambda wire: sent(how(json.dumps(wire.body("well", wire.counts(7, 3))).encode()), kind, code))


def changed(old: bytes, new: bytes) -> Maker:
    """Return an answer in one piece in which these bytes are replaced."""
    return whole(lambda body: body.replace(old, new))


def with_text(value: Any) -> Maker:
    """Return an answer whose text is this JSON value, in a stream or in one piece."""
    return lambda wire, stream: wire.stream(wire.text(value), wire.finish, wire.mark) if stream else wire.whole(value)


def with_usage(usage: Any) -> Maker:
    """Return an answer with this JSON value as its token counts, in a stream or in one piece."""

    def make(wire: Wire, stream: bool) -> Reply:
        if stream:
            return wire.stream(wire.text("well"), wire.counted(usage))
        return Reply((json.dumps(wire.body("well") | {"usage": usage}).encode(),))

    return make


def with_counts(value: Any) -> Maker:
    """Return an answer with this JSON value as each token count."""
    return lambda wire, stream: with_usage(wire.counts(value, value))(wire, stream)


BODIES = [
    Mode("nothing", sent(b""), NO_JSON),
    Mode("white space", sent(b" \r\n\t "), NO_JSON),
    Mode("a byte order mark alone", sent(b"\xef\xbb\xbf"), NO_JSON),
    Mode("plain words", sent(b"hello"), NO_JSON),
    Mode("plain words as text", sent(b"hello", "text/plain"), ENDED),
    Mode("words that begin like an event", sent(b"error code: 1020", "text/plain"), ENDED),
    Mode("a number", sent(b"7"), NO_JSON),
    Mode("a text", sent(b'"well"'), NO_JSON),
    Mode("null", sent(b"null"), NO_JSON),
    Mode("true", sent(b"true"), NO_JSON),
    Mode("NaN", sent(b"NaN"), NO_JSON),
    Mode("an empty list", sent(b"[]"), NO_JSON),
    Mode("a list with an answer", whole(lambda body: b"[%s]" % body), NO_JSON),
    Mode("an empty object", sent(b"{}"), OTHER),
    Mode("other JSON", status(200, {"status": "ok"}), OTHER),
    Mode("an answer of another protocol", always(lambda wire: WIRES[WIRES.index(wire) - 1].whole("well")), OTHER),
    Mode("half of an object", sent(b'{"choices": [{"mess'), NO_JSON),
    Mode("two objects", sent(b"{}{}"), NO_JSON),
    Mode("an answer and more", whole(lambda body: body + b" x"), NO_JSON),
    Mode("malformed JSON", whole(lambda body: body.replace(b'":', b'";', 1)), NO_JSON),
    Mode("100,000 brackets", sent(b"[" * 100_000), NO_JSON),
    Mode("100,000 objects", sent(b'{"a":' * 100_000), NO_JSON),
    Mode("UTF-16", whole(lambda body: body.decode().encode("utf-16-le")), NO_JSON),
    Mode("a page", page(), PAGE),
    Mode("a page as text", page(kind="text/plain"), PAGE),
    Mode("a page as JSON", page(kind="application/json"), PAGE),
    Mode("a page as events", page("\n <html>", kind="text/event-stream"), PAGE),
    Mode("a page after a byte order mark", page("\ufeff<html>"), PAGE),
    Mode("an answer labelled as a page", whole(bytes, "text/html"), PAGE),
    Mode("an answer after a byte order mark", whole(lambda body: b"\xef\xbb\xbf" + body), fine()),
    Mode("an answer in white space", whole(lambda body: b" \n" + body + b"\n "), fine()),
    Mode("an answer in single bytes", always(lambda wire: wire.whole("Grüß 🎉").split()), fine("Grüß 🎉")),
    Mode("a stream where one piece was requested", always(lambda wire: wire.answer("well", stream=True)), fine()),
    Mode("bytes that are no UTF-8", changed(b'"well"', b'"we\xffl\xc3"'), fine("we\ufffdl\ufffd")),
    Mode("a member twice", changed(b'"usage"', b'"usage": 7, "usage"'), fine()),
    Mode("members that are unknown", changed(b'"usage"', b'"x": {"y": [null, 1e999, NaN]}, "usage"'), fine()),
    Mode("a member of 500 levels", changed(b'"usage"', b'"x": ' + b"[" * 500 + b"]" * 500 + b', "usage"'), fine()),
    Mode("a number of 5,000 digits", changed(b'"usage"', b'"x": ' + b"9" * 5000 + b', "usage"'), NO_JSON),
    Mode(
        "an error in one piece",
        status(200, {"error": {"message": "busy"}}),
        retried("refused", "HOST sent an error: busy"),
    ),
    Mode(
        "an error beside an answer",
        changed(b'"usage"', b'"error": "busy", "usage"'),
        retried("refused", "HOST sent an error: busy"),
    ),
    Mode("null beside an answer", changed(b'"usage"', b'"error": null, "usage"'), fine()),
    *(Mode(f"{code} with an answer", whole(bytes, code=code), fine()) for code in (201, 202, 203, 206, 226, 299)),
    Mode("204", Reply((), 204, ()), ENDED),
    Mode("204 as JSON", Reply((), 204), NO_JSON),
    Mode("205", Reply((), 205, ()), ENDED),
]

TEXTS: list[tuple[str, Any]] = [
    ("null", None),
    ("a number", 7),
    ("true", True),
    ("an object", {"text": "no"}),
    ("an empty list", []),
    ("empty", ""),
]
WORDS: list[tuple[str, str, str]] = [
    ("NUL", "a\0b", "a\0b"),
    ("escapes", "\x1b]52;c;eA==\x07\x9b31m", "\x1b]52;c;eA==\x07\x9b31m"),
    ("line separators", "a\u2028b\u2029c\x85d\x0be\x0cf\r\ng\rh", "a\u2028b\u2029c\x85d\x0be\x0cf\r\ng\rh"),
    ("a byte order mark", "\ufeffa\ufeff", "\ufeffa\ufeff"),
    ("bidi controls", "\u202ea\u2066b", "\u202ea\u2066b"),
    ("markup", "[/foo] [red]", "[/foo] [red]"),
    ("non-characters", "\uffff\U0010ffff", "\uffff\U0010ffff"),
    ("[DONE]", "[DONE]", "[DONE]"),
    ("an event", "data: x\n\ndata: [DONE]\n\n", "data: x\n\ndata: [DONE]\n\n"),
    ("a page", "<html>", "<html>"),
]
SURROGATES: list[tuple[str, str, str]] = [
    ("a lone first half", "a\ud83cb", "a\ufffdb"),
    ("a lone second half", "a\udf89b", "a\ufffdb"),
    ("a first half at the end", "a\ud83c", "a\ufffd"),
    ("the halves in the wrong order", "\udf89\ud83c", "\ufffd\ufffd"),
]


def escaped(words: str) -> Maker:
    """Return an answer whose text is escaped as ASCII in JSON: half a character has no bytes of its own."""

    def make(wire: Wire, stream: bool) -> Reply:
        form = json.dumps(words).encode()[1:-1]
        reply = wire.answer("TEXT", stream)
        body = tuple(move.replace(b"TEXT", form) if isinstance(move, bytes) else move for move in reply.body)
        return replace(reply, body=body)

    return make


FIELDS = [
    *(Mode(f"{name} as text", with_text(value), EMPTY) for name, value in TEXTS),
    *(Mode(f"{name} in the text", with_text(words), fine(kept)) for name, words, kept in WORDS),
    *(Mode(f"{name} in the text, escaped", escaped(words), fine(kept)) for name, words, kept in (*WORDS, *SURROGATES)),
    Mode(
        "a character in two chunks",
        always(
            lambda wire: wire.stream(
                wire.text("HALF").replace(b"HALF", rb"we\ud83c"),
                wire.text("HALF").replace(b"HALF", rb"\udf89ll"),
                wire.finish,
                wire.mark,
            )
        ),
        fine("we🎉ll"),
    ),
]

USAGES: list[tuple[str, Any]] = [
    ("a number", 7),
    ("a text", "x"),
    ("a list", [1, 2]),
    ("true", True),
    ("an empty object", {}),
    ("null", None),
]
COUNTS: list[tuple[str, Any, int | None]] = [
    ("zero", 0, 0),
    ("2^53", 2**53, 2**53),
    ("more than 2^53", 2**53 + 1, None),
    ("400 digits", 10**400, None),
    ("4,300 digits", int("9" * 4300), None),
    ("a negative number", -1, None),
    ("400 digits below zero", -(10**400), None),
    ("a fraction", 3.5, None),
    ("a whole fraction", 3.0, None),
    ("infinity", float("inf"), None),
    ("NaN", float("nan"), None),
    ("a text", "3", None),
    ("true", True, None),
    ("a list", [3], None),
    ("an object", {"n": 3}, None),
]
FIGURES = [
    *(
        Mode(f"{name} as usage", with_usage(value), {"messages stream": fine(usage=(7, None)), "": UNCOUNTED})
        for name, value in USAGES
    ),
    *(Mode(f"counts of {name}", with_counts(value), fine(usage=(kept, kept))) for name, value, kept in COUNTS),
    Mode("counts of null", with_counts(None), {"messages stream": fine(usage=(7, None)), "": UNCOUNTED}),
]
TOTAL = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10**400}
CACHED = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 10**400, "cache_creation_input_tokens": -1}
DETAILS = {"input_tokens": 7, "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 10**400}}
BROKEN_CHOICE = {"message": {"content": "half "}, "finish_reason": None, "error": {"code": 502, "message": "died"}}
OWN = [
    (
        "chat",
        Mode("an error in the choice", status(200, {"choices": [BROKEN_CHOICE]}), partial("HOST sent an error: died")),
    ),
    (
        "chat",
        Mode(
            "an error in a choice without text",
            status(200, {"choices": [BROKEN_CHOICE | {"message": None}]}),
            retried("refused", "HOST sent an error: died"),
        ),
    ),
    (
        "responses",
        Mode(
            "failed after text without an error",
            status(200, response("failed", "half ")),
            partial("HOST sent an error: the response was failed"),
        ),
    ),
    ("chat", Mode("a total of 400 digits", with_usage(TOTAL), fine())),
    (
        "chat",
        Mode(
            "timings of 400 digits",
            events({**delta("well", "stop"), "timings": {"prompt_n": 7, "predicted_n": 10**400}}),
            fine(usage=(7, None)),
        ),
    ),
    ("messages", Mode("cached input of 400 digits", with_usage(CACHED), fine())),
    (
        "messages",
        Mode(
            "input and cached input of 2^53",
            with_usage({"input_tokens": 2**53, "output_tokens": 3, "cache_read_input_tokens": 2**53}),
            fine(usage=(None, 3)),
        ),
    ),
    ("responses", Mode("reasoning of 400 digits", with_usage(DETAILS), fine())),
]
MODES: Sequence[Mode] = [*BODIES, *FIELDS, *FIGURES]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_body(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


@pytest.mark.parametrize(("protocol", "mode"), OWN, ids=str)
async def test_a_body_of_one_protocol(faults: FaultServer, protocol: str, mode: Mode) -> None:
    assert await differences(faults, mode, protocol) == []


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.is_retried], ids=str)
async def test_a_body_that_is_wrong_once(faults: FaultServer, mode: Mode) -> None:
    assert await differences_after_one(faults, mode) == []


JSON_VALUES: Sequence[Any] = (None, True, 0, -1, 1.5, "x", "", [], [None], {}, {"x": None}, 10**400)


def mutations(value: Any) -> Iterator[Any]:
    """Yield the JSON value with another type at each of its places, and without each of its members."""
    yield from JSON_VALUES
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for place, part in list(places):
        for other in mutations(part):
            changed_value = copy(value)
            changed_value[place] = other
            yield changed_value
        without = copy(value)
        del without[place]
        yield without


def decoded(wire: Wire, feed: Callable[[AnswerDecoder], None]) -> list[Chunk]:
    """Return the chunks of an answer, which may end in an error of the server's, but in no other."""
    decoder = wire.decoder(MIB, MIB)
    try:
        feed(decoder)
    except (Unreadable, NoAnswer):
        pass
    except ErrorObject as found:
        error_object_fault(found.error, PEER)
    return decoder.take()


def feed_all(decoder: AnswerDecoder, raw: bytes) -> None:
    """Decode a stream to its end."""
    decoder.feed(raw)
    decoder.end()


PEER = Peer("h", "h:1")
ALLOWED = re.compile(r"(well|x|\n\n)*")


def assert_sound(chunks: Sequence[Chunk]) -> None:
    """Assert that the chunks have no text but that of the answer and of the changes, and counts in their range."""
    text = "".join(chunk.text for chunk in chunks if isinstance(chunk, Text | Reasoning))
    assert ALLOWED.fullmatch(text), text
    for usage in (chunk.usage for chunk in chunks if isinstance(chunk, UsageChunk)):
        for count in astuple(usage):
            assert count is None or (type(count) is int and 0 <= count <= MOST_TOKENS)


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_any_type_at_any_place_of_an_answer(wire: Wire) -> None:
    answer = wire.body("well", wire.counts(7, 3))
    for mutation in mutations(answer):
        body = json.dumps(mutation).encode()
        assert_sound(decoded(wire, functools.partial(AnswerDecoder.take_whole, data=body)))


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_any_type_at_any_place_of_a_stream(wire: Wire) -> None:
    body = b"".join(move for move in wire.answer("well", stream=True).body if isinstance(move, bytes))
    blocks = body.split(b"\n\n")
    for place, block in enumerate(blocks):
        name, mark, data = block.rpartition(b"data: ")
        if not mark or data == b"[DONE]":
            continue
        for mutation in mutations(json.loads(data)):
            mutated = name + mark + json.dumps(mutation).encode()
            raw = b"\n\n".join([*blocks[:place], mutated, *blocks[place + 1 :]])
            assert_sound(decoded(wire, functools.partial(feed_all, raw=raw)))
