"""The history alone, for those who only read it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tui.config.folders import find_folders
from tui.store.sqlite import SqliteStore


@contextmanager
def open_history(environ: Mapping[str, str]) -> Iterator[SqliteStore]:
    """The kept runs, closed at the end. Raises StoreError."""
    store = SqliteStore(find_folders(environ).data / "runs.sqlite")
    try:
        yield store
    finally:
        store.close()
