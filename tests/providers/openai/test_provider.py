"""The chat completions provider against a real loopback server: what it sends, and answers that come well."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.support.asking import KEY, Heard, a_request, hear, server_settings
from tests.support.clocks import FakeTime
from tests.support.model_server import Asked, ModelServer, Script, say
from tests.support.replies import Pause, Reply, delta, events, page, status, streamed, whole
from tui.model.errors import ProviderError
from tui.model.provider_messages import Request, Sent, Text, ToolCall, UsageChunk
from tui.model.results import Message, Usage
from tui.model.subjects import ProviderSettings, Settings
from tui.providers.http.limits import RetryLimits
from tui.providers.openai.provider import OpenAIProvider


@asynccontextmanager
async def opened(
    script: Script | Reply, patience: RetryLimits | None = None, **settings: Any
) -> AsyncIterator[tuple[OpenAIProvider, ModelServer]]:
    async with ModelServer((lambda _: script) if isinstance(script, Reply) else script) as server:
        known: ProviderSettings = replace(server_settings(server.url), **settings)
        provider = OpenAIProvider(known, patience or FakeTime().patience())
        try:
            yield provider, server
        finally:
            await provider.close()


async def heard_from(script: Script | Reply, request: Request | None = None, **settings: Any) -> tuple[Heard, Asked]:
    async with opened(script, **settings) as (provider, server):
        answer = await hear(provider, request or a_request())
        return answer, server.asked[-1]


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_arrives_whole(stream: bool) -> None:
    heard, asked = await heard_from(say("Grüß Gott, 🎉!", pieces=5), a_request(stream=stream))
    assert heard.text == "Grüß Gott, 🎉!"
    assert (heard.end, heard.error) == ("stop", None)
    assert heard.chunks[0] == Sent()
    assert heard.chunks.index(UsageChunk(Usage(7, 3, None))) < len(heard.chunks) - 1
    assert asked.body["stream"] is stream


async def test_text_is_handed_on_while_the_rest_is_still_to_come() -> None:
    go_on = asyncio.Event()
    answer = ""
    async with opened(events(delta("one"), go_on, delta(" two", "stop"), "[DONE]")) as (provider, _):
        async for chunk in provider.ask(a_request()):
            if isinstance(chunk, Text):
                answer += chunk.text
                # The server sends the rest only now: an answer that is gathered first would never end.
                go_on.set()
    assert answer == "one two"


async def test_what_is_sent() -> None:
    settings = Settings(temperature=0.5, top_p=0.9, seed=7, max_tokens=12)
    messages = [Message("system", "Be kind."), Message("user", "hi \ud800 🎉")]
    request = a_request(model="vendor/model", settings=settings, messages=messages)
    _, asked = await heard_from(say("ok"), request)
    assert asked.method == "POST"
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "vendor/model",
        "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi \ud800 🎉"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
        "max_tokens": 12,
    }
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.headers["accept-encoding"] == "identity"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["user-agent"].startswith("assay/")
    assert "cookie" not in asked.headers


async def test_what_is_left_open_is_not_sent() -> None:
    _, asked = await heard_from(say("ok"), a_request(stream=False))
    assert sorted(asked.body) == ["messages", "model", "stream"]


async def test_the_token_limit_has_the_name_that_the_server_knows() -> None:
    request = a_request(settings=Settings(max_tokens=5))
    _, asked = await heard_from(say("ok"), request, token_limit="max_completion_tokens")
    assert asked.body["max_completion_tokens"] == 5
    assert "max_tokens" not in asked.body


async def test_headers_of_the_settings_are_sent() -> None:
    headers = {"OpenAI-Organization": "org-1", "OpenAI-Project": "proj-1"}
    _, asked = await heard_from(say("ok"), headers=headers)
    assert asked.headers["openai-organization"] == "org-1"
    assert asked.headers["openai-project"] == "proj-1"
    _, asked = await heard_from(say("ok"), headers={"authorization": "Basic eA=="})
    assert asked.headers["authorization"] == "Basic eA=="


async def test_without_a_key_none_is_sent() -> None:
    _, asked = await heard_from(say("ok"), api_key=None)
    assert "authorization" not in asked.headers


async def test_a_base_url_may_end_in_a_slash_or_carry_a_query() -> None:
    async with ModelServer(say("ok")) as server:
        for url in (server.url + "/", server.url + "?api-version=1"):
            provider = OpenAIProvider(server_settings(url))
            assert (await hear(provider, a_request())).text == "ok"
            await provider.close()
        assert [asked.path for asked in server.asked] == ["/v1/chat/completions", "/v1/chat/completions?api-version=1"]


async def test_reasoning_and_tools() -> None:
    calls = [{"index": 0, "function": {"name": "look", "arguments": '{"a"'}}]
    more = [{"index": 0, "function": {"arguments": ": 1}"}}]
    reply = events(delta(reasoning="hm"), delta(tool_calls=calls), delta(tool_calls=more), delta(finish="tool_calls"))
    heard, _ = await heard_from(reply)
    assert (heard.reasoning, heard.text, heard.end) == ("hm", "", "tool_calls")
    assert ToolCall("look", '{"a": 1}') in heard.chunks


async def test_an_answer_without_text_ends_well_and_stays_empty() -> None:
    heard, _ = await heard_from(events(delta(""), {"choices": []}, delta(finish="length"), "[DONE]"))
    assert (heard.text, heard.end, heard.error) == ("", "length", None)


@pytest.mark.parametrize("stream", [True, False])
async def test_connections_are_kept(stream: bool) -> None:
    async with opened(say("an answer of some words")) as (provider, server):
        for number in range(20):
            assert (await hear(provider, a_request(str(number), stream=stream))).error is None
        assert server.connections == 1
        await asyncio.gather(*(hear(provider, a_request(f"again {n}", stream=stream)) for n in range(20)))
        assert server.connections <= 20


async def test_a_connection_is_kept_where_the_end_of_the_body_comes_after_done() -> None:
    async with opened(events(delta("a", "stop"), "[DONE]", Pause(0.05), b": bye\n\n")) as (provider, server):
        for number in range(3):
            assert (await hear(provider, a_request(str(number)))).text == "a"
        assert server.connections == 1


async def test_more_than_a_hundred_questions_may_be_open() -> None:
    async with opened(say("ok", latency_s=0.3)) as (provider, server):
        answers = await asyncio.gather(*(hear(provider, a_request(str(number))) for number in range(150)))
        assert all(answer.text == "ok" for answer in answers)
        assert server.most_in_flight > 100


async def test_closing_the_answer_ends_the_request_at_once() -> None:
    async with opened(streamed("word " * 50, pieces=50, delay_s=0.2)) as (provider, server):
        chunks = cast("Any", provider.ask(a_request()))
        async for chunk in chunks:
            if isinstance(chunk, Text):
                break
        await chunks.aclose()
        await server.wait_until_idle()


async def test_cancelling_the_task_ends_the_request_at_once() -> None:
    async with opened(say("x", latency_s=60)) as (provider, server):
        asking = asyncio.create_task(hear(provider, a_request()))
        await server.wait_for_requests(1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_models_are_listed_and_sorted() -> None:
    async with ModelServer(models=("b", "a", "b")) as server:
        provider = OpenAIProvider(server_settings(server.url))
        assert await provider.models() == ("a", "b")
        assert server.listed[0].path == "/v1/models"
        assert server.listed[0].headers["authorization"] == f"Bearer {KEY}"
        await provider.close()


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (page(), "{host} did not send a list of models. Check the base URL."),
        (status(200, {"models": []}), "{host} did not send a list of models. Check the base URL."),
        (status(200, {"data": 7}), "{host} did not send a list of models. Check the base URL."),
        (status(200, {"data": [0] * 500_001}), "{host} did not send a list of models. Check the base URL."),
        (
            status(200, {"data": [{"id": "a"}], "more": [0] * 500_001}),
            "{host} did not send a list of models. Check the base URL.",
        ),
        (status(401), "{host} rejected the API key (401). Check OPENAI_API_KEY."),
        (status(500, {"error": "oops"}), "{host} failed (500): oops"),
        (whole("x" * 100).cut(), "The connection to {host} was lost during the answer"),
    ],
)
async def test_a_list_of_models_that_cannot_be_had(reply: Reply, sentence: str) -> None:
    async with opened(say("ok")) as (provider, server):
        server.listing = reply
        with pytest.raises(ProviderError) as caught:
            await provider.models()
        assert str(caught.value) == sentence.format(host=f"127.0.0.1:{server.port}")


async def test_a_server_without_a_list_of_models() -> None:
    async with opened(say("ok")) as (provider, server):
        server.listing = status(404)
        assert await provider.models() == ()


async def test_a_proxy_is_used_but_never_for_loopback() -> None:
    async with ModelServer(say("by proxy")) as proxy, ModelServer(say("direct")) as server:
        through = f"http://user:pa55word@127.0.0.1:{proxy.port}"
        far = OpenAIProvider(replace(server_settings("http://model.invalid/v1"), proxy=through))
        near = OpenAIProvider(replace(server_settings(server.url), proxy=through))
        assert (await hear(far, a_request())).text == "by proxy"
        assert (await hear(near, a_request())).text == "direct"
        assert proxy.asked[0].path == "http://model.invalid/v1/chat/completions"
        assert proxy.asked[0].headers["proxy-authorization"].startswith("Basic ")
        await far.close()
        await near.close()


async def test_the_environments_proxies_and_passwords_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    heard, _ = await heard_from(say("direct"))
    assert heard.text == "direct"


def test_the_body_is_plain_ascii() -> None:
    from tui.providers.openai.chat import chat_body

    body = chat_body(a_request("ä\ud800"), "max_tokens")
    assert body.isascii()
    assert json.loads(body)["messages"][0]["content"] == "ä\ud800"
