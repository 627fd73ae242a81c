"""Work in threads ends with the task that waits for it, or goes on where it must."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from tui.processes.stoppable import run_stoppable, run_to_end


async def test_the_result_and_the_error_are_those_of_the_work() -> None:
    assert await run_stoppable(lambda is_stopped: is_stopped()) is False

    def fail(_is_stopped: Callable[[], bool]) -> None:
        raise ValueError("of the work")

    with pytest.raises(ValueError, match="of the work"):
        await run_stoppable(fail)


async def test_cancelling_tells_the_work_to_stop_and_waits_for_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(is_stopped: Callable[[], bool]) -> None:
        begun.set()
        while not is_stopped():
            pass
        ended.set()
        raise ValueError("stopped")

    task = asyncio.create_task(run_stoppable(work))
    await asyncio.to_thread(begun.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_work_that_has_to_end_goes_on_after_a_cancellation() -> None:
    begun, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go_on.wait(60)
        ended.set()

    task = asyncio.create_task(run_to_end(work))
    await asyncio.to_thread(begun.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not ended.is_set()
    go_on.set()
    assert await asyncio.to_thread(ended.wait, 60)
