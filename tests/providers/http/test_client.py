"""The HTTP library as it is used here: what it must not do by itself, and what it must not say."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from tests.support.asking import KEY
from tests.support.clocks import FakeTime
from tests.support.model_server import ModelServer
from tests.support.replies import HANG, Reply, events, status, streamed, whole
from tui.providers.http.client import HttpAnswer, HttpClient
from tui.providers.http.errors import Peer, TryFailed

PEER = Peer("h", "h:1", "K", True, 5)


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    client = HttpClient(FakeTime().patience())
    yield client
    await client.close()


async def post(client: HttpClient, server: ModelServer, headers: Mapping[str, str] | None = None) -> HttpAnswer:
    return await client.send("POST", server.url, headers or {}, b"{}", PEER)


async def read_all(answer: HttpAnswer) -> bytes:
    body = b""
    while data := await answer.read(5):
        body += data
    await answer.close()
    return body


async def test_a_redirect_is_an_answer_like_any_other(client: HttpClient) -> None:
    async with ModelServer(lambda _: status(302, headers={"Location": "/elsewhere"})) as server:
        answer = await post(client, server)
        assert (answer.status, answer.is_success, answer.headers["location"]) == (302, False, "/elsewhere")
        await answer.close()
        assert len(server.asked) == 1


async def test_no_cookie_is_sent_back(client: HttpClient) -> None:
    async with ModelServer(lambda _: status(200, {}, headers={"Set-Cookie": "a=b"})) as server:
        url = server.url.replace("127.0.0.1", "localhost")
        for _ in range(2):
            await read_all(await client.send("POST", url, {}, b"{}", PEER))
        assert "cookie" not in server.asked[1].headers


async def test_a_long_header_is_no_fault(client: HttpClient) -> None:
    async with ModelServer(lambda _: status(200, {}, headers={"X-Policy": "x" * 30_000})) as server:
        assert await read_all(await post(client, server)) == b"{}"


async def test_a_packed_body_is_not_unpacked(client: HttpClient) -> None:
    async with ModelServer(lambda _: whole("x").zipped(2)) as server:
        answer = await post(client, server)
        assert answer.encoding == "gzip, gzip"
        assert (await read_all(answer)).startswith(b"\x1f\x8b")
        assert server.asked[0].headers["accept-encoding"] == "identity"


async def test_a_body_that_is_read_to_its_end_keeps_the_connection(client: HttpClient) -> None:
    async with ModelServer(lambda _: streamed("a b c")) as server:
        for _ in range(3):
            await read_all(await post(client, server))
        assert server.connections == 1
        answer = await post(client, server)
        await answer.read(5)
        await answer.close()


async def test_an_answer_that_is_let_go_early_gives_up_the_connection(client: HttpClient) -> None:
    async with ModelServer(lambda _: events(HANG)) as server:
        answer = await post(client, server)
        await answer.close()
        await post(client, server)
        assert server.connections == 2


async def test_waiting_for_bytes_has_an_end(client: HttpClient) -> None:
    async with ModelServer(lambda _: events(HANG)) as server:
        answer = await post(client, server)
        with pytest.raises(TimeoutError):
            await answer.read(0.05)
        await answer.close()


async def test_a_stop_from_outside_is_no_timeout(client: HttpClient) -> None:
    async with ModelServer(lambda _: Reply(raw=(HANG,))) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await post(client, server)


@pytest.mark.parametrize("value", [f"{KEY}\nX-More: 1", f"{KEY}ä", f"{KEY}\x00"])
async def test_a_header_that_cannot_be_sent_is_not_quoted(client: HttpClient, value: str) -> None:
    async with ModelServer(lambda _: whole("x")) as server:
        with pytest.raises(TryFailed) as caught:
            await post(client, server, {"Authorization": value})
        assert KEY not in str(caught.value)
        assert str(caught.value).startswith("The request to h failed")
        assert server.asked == []


async def test_a_refused_body_is_read_so_far_and_no_further(client: HttpClient) -> None:
    async with ModelServer(lambda _: Reply((b"x" * 1_000_000,), 500)) as server:
        answer = await post(client, server)
        assert await answer.read_refusal(60) == b"x" * 65_536 + "…".encode()
        await answer.close()
    async with ModelServer(lambda _: Reply((b"x" * 100,), 500).cut()) as server:
        answer = await post(client, server)
        assert len(await answer.read_refusal(60)) <= 50
        await answer.close()
