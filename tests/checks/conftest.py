"""A checker for each test, closed behind it."""

from collections.abc import AsyncIterator

import pytest

from tests.support.brief_checks import set_brief_limits
from tui.checks.checker import Checker


@pytest.fixture
def brief_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    set_brief_limits(monkeypatch)


@pytest.fixture
async def checker() -> AsyncIterator[Checker]:
    checker = Checker()
    yield checker
    await checker.close()
