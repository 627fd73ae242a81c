"""Every fault of the wire, made by a real loopback server: what is said, how often is tried, what is kept."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest

from tests.support.asking import KEY, Heard, a_request, hear, server_settings
from tests.support.clocks import NOON, FakeTime
from tests.support.model_server import ModelServer, Script, closed_port, faulty, in_turn, say
from tests.support.replies import (
    ABORT,
    CLOSE,
    HANG,
    Pause,
    Reply,
    delta,
    events,
    page,
    status,
    streamed,
    whole,
)
from tui.model.provider_messages import NoteChunk, Sent, Text, Waiting
from tui.providers.openai.provider import OpenAIProvider
from tui.providers.protocol import Reopens

BUSY = {"error": {"message": "busy"}}
# Real waits of the tests: long enough for a loaded machine, short enough for a test.
SHORT: dict[str, Any] = {"first_byte_s": 0.4, "stall_s": 0.4, "after_finish_s": 0.2, "drain_s": 0.2}


@asynccontextmanager
async def opened(
    script: Script | Reply, time: FakeTime | None = None, **patience: Any
) -> AsyncIterator[tuple[OpenAIProvider, ModelServer]]:
    async with ModelServer((lambda _: script) if isinstance(script, Reply) else script) as server:
        provider = OpenAIProvider(server_settings(server.url), (time or FakeTime()).patience(**patience))
        try:
            yield provider, server
        finally:
            await provider.close()


async def tried(script: Script | Reply, *, stream: bool = True, **patience: Any) -> tuple[Heard, int]:
    """What was heard, with the host taken out of the sentences, and how many requests were made."""
    async with opened(script, **patience) as (provider, server):
        heard = await hear(provider, a_request(stream=stream))
        return heard, len(server.asked)


def sentence(heard: Heard) -> str:
    assert heard.error is not None
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", str(heard.error))


FAILED_AT_ONCE: dict[str, tuple[Reply, bool, str, str]] = {
    "400": (status(400, BUSY), True, "refused", "HOST refused the request (400): busy"),
    "413": (status(413, BUSY), True, "refused", "HOST refused the request (413): busy"),
    "422": (status(422, {"detail": [{"msg": "bad"}]}), True, "refused", "HOST refused the request (422): bad"),
    "401": (status(401, BUSY), True, "unauthorized", "HOST rejected the API key (401). Check OPENAI_API_KEY."),
    "403": (status(403, BUSY), True, "unauthorized", "HOST rejected the API key (403): busy. Check OPENAI_API_KEY."),
    "404": (status(404, BUSY), True, "not_found", 'Model "mock-a" or URL not found at HOST'),
    "no credit": (
        status(429, {"error": {"message": "no", "code": "insufficient_quota"}}, headers={"Retry-After": "1"}),
        True,
        "refused",
        "The quota at HOST is used up (429): no. Check the plan and billing of this account (key OPENAI_API_KEY).",
    ),
    "redirect": (
        status(307, headers={"Location": "http://example.invalid/"}),
        True,
        "garbled",
        "HOST redirected the request (307); Assay does not follow redirects. Check the base URL.",
    ),
    "web page": (page(), True, "garbled", "HOST sent a web page instead of an API response; check the base URL"),
    "web page as text": (
        page(kind="text/plain"), False, "garbled", "HOST sent a web page instead of an API response; check the base "
                                                   "URL",
    ),
    "web page as events": (
        page("\n <html>", kind="text/event-stream"),
        True,
        "garbled",
        "HOST sent a web page instead of an API response; check the base URL",
    ),
    "gzip": (
        whole("secret").zipped(),
        False,
        "garbled",
        "HOST sent an answer with the encoding gzip, which was not requested. Check the base URL, and any proxy in "
        "between.",
    ),
    "gzip twice": (
        streamed("a").zipped(2),
        True,
        "garbled",
        "HOST sent an answer with the encoding gzip, gzip, which was not requested. Check the base URL, and any proxy "
        "in between.",
    ),
    "other JSON": (
        status(200, {"status": "ok"}),
        False,
        "garbled",
        "HOST sent JSON that is not a chat completion. Check the base URL.",
    ),
    "no HTTP": (
        Reply(raw=(b"SSH-2.0-OpenSSH_9.9\r\n", CLOSE)),
        True,
        "garbled",
        "HOST sent a response that is not HTTP. Check the base URL.",
    ),
    "HTTP that cannot be taken apart": (
        Reply(raw=(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n", CLOSE)),
        True,
        "garbled",
        "HOST sent a response that is not HTTP. Check the base URL.",
    ),
    "a header without end": (
        Reply(raw=(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000, CLOSE)),
        True,
        "garbled",
        "HOST sent a response header larger than 64 KiB. Check the base URL.",
    ),
    "a large header": (
        Reply((b"{}",), headers=(("Content-Type", "application/json"), ("X-Trace", "x" * 70_000))),
        False,
        "garbled",
        "HOST sent a response header larger than 64 KiB. Check the base URL.",
    ),
    "a final error object": (
        events({"error": {"message": "too long", "type": "invalid_request_error"}}),
        True,
        "refused",
        "HOST sent an error: too long",
    ),
    "a chunk over the limit": (
        events(delta("x" * 3000)), True, "incomplete", "The answer was truncated: HOST sent a chunk larger than "
                                                       "0.00195 MiB",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "stream", "fault", "words"), FAILED_AT_ONCE.values(), ids=FAILED_AT_ONCE)
async def test_a_fault_that_another_try_cannot_mend(reply: Reply, stream: bool, fault: str, words: str) -> None:
    heard, requests = await tried(reply, stream=stream, event_size=2048)
    assert sentence(heard) == words
    assert heard.error is not None
    assert heard.error.fault == fault
    assert (requests, heard.waits, heard.text) == (1, [], "")


TORN = streamed("never seen", pieces=2)
TRIED_AGAIN: dict[str, tuple[Reply, bool, str, str]] = {
    "408": (status(408, BUSY), True, "overloaded", "HOST timed out (408): busy"),
    "409": (status(409, BUSY), True, "overloaded", "HOST reported a conflict (409): busy"),
    "429": (status(429, BUSY), True, "overloaded", "HOST reached its rate limit (429): busy"),
    "500": (status(500, BUSY), False, "overloaded", "HOST failed (500): busy"),
    "502 with a page": (page(code=502), True, "overloaded", "HOST failed (502)"),
    "529": (status(529, BUSY), True, "overloaded", "HOST is overloaded (529): busy"),
    "closed before the head": (
        Reply(raw=(CLOSE,)), True, "unreachable", "HOST closed the connection without a response",
    ),
    "reset before the head": (
        Reply(raw=(ABORT,)), True, "unreachable", "HOST closed the connection without a response",
    ),
    "closed in the head": (
        Reply(raw=(b"HTTP/1.1 200 OK\r\nConte", CLOSE)),
        True,
        "unreachable",
        "HOST closed the connection without a response",
    ),
    "closed after the head": (
        events(CLOSE), True, "unreachable", "The connection to HOST was lost during the answer",
    ),
    "reset in mid-body": (whole("x" * 90).cut(how="abort"), False, "unreachable", "The connection to HOST was lost "
                                                                                  "during the answer"),
    "closed in mid-body": (whole("x" * 90).cut(), False, "unreachable", "The connection to HOST was lost during the "
                                                                        "answer"),
    "an empty stream": (events(), True, "unreachable", "HOST ended the response before it was complete"),
    "a stream with a role only": (
        events(delta(role="assistant")), True, "unreachable", "HOST ended the response before it was complete",
    ),
    "malformed JSON": (whole("x").garbled(), False, "garbled", "Unreadable answer (not JSON) from HOST"),
    "no body": (status(200), False, "garbled", "Unreadable answer (not JSON) from HOST"),
    "an unreadable chunk": (
        events(delta(role="assistant"), "{nonsense"), True, "garbled", "Unreadable chunk 2 from HOST",
    ),
    "an error object in a stream": (events({"error": BUSY["error"]}), True, "refused", "HOST sent an error: busy"),
    "an error object in one piece": (status(200, BUSY), False, "refused", "HOST sent an error: busy"),
    "usage, then an end": (
        events({"choices": [], "usage": {"prompt_tokens": 1}}),
        True,
        "unreachable",
        "HOST ended the response before it was complete",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "stream", "fault", "words"), TRIED_AGAIN.values(), ids=TRIED_AGAIN)
async def test_a_fault_before_any_text_is_tried_five_times(reply: Reply, stream: bool, fault: str, words: str) -> None:
    heard, requests = await tried(reply, stream=stream)
    assert sentence(heard) == words
    assert heard.error is not None
    assert heard.error.fault == fault
    assert requests == 5
    assert heard.count(Sent) == 5
    assert [wait.wait_ms for wait in heard.waits] == [500, 1000, 2000, 4000]
    assert heard.text == ""


@pytest.mark.parametrize("name", TRIED_AGAIN)
async def test_a_fault_on_the_first_try_only_is_forgotten(name: str) -> None:
    reply, stream, _, words = TRIED_AGAIN[name]
    heard, requests = await tried(in_turn(reply, say("well")), stream=stream)
    assert (heard.text, heard.end, heard.error, requests) == ("well", "stop", None, 2)
    kinds = [type(chunk) for chunk in heard.chunks if isinstance(chunk, Sent | Waiting | Text)]
    assert kinds == [Sent, Waiting, Sent, Text]
    assert re.sub(r"127\.0\.0\.1:\d+", "HOST", heard.waits[0].reason) == words.partition(". ")[0]


INCOMPLETE: dict[str, tuple[Reply, str, str]] = {
    "closed": (events(delta("half "), delta("never")).cut(), "half ", "The connection to HOST was lost during the "
                                                                      "answer"),
    "reset": (events(delta("half "), delta("never")).cut(how="abort"), "half ", "The connection to HOST was lost "
                                                                                "during the answer"),
    "ended without a finish reason": (events(delta("half ")), "half ", "HOST ended the response before "
                                                                       "it was complete"),
    "ended by closing": (events(delta("half "), framing="close"), "half ", "HOST ended the response before it was "
                                                                           "complete"),
    "unreadable": (events(delta("half "), "nonsense"), "half ", "Unreadable chunk 2 from HOST"),
    "an error object": (events(delta("half "), BUSY), "half ", "HOST sent an error: busy"),
    "stalled": (events(delta("half "), HANG), "half ", "HOST sent nothing more for 0.4 s"),
    "stalled with keep-alive comments": (
        events(delta("half "), *[Pause(0.1), b": keep-alive\n\n"] * 40), "half ", "HOST sent nothing more for 0.4 s",
    ),
    "trickled": (events(delta("half "), *[b"d", Pause(0.02)] * 100), "half ", "HOST sent nothing more for 0.4 s"),
    "thought, then broken": (events(delta(reasoning="hm")), "", "HOST ended the response before it was complete"),
    "too long": (events(delta("12345678"), delta("90AB")), "1234567890", "The answer was truncated at 9.54e-06 MiB"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "text", "words"), INCOMPLETE.values(), ids=INCOMPLETE)
async def test_once_text_has_arrived_it_is_kept_and_nothing_is_tried_again(reply: Reply, text: str, words: str) -> None:
    heard, requests = await tried(reply, answer_size=10, **SHORT)
    assert sentence(heard) == f"{words}. The partial answer is saved; run the case again."
    assert heard.error is not None
    assert heard.error.fault == "incomplete"
    assert (heard.text, heard.end, requests, heard.waits) == (text, None, 1, [])


async def test_an_answer_that_is_cut_has_a_note() -> None:
    heard, _ = await tried(events(delta("x" * 600), delta("y" * 600)), answer_size=1024)
    assert heard.text == "x" * 600 + "y" * 424
    assert NoteChunk("The answer was truncated at 0.000977 MiB") in heard.chunks


async def test_sixteen_mebibytes_and_more_are_cut() -> None:
    piece = delta("x" * 1_000_000)
    heard, _ = await tried(events(*[piece] * 20, delta(finish="stop")))
    assert len(heard.text) == 16 * 1024 * 1024
    assert heard.notes == ["The answer was truncated at 16 MiB"]
    assert heard.error is not None
    assert heard.error.fault == "incomplete"


async def test_endless_comments_are_cut_by_what_was_received() -> None:
    reply = events(delta("half"), *[b": PROCESSING\n\n" * 1000] * 4, HANG)
    heard, requests = await tried(reply, wire_size=50_000)
    assert heard.text == "half"
    [note] = heard.notes
    assert re.sub(r"127.0.0.1:\d+", "HOST", note) == (
        "The answer was truncated: HOST sent more than 0.0477 MiB in one response"
    )
    assert heard.error is not None
    assert (heard.error.fault, requests) == ("incomplete", 1)


async def test_an_endless_body_in_one_piece_is_refused() -> None:
    heard, requests = await tried(whole("x" * 4000), stream=False, answer_size=2000)
    assert sentence(heard).startswith("HOST sent more than")
    assert requests == 1


SILENT: dict[str, tuple[Reply, str]] = {
    "no head": (Reply(raw=(HANG,)), "HOST sent nothing for 0.4 s"),
    "a head and nothing more": (events(HANG), "HOST sent nothing for 0.4 s"),
    "comments only": (events(*[b": PROCESSING\n\n", Pause(0.1)] * 40), "HOST sent nothing for 0.4 s"),
    "white space only": (events(*[b"\n", Pause(0.1)] * 40), "HOST sent nothing for 0.4 s"),
    "a role and nothing more": (events(delta(role="assistant"), HANG), "HOST sent nothing more for 0.4 s"),
    "half of one piece, then white space": (
        Reply((b'{"choices":', *(Pause(0.1), b"\n") * 40), length=999),
        "HOST sent nothing more for 0.4 s",
    ),
    "half of one piece": (Reply((b'{"choices":', HANG), length=99), "HOST sent nothing more for 0.4 s"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "words"), SILENT.values(), ids=SILENT)
async def test_a_silent_server_is_tried_again(reply: Reply, words: str) -> None:
    heard, requests = await tried(reply, tries=2, **SHORT)
    assert sentence(heard) == words
    assert heard.error is not None
    assert heard.error.fault == "silent"
    assert requests == 2


async def test_a_slow_stream_that_goes_on_is_no_stall() -> None:
    patience = SHORT | {"first_byte_s": 30, "stall_s": 1.2}
    heard, _ = await tried(streamed("one two three four five six", pieces=6, delay_s=0.3), **patience)
    assert (heard.text, heard.error) == ("one two three four five six", None)


async def test_a_reader_that_takes_its_time_is_no_stall() -> None:
    go_on = asyncio.Event()
    patience = SHORT | {"first_byte_s": 30}
    async with opened(events(delta("a"), go_on, delta("b", "stop"), "[DONE]"), **patience) as (provider, _):
        text = ""
        async for chunk in provider.ask(a_request()):
            if isinstance(chunk, Text):
                text += chunk.text
                # Longer than a stall may last; the server is not to blame.
                await asyncio.sleep(0.6 if text == "a" else 0)
                go_on.set()
        assert text == "ab"


@pytest.mark.parametrize("after", [(HANG,), (Pause(0.0), ABORT)])
async def test_what_follows_the_finish_reason_is_not_waited_for_long(after: tuple[Any, ...]) -> None:
    heard, _ = await tried(events(delta("all", "stop"), *after), **SHORT)
    assert (heard.text, heard.end, heard.error) == ("all", "stop", None)
    heard, _ = await tried(events(delta("all", "stop"), "[DONE]", *after), **SHORT)
    assert (heard.text, heard.end, heard.error) == ("all", "stop", None)


async def test_a_refused_connection_is_tried_five_times() -> None:
    port = closed_port()
    provider = OpenAIProvider(server_settings(f"http://127.0.0.1:{port}/v1"), FakeTime().patience())
    heard = await hear(provider, a_request())
    assert str(heard.error) == f"Cannot connect to 127.0.0.1:{port} (refused). Is the server running?"
    assert heard.count(Sent) == 5
    await provider.close()


async def test_an_unknown_host_is_tried_twice() -> None:
    provider = OpenAIProvider(server_settings("http://no-such-host.invalid/v1"), FakeTime().patience())
    heard = await hear(provider, a_request())
    assert str(heard.error) == (
        "Cannot connect to no-such-host.invalid:80 (unknown host). Check the base URL and the network."
    )
    assert heard.count(Sent) == 2
    await provider.close()


async def test_a_server_that_does_not_speak_tls() -> None:
    plain = await asyncio.start_server(_say_plain, "127.0.0.1", 0)
    port = plain.sockets[0].getsockname()[1]
    provider = OpenAIProvider(server_settings(f"https://127.0.0.1:{port}/v1"), FakeTime().patience())
    heard = await hear(provider, a_request())
    assert str(heard.error) == (
        f"Cannot connect to 127.0.0.1:{port} (TLS: the server does not use TLS). Check the base URL and the "
        "certificate."
    )
    await provider.close()
    plain.close()
    await plain.wait_closed()


async def _say_plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


async def test_a_proxy_that_is_not_there() -> None:
    port = closed_port()
    settings = replace(server_settings("http://model.invalid/v1"), proxy=f"http://me:pa55word@127.0.0.1:{port}")
    provider = OpenAIProvider(settings, FakeTime().patience(tries=2))
    heard = await hear(provider, a_request())
    assert str(heard.error) == (
        f"Cannot connect through the proxy 127.0.0.1:{port} (refused). Check proxy: in config.yaml."
    )
    await provider.close()


@pytest.mark.parametrize(
    ("headers", "wait_ms"),
    [
        ({"Retry-After": "7"}, 7000),
        ({"Retry-After-Ms": "1500", "Retry-After": "7"}, 1500),
        ({"Retry-After": formatdate(NOON + 20, usegmt=True)}, 20_000),
        ({"Retry-After": "0"}, 500),
        ({"Retry-After": "120"}, 120_000),
        ({}, 500),
    ],
)
@pytest.mark.parametrize("code", [429, 503])
async def test_the_server_says_how_long_to_wait(headers: dict[str, str], wait_ms: int, code: int) -> None:
    heard, _ = await tried(in_turn(status(code, BUSY, headers=headers), say("well")))
    assert (heard.text, [wait.wait_ms for wait in heard.waits]) == ("well", [wait_ms])


async def test_a_wait_over_two_minutes_is_reported() -> None:
    heard, requests = await tried(status(429, BUSY, headers={"Retry-After": "3600"}))
    assert sentence(heard) == (
        "HOST reached its rate limit (429): busy; retry after 3600 s. Try again then; Assay waits at most 120 s."
    )
    assert (requests, heard.waits) == (1, [])


async def test_a_429_pauses_the_whole_queue() -> None:
    time = FakeTime()
    limited = in_turn(status(429, BUSY, headers={"Retry-After": "30"}), say("well"))
    async with opened(lambda asked: limited(asked) if asked.prompt == "first" else say("well")(asked), time) as (
        provider,
        server,
    ):
        answer = provider.ask(a_request("first"))
        chunks = [await anext(answer), await anext(answer)]
        assert [type(chunk) for chunk in chunks] == [Sent, Waiting]
        # The first one waits; a second question has to wait for the same time before it goes out.
        second = await hear(provider, a_request("second"))
        assert time.elapsed >= 30
        assert (second.text, second.waits) == ("well", [])
        rest = [chunk async for chunk in answer]
        assert Text("well") in rest
        assert len(server.asked) == 3


@pytest.mark.parametrize("code", [401, 403])
async def test_a_refused_key_stops_the_queue(code: int) -> None:
    async with opened(status(code, {"error": {"message": f"Incorrect key {KEY}"}})) as (provider, server):
        heard = [await hear(provider, a_request(str(number))) for number in range(3)]
        assert len({str(answer.error) for answer in heard}) == 1
        assert {answer.error.fault for answer in heard if answer.error} == {"unauthorized"}
        assert len(server.asked) == 1
        assert "OPENAI_API_KEY" in str(heard[0].error)
        assert heard[1].count(Sent) == 0


async def test_a_new_run_may_ask_again_after_a_refused_key() -> None:
    async with opened(in_turn(status(401, BUSY), say("well"))) as (provider, _):
        assert isinstance(provider, Reopens)
        assert (await hear(provider, a_request())).error is not None
        provider.reopen()
        assert (await hear(provider, a_request())).text == "well"


async def test_other_faults_do_not_stop_the_queue() -> None:
    script = in_turn(status(400, BUSY), say("well"))
    async with opened(script) as (provider, _):
        assert (await hear(provider, a_request())).error is not None
        assert (await hear(provider, a_request())).text == "well"


LEAKS = {
    "in an error's words": status(400, {"error": {"message": f"key {KEY} is bad"}}),
    "in words that are tried again": status(503, {"error": {"message": f"key {KEY} is bad"}}),
    "in a 403": status(403, {"error": {"message": f"key {KEY} is bad"}}),
    "in a redirect": status(302, headers={"Location": f"http://x.invalid/?key={KEY}"}),
    "in an error object": events({"error": {"message": f"key {KEY} is bad"}}),
    "in an encoding": replace(whole("x"), headers=(("Content-Encoding", KEY),)),
    "in no HTTP": Reply(raw=(f"{KEY}\r\n\r\n".encode(), CLOSE)),
}


@pytest.mark.parametrize("reply", LEAKS.values(), ids=LEAKS)
async def test_no_key_is_in_any_message(reply: Reply) -> None:
    heard, _ = await tried(reply)
    texts = " ".join([str(heard.error), repr(heard.error), *(wait.reason for wait in heard.waits)])
    assert KEY not in texts
    assert heard.error is not None
    assert heard.error.__cause__ is None


async def test_a_key_in_a_header_is_not_reported_either() -> None:
    async with ModelServer(lambda asked: status(400, {"error": asked.headers["authorization"][7:]})) as server:
        headers = {"Authorization": "Bearer azure-0123456789"}
        settings = replace(server_settings(server.url, key=None), headers=headers)
        provider = OpenAIProvider(settings)
        heard = await hear(provider, a_request())
        assert "[removed key]" in str(heard.error)
        assert "azure-0123456789" not in str(heard.error)
        await provider.close()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_thousand_questions_to_a_failing_server(stream: bool) -> None:
    script = faulty(say("The answer is forty-two."), rate_429=0.05, dropped=0.05, malformed=0.01)
    async with opened(script) as (provider, server):
        room = asyncio.Semaphore(20)

        async def one(number: int) -> Heard:
            async with room:
                return await hear(provider, a_request(f"question {number}", stream=stream))

        answers = await asyncio.gather(*(one(number) for number in range(1000)))
        assert all(answer.text == "The answer is forty-two." and answer.end for answer in answers)
        retries = [wait for answer in answers for wait in answer.waits]
        assert len(retries) == 110
        assert len(server.asked) == 1110
        assert sum("(429)" in wait.reason for wait in retries) == 50
