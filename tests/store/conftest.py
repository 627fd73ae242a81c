"""A history in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.store.sqlite import SqliteStore


@pytest.fixture
def history(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.sqlite"


@pytest.fixture
def store(history: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(history)
    yield opened
    opened.close()
