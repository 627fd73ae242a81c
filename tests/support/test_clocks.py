"""The event loop whose clock stands still while there is anything to do."""

import asyncio
import threading
import time

import pytest

from tests.support.clocks import IdleLoop


@pytest.fixture
def idle() -> asyncio.Runner:
    return asyncio.Runner(loop_factory=IdleLoop)


def test_a_deadline_does_not_pass_while_the_machine_is_busy(idle: asyncio.Runner) -> None:
    async def busy() -> float:
        async with asyncio.timeout(0.05):
            time.sleep(0.1)  # noqa: ASYNC251 - as a machine that does something else
            await asyncio.sleep(0.02)
        return asyncio.get_running_loop().time()

    with idle:
        assert idle.run(busy()) == pytest.approx(0.02)


def test_an_idle_loop_skips_to_its_deadline(idle: asyncio.Runner) -> None:
    async def wait() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3600):
                await asyncio.Event().wait()
        return asyncio.get_running_loop().time()

    with idle:
        assert idle.run(wait()) == pytest.approx(3600)


def test_a_deadline_does_not_overtake_a_thread(idle: asyncio.Runner) -> None:
    started = threading.Event()

    async def work() -> bool:
        async with asyncio.timeout(60):
            return await asyncio.to_thread(started.wait, 0.1)

    with idle:
        assert idle.run(work()) is False
