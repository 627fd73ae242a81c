"""The least that asking costs: httpx on aiohttp. usage: python -m tests.benchmarks.bare_client URL COUNT"""

import asyncio
import sys

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

AT_ONCE = 20
BODY = {"model": "mock-a", "messages": [{"role": "user", "content": "question"}]}


async def ask_all(url: str, count: int) -> None:
    """Ask so many questions, 20 at once."""
    left = iter(range(count))
    async with httpx.AsyncClient(transport=AiohttpTransport(client=aiohttp.ClientSession), timeout=60) as client:

        async def ask() -> None:
            for _ in left:
                (await client.post(f"{url}/chat/completions", json=BODY, headers={"Authorization": "Bearer x"})).json()

        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))


if __name__ == "__main__":
    asyncio.run(ask_all(sys.argv[1], int(sys.argv[2])))
