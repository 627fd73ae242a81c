"""Faults of servers that concern more than one request, and hosts, proxies and TLS; `tests/faults` has all others."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.asking import KEY, Heard, a_request, hear, server_settings
from tests.support.clocks import FakeTime
from tests.support.model_server import ModelServer, Script, closed_port, faulty, in_turn, say
from tests.support.replies import (
    Reply,
    delta,
    events,
    status,
    streamed,
)
from tui.model.provider_messages import Sent, Text, Waiting
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


async def test_a_slow_stream_that_goes_on_is_no_stall() -> None:
    patience = SHORT | {"first_byte_s": 30, "stall_s": 2.2}
    heard, _ = await tried(streamed("one two three four five six", pieces=6, delay_s=0.5), **patience)
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


async def test_a_refused_key_stops_the_queue() -> None:
    async with opened(status(401, {"error": {"message": f"Incorrect key {KEY}"}})) as (provider, server):
        heard = [await hear(provider, a_request(str(number))) for number in range(3)]
        assert len({str(answer.error) for answer in heard}) == 1
        assert {answer.error.fault for answer in heard if answer.error} == {"unauthorized"}
        assert len(server.asked) == 1
        assert "OPENAI_API_KEY" in str(heard[0].error)
        assert heard[1].count(Sent) == 0


async def test_an_answer_that_is_denied_concerns_only_its_own_request() -> None:
    flagged = {"error": {"message": "Your input was flagged"}}
    refusals = iter((status(403, flagged), None, status(401, BUSY), None))
    async with opened(lambda asked: next(refusals) or say("well")(asked)) as (provider, _):
        heard = [await hear(provider, a_request(str(number))) for number in range(4)]
        assert [answer.text for answer in heard] == ["", "well", "", "well"]
        assert str(heard[0].error).endswith(
            "denied access (403): Your input was flagged. Check what OPENAI_API_KEY has access to."
        )


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


async def test_a_key_in_a_header_is_not_reported_either() -> None:
    async with ModelServer(lambda asked: status(400, {"error": asked.headers["authorization"][7:]})) as server:
        headers = {"Authorization": "Bearer azure-0123456789"}
        settings = replace(server_settings(server.url, key=None), headers=headers)
        provider = OpenAIProvider(settings)
        heard = await hear(provider, a_request())
        assert "[removed key]" in str(heard.error)
        assert "azure-0123456789" not in str(heard.error)
        await provider.close()


@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=pytest.mark.long)])
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
