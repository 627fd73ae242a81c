"""Server-sent events over every shape and split."""

import pytest

from tui.providers.http.sse import EventTooLong, SseDecoder, SseEvent

LONGEST = 1024


def decode(*pieces: bytes) -> list[SseEvent]:
    decoder = SseDecoder(LONGEST)
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return [*events, *decoder.flush()]


def data(*texts: str) -> list[SseEvent]:
    return [SseEvent("", text) for text in texts]


SHAPES = {
    "one": (b"data: a\n\n", data("a")),
    "two in one piece": (b"data: a\n\ndata: b\n\n", data("a", "b")),
    "no space after the colon": (b"data:a\n\n", data("a")),
    "only one space is taken": (b"data:  a\n\n", data(" a")),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", data("a", "b")),
    "CR": (b"data: a\r\rdata: b\r\r", data("a", "b")),
    "mixed line ends": (b"data: a\r\n\ndata: b\n\r\n", data("a", "b")),
    "several data lines": (b"data: a\ndata: b\ndata:\ndata: c\n\n", data("a\nb\n\nc")),
    "comments": (b": OPENROUTER PROCESSING\n\ndata: a\n: x\n\n:\n\n", data("a")),
    "a comment before the data": (b": ping\ndata: a\n\n", data("a")),
    "named": (b"event: error\ndata: a\n\n", [SseEvent("error", "a")]),
    "other fields": (b"id: 7\nretry: 10\ndata: a\nfoo\n\n", data("a")),
    "an event without data": (b"event: ping\n\ndata: a\n\n", data("a")),
    "a data line without a colon": (b"data\n\n", data("")),
    "empty data": (b"data:\n\ndata: a\n\n", data("", "a")),
    "blank lines between": (b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n", data("a", "b")),
    "no blank line at the end": (b"data: a\n\ndata: b", data("a", "b")),
    "one line end at the end": (b"data: a\n\ndata: b\n", data("a", "b")),
    "a byte order mark": (b"\xef\xbb\xbfdata: a\n\n", data("a")),
    "line separators that are not": ("data: a\u2028b\u2029c\x85d\x0be\n\n".encode(), data("a\u2028b\u2029c\x85d\x0be")),
    "characters of four bytes": ("data: 🎉日本\n\n".encode(), data("🎉日本")),
    "bytes that are not UTF-8": (b"data: a\xffb\n\n", data("a\ufffdb")),
    "colons in the data": (b'data: {"a": "b:c"}\n\n', data('{"a": "b:c"}')),
    "nothing": (b"", []),
    "only comments": (b": a\n\n: b\n\n", []),
}


@pytest.mark.parametrize(("raw", "events"), SHAPES.values(), ids=SHAPES)
def test_a_shape_is_read_right(raw: bytes, events: list[SseEvent]) -> None:
    assert decode(raw) == events


@pytest.mark.parametrize(("raw", "events"), SHAPES.values(), ids=SHAPES)
def test_a_shape_is_read_right_byte_by_byte(raw: bytes, events: list[SseEvent]) -> None:
    assert decode(*(raw[place : place + 1] for place in range(len(raw)))) == events


@pytest.mark.parametrize(("raw", "events"), SHAPES.values(), ids=SHAPES)
def test_a_shape_is_read_right_at_every_split(raw: bytes, events: list[SseEvent]) -> None:
    for place in range(len(raw) + 1):
        assert decode(raw[:place], raw[place:]) == events, place


def test_an_event_is_given_as_soon_as_it_is_whole() -> None:
    decoder = SseDecoder(LONGEST)
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\ndata: b") == data("a")
    assert decoder.feed(b"\r") == []
    assert decoder.feed(b"\r") == data("b")


@pytest.mark.parametrize("ending", [b"", b"\n\n"])
def test_an_event_over_the_limit_is_refused(ending: bytes) -> None:
    assert decode(b"data: " + b"x" * (LONGEST - 6) + ending) == data("x" * (LONGEST - 6))
    with pytest.raises(EventTooLong):
        decode(b"data: " + b"x" * LONGEST + ending)


def test_many_events_together_may_be_over_the_limit() -> None:
    assert decode(b"data: abc\n\n" * LONGEST) == data("abc") * LONGEST


def test_a_long_event_may_come_in_many_pieces() -> None:
    decoder = SseDecoder(2**21)
    decoder.feed(b"data: ")
    for _ in range(1024):
        assert decoder.feed(b"x" * 1000) == []
    assert decoder.feed(b"\n\n") == data("x" * 1_024_000)
