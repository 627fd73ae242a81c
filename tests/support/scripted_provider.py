"""A provider whose every answer is written down by the test."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, End, Request, Sent, Text

Script = Sequence[Chunk | ProviderError | asyncio.Event]


def says(text: str) -> Script:
    """A whole answer in two pieces."""
    half = len(text) // 2
    return (Sent(), Text(text[:half]), Text(text[half:]), End())


class ScriptedProvider:
    """Plays what `script_of` returns for a request; an asyncio.Event in a script is waited for. Keeps the requests,
    and how many answers were going at once at most."""

    def __init__(self, script_of: Callable[[Request], Script]) -> None:
        self._script_of = script_of
        self.requests: list[Request] = []
        self.going = self.most_at_once = 0

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        self.requests.append(request)
        self.going += 1
        self.most_at_once = max(self.going, self.most_at_once)
        try:
            for part in self._script_of(request):
                if isinstance(part, asyncio.Event):
                    await part.wait()
                elif isinstance(part, ProviderError):
                    raise part
                else:
                    await asyncio.sleep(0)
                    yield part
        finally:
            self.going -= 1

    async def models(self) -> tuple[str, ...]:
        return ("scripted",)

    async def close(self) -> None:
        pass
