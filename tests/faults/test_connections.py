"""Connections that are refused, reset, closed or silent at each stage of an answer."""

from collections.abc import Callable, Sequence

import pytest

from tests.faults.fault_server import (
    SILENT_S,
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
from tests.support.replies import ABORT, CLOSE, HANG, Move, Pause, Reply, delta, event, events

pytestmark = pytest.mark.asyncio(loop_scope="module")

NO_RESPONSE = retried("unreachable", "HOST closed the connection without a response")
LOST = "The connection to HOST was lost during the answer"
ENDED = "HOST ended the response before it was complete"
NO_HTTP = failed("garbled", "HOST sent a response that is not HTTP. Check the base URL.")
BEGUN = (7, None)  # the counts that a message has at its start
OK = b"HTTP/1.1 200 OK\r\n"
SHORT = {"first_byte_s": SILENT_S, "think_s": SILENT_S, "tries": 2}
STALL = {"stall_s": SILENT_S, "think_s": SILENT_S, "tries": 2}
AFTER = {"after_finish_s": SILENT_S, "drain_s": SILENT_S}


def raw(*moves: Move) -> Reply:
    return Reply(raw=moves)


def silent(more: str = "") -> Outcome:
    return retried("silent", f"HOST sent nothing{more} for 0.25 s", 2)


def by_usage(make: Callable[[tuple[int | None, int | None]], Outcome]) -> dict[str, Outcome]:
    """Return outcomes of streams, where a message has already counted its input, and of answers in one piece."""
    return {"messages stream": make(BEGUN), "": make((None, None))}


def torn(error: str) -> dict[str, Outcome]:
    """Return the outcomes of an answer that breaks off in the middle: only a stream has text by then."""
    return {
        "messages stream": partial(error, usage=BEGUN),
        "stream": partial(error),
        "whole": retried("unreachable", error),
    }


def after(*moves: Move) -> Maker:
    """Return a reply of half an answer and these moves."""
    return lambda wire, stream: wire.half(stream, *moves)


def started(*moves: Move) -> Maker:
    """Return a reply of the start of a stream, or of one piece, and these moves."""

    def make(wire: Wire, stream: bool) -> Reply:
        return wire.stream(*moves) if stream else Reply((b'{"id": ', *moves), length=99)

    return make


def whole_then(*moves: Move) -> Maker:
    """Return a complete answer, whose body continues with these moves."""

    def make(wire: Wire, stream: bool) -> Reply:
        answer = wire.answer("well", stream)
        return Reply((*answer.body, *moves), headers=answer.headers, framing="chunked")

    return make


HEADS = [
    Mode("refused", None, retried("unreachable", "Cannot connect to HOST (refused). Is the server running?")),
    Mode("closed before the head", raw(CLOSE), NO_RESPONSE),
    Mode("reset before the head", raw(ABORT), NO_RESPONSE),
    Mode("closed in the status line", raw(b"HTTP/1.", CLOSE), NO_RESPONSE),
    Mode("reset in the status line", raw(b"HTTP/1.", Pause(0.0), ABORT), NO_RESPONSE),
    Mode("closed in the head", raw(OK + b"Conte", CLOSE), NO_RESPONSE),
    Mode("reset in the head", raw(OK + b"Conte", Pause(0.0), ABORT), NO_RESPONSE),
    Mode("closed before the end of the head", raw(OK + b"Content-Length: 9\r\n", CLOSE), NO_RESPONSE),
    Mode("a head alone, by length", raw(OK + b"Content-Length: 9\r\n\r\n", CLOSE), retried("unreachable", LOST)),
    Mode("a head alone, chunked", raw(OK + b"Transfer-Encoding: chunked\r\n\r\n", CLOSE), retried("unreachable", LOST)),
    Mode("a head alone, until closed", raw(OK + b"\r\n", CLOSE), retried("unreachable", ENDED)),
    Mode("a head, then reset", raw(OK + b"\r\n", Pause(0.0), ABORT), retried("unreachable", ENDED)),
    Mode("a greeting of SSH", raw(b"SSH-2.0-OpenSSH_9.9\r\n", CLOSE), NO_HTTP),
    Mode("a greeting of SMTP", raw(b"220 mail ESMTP\r\n", CLOSE), NO_HTTP),
    Mode("HTTP/0.9", raw(b"<html>hello</html>\r\n\r\n", CLOSE), NO_HTTP),
    Mode("HTTP/2", raw(b"\0\0\x12\x04\0\0\0\0\0\0\3\0\0\0\x80\0\4\0\1\0\0\0\5\0\xff\xff\xff", CLOSE), NO_HTTP),
    Mode("TLS", raw(b"\x15\x03\x01\0\2\2\x46", CLOSE), NO_HTTP),
    Mode("NUL", raw(b"\0" * 100, CLOSE), NO_HTTP),
    Mode("blank lines", raw(b"\r\n" * 100, CLOSE), NO_RESPONSE),
    Mode("JSON without a head", raw(b'{"choices": []}\r\n\r\n', CLOSE), NO_HTTP),
    Mode("a version that does not exist", raw(b"HTTP/9.9 200 OK\r\n\r\n", CLOSE), NO_HTTP),
    Mode("a status without digits", raw(b"HTTP/1.1 OK\r\n\r\n", CLOSE), NO_HTTP),
    Mode("a status of two digits", raw(b"HTTP/1.1 20 OK\r\n\r\n", CLOSE), NO_HTTP),
    Mode("a status of 400 digits", raw(b"HTTP/1.1 " + b"2" * 400 + b" OK\r\n\r\n", CLOSE), NO_HTTP),
    Mode("a negative status", raw(b"HTTP/1.1 -200 OK\r\n\r\n", CLOSE), NO_HTTP),
    Mode("no line ends", raw(b"x" * 300_000, CLOSE), NO_HTTP),
]

BREAKS = [
    Mode("closed after the head", events(CLOSE), retried("unreachable", LOST)),
    Mode("reset after the head", events(Pause(0.0), ABORT), retried("unreachable", LOST)),
    Mode(
        "closed after the start",
        started(Pause(0.0), CLOSE),
        by_usage(lambda usage: retried("unreachable", LOST, usage=usage)),
    ),
    Mode(
        "reset after the start",
        started(Pause(0.0), ABORT),
        by_usage(lambda usage: retried("unreachable", LOST, usage=usage)),
    ),
    Mode("closed half-way", after(Pause(0.0), CLOSE), torn(LOST)),
    Mode("reset half-way", after(Pause(0.05), ABORT), torn(LOST)),
    Mode("closed in a character", after(b"data: \xc3", Pause(0.0), CLOSE), torn(LOST)),
    Mode(
        "closed half-way, without a length",
        lambda wire, stream: Reply(wire.half(stream).body, headers=wire.half(stream).headers, framing="close"),
        {
            "messages stream": partial(ENDED, usage=BEGUN),
            "stream": partial(ENDED),
            "whole": retried("garbled", "Unreadable answer (not JSON) from HOST"),
        },
    ),
    Mode("an empty stream", events(), retried("unreachable", ENDED)),
    Mode(
        "the start of a stream only",
        always(lambda wire: wire.stream()),
        {"messages": retried("unreachable", ENDED, usage=BEGUN), "": retried("unreachable", ENDED)},
    ),
    Mode(
        "half a stream",
        always(lambda wire: wire.half(True)),
        {"messages": partial(ENDED, usage=BEGUN), "": partial(ENDED)},
    ),
    Mode(
        "a whole answer, then reset",
        lambda wire, stream: Reply(
            (*wire.answer("well", stream).body, Pause(0.05), ABORT),
            headers=wire.answer("well", stream).headers,
            framing="chunked",
        ),
        {"stream": fine(), "whole": retried("unreachable", LOST)},
        AFTER,
    ),
]


def _slowly(data: bytes) -> list[Move]:
    return [move for place in range(len(data)) for move in (Pause(0.05), data[place : place + 1])]


DRIP: list[Move] = [Pause(0.05), b": keep-alive\n\n"] * 60
SPACES: list[Move] = [Pause(0.05), b" \n"] * 60
PINGS: list[Move] = [Pause(0.05), b'event: ping\ndata: {"type": "ping"}\n\n'] * 60
SILENCES = [
    Mode("silent before the head", raw(HANG), silent(), SHORT),
    Mode("silent in the status line", raw(b"HTTP/1.1 2", HANG), silent(), SHORT),
    Mode("silent in the head", raw(OK + b"Content-Ty", HANG), silent(), SHORT),
    Mode("a head in single bytes", raw(*_slowly(OK + b"Content-Type: application/json")), silent(), SHORT),
    Mode("headers without end, slowly", raw(OK, *_slowly(b"X: y\r\n" * 10)), silent(), SHORT),
    Mode("silent after the head", events(HANG), silent(), SHORT),
    Mode("comments only", events(*DRIP), silent(), SHORT),
    Mode("white space only", events(*SPACES), silent(), SHORT),
    Mode("100 Continue, then silent", raw(b"HTTP/1.1 100 Continue\r\n\r\n", HANG), silent(), SHORT),
    Mode(
        "silent after the start",
        started(HANG),
        by_usage(lambda usage: retried("silent", "HOST sent nothing more for 0.25 s", 2, usage=usage)),
        STALL,
    ),
    Mode(
        "silent half-way",
        after(HANG),
        {
            "messages stream": partial("HOST sent nothing more for 0.25 s", usage=BEGUN),
            "stream": partial("HOST sent nothing more for 0.25 s"),
            "whole": silent(" more"),
        },
        STALL,
    ),
    Mode(
        "comments after half",
        lambda wire, stream: wire.half(stream, *(DRIP if stream else SPACES)),
        {
            "messages stream": partial("HOST sent nothing more for 0.25 s", usage=BEGUN),
            "stream": partial("HOST sent nothing more for 0.25 s"),
            "whole": silent(" more"),
        },
        STALL,
    ),
    Mode(
        "half, then one byte at a time",
        always(lambda wire: wire.half(True, *_slowly(b"d" * 60))),
        {
            "messages": partial("HOST sent nothing more for 0.25 s", usage=BEGUN),
            "": partial("HOST sent nothing more for 0.25 s"),
        },
        STALL,
    ),
    Mode(
        "half, then pings",
        always(lambda wire: wire.half(True, *PINGS)),
        {
            "messages": partial("HOST sent nothing more for 0.25 s", usage=BEGUN),
            "": partial("HOST sent nothing more for 0.25 s"),
        },
        STALL,
    ),
    Mode("a whole answer, then silent", whole_then(HANG), {"stream": fine(), "whole": silent(" more")}, STALL | AFTER),
    Mode(
        "a whole answer, then comments",
        always(lambda wire: wire.stream(wire.text("well"), wire.finish, wire.mark, *DRIP)),
        fine(),
        AFTER,
    ),
]
MODES: Sequence[Mode] = [*HEADS, *BREAKS, *SILENCES]


@pytest.mark.parametrize("mode", MODES, ids=str)
async def test_a_connection(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode) == []


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode.is_retried and not mode.limits], ids=str)
async def test_a_connection_that_fails_once(faults: FaultServer, mode: Mode) -> None:
    assert await differences_after_one(faults, mode) == []


