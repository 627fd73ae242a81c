"""Asks a provider one step, the way the runner does, and gathers what comes."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

from tui.model.errors import ProviderError
from tui.model.provider_messages import Chunk, MemoryChunk, Reasoning, Request, Text, ToolCall
from tui.model.results import Message, Prompt, TrialKey
from tui.model.subjects import Settings, Subject
from tui.model.values import JsonObject, JsonValue
from tui.providers.protocol import Provider


def make_request(
    model_id: str,
    text: str = "",
    *,
    memory: JsonObject | None = None,
    case: str = "case",
    step: int = 0,
    last: bool = True,
    repeat: int = 1,
    stream: bool = True,
    settings: Settings | None = None,
    provider: str = "agent",
    system: str | None = None,
) -> Request:
    """One step; the prompt is the one message `text`, after the system message where there is one."""
    before = () if system is None else (Message("system", system),)
    return Request(
        Subject(model_id, provider, model_id, settings or Settings()),
        Prompt(text, (*before, Message("user", text))),
        TrialKey(case, model_id, repeat),
        step,
        stream,
        memory or {},
        last,
    )


async def ask(provider: Provider, request: Request, seconds: float = 60.0) -> list[Chunk]:
    """Every chunk of the answer; TimeoutError, with the generator closed, when it takes longer."""
    answer = cast("AsyncGenerator[Chunk, None]", provider.ask(request))
    async with asyncio.timeout(seconds), aclosing(answer) as chunks:
        return [chunk async for chunk in chunks]


def text_of(chunks: list[Chunk]) -> str:
    """The whole answer."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, Text))


def reasoning_of(chunks: list[Chunk]) -> str:
    """What was thought aloud."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, Reasoning))


def tools_of(chunks: list[Chunk]) -> list[str]:
    """The names of the tools, in order."""
    return [chunk.name for chunk in chunks if isinstance(chunk, ToolCall)]


def memory_of(chunks: list[Chunk]) -> JsonValue:
    """The memory after the step."""
    (remembered,) = (chunk for chunk in chunks if isinstance(chunk, MemoryChunk))
    return remembered.memory


async def ask_in_vain(provider: Provider, request: Request, seconds: float = 60.0) -> tuple[list[Chunk], ProviderError]:
    """What arrived before the fault, and the fault; AssertionError when there is none."""
    heard: list[Chunk] = []
    answer = cast("AsyncGenerator[Chunk, None]", provider.ask(request))
    try:
        async with asyncio.timeout(seconds), aclosing(answer) as chunks:
            async for chunk in chunks:
                heard.append(chunk)  # noqa: PERF401 - kept when the fault comes
    except ProviderError as fault:
        return heard, fault
    raise AssertionError(f"no fault after {heard}")
