"""The Responses API by the OpenAI provider: when it is chosen, what is sent, and what goes wrong."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support import responses
from tests.support.asking import Heard, a_request, hear, server_settings
from tests.support.clocks import FakeTime
from tests.support.model_server import Asked, ModelServer, Script
from tests.support.model_server import say as say_chat
from tests.support.replies import Reply
from tui.model.provider_messages import Request, UsageChunk
from tui.model.results import Message, Usage
from tui.model.servers import OPENAI_URL
from tui.model.subjects import Api, Settings
from tui.providers.openai.provider import OpenAIProvider, choose_api

BY_RESPONSES = Settings(api="responses")


async def heard_from(
    script: Script | Reply, request: Request | None = None, api: Api | None = None, **patience: Any
) -> tuple[Heard, list[Asked]]:
    async with ModelServer((lambda _: script) if isinstance(script, Reply) else script) as server:
        settings = replace(server_settings(server.url), api=api)
        provider = OpenAIProvider(settings, FakeTime().patience(**patience))
        heard = await hear(provider, request or a_request(settings=BY_RESPONSES))
        await provider.close()
        return heard, server.asked


@pytest.mark.parametrize("stream", [True, False])
async def test_an_answer_arrives_whole(stream: bool) -> None:
    request = a_request(stream=stream, settings=BY_RESPONSES)
    heard, (asked,) = await heard_from(responses.say("Grüß Gott, 🎉!"), request)
    assert (heard.text, heard.end, heard.error) == ("Grüß Gott, 🎉!", "stop", None)
    assert UsageChunk(Usage(7, 3, 0, 0)) in heard.chunks
    assert (asked.path, asked.body["stream"]) == ("/v1/responses", stream)


async def test_what_is_sent() -> None:
    settings = Settings(temperature=0.5, top_p=0.9, seed=7, max_tokens=12, api="responses")
    turns = [Message("system", "Be kind."), Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    heard, (asked,) = await heard_from(responses.say("ok"), a_request(settings=settings, messages=turns))
    assert asked.body == {
        "model": "mock-a",
        "input": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b"},
            {"role": "user", "content": "c"},
        ],
        "stream": True,
        "store": False,
        "instructions": "Be kind.",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_output_tokens": 12,
    }
    assert heard.notes == ["The seed was not sent, because the Responses API does not support it"]


async def test_what_is_left_open_is_not_sent() -> None:
    _, (asked,) = await heard_from(responses.say("ok"))
    assert sorted(asked.body) == ["input", "model", "store", "stream"]


CHOICES: list[tuple[str, str, Api | None, Api | None, Api]] = [
    ("gpt-5.2", OPENAI_URL, None, None, "chat"),
    ("gpt-5.2-2025-12-11", OPENAI_URL, None, None, "chat"),
    ("gpt-6-astra", OPENAI_URL, None, None, "chat"),
    ("o3", OPENAI_URL, None, None, "chat"),
    ("o4-mini-2025-04-16", OPENAI_URL, None, None, "chat"),
    ("gpt-4o-search-preview", OPENAI_URL, None, None, "chat"),
    ("o1-pro", OPENAI_URL, None, None, "responses"),
    ("o1-pro-2025-03-19", OPENAI_URL, None, None, "responses"),
    ("o3-pro", OPENAI_URL + "/", None, None, "responses"),
    ("gpt-5-pro-2025-10-06", OPENAI_URL, None, None, "responses"),
    ("gpt-5.5-pro", OPENAI_URL, None, None, "responses"),
    ("gpt-5-codex", OPENAI_URL, None, None, "responses"),
    ("gpt-5.1-codex-max", OPENAI_URL, None, None, "responses"),
    ("codex-mini-latest", OPENAI_URL, None, None, "responses"),
    ("o4-mini-deep-research", OPENAI_URL, None, None, "responses"),
    ("o3-deep-research-2025-06-26", OPENAI_URL, None, None, "responses"),
    ("computer-use-preview", OPENAI_URL, None, None, "responses"),
    ("gpt-6-cyber", OPENAI_URL, None, None, "responses"),
    # elsewhere only what is named
    ("o1-pro", "http://localhost:1/v1", None, None, "chat"),
    ("o1-pro", "http://localhost:1/v1", "responses", None, "responses"),
    ("m", "http://localhost:1/v1", None, "responses", "responses"),
    # the model's own setting goes before the provider's, and both before the rule
    ("m", OPENAI_URL, "responses", "chat", "chat"),
    ("o1-pro", OPENAI_URL, None, "chat", "chat"),
    ("o1-pro", OPENAI_URL, "chat", None, "chat"),
    ("gpt-5.2", OPENAI_URL, "responses", None, "responses"),
]


@pytest.mark.parametrize(("model", "url", "providers", "models", "chosen"), CHOICES)
def test_which_protocol_is_chosen(model: str, url: str, providers: Api | None, models: Api | None, chosen: Api) -> None:
    settings = replace(server_settings(url), api=providers)
    assert choose_api(a_request(model=model, settings=Settings(api=models)), settings) == chosen


async def test_both_protocols_go_to_the_same_server() -> None:
    async with ModelServer(lambda asked: (responses.say if "input" in asked.body else say_chat)("ok")(asked)) as server:
        provider = OpenAIProvider(replace(server_settings(server.url), api="responses"))
        assert (await hear(provider, a_request())).text == "ok"
        assert (await hear(provider, a_request(settings=Settings(api="chat")))).text == "ok"
        assert [asked.path for asked in server.asked] == ["/v1/responses", "/v1/chat/completions"]
        assert server.connections == 1
        await provider.close()
