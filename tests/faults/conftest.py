"""One server for all modes of a module, in an event loop whose deadlines pass only while nothing else is left to do."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping

import pytest_asyncio

from tests.faults.fault_server import FaultServer
from tests.support.clocks import IdleLoop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Return the event loop of these tests."""
    return {"idle": IdleLoop}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server