CHAT = [
    Mode("thought, then broken", events(delta(reasoning="hm")), partial(ENDED, "", reasoning="hm")),
    Mode(
        "usage, then an end",
        events({"choices": [], "usage": {"prompt_tokens": 1}}),
        retried("unreachable", ENDED, usage=(1, None)),
    ),
    Mode(
        "finished, but neither marked nor closed",
        events(delta("we"), delta("ll", "stop"), HANG),
        fine(usage=(None, None)),
        AFTER,
    ),
    Mode(
        "finished, then reset",
        events(delta("we"), delta("ll", "stop"), Pause(0.05), ABORT),
        fine(usage=(None, None)),
        AFTER,
    ),
    # More may follow a first piece with a finish reason: some servers send one with each piece.
    Mode("finished in the first piece", events(delta("well", "stop")), fine(usage=(None, None))),
    Mode("finished in the first piece, then reset", events(delta("half ", "stop"), Pause(0.05), ABORT), partial(LOST)),
    Mode(
        "finished in the first piece, then half of an event",
        events(delta("half ", "stop"), b'data: {"choi'),
        partial("Unreadable chunk 2 from HOST"),
    ),
    Mode(
        "finished in the first piece, then an end that may be a lost connection",
        events(delta("half ", "stop"), framing="close"),
        partial(ENDED),
    ),
    Mode(
        "finished in the first piece, then silence",
        events(delta("half ", "stop"), HANG),
        partial(f"HOST sent nothing more for {SILENT_S:g} s"),
        {"stall_s": SILENT_S},
    ),
    Mode(
        "finished in the first piece, then the others after a while",
        events(delta("we", "stop"), Pause(0.2), delta("ll", "stop"), "[DONE]"),
        fine(usage=(None, None)),
        {"after_finish_s": 0.05},
    ),
    Mode(
        "finished without a text, then reset",
        events(delta("", "stop"), Pause(0.05), ABORT),
        retried("unreachable", LOST),
    ),
    Mode(
        "text after a finish reason, then reset",
        events(delta("ha", "stop"), delta("lf ", "stop"), Pause(0.05), ABORT),
        partial(LOST),
    ),
    Mode(
        "text after a finish reason, then an end",
        events(delta("ha", "stop"), delta("lf "), delta(finish="stop")),
        partial(ENDED),
    ),
    Mode(
        "text after a finish reason, then silence",
        events(delta("ha", "stop"), delta("lf ", "stop"), HANG),
        partial(f"HOST sent nothing more for {SILENT_S:g} s"),
        {"stall_s": SILENT_S},
    ),
    Mode(
        "a cut after each piece of the text, then marked",
        events(delta("we", "length"), delta("ll", "stop"), "[DONE]"),
        Outcome("incomplete", error="The answer stopped early: token limit (length)", text="well", usage=(None, None)),
    ),
    Mode(
        "finished, then broken",
        events(delta("we"), delta("ll", "stop"), event("nonsense")).cut(0.8),
        fine(usage=(None, None)),
    ),
]


@pytest.mark.parametrize("mode", CHAT, ids=str)
async def test_a_connection_in_chat_completions_alone(faults: FaultServer, mode: Mode) -> None:
    assert await differences(faults, mode, "chat") == []
