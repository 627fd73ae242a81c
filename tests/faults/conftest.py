"""One server for all modes of a module."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.faults.fault_server import FaultServer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def faults() -> AsyncIterator[FaultServer]:
    async with FaultServer() as server:
        yield server
