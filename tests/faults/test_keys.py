"""A server that repeats the key which it was sent, in any form and at any place: it is in nothing that is saved."""

import base64
import json
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

import pytest

from tests.faults.fault_server import (
    SAVED,
    FaultServer,
    Mode,
    Outcome,
    always,
    differences,
    failed,
    fine,
    retried,
)
from tests.faults.wires import WIRES
from tests.support.asking import KEY
from tests.support.replies import CLOSE, Reply, event, events, status

pytestmark = pytest.mark.asyncio(loop_scope="module")

HIDDEN = "[removed key]"
NO_HTTP = "HOST sent a response that is not HTTP. Check the base URL."
SAYS = {"error": {"message": f"key {KEY} is bad"}}


def basic(before: str) -> str:
    return base64.b64encode(f"{before}{KEY}".encode()).decode()


FORMS: list[tuple[str, str, str]] = [
    ("as it is", KEY, HIDDEN),
    ("twice", f"{KEY}{KEY}", HIDDEN * 2),
    ("in a header", f"Bearer {KEY}", f"Bearer {HIDDEN}"),
    ("in a URL", f"https://x.invalid/?key={quote(KEY)}&a=b", f"https://x.invalid/?key={HIDDEN}&a=b"),
    ("in JSON", json.dumps({"key": KEY}), f'{{"key": "{HIDDEN}"}}'),
]
# The form of a key, and how many of its first characters come from what precedes the key.
ENCODED: list[tuple[str, str, int]] = [
    ("as it is", KEY, 0),
    ("percent-encoded", quote(KEY, safe=""), 0),
    ("in base64", basic(""), 0),
    ("in base64 after one byte", basic(":"), 2),
    ("in base64 after two bytes", basic("a:"), 3),
    ("in base64 after a name", basic("user:"), 7),
    ("in base64 for URLs", base64.urlsafe_b64encode(f"~~~{KEY}".encode()).decode(), 4),
]
# 300 characters are shown of a message: at these places the cut is in the key, or just before or after it.
PLACES = [300 - len(KEY) + shift for shift in (-2, -1, 0, 1, 2, 8, len(KEY) - 2)]


def refused(words: str) -> Reply:
    return status(400, {"error": {"message": words}})


REPEATS = [
    Mode("in a 400", status(400, SAYS), failed("refused", f"HOST refused the request (400): key {HIDDEN} is bad")),
    Mode(
        "in a 403",
        status(403, SAYS),
        failed("unauthorized", f"HOST denied access (403): key {HIDDEN} is bad. Check what THE_KEY has access to."),
    ),
    Mode("in a 401", status(401, SAYS), failed("unauthorized", "HOST rejected the API key (401). Check THE_KEY.")),
    Mode("in a 503", status(503, SAYS), retried("overloaded", f"HOST is overloaded (503): key {HIDDEN} is bad")),
    Mode(
        "in a redirect",
        status(302, headers={"Location": f"http://x.invalid/?key={KEY}"}),
        failed("garbled", "HOST redirected the request (302); Assay does not follow redirects. Check the base URL."),
    ),
    Mode("in an error object", events(SAYS), retried("refused", f"HOST sent an error: key {HIDDEN} is bad")),
    Mode(
        "in an error object in one piece",
        status(200, SAYS),
        retried("refused", f"HOST sent an error: key {HIDDEN} is bad"),
    ),
    Mode(
        "in an error object after text",
        always(lambda wire: wire.half(True, event(SAYS))),
        {
            "messages": Outcome(
                "incomplete",
                "incomplete",
                f"HOST sent an error: key {HIDDEN} is bad{SAVED}",
                text="half ",
                usage=(7, None),
            ),
            "": Outcome("incomplete", "incomplete", f"HOST sent an error: key {HIDDEN} is bad{SAVED}", text="half "),
        },
    ),
    Mode(
        "in an encoding",
        always(lambda wire: replace(wire.whole("x"), headers=(("Content-Encoding", KEY),))),
        failed(
            "garbled",
            f"HOST sent an answer with the encoding {HIDDEN}, which was not requested. Check the base URL, and any "
            "proxy in between.",
        ),
    ),
    Mode("in place of HTTP", Reply(raw=(f"{KEY}\r\n\r\n".encode(), CLOSE)), failed("garbled", NO_HTTP)),
    Mode(
        "in a chunk size",
        Reply(raw=(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{KEY}\r\n".encode(), CLOSE)),
        failed("garbled", NO_HTTP),
    ),
    *(
        Mode(f"{name} in an error", refused(words), failed("refused", f"HOST refused the request (400): {shown}"))
        for name, words, shown in FORMS
    ),
]
ANSWERS = [
    Mode(
        "in the text",
        lambda wire, stream: wire.answer(f"your key is {KEY}.", stream),
        fine(f"your key is {HIDDEN}."),
        hides=True,
    ),
    Mode(
        "in the text, divided",
        always(lambda wire: wire.stream(*(wire.text(letter) for letter in f"a {KEY} b"), wire.finish, wire.mark)),
        fine(f"a {HIDDEN} b"),
        hides=True,
    ),
    Mode(
        "in the server's name",
        lambda wire, stream: replace(wire.answer("well", stream), headers=(("Server", KEY), ("openai-version", KEY))),
        fine(),
        hides=True,
    ),
]
MODES: Sequence[Mode] = [*REPEATS, *ANSWERS]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_key_that_is_repeated(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


@pytest.mark.parametrize("mode", REPEATS, ids=str)
async def test_a_key_is_in_no_exception(faults: FaultServer, mode: Mode) -> None:
    for wire in WIRES:
        heard = await faults.hear(mode, wire)
        assert heard.error is not None
        assert KEY not in " ".join([str(heard.error), repr(heard.error), *(wait.reason for wait in heard.waits)])
        assert heard.error.__cause__ is None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("name", "form", "before"), ENCODED, ids=[name for name, _, _ in ENCODED])
async def test_a_key_that_the_cut_of_a_message_divides(
    faults: FaultServer, name: str, form: str, before: int, place: int
) -> None:
    mode = Mode(name, refused("x" * (place - 1) + " " + form + " y" * 300), failed("refused", ""))
    key = form[before:].rstrip("=")[:-1]  # the last character of base64 is not of the key alone
    parts = {key[start : start + 8] for start in range(len(key) - 7)}
    for wire in WIRES:
        seen = await faults.outcome(mode, wire, stream=True)
        assert seen.error is not None
        assert [part for part in parts if part in seen.error] == []
