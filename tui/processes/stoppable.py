"""Long work in threads that ends when the task that waits for it is cancelled."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

_Result = TypeVar("_Result")


async def run_stoppable(work: Callable[[Callable[[], bool]], _Result]) -> _Result:
    """Run `work` in a thread and return its result. On cancellation, wait until it has ended: it is told to stop.

    `work` gets a function that returns whether to stop; it then raises any error.
    """
    stop = threading.Event()
    working = asyncio.get_running_loop().run_in_executor(None, work, stop.is_set)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop.set()
        with contextlib.suppress(Exception):  # of the work; a second cancellation is raised
            await working
        raise


async def run_to_end(work: Callable[[], object]) -> None:
    """Run `work` in a thread. It also goes on when the task is cancelled, and Assay waits for it before it exits."""
    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))
