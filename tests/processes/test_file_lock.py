"""Locks on files: exclusive, shared, and with a limit on the wait."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tui.processes.file_lock import lock_file, locked


@pytest.fixture
def descriptors(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """One file opened twice: locks belong to the open file, so the two exclude each other as two processes do."""
    first, second = (os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT) for _ in range(2))
    yield first, second
    os.close(first)
    os.close(second)


def test_an_exclusive_lock_excludes_every_other(descriptors: tuple[int, int]) -> None:
    first, second = descriptors
    lock_file(first)
    with pytest.raises(BlockingIOError):
        lock_file(second)
    with pytest.raises(BlockingIOError):
        lock_file(second, shared=True)


def test_shared_locks_exclude_only_exclusive_ones(descriptors: tuple[int, int]) -> None:
    first, second = descriptors
    lock_file(first, shared=True)
    lock_file(second, shared=True)
    with pytest.raises(BlockingIOError):
        lock_file(second)


def test_a_lock_ends_with_its_file(tmp_path: Path) -> None:
    first = locked(tmp_path / "file")
    with first, pytest.raises(TimeoutError, match=r"locked for 0\.01 seconds"), locked(tmp_path / "file", 0.01):
        pass
    with locked(tmp_path / "file", timeout=0):
        assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600
