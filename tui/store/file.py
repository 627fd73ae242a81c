"""The open file: one connection, one thread at a time in it, and what goes wrong there as StoreError."""

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from tui.model.errors import StoreError
from tui.store.database import mark_damaged, open_history
from tui.store.faults import is_damage, store_error

T = TypeVar("T")


class HistoryFile:
    """The history's file while it is in use. Raises StoreError as `open_history` does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        opened = open_history(path)
        self._connection: sqlite3.Connection | None = opened.connection
        self.is_readonly, self.notices = opened.is_readonly, opened.notices
        self._identity = None if self.is_readonly else path.stat()

    def close(self) -> None:
        """Let go of it, once nobody is in it."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """The connection, alone, outside a transaction."""
        with self._lock:
            if self._connection is None:
                raise StoreError("the history is closed", where=str(self.path))
            try:
                yield self._connection
            except sqlite3.Error as error:
                if is_damage(error) and not self.is_readonly:
                    mark_damaged(self.path)
                raise store_error(error, self.path) from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: at the end all of it is on the disk, or nothing."""
        with self.using() as connection:
            self._refuse_unwritable()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def read(self, select: Callable[[sqlite3.Connection], T]) -> T:
        """One look at the history as it is at one moment."""
        with self.using() as connection:
            connection.execute("BEGIN")
            try:
                return select(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _refuse_unwritable(self) -> None:
        if self.is_readonly:
            raise StoreError(
                "the history can only be read",
                where=str(self.path),
                fix="Give yourself the right to write to the file and its folder, then start Assay again.",
            )
        # SQLite would go on writing into a file that nobody can find any more.
        same = False
        with contextlib.suppress(OSError):
            same = self._identity is not None and os.path.samestat(self.path.stat(), self._identity)
        if not same:
            raise StoreError(
                "the history was removed or replaced while Assay was using it",
                where=str(self.path),
                fix="Put the file back, or start Assay again.",
            )
