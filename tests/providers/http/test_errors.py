"""What each status and each error body is called, and whether it is tried again."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tui.providers.http.errors import Peer, Refusal, TryFailed, error_object_fault, is_page, refusal_fault, words_of

PEER = Peer("h:1", "h:1", "THE_KEY", has_key=True, tries=5)


def refused(status: int, body: Any = None, peer: Peer = PEER, **headers: str) -> TryFailed:
    raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return refusal_fault(Refusal(status, named, raw), peer, "m\u202e1")


OVERLOADED = {"error": {"message": "busy"}}
NO_CREDIT = {"error": {"message": "m", "code": "insufficient_quota"}}
BILLING = "Check the plan and billing of this account (key THE_KEY)."
STATUSES: list[tuple[int, Any, str, str, int, str]] = [
    (
        400,
        {"error": {"message": "bad temperature"}},
        "refused",
        "h:1 refused the request (400): bad temperature",
        1,
        "none",
    ),
    (413, {"detail": "too large"}, "refused", "h:1 refused the request (413): too large", 1, "none"),
    (
        422,
        {"detail": [{"msg": "field required"}]},
        "refused",
        "h:1 refused the request (422): field required",
        1,
        "none",
    ),
    (405, b"", "refused", "h:1 refused the request (405)", 1, "none"),
    (
        401,
        {"error": {"message": "key sk-ab***"}},
        "unauthorized",
        "h:1 rejected the API key (401). Check THE_KEY.",
        1,
        "stop",
    ),
    (
        403,
        {"error": {"message": "no"}},
        "unauthorized",
        "h:1 denied access (403): no. Check what THE_KEY has access to.",
        1,
        "none",
    ),
    (404, b"<html>", "not_found", 'Model "m<U+202E>1" or URL not found at h:1', 1, "none"),
    (402, OVERLOADED, "refused", f"The quota at h:1 is used up (402): busy. {BILLING}", 1, "none"),
    (408, OVERLOADED, "overloaded", "h:1 timed out (408): busy", 5, "none"),
    (409, OVERLOADED, "overloaded", "h:1 reported a conflict (409): busy", 5, "none"),
    (429, OVERLOADED, "overloaded", "h:1 reached its rate limit (429): busy", 5, "pause"),
    (429, NO_CREDIT, "refused", f"The quota at h:1 is used up (429): m. {BILLING}", 1, "none"),
    (500, b"oops", "overloaded", "h:1 failed (500): oops", 5, "none"),
    (502, b"<html>Bad gateway</html>", "overloaded", "h:1 failed (502)", 5, "none"),
    (503, OVERLOADED, "overloaded", "h:1 is overloaded (503): busy", 5, "none"),
    (529, OVERLOADED, "overloaded", "h:1 is overloaded (529): busy", 5, "none"),
    (
        302,
        b"",
        "garbled",
        "h:1 redirected the request (302); Assay does not follow redirects. Check the base URL.",
        1,
        "none",
    ),
]


@pytest.mark.parametrize(("status", "body", "fault", "sentence", "tries", "effect"), STATUSES)
def test_a_status(status: int, body: Any, fault: str, sentence: str, tries: int, effect: str) -> None:
    failed = refused(status, body)
    assert (str(failed.error), failed.error.fault, failed.tries, failed.effect) == (sentence, fault, tries, effect)


def test_a_server_that_wants_a_key_names_the_variable() -> None:
    keyless = Peer("h", "h:443", "THE_KEY", has_key=False, tries=5)
    assert str(refused(401, peer=keyless).error) == "h requires an API key (401). Set THE_KEY."
    assert (str(refused(403, peer=keyless).error), refused(403, peer=keyless).effect) == (
        "h requires an API key (403). Set THE_KEY.", "stop",
    )  # fmt: skip
    assert str(refused(403, peer=replace(keyless, key_name="", has_key=True)).error).endswith(
        "Check what the API key has access to."
    )
    nameless = Peer("h", "h:443", "", has_key=False, tries=5)
    assert (
        str(refused(401, peer=nameless).error)
        == "h requires an API key (401). Add an api_key to the provider in config.yaml."
    )


def test_x_should_retry_decides() -> None:
    assert refused(503, x_should_retry="false").tries == 1
    assert refused(429, x_should_retry="false").effect == "none"
    assert refused(400, x_should_retry="true").tries == 5
    assert refused(500, x_should_retry="true").tries == 5


WORDS: list[tuple[Any, str]] = [
    ({"error": {"message": "m", "type": "t"}}, "m"),
    ({"object": "error", "message": "m"}, "m"),
    ({"error": "m"}, "m"),
    ({"detail": "m"}, "m"),
    ([{"error": {"message": "m"}}], "m"),
    (
        {"error": {"code": 502, "message": "Provider returned error", "metadata": {"raw": "upstream"}}},
        "Provider returned error: upstream",
    ),
    ({"error": {"message": "a\nb\x1b[31m"}}, "a b\u241b[31m"),
    ({"error": {}}, ""),
    ({}, ""),
    (7, ""),
    (b"plain words", "plain words"),
    (b"<html>page</html>", ""),
    (b"\xff\xfe", "\ufffd\ufffd"),
    (b"[" * 100_000, "[" * 299 + "…"),
    ({"error": {"message": "x" * 400}}, "x" * 299 + "…"),
]


@pytest.mark.parametrize(("body", "words"), WORDS)
def test_the_providers_own_words(body: Any, words: str) -> None:
    assert words_of(body if isinstance(body, bytes) else json.dumps(body).encode()) == words


@pytest.mark.parametrize(
    ("error", "sentence", "tries"),
    [
        ({"message": "m", "type": "server_error", "code": None}, "h:1 sent an error: m", 5),
        ({"message": "m", "code": 502}, "h:1 sent an error: m", 5),
        ({"message": "m", "code": 400}, "h:1 sent an error: m", 1),
        ({"message": "m", "type": "invalid_request_error"}, "h:1 sent an error: m", 1),
        ({"message": "m", "code": "insufficient_quota"}, "h:1 sent an error: m", 1),
        ("m", "h:1 sent an error: m", 5),
        ({"x": 1}, "h:1 sent an error: an error without a message", 5),
        ({"message": "m", "type": [], "code": {}}, "h:1 sent an error: m", 5),
    ],
)
def test_an_error_object(error: object, sentence: str, tries: int) -> None:
    failed = error_object_fault(error, PEER)
    assert (str(failed.error), failed.tries) == (sentence, tries)


@pytest.mark.parametrize(
    ("error", "sentence", "effect"),
    [
        ({"type": "rate_limit_error", "message": "m"}, "h:1 rate limit reached: m", "pause"),
        ({"code": "rate_limit_exceeded", "message": "m"}, "h:1 rate limit reached: m", "pause"),
        ({"type": "overloaded_error", "message": "m"}, "h:1 is overloaded: m", "none"),
    ],
)
def test_an_error_object_that_says_what_a_status_would(error: object, sentence: str, effect: str) -> None:
    failed = error_object_fault(error, PEER)
    assert (str(failed.error), failed.error.fault) == (sentence, "overloaded")
    assert (failed.tries, failed.effect) == (5, effect)


@pytest.mark.parametrize("kind", ["billing_error", "request_too_large", "invalid_prompt"])
def test_an_error_object_that_is_final(kind: str) -> None:
    assert error_object_fault({"type": kind, "message": "m"}, PEER).tries == 1


@pytest.mark.parametrize(
    ("data", "page"),
    [(b"<!doctype html>", True), (b"\n  <html>", True), (b"\xef\xbb\xbf<", True), (b"{", False), (b"data: <b>", False)],
)
def test_a_page_is_known_by_its_first_character(data: bytes, page: bool) -> None:
    assert is_page(data) == page
