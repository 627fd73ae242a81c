"""Headers: lengths and transfer encodings that lie, compression, labels, sizes, 1xx, and Retry-After."""

import gzip
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from email.utils import formatdate

import pytest

from tests.faults.fault_server import (
    SILENT_S,
    FaultServer,
    Maker,
    Mode,
    Outcome,
    differences,
    failed,
    fine,
    retried,
)
from tests.faults.wires import Wire
from tests.support.clocks import NOON
from tests.support.model_server import Script, in_turn
from tests.support.replies import CLOSE, HANG, Move, Reply, frame, status

pytestmark = pytest.mark.asyncio(loop_scope="module")

OK = b"HTTP/1.1 200 OK\r\n"
NO_HTTP = failed("garbled", "HOST sent a response that is not HTTP. Check the base URL.")
TOO_LARGE = failed("garbled", "HOST sent a response header larger than 64 KiB. Check the base URL.")
TOO_MANY = failed("garbled", "HOST sent more than 128 response headers. Check the base URL.")
NO_RESPONSE = retried("unreachable", "HOST closed the connection without a response")
LOST = "The connection to HOST was lost during the answer"
ENDED = "HOST ended the response before it was complete"
NO_JSON = retried("garbled", "Unreadable answer (not JSON) from HOST")


def encoded(name: str) -> Outcome:
    what = f"HOST sent an answer with the encoding {name}, which was not requested"
    return failed("garbled", f"{what}. Check the base URL, and any proxy in between.")


def answer_of(wire: Wire, stream: bool) -> bytes:
    """Return the body of a complete answer."""
    return b"".join(move for move in wire.answer("well", stream).body if isinstance(move, bytes))


def raw(make: Callable[[bytes], Sequence[Move]]) -> Maker:
    """Return a complete answer with its head, made from its body."""
    return lambda wire, stream: Reply(raw=tuple(make(answer_of(wire, stream))))


def headed(*headers: tuple[str, str], status: int = 200) -> Maker:
    """Return a complete answer with these headers in place of its own."""
    return lambda wire, stream: Reply((answer_of(wire, stream),), status, headers)


def with_length(length: Callable[[int], object]) -> Maker:
    """Return a complete answer with another Content-Length."""
    return raw(lambda body: (OK, f"Content-Length: {length(len(body))}\r\n\r\n".encode(), body, CLOSE))


def given_length(length: object) -> Maker:
    """Return a complete answer with this Content-Length, whatever its true one is."""
    return raw(lambda body: (OK, f"Content-Length: {length}\r\n\r\n".encode(), body, CLOSE))


def chunked(*frames: Callable[[bytes], bytes]) -> Maker:
    """Return a complete answer in these chunks."""
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    return raw(lambda body: (head, b"".join(each(body) for each in frames), CLOSE))


def packed(name: str, pack: Callable[[bytes], bytes]) -> Maker:
    """Return a complete answer that is compressed although nobody asked for it."""

    def make(wire: Wire, stream: bool) -> Reply:
        reply = wire.answer("well", stream)
        return replace(
            reply, body=(pack(answer_of(wire, stream)),), headers=(*reply.headers, ("Content-Encoding", name))
        )

    return make


