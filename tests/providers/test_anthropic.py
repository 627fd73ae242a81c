"""The Anthropic provider against a real loopback server: what it sends, what it hears, and what goes wrong."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support import messages
from tests.support.asking import KEY, Heard, a_request, hear
from tests.support.clocks import FakeTime
from tests.support.messages import OVER, closed, opened, piece, started, stopped, text
from tests.support.model_server import Asked, ModelServer, Script, faulty, in_turn
from tests.support.replies import HANG, Pause, Reply, page, status
from tui.model.errors import ProviderError
from tui.model.provider_messages import Request, Sent, Text, ToolCall, UsageChunk, Waiting
from tui.model.results import Message, Usage
from tui.model.subjects import ProviderSettings, Settings
from tui.providers.anthropic import AnthropicProvider
from tui.providers.protocol import Reopens

SHORT: dict[str, Any] = {"first_byte_s": 0.4, "stall_s": 0.4, "think_s": 0.8, "after_finish_s": 0.2, "drain_s": 0.2}


def settings_for(url: str, **more: Any) -> ProviderSettings:
    known = ProviderSettings("anthropic", "anthropic", url.removesuffix("/v1"), KEY, "ANTHROPIC_API_KEY")
    return replace(known, **more)


@asynccontextmanager
async def opened_provider(
    script: Script | Reply, time: FakeTime | None = None, patience: dict[str, Any] | None = None, **settings: Any
) -> AsyncIterator[tuple[AnthropicProvider, ModelServer]]:
    async with ModelServer((lambda _: script) if isinstance(script, Reply) else script) as server:
        waits = (time or FakeTime()).patience(**(patience or {}))
        provider = AnthropicProvider(settings_for(server.url, **settings), waits)
        try:
            yield provider, server
        finally:
            await provider.close()


async def heard_from(script: Script | Reply, request: Request | None = None, **settings: Any) -> tuple[Heard, Asked]:
    async with opened_provider(script, **settings) as (provider, server):
        heard = await hear(provider, request or a_request())
        return heard, server.asked[-1]


async def tried(script: Script | Reply, *, stream: bool = True, **patience: Any) -> tuple[Heard, int]:
    async with opened_provider(script, patience=patience) as (provider, server):
        heard = await hear(provider, a_request(stream=stream))
        return heard, len(server.asked)


def sentence(heard: Heard) -> str:
    assert heard.error is not None
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", str(heard.error))


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_arrives_whole(stream: bool) -> None:
    heard, asked = await heard_from(messages.say("Grüß Gott, 🎉!", pieces=5), a_request(stream=stream))
    assert (heard.text, heard.end, heard.error) == ("Grüß Gott, 🎉!", "stop", None)
    assert heard.chunks[0] == Sent()
    assert [chunk.usage for chunk in heard.chunks if isinstance(chunk, UsageChunk)][-1] == Usage(7, 3, None)
    assert asked.body["stream"] is stream


async def test_text_is_handed_on_while_the_rest_is_still_to_come() -> None:
    go_on = asyncio.Event()
    answer = ""
    reply = messages.stream(started(), opened(), text("one"), go_on, text(" two"), closed(), stopped(), OVER)
    async with opened_provider(reply) as (provider, _):
        async for chunk in provider.ask(a_request()):
            if isinstance(chunk, Text):
                answer += chunk.text
                go_on.set()
    assert answer == "one two"


async def test_what_is_sent() -> None:
    settings = Settings(temperature=0.5, top_p=0.9, max_tokens=12)
    turns = [
        Message("system", "Be kind."),
        Message("user", "hi \ud800 🎉"),
        Message("assistant", "Hello."),
        Message("user", "again"),
    ]
    _, asked = await heard_from(messages.say("ok"), a_request(model="claude-x", settings=settings, messages=turns))
    assert (asked.method, asked.path) == ("POST", "/v1/messages")
    assert asked.body == {
        "model": "claude-x",
        "max_tokens": 12,
        "messages": [
            {"role": "user", "content": "hi \ud800 🎉"},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "again"},
        ],
        "stream": True,
        "system": "Be kind.",
        "temperature": 0.5,
        "top_p": 0.9,
    }
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-version"] == "2023-06-01"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["content-type"] == "application/json"
    assert "authorization" not in asked.headers
    assert "cookie" not in asked.headers


async def test_what_is_left_open_is_not_sent_but_for_the_limit_that_the_protocol_wants() -> None:
    heard, asked = await heard_from(messages.say("ok"))
    assert sorted(asked.body) == ["max_tokens", "messages", "model", "stream"]
    assert asked.body["max_tokens"] == 4096
    assert heard.notes == []


async def test_a_seed_has_no_place_in_the_protocol_and_that_is_noted_once() -> None:
    script = in_turn(status(529, {}), messages.say("ok"))
    heard, asked = await heard_from(script, a_request(settings=Settings(seed=7)))
    assert "seed" not in asked.body
    assert heard.notes == ["The seed was not sent, because the Messages API does not support it"]


KEYS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "a key": ({}, {"x-api-key": KEY}),
    "a token": ({"key_name": "ANTHROPIC_AUTH_TOKEN"}, {"authorization": f"Bearer {KEY}"}),
    "a key of the config": ({"key_name": "MY_KEY"}, {"x-api-key": KEY}),
    "a header of one's own": ({"headers": {"Authorization": "Basic eA=="}}, {"authorization": "Basic eA=="}),
    "another key in a header": ({"headers": {"X-API-Key": "other"}}, {"x-api-key": "other"}),
    "none": ({"api_key": None}, {}),
}


@pytest.mark.parametrize(("settings", "sent"), KEYS.values(), ids=KEYS)
async def test_the_key_goes_where_it_belongs(settings: dict[str, Any], sent: dict[str, str]) -> None:
    _, asked = await heard_from(messages.say("ok"), **settings)
    keys = ("x-api-key", "authorization")
    assert {name: value for name, value in asked.headers.items() if name in keys} == sent


async def test_the_version_of_the_protocol_can_be_chosen() -> None:
    _, asked = await heard_from(messages.say("ok"), headers={"Anthropic-Version": "2026-10-21", "anthropic-beta": "x"})
    assert asked.headers["anthropic-version"] == "2026-10-21"
    assert asked.headers["anthropic-beta"] == "x"


async def test_a_base_url_may_have_its_version_a_slash_or_a_query() -> None:
    async with ModelServer(messages.say("ok")) as server:
        root = server.url.removesuffix("/v1")
        for url in (root, root + "/", root + "/v1", root + "/v1/", root + "/proxy", root + "?tenant=1"):
            provider = AnthropicProvider(replace(settings_for(url), base_url=url))
            assert (await hear(provider, a_request())).text == "ok"
            assert await provider.models() == ("mock-a", "mock-b")
            await provider.close()
        paths = ["/v1/messages"] * 4 + ["/proxy/v1/messages", "/v1/messages?tenant=1"]
        assert [asked.path for asked in server.asked] == paths
        assert server.listed[-1].path == "/v1/models?tenant=1&limit=1000"


async def test_thinking_and_tools() -> None:
    reply = messages.stream(
        started(),
        opened(0, "thinking"),
        piece("thinking_delta", thinking="hm"),
        piece("signature_delta", signature="c2ln"),
        closed(),
        opened(1, "tool_use", id="t", name="look", input={}),
        piece("input_json_delta", 1, partial_json='{"a": 1}'),
        closed(1),
        stopped("tool_use"),
        OVER,
    )
    heard, _ = await heard_from(reply)
    assert (heard.reasoning, heard.text, heard.end) == ("hm", "", "tool_calls")
    assert ToolCall("look", '{"a": 1}') in heard.chunks


@pytest.mark.parametrize("stream", [True, False])
async def test_connections_are_kept(stream: bool) -> None:
    async with opened_provider(messages.say("an answer of some words")) as (provider, server):
        for number in range(10):
            assert (await hear(provider, a_request(str(number), stream=stream))).error is None
        assert server.connections == 1


async def test_models_are_listed_without_the_retired_ones() -> None:
    entries = [{"id": "b", "lifecycle": "active"}, {"id": "c", "lifecycle": "retired"}, {"id": "a", "type": "model"}]
    async with opened_provider(messages.say("ok")) as (provider, server):
        server.listing = status(200, {"data": entries, "has_more": False, "first_id": "b", "last_id": "a"})
        assert await provider.models() == ("a", "b")
        asked = server.listed[0]
        assert asked.path == "/v1/models?limit=1000"
        assert (asked.headers["x-api-key"], asked.headers["anthropic-version"]) == (KEY, "2023-06-01")
        server.listing = page()
        with pytest.raises(ProviderError, match="did not send a list of models"):
            await provider.models()


def failure(kind: str, words: str = "busy") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}


async def test_a_model_that_thinks_unseen_is_waited_for_longer() -> None:
    thought = messages.stream(
        started(), opened(0, "thinking"), Pause(0.6), piece("signature_delta", signature="x"), closed(),
        opened(1), text("well", 1), closed(1), stopped(), OVER,
    )  # fmt: skip
    heard, requests = await tried(thought, **SHORT | {"think_s": 60})
    assert (heard.text, heard.error, requests) == ("well", None, 1)
    heard, _ = await tried(messages.stream(started(), opened(0, "thinking"), HANG), tries=1, **SHORT)
    assert sentence(heard) == "HOST sent nothing more for 0.8 s"


async def test_an_answer_in_one_piece_may_take_as_long_as_a_thought() -> None:
    heard, requests = await tried(messages.whole("well", latency_s=0.6), stream=False, **SHORT | {"think_s": 60})
    assert (heard.text, heard.error, requests) == ("well", None, 1)
    heard, _ = await tried(messages.streamed("late", latency_s=60), tries=1, **SHORT)
    assert sentence(heard) == "HOST sent nothing for 0.4 s"


async def test_a_429_pauses_the_whole_queue() -> None:
    time = FakeTime()
    limited = in_turn(status(429, failure("rate_limit_error"), headers={"Retry-After": "30"}), messages.say("well"))
    script: Script = lambda asked: (limited if asked.prompt == "first" else messages.say("well"))(asked)  # noqa: E731
    async with opened_provider(script, time) as (provider, _):
        answer = provider.ask(a_request("first"))
        assert [type(await anext(answer)) for _ in range(2)] == [Sent, Waiting]
        second = await hear(provider, a_request("second"))
        assert time.elapsed >= 30
        assert (second.text, second.waits) == ("well", [])


async def test_a_refused_key_stops_the_queue_until_it_is_opened_again() -> None:
    async with opened_provider(in_turn(status(401, failure("authentication_error")), messages.say("well"))) as (
        provider,
        server,
    ):
        heard = [await hear(provider, a_request()) for _ in range(3)]
        assert all(
            str(answer.error).endswith(" rejected the API key (401). Check ANTHROPIC_API_KEY.") for answer in heard
        )
        assert len(server.asked) == 1
        assert isinstance(provider, Reopens)
        provider.reopen()
        assert (await hear(provider, a_request())).text == "well"


async def test_no_key_is_quoted() -> None:
    for settings in ({}, {"api_key": None, "headers": {"X-API-Key": KEY}}, {"key_name": "ANTHROPIC_AUTH_TOKEN"}):
        script = status(400, failure("invalid_request_error", f"do not use {KEY}"))
        heard, _ = await heard_from(script, **settings)
        assert KEY not in str(heard.error)


@pytest.mark.parametrize("stream", [True, False])
async def test_two_hundred_questions_to_a_failing_server(stream: bool) -> None:
    script = faulty(messages.say("The answer is forty-two."), rate_429=0.05, dropped=0.05, malformed=0.01)
    async with opened_provider(script) as (provider, server):
        room = asyncio.Semaphore(20)

        async def one(number: int) -> Heard:
            async with room:
                return await hear(provider, a_request(f"question {number}", stream=stream))

        answers = await asyncio.gather(*(one(number) for number in range(200)))
        assert all(answer.text == "The answer is forty-two." and answer.end == "stop" for answer in answers)
        assert len(server.asked) == 222
