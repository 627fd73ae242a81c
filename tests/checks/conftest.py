"""A checker for each test, closed behind it."""

from collections.abc import AsyncIterator

import pytest

from tui.checks.checker import Checker


@pytest.fixture
async def checker() -> AsyncIterator[Checker]:
    checker = Checker()
    yield checker
    await checker.close()
