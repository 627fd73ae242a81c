"""What a server says of itself with an answer: id, fingerprint, version of its API, name; over real connections."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.asking import a_request, hear, server_settings
from tests.support.model_server import ModelServer
from tests.support.replies import Reply, delta, event, events
from tui.model.provider_messages import ServedByChunk
from tui.model.results import ServedBy
from tui.model.subjects import Settings
from tui.providers.anthropic import AnthropicProvider
from tui.providers.openai.provider import OpenAIProvider

FULL = {"model": "gpt-5.2-2026-01-01", "system_fingerprint": "fp_1"}
HEADERS = (("openai-version", "2020-10-01"), ("Server", "cloudflare"))
SERVED = ServedBy("gpt-5.2-2026-01-01", "fp_1", "2020-10-01", "cloudflare")


def with_headers(reply: Reply, *headers: tuple[str, str]) -> Reply:
    return replace(reply, headers=(*reply.headers, *headers))


def chat_stream(*cut: Any) -> Reply:
    chunks = [{**delta(text), **FULL} for text in ("a", "b")]
    return with_headers(events(*chunks, *(cut or ({**delta(finish="stop"), **FULL}, "[DONE]"))), *HEADERS)


def whole(**body: Any) -> Reply:
    return with_headers(Reply((json.dumps(body).encode(),)), *HEADERS)


RESPONSE: dict[str, Any] = {"id": "r", "status": "completed", "model": FULL["model"], "output": [], "error": None}
MESSAGE: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": FULL["model"]}


def message_stream() -> Reply:
    return with_headers(
        events(
            event({"type": "message_start", "message": MESSAGE}),
            event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            event({"type": "message_stop"}),
        ),
        *HEADERS,
    )


def response_stream() -> Reply:
    begun = {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}}
    return with_headers(events(begun, {"type": "response.completed", "response": RESPONSE}), *HEADERS)


async def served(reply: Reply, kind: str = "chat") -> Sequence[ServedBy]:
    async with ModelServer(lambda _: reply) as server:
        if kind == "messages":
            provider: OpenAIProvider | AnthropicProvider = AnthropicProvider(server_settings(server.url))
        else:
            provider = OpenAIProvider(server_settings(server.url))
        settings = Settings(api="responses") if kind == "responses" else Settings()
        heard = await hear(provider, a_request(settings=settings))
        await provider.close()
    return [chunk.by for chunk in heard.chunks if isinstance(chunk, ServedByChunk)]


CHAT = {"choices": [{"index": 0, "message": {"content": "a"}, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        ("chat", chat_stream(), SERVED),
        ("chat", whole(**FULL, **CHAT), SERVED),
        ("responses", response_stream(), replace(SERVED, fingerprint="")),
        ("responses", whole(**RESPONSE), replace(SERVED, fingerprint="")),
        ("messages", message_stream(), replace(SERVED, fingerprint="")),
        ("messages", whole(**MESSAGE, stop_reason="end_turn"), replace(SERVED, fingerprint="")),
    ],
)
async def test_it_is_reported_once_in_every_protocol(kind: str, reply: Reply, expected: ServedBy) -> None:
    assert await served(reply, kind) == [expected]


async def test_of_an_answer_that_breaks_off_it_is_known_too() -> None:
    assert await served(chat_stream("abort")) == [SERVED]


async def test_the_last_word_holds() -> None:
    late = events({**delta("a"), "model": "auto"}, {**delta(finish="stop"), "model": "vendor/real-1"}, "[DONE]")
    assert (await served(late))[-1].model == "vendor/real-1"


async def test_a_server_that_says_nothing_is_not_reported() -> None:
    bare = events({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]}, "[DONE]")
    assert await served(bare) == []


async def test_what_it_says_is_cut_and_made_safe() -> None:
    hostile: dict[str, Any] = {"model": "m\x1b[31m\n" + "x" * 5_000, "system_fingerprint": {"no": "text"}}
    reply = events({**delta("a"), **hostile}, {**delta(finish="stop"), **hostile}, "[DONE]")
    (by,) = await served(with_headers(reply, ("Server", "s" * 4_000)))
    assert by.model.startswith("m␛[31m xxx")
    assert (len(by.model), len(by.server), by.fingerprint) == (200, 200, "")
