"""Agents behind a URL: a POST for each step, and the provider table's words where it goes wrong."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.support.model_server import ModelServer, Script, closed_port, in_turn
from tests.support.replies import Reply, page, status
from tests.support.steps import ask, ask_in_vain, make_request, memory_of, text_of, tools_of
from tui.model.errors import ProviderFault
from tui.model.provider_messages import Sent, Waiting
from tui.model.subjects import ProviderSettings
from tui.providers.agent import AgentProvider

FINE = status(200, {"output": "fine", "tools_used": ["A", {"name": "B"}], "memory": {"n": 1}})


@pytest.fixture
async def agents() -> AsyncIterator[AgentProvider]:
    provider = AgentProvider(ProviderSettings("agent", "agent", api_key="sk-secret-key"))
    yield provider
    await provider.close()


def serving(script: Script | Reply) -> ModelServer:
    return ModelServer(script if not isinstance(script, Reply) else lambda _: script)


async def test_a_step_is_a_post_of_its_input_and_memory(agents: AgentProvider) -> None:
    async with serving(FINE) as server:
        request = make_request(f"http://127.0.0.1:{server.port}/agent?v=1", "Höhe", memory={"a": [1]})
        chunks = await ask(agents, request)
    assert (text_of(chunks), tools_of(chunks), memory_of(chunks)) == ("fine", ["A", "B"], {"n": 1})
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/agent?v=1")
    assert asked.body == {"input": "Höhe", "memory": {"a": [1]}}
    assert "sk-secret-key" not in str(asked.headers)


async def test_what_is_omitted_is_empty_or_as_it_was(agents: AgentProvider) -> None:
    async with serving(status(200, {"output": "x"})) as server:
        chunks = await ask(agents, make_request(server.url, memory={"a": 1}))
    assert (tools_of(chunks), memory_of(chunks)) == ([], {"a": 1})


@pytest.mark.parametrize("first", [status(429, headers={"Retry-After": "0"}), status(503), FINE.cut(how="abort")])
async def test_what_may_pass_is_tried_again(agents: AgentProvider, first: Reply) -> None:
    async with serving(in_turn(first, FINE)) as server:
        chunks = await ask(agents, make_request(server.url))
    assert text_of(chunks) == "fine"
    assert sum(isinstance(chunk, Sent) for chunk in chunks) == 2
    (waiting,) = (chunk for chunk in chunks if isinstance(chunk, Waiting))
    assert f"agent 127.0.0.1:{server.port} " in waiting.reason


FAULTS: list[tuple[Reply, ProviderFault, str]] = [
    (status(200, {"output": 1}), "crashed", "sent an invalid answer: output: expected a string, got a number"),
    (status(200, {"error": "no"}), "crashed", "sent an invalid answer: it has an error instead of an output: no"),
    (status(200, []), "crashed", "sent an invalid answer: expected an object"),
    (page(), "garbled", "sent a web page instead of an agent answer. Check the agent's URL."),
    (FINE.zipped(), "garbled", "sent an answer with the encoding gzip, which was not requested"),
    (status(404), "not_found", "has no agent at /v1 (404)"),
    (status(401), "unauthorized", "requires authentication (401)"),
    (status(422, {"detail": "input is missing"}), "refused", "refused the request (422): input is missing"),
    (
        status(302, headers={"Location": "http://example.com"}),
        "garbled",
        "redirected the request (302); Assay does not follow redirects",
    ),
    (status(200, {"output": "x" * (17 << 20)}), "garbled", "sent more than 16 MiB"),
]


@pytest.mark.parametrize(("reply", "fault", "message"), FAULTS, ids=[message[:30] for _, _, message in FAULTS])
async def test_what_no_try_can_mend_is_reported_at_once(
    agents: AgentProvider, reply: Reply, fault: ProviderFault, message: str
) -> None:
    async with serving(reply) as server:
        _, error = await ask_in_vain(agents, make_request(server.url))
    assert error.fault == fault
    assert str(error).startswith(f"agent 127.0.0.1:{server.port} ")
    assert message in str(error)
    assert len(server.asked) == 1


@pytest.mark.parametrize("url", ["http://", "http://a b/", "http://ada:pa55@host/"])
async def test_a_url_that_cannot_be_asked(agents: AgentProvider, url: str) -> None:
    _, error = await ask_in_vain(agents, make_request(url))
    assert error.fault == "not_found"
    assert "the agent's URL" in str(error)
    assert "pa55" not in str(error)


async def test_closing_an_answer_lets_go_of_the_connection(agents: AgentProvider) -> None:
    asked, left = asyncio.Event(), asyncio.Event()

    async def never_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"}")
        asked.set()
        await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(never_answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        answer = asyncio.create_task(ask(agents, make_request(f"http://127.0.0.1:{port}/")))
        await asyncio.wait_for(asked.wait(), 60)
        answer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answer
        await asyncio.wait_for(left.wait(), 60)


async def test_nobody_there_is_reported_after_the_first_wait(agents: AgentProvider) -> None:
    heard = []
    async for chunk in agents.ask(make_request(f"http://127.0.0.1:{closed_port()}/")):
        heard.append(chunk)
        if isinstance(chunk, Waiting):
            break
    assert "Cannot connect to 127.0.0.1:" in heard[-1].reason  # type: ignore[union-attr, operator]
