"""Statuses other than 200, with every kind of body, and redirects."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.fault_server import (
    SILENT_S,
    FaultServer,
    Mode,
    Outcome,
    differences,
    differences_after_one,
    failed,
    retried,
)
from tests.support.asking import KEY
from tests.support.replies import ABORT, CLOSE, HANG, Pause, Reply, page, status

pytestmark = pytest.mark.asyncio(loop_scope="module")

BUSY = {"error": {"message": "busy"}}
BILLING = "Check the plan and billing of this account (key THE_KEY)."


def says(code: int, verb: str, words: str = "busy") -> str:
    return f"HOST {verb} ({code}){': ' if words else ''}{words}"


def refused(code: int, words: str = "busy") -> Outcome:
    return failed("refused", says(code, "refused the request", words))


def overloaded(code: int, verb: str = "failed", words: str = "busy") -> Outcome:
    return retried("overloaded", says(code, verb, words))


def redirected(code: int) -> Outcome:
    what = f"HOST redirected the request ({code}); Assay does not follow redirects. Check the base URL."
    return failed("garbled", what)


def raw(body: bytes, code: int = 400, kind: str = "application/json") -> Reply:
    return Reply((body,), code, (("Content-Type", kind),))


CLASSES = [
    *(Mode(str(code), status(code, BUSY), refused(code)) for code in (400, 405, 406, 410, 411, 412, 413, 414)),
    *(Mode(str(code), status(code, BUSY), refused(code)) for code in (415, 417, 418, 422, 423, 426, 428, 431, 451)),
    *(Mode(str(code), status(code, BUSY), overloaded(code)) for code in (500, 501, 502, 504, 505, 507, 511, 520, 524)),
    *(Mode(str(code), status(code, BUSY), overloaded(code)) for code in (530, 599)),
    Mode("408", status(408, BUSY), overloaded(408, "timed out")),
    Mode("409", status(409, BUSY), overloaded(409, "reported a conflict")),
    Mode("429", status(429, BUSY), overloaded(429, "reached its rate limit")),
    Mode("503", status(503, BUSY), overloaded(503, "is overloaded")),
    Mode("529", status(529, BUSY), overloaded(529, "is overloaded")),
    Mode("401", status(401, BUSY), failed("unauthorized", "HOST rejected the API key (401). Check THE_KEY.")),
    Mode(
        "403",
        status(403, BUSY),
        failed("unauthorized", "HOST denied access (403): busy. Check what THE_KEY has access to."),
    ),
    Mode("404", status(404, BUSY), failed("not_found", 'Model "mock-a" or URL not found at HOST')),
    Mode("402", status(402, BUSY), failed("refused", f"The quota at HOST is used up (402): busy. {BILLING}")),
    Mode(
        "429 without credit",
        status(429, {"error": {"message": "no", "code": "insufficient_quota"}}, headers={"Retry-After": "1"}),
        failed("refused", f"The quota at HOST is used up (429): no. {BILLING}"),
    ),
    *(
        Mode(f"{code} to elsewhere", status(code, headers={"Location": "http://example.invalid/"}), redirected(code))
        for code in (300, 301, 302, 303, 305, 307, 308)
    ),
    Mode("302 to itself", status(302, headers={"Location": "."}), redirected(302)),
    Mode("302 without a location", status(302), redirected(302)),
    Mode("302 to a file", status(302, headers={"Location": "file:///etc/passwd"}), redirected(302)),
    Mode("304", Reply((), 304), redirected(304)),
    Mode(
        "503 that must not be retried",
        status(503, BUSY, headers={"x-should-retry": "false"}),
        failed("overloaded", "HOST refused the request (503): busy"),
    ),
    Mode("400 that may be retried", status(400, BUSY, headers={"x-should-retry": "true"}), overloaded(400)),
]

SHAPES: list[tuple[str, Any, str]] = [
    ("an object in an object", {"error": {"message": "m", "type": "t", "param": None, "code": 7}}, "m"),
    ("a text as error", {"error": "m"}, "m"),
    ("vLLM's", {"object": "error", "message": "m", "code": 400}, "m"),
    ("Anthropic's", {"type": "error", "error": {"type": "invalid_request_error", "message": "m"}}, "m"),
    ("FastAPI's", {"detail": [{"loc": ["body"], "msg": "m"}, {"msg": "n"}]}, "m"),
    ("FastAPI's text", {"detail": "m"}, "m"),
    ("OpenRouter's", {"error": {"message": "m", "metadata": {"raw": "r", "provider_name": "p"}}}, "m: r"),
    ("a list of errors", [{"error": {"message": "m"}}], "m"),
    ("a text", "m", "m"),
    ("a number", 7, ""),
    ("null", None, ""),
    ("an empty object", {}, ""),
    ("an empty list", [], ""),
    ("a list of lists", [[[{"message": "m"}]]], "m"),
    ("null in each place", {"error": {"message": None, "error": None, "detail": None, "msg": None}}, ""),
    ("a number as message", {"error": {"message": 7}}, ""),
    ("lines and escapes", {"error": {"message": "a\nb\x1b[31m\x9b\u202e\x07"}}, "a b␛[31m<U+009B><U+202E>␇"),
    ("a lone surrogate", {"error": {"message": "a\ud800b"}}, "a<U+D800>b"),
    ("a long message", {"error": {"message": "x" * 10_000}}, "x" * 299 + "…"),
    ("a message of 1 MB", {"error": {"message": "x" * 1_000_000}}, '{"error": {"message": "' + "x" * 276 + "…"),
    ("a message after white space", {"error": {"message": " " * 5000 + "x"}}, "…"),
]
DEEP = b'{"error":' * 900 + b'"m"' + b"}" * 900
BODIES = [
    *(Mode(f"400 with {name}", status(400, body), refused(400, words)) for name, body, words in SHAPES),
    Mode("400 without a body", status(400), refused(400, "")),
    Mode("400 with a page", page(code=400), refused(400, "")),
    Mode("400 with XML", raw(b"<?xml version='1.0'?><e/>"), refused(400, "")),
    Mode("400 with plain words", raw(b"plain words", kind="text/plain"), refused(400, "plain words")),
    Mode("400 with half of an object", raw(b'{"error": {"mess'), refused(400, '{"error": {"mess')),
    Mode("400 with bytes that are no UTF-8", raw(b"\xff\xfe\x80"), refused(400, "\ufffd\ufffd\ufffd")),
    Mode("400 with a byte order mark", raw(b'\xef\xbb\xbf{"error": "m"}'), refused(400, "m")),
    Mode("400 with NUL", raw(b"a\0b"), refused(400, "a␀b")),
    Mode("400 with NaN", raw(b'{"error": NaN, "message": "m"}'), refused(400, "m")),
    Mode("400 with a message twice", raw(b'{"message": "a", "message": "b"}'), refused(400, "b")),
    Mode("400 with 100,000 brackets", raw(b"[" * 100_000), refused(400, "[" * 299 + "…")),
    Mode("400 with an error 900 levels deep", raw(DEEP), refused(400, "")),
    Mode("400 with 1 MB", raw(b"x" * 1_000_000), refused(400, "x" * 299 + "…")),
    Mode("400 as gzip", status(400, BUSY).zipped(), refused(400, "")),
    Mode("400 as a stream of events", Reply((b"data: m\n\n",), 400, framing="chunked"), refused(400, "data: m")),
    Mode("400, then closed", Reply((b"half", Pause(0.0), CLOSE), 400, length=99), refused(400, "half")),
    Mode("400, then reset", Reply((b"half", Pause(0.0), ABORT), 400, length=99), refused(400, "half")),
    Mode("400, then silent", Reply((b"half", HANG), 400), refused(400, "half"), {"refusal_s": SILENT_S}),
    Mode("500 without a body", status(500), overloaded(500, words="")),
    Mode("502 with a page", page(code=502), overloaded(502, words="")),
    Mode("503 with 1 MB", raw(b"x" * 1_000_000, 503), overloaded(503, "is overloaded", "x" * 299 + "…")),
    Mode(
        "503, then silent",
        Reply((b"half", HANG), 503),
        replace(overloaded(503, "is overloaded", "half"), requests=2, waits=(500,)),
        {"refusal_s": SILENT_S, "tries": 2},
    ),
    Mode(
        "401 with the key",
        status(401, {"error": f"Incorrect API key {KEY}"}),
        failed("unauthorized", "HOST rejected the API key (401). Check THE_KEY."),
    ),
]
MODES: Sequence[Mode] = [*CLASSES, *BODIES]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_status(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.is_retried and not mode.limits], ids=str)
async def test_a_status_of_the_first_try_only(faults: FaultServer, mode: Mode) -> None:
    assert await differences_after_one(faults, mode) == []
