"""What a question to a loopback server costs: this project's provider beside bare clients, in CPU and wall time.

usage: python -m tests.benchmarks.provider_cost [--requests N]
The server is a process of its own, so that only the client is measured.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from tests.support.asking import a_request, server_settings
from tui.providers.openai.provider import OpenAIProvider

AT_ONCE = 20
Ask = Callable[[int], Awaitable[None]]
Close = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked, and how the server answers."""

    name: str
    stream: bool
    server: tuple[str, ...]
    share: float
    chunks: int = 1


LOADS = (
    Load("streamed, one chunk", True, ("--pieces", "1"), 1.0),
    Load("in one piece", False, (), 1.0),
    Load("in one piece, after 200 ms", False, ("--latency-ms", "200"), 0.5),
    Load("200 chunks 5 ms apart, a chunk", True, ("--pieces", "200", "--piece-delay-ms", "5"), 0.05, 200),
)


@contextmanager
def server(options: tuple[str, ...]) -> Iterator[str]:
    """The base URL of a model server in a process of its own."""
    command = [sys.executable, "-m", "tests.support.model_server", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def _body(number: int, stream: bool) -> dict[str, object]:
    return {"model": "mock-a", "stream": stream, "messages": [{"role": "user", "content": f"question {number}"}]}


def ours(url: str, stream: bool) -> tuple[Ask, Close]:
    """The provider of this project: decoded chunks, with deadlines, limits and retries."""
    provider = OpenAIProvider(server_settings(url))

    async def ask(number: int) -> None:
        async for _ in provider.ask(a_request(f"question {number}", stream=stream)):
            pass

    return ask, provider.close


def bare_aiohttp(url: str, stream: bool) -> tuple[Ask, Close]:
    """The lower bound: bytes read, nothing decoded."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))

    async def ask(number: int) -> None:
        async with session.post(f"{url}/chat/completions", json=_body(number, stream)) as response:
            async for _ in response.content.iter_any():
                pass

    return ask, session.close


def bare_httpx(url: str, stream: bool) -> tuple[Ask, Close]:
    """httpx on the aiohttp transport, bytes read, nothing decoded."""
    client = httpx.AsyncClient(transport=AiohttpTransport(), trust_env=False, timeout=60)

    async def ask(number: int) -> None:
        async with client.stream("POST", f"{url}/chat/completions", json=_body(number, stream)) as response:
            async for _ in response.aiter_bytes():
                pass

    return ask, client.aclose


async def _ask_many(ask: Ask, number: int) -> None:
    turns = iter(range(number))

    async def model_worker() -> None:
        for turn in turns:
            await ask(turn)

    await asyncio.gather(*(model_worker() for _ in range(AT_ONCE)))


async def _measure(client: tuple[Ask, Close], requests: int) -> tuple[float, float]:
    """CPU ms a request, and wall seconds in all."""
    ask, close = client
    await _ask_many(ask, AT_ONCE * 3)
    cpu, wall = _cpu_s(), time.monotonic()
    await _ask_many(ask, requests)
    figures = (_cpu_s() - cpu) * 1000 / requests, time.monotonic() - wall
    await close()
    return figures


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for load in LOADS:
        requests = max(AT_ONCE, int(options.requests * load.share))
        with server(load.server) as url:
            for name, client in (("aiohttp", bare_aiohttp), ("httpx", bare_httpx), ("ours", ours)):
                cpu, wall = asyncio.run(_run(client, url, load.stream, requests))
                rows.append({"load": load.name, "client": name, "cpu_ms": round(cpu / load.chunks, 4), "wall_s": wall})
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{'load':32} {'client':8} {'CPU ms':>8} {'wall s':>8}   ({AT_ONCE} at once)")
    for row in rows:
        print(f"{row['load']:32} {row['client']:8} {row['cpu_ms']:8.3f} {row['wall_s']:8.2f}")


async def _run(
    client: Callable[[str, bool], tuple[Ask, Close]], url: str, stream: bool, requests: int
) -> tuple[float, float]:
    return await _measure(client(url, stream), requests)


if __name__ == "__main__":
    main()