END = b"0\r\n\r\n"
LENGTHS = [
    Mode("the true length", with_length(lambda size: size), fine()),
    Mode("a length one too short", with_length(lambda size: size - 1), {"stream": fine(), "whole": NO_HTTP}),
    Mode(
        "a length too long",
        with_length(lambda size: size + 1),
        {"stream": fine(), "whole": retried("unreachable", LOST)},
    ),
    Mode("a length of zero", given_length(0), NO_HTTP),
    Mode("a negative length", given_length(-1), NO_HTTP),
    Mode("a length with a sign", with_length(lambda size: f"+{size}"), NO_HTTP),
    Mode("a length in hexadecimal", with_length(lambda size: hex(size)), NO_HTTP),
    Mode("a length of 400 digits", given_length("9" * 400), NO_HTTP),
    Mode("a length of 2^64", given_length(2**64), NO_HTTP),
    Mode("a length of 2^63", given_length(2**63), {"stream": fine(), "whole": retried("unreachable", LOST)}),
    Mode("a length that is empty", given_length(""), NO_HTTP),
    Mode("a length that is a word", given_length("long"), NO_HTTP),
    Mode("two different lengths", with_length(lambda size: f"{size}\r\nContent-Length: {size + 5}"), NO_HTTP),
    Mode("the length twice", with_length(lambda size: f"{size}\r\nContent-Length: {size}"), NO_HTTP),
    Mode("two lengths in one line", with_length(lambda size: f"{size}, {size}"), NO_HTTP),
    Mode("a length and chunks", with_length(lambda size: f"{size}\r\nTransfer-Encoding: chunked"), NO_HTTP),
    Mode("an answer until the connection closes", raw(lambda body: (OK, b"\r\n", body, CLOSE)), fine()),
]
CHUNKS = [
    Mode("one chunk", chunked(frame, lambda body: END), fine()),  # noqa: ARG005
    Mode(
        "single bytes as chunks",
        chunked(
            lambda body: b"".join(frame(body[place : place + 1]) for place in range(len(body))),
            lambda body: END,  # noqa: ARG005
        ),
        fine(),
    ),
    Mode("chunks with extensions", chunked(lambda body: b"%x;a=b\r\n%s\r\n0;c\r\n\r\n" % (len(body), body)), fine()),
    Mode("trailers", chunked(frame, lambda body: b"0\r\nX-Trailer: y\r\n\r\n"), fine()),  # noqa: ARG005
    Mode("no last chunk", chunked(frame), {"stream": fine(), "whole": retried("unreachable", LOST)}),
    Mode("chunk sizes with LF alone", chunked(lambda body: b"%x\n%s\n0\n\n" % (len(body), body)), NO_HTTP),
    Mode("a chunk size that is a word", chunked(lambda body: b"ZZ\r\n" + body), NO_HTTP),
    Mode("a negative chunk size", chunked(lambda body: b"-5\r\n" + body), NO_HTTP),
    Mode("a chunk size of 40 digits", chunked(lambda body: b"f" * 40 + b"\r\n" + body), NO_HTTP),
    Mode("a chunk size that is too small", chunked(lambda body: b"5\r\n%s\r\n0\r\n\r\n" % body), NO_HTTP),
    Mode(
        "a chunk size that is too large",
        chunked(lambda body: b"%x\r\n%s\r\n0\r\n\r\n" % (len(body) + 99, body)),
        {"stream": fine(), "whole": retried("unreachable", LOST)},
    ),
    Mode(
        "an unknown transfer encoding", raw(lambda body: (OK, b"Transfer-Encoding: foo\r\n\r\n", body, CLOSE)), fine()
    ),
]
BROTLI = bytes.fromhex("0b028068656c6c6f03")
ENCODINGS = [
    Mode("gzip", packed("gzip", gzip.compress), encoded("gzip")),
    Mode("gzip twice", packed("gzip, gzip", lambda body: gzip.compress(gzip.compress(body))), encoded("gzip, gzip")),
    Mode(
        "a gzip of 10 MB of zeros",
        packed("gzip", lambda body: gzip.compress(bytes(10_000_000) + body)),
        encoded("gzip"),
    ),
    Mode("deflate", packed("deflate", zlib.compress), encoded("deflate")),
    Mode("br", packed("br", lambda body: BROTLI + body), encoded("br")),
    Mode("zstd", packed("zstd", lambda body: b"\x28\xb5\x2f\xfd" + body), encoded("zstd")),
    Mode("an unknown encoding", packed("x" * 5000, bytes), encoded("x" * 39 + "…")),
    Mode("an encoding with controls", packed("\x9b31m\xad", bytes), encoded("<U+009B>31m<U+00AD>")),
    Mode("an encoding in name only", packed("gzip", bytes), encoded("gzip")),
    Mode("identity", packed("identity", bytes), fine()),
    Mode("Identity", packed(" IDENTITY ", bytes), fine()),
    Mode("an empty encoding", packed("", bytes), fine()),
    Mode("gzip without its label", lambda wire, stream: Reply((gzip.compress(answer_of(wire, stream)),)), NO_JSON),
]
LABELS = [
    *(
        Mode(f"the type {kind}", headed(("Content-Type", kind)), fine())
        for kind in (
            "",
            "application/octet-stream",
            "text/plain; charset=utf-16",
            "application/vnd.api+json",
            "x",
            ";;;",
        )
    ),
    Mode("the type as 60 KB", headed(("Content-Type", "x" * 60_000)), fine()),
    Mode("two types", headed(("Content-Type", "text/plain"), ("Content-Type", "application/json")), fine()),
    Mode("no type", headed(), fine()),
    Mode("120 headers", headed(*((f"X-{number}", "y") for number in range(120))), fine()),
    Mode("a hundred cookies", headed(*[("Set-Cookie", "a=b; Path=/")] * 100), fine()),
    Mode("a header of 60 KB", headed(("X-Trace", "x" * 60_000)), fine()),
    Mode("a header of 70 KB", headed(("X-Trace", "x" * 70_000)), TOO_LARGE),
    Mode("a header name of 70 KB", headed(("X" * 70_000, "x")), TOO_LARGE),
    Mode("a header without end", Reply(raw=(OK, b"X: " + b"x" * 200_000, CLOSE)), TOO_LARGE),
    Mode(
        "a reason of 70 KB", raw(lambda body: (b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n", body, CLOSE)), TOO_LARGE
    ),
    Mode("a hundred thousand headers", Reply(raw=(OK, b"X: y\r\n" * 100_000, CLOSE)), TOO_MANY),
    Mode("headers of 10 MB", Reply(raw=(OK, (b"X: %s\r\n" % (b"y" * 50_000)) * 200, CLOSE)), TOO_MANY),
    Mode("a folded header", raw(lambda body: (OK, b"X: y\r\n  z\r\n\r\n", body, CLOSE)), fine()),
    Mode("a header without a colon", raw(lambda body: (OK, b"nonsense\r\n\r\n", body, CLOSE)), NO_HTTP),
    Mode("a header without a name", raw(lambda body: (OK, b": x\r\n\r\n", body, CLOSE)), NO_HTTP),
    Mode("NUL in a header", raw(lambda body: (OK, b"X: \0\r\n\r\n", body, CLOSE)), NO_HTTP),
    Mode("an escape in a header", raw(lambda body: (OK, b"X: \x1b[31m\r\n\r\n", body, CLOSE)), fine()),
    Mode("bytes over 127 in a header", raw(lambda body: (OK, b"X: \xff\xe9\r\n\r\n", body, CLOSE)), fine()),
    Mode("line ends of LF", raw(lambda body: (b"HTTP/1.1 200 OK\nX: y\n\n", body, CLOSE)), fine()),
    Mode("HTTP/1.0", raw(lambda body: (b"HTTP/1.0 200 OK\r\n\r\n", body, CLOSE)), fine()),
    Mode("no reason", raw(lambda body: (b"HTTP/1.1 200\r\n\r\n", body, CLOSE)), fine()),
    Mode("a server's name with controls", headed(("Server", "\x9b31m"), ("openai-version", "\xad")), fine()),
    Mode("an upgrade", headed(("Connection", "Upgrade"), ("Upgrade", "h2c")), fine()),
    Mode("Connection: close", headed(("Connection", "close")), fine()),
]
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
INTERIM = [
    Mode("100 Continue first", raw(lambda body: (CONTINUE, OK, b"\r\n", body, CLOSE)), fine()),
    Mode(
        "103 Early Hints first",
        raw(lambda body: (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", OK, b"\r\n", body, CLOSE)),
        fine(),
    ),
    Mode(
        "102 a thousand times", raw(lambda body: (b"HTTP/1.1 102 P\r\n\r\n" * 1000, OK, b"\r\n", body, CLOSE)), fine()
    ),
    Mode(
        "101 Switching Protocols",
        Reply(raw=(b"HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", HANG)),
        failed("refused", "HOST refused the request (101)"),
        {"refusal_s": SILENT_S},
    ),
]
MODES: Sequence[Mode] = [*LENGTHS, *CHUNKS, *ENCODINGS, *LABELS, *INTERIM]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_head(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


BUSY = {"error": {"message": "busy"}}


def waits(code: int, **headers: str) -> Maker:
    """Return a script whose first reply has this status and these headers, and whose next is well."""

    def make(wire: Wire, stream: bool) -> Script:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return in_turn(status(code, BUSY, headers=named), wire.answer("well", stream))

    return make


def too_long(code: int, verb: str, seconds: str) -> Outcome:
    what = f"HOST {verb} ({code}): busy; retry after {seconds} s"
    return failed("overloaded", f"{what}. Try again then; Assay waits at most 120 s.")


SECONDS: list[tuple[str, dict[str, str], int]] = [
    ("nothing", {}, 500),
    ("7", {"Retry_After": "7"}, 7000),
    ("0", {"Retry_After": "0"}, 500),
    ("0.7", {"Retry_After": "0.7"}, 700),
    ("120", {"Retry_After": "120"}, 120_000),
    ("1500 ms", {"Retry_After_Ms": "1500", "Retry_After": "7"}, 1500),
    ("ms that are no number", {"Retry_After_Ms": "soon", "Retry_After": "7"}, 7000),
    ("a date in 20 s", {"Retry_After": formatdate(NOON + 20, usegmt=True)}, 20_000),
    ("a date in the past", {"Retry_After": formatdate(NOON - 20, usegmt=True)}, 500),
    ("a date of 1 January 1", {"Retry_After": "Mon, 01 Jan 0001 00:00:00 GMT"}, 500),
    ("a date that does not exist", {"Retry_After": "Mon, 31 Feb 2026 25:61:61 GMT"}, 500),
    ("a negative number", {"Retry_After": "-7"}, 500),
    ("1e400", {"Retry_After": "1e400"}, 500),
    ("1e3", {"Retry_After": "1e3"}, 500),
    ("inf", {"Retry_After": "inf"}, 500),
    ("nan", {"Retry_After": "nan"}, 500),
    ("1_0_0", {"Retry_After": "1_0_0"}, 500),
    ("a word", {"Retry_After": "later"}, 500),
    ("an empty value", {"Retry_After": ""}, 500),
    ("two numbers", {"Retry_After": "1, 2"}, 500),
    ("hexadecimal", {"Retry_After": "0x10"}, 500),
    ("a superscript", {"Retry_After": "\xb2"}, 500),
]
FAR: list[tuple[str, dict[str, str], str]] = [
    ("3600", {"Retry_After": "3600"}, "3600"),
    ("121", {"Retry_After": "121"}, "121"),
    ("400 digits", {"Retry_After": "9" * 400}, "1000000000"),
    ("ms of 400 digits", {"Retry_After_Ms": "9" * 400}, "1000000"),
    ("a date in the year 9999", {"Retry_After": "Fri, 31 Dec 9999 23:59:59 GMT"}, "1000000000"),
]
VERBS = {429: "reached its rate limit", 503: "is overloaded"}
WAITS = [
    *(
        Mode(
            f"{code} after {name}",
            waits(code, **headers),
            fine(requests=2, waits=(wait,), reason=f"HOST {verb} ({code}): busy"),
        )
        for name, headers, wait in SECONDS
        for code, verb in VERBS.items()
    ),
    *(
        Mode(f"{code} after {name}", waits(code, **headers), too_long(code, verb, seconds))
        for name, headers, seconds in FAR
        for code, verb in VERBS.items()
    ),
    Mode(
        "a wait with each try",
        status(429, BUSY, headers={"Retry-After": "3"}),
        replace(retried("overloaded", "HOST reached its rate limit (429): busy"), waits=(3000, 3000, 3000, 4000)),
    ),
]


@pytest.mark.parametrize("mode", WAITS, ids=str)
async def test_a_wait_that_a_server_asks_for(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []
