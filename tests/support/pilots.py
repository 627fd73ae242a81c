"""Waiting in pilot tests: for conditions, never for time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from textual.pilot import Pilot

from tests.support.terminal import WAIT_SECONDS

Result = TypeVar("Result")


async def until(
    pilot: Pilot[Result], condition: Callable[[], object], what: str = "", within: float = WAIT_SECONDS
) -> None:
    """Let the app go on until the condition holds. Raises AssertionError after `within` seconds."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + within
    while not condition():
        if loop.time() > deadline:
            raise AssertionError(f"{what or 'the condition'} does not hold after {within:g} s")
        await pilot.pause()
