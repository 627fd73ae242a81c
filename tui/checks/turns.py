"""Turns of the event loop: long work in it is divided, so that the app reacts to keys meanwhile."""

import asyncio
from time import perf_counter

_SECONDS = 0.01


class Turn:
    """The time since work in the event loop last gave other tasks a turn."""

    def __init__(self) -> None:
        self._since = perf_counter()

    async def end_if_long(self) -> None:
        """Give the other tasks of the event loop a turn if the work has taken longer than a hundredth of a second."""
        if perf_counter() - self._since > _SECONDS:
            await asyncio.sleep(0)
            self._since = perf_counter()
