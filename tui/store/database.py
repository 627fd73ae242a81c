"""Opening of the history file in every state: new, older, newer, damaged, or read-only."""

import contextlib
import errno
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from tui.model.errors import StoreError
from tui.store.recovery import READ_ERRORS, Salvaged, salvage
from tui.store.schema import APPLICATION_ID, STEPS, migrate, read_version

_READING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SENTENCES = {
    sqlite3.SQLITE_FULL: (
        "the disk is full and the result could not be saved",
        "Free disk space and try again. Results saved earlier are safe.",
    ),
    sqlite3.SQLITE_BUSY: (
        "another program has locked the run history for 10 seconds",
        "Close the other program, or try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the run history is damaged",
        "Restart Assay: it renames the damaged file and recovers the readable runs.",
    ),
    sqlite3.SQLITE_READONLY: (
        "the run history is read-only",
        "Make the file and its folder writable, then restart Assay.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot open the run history",
        "Check that the folder exists and is readable and writable.",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "Check that the disk is mounted and not full, then try again. Results saved earlier are safe.",
    ),
}
_SENTENCES[sqlite3.SQLITE_LOCKED] = _SENTENCES[sqlite3.SQLITE_BUSY]
_SENTENCES[sqlite3.SQLITE_NOTADB] = _SENTENCES[sqlite3.SQLITE_CORRUPT]


def code_of(error: BaseException) -> int:
    """Return SQLite's primary result code; 0 for other errors, also those of the Python module itself.

    SQLite's message about a damaged schema quotes the damaged bytes, which Python may fail to decode.
    """
    if isinstance(error, UnicodeDecodeError):
        return sqlite3.SQLITE_CORRUPT
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_damage(error: BaseException) -> bool:
    """Return whether the error means that the file is damaged."""
    return code_of(error) in _DAMAGE


def is_refusal(error: BaseException) -> bool:
    """Return whether the system denies writing the file, or creating files beside it."""
    return code_of(error) in _READING


def store_error(error: Exception, path: Path) -> StoreError:
    """Return the StoreError for an error of SQLite, with a message for the user."""
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    what, fix = _SENTENCES.get(code_of(error), (f"cannot use the run history: {error}", ""))
    return StoreError(f"{what} ({name})", where=str(path), fix=fix)


BUSY_SECONDS = 10.0
_ALWAYS_CHECKED = 4 * 1024 * 1024  # bytes; a larger file is checked completely only after damage was found
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_FREE_LOG = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Opened:
    """An open history, with notices for the user."""

    connection: sqlite3.Connection
    is_readonly: bool
    notices: tuple[str, ...] = ()


class _Damaged(Exception):
    """The file is damaged."""


def open_history(path: Path) -> Opened:
    """Open the file; create, migrate or replace it if needed. Raises StoreError."""
    if path.is_dir():
        raise StoreError("the run history is a folder; expected a file", where=str(path))
    try:
        return _open_for_writing(path)
    except _Damaged:
        return _replace(path)
    except OSError as error:
        if error.errno in _UNWRITABLE:
            return _open_for_reading(path)
        raise StoreError(f"cannot open the run history: {error.strerror}", where=str(path)) from error
    except sqlite3.Error as error:
        if is_refusal(error):
            return _open_for_reading(path)
        raise store_error(error, path) from error


def mark_damaged(path: Path) -> None:
    """Record that damage was found, so that the next opening checks the whole file."""
    with contextlib.suppress(OSError):
        _mark(path).touch(mode=0o600)


def beside(path: Path, word: str) -> Path:
    """Return an unused file name beside the file, such as `runs.damaged-20261120T101500Z.sqlite`."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    number = 1
    while True:
        name = f"{path.stem}.{word}-{stamp}{'' if number == 1 else f'-{number}'}{path.suffix}"
        if not path.with_name(name).exists():
            return path.with_name(name)
        number += 1


def _open_for_writing(path: Path) -> Opened:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite would create it readable for all. An existing file is never opened here: closing it would drop the locks
    # of every other connection of this process.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    connection = _connect(path, "mode=rw")
    try:
        notices = _prepare(connection, path)
    except BaseException as error:
        connection.close()
        if is_damage(error):
            raise _Damaged from error
        raise
    return Opened(connection, is_readonly=False, notices=notices)


def _prepare(connection: sqlite3.Connection, path: Path) -> tuple[str, ...]:
    version = _identify(connection, path)
    _check(connection, path)
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_log(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_FREE_LOG}")
    notices: tuple[str, ...] = ()
    if version < len(STEPS):
        if version:
            copy = back_up(connection, path, version)
            notices = (f"The run history was migrated to a newer format; the old file was saved as {copy}.",)
        migrate(connection, STEPS)
    # Only an attempt shows whether writing works: permissions, mounts and systems differ, and BEGIN alone proves
    # nothing.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {len(STEPS)}")
    connection.execute("ROLLBACK")
    return notices


def back_up(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Copy the file before a migration and return the path of the copy."""
    copy = beside(path, f"format-{version}")
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    target = sqlite3.connect(copy)
    try:
        connection.backup(target)
    finally:
        target.close()
    return copy


def _identify(connection: sqlite3.Connection, path: Path) -> int:
    """Return the format of the file. Raises StoreError if it is of another program, or newer than this version."""
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = read_version(connection)
    if application != APPLICATION_ID and (application or version or tables):
        raise StoreError(
            "the file is a database of another program", where=str(path), fix="Move the file, or use another path."
        )
    if version > len(STEPS):
        raise StoreError(
            f"the run history was written by a newer version of Assay (format {version}; this version supports up to "
            f"{len(STEPS)})",
            where=str(path),
            fix="Update Assay, or use another path.",
        )
    return version


def _check(connection: sqlite3.Connection, path: Path) -> None:
    suspected = _mark(path).exists()
    if suspected or path.stat().st_size <= _ALWAYS_CHECKED:
        if connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise _Damaged
        if suspected:
            _mark(path).unlink(missing_ok=True)


def _use_log(connection: sqlite3.Connection) -> None:
    # Two processes that switch a new file to WAL at once do not wait for each other as they do for writes.
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _open_for_reading(path: Path) -> Opened:
    cannot = f"The run history {path} is read-only: new results are not saved."
    if not path.exists():
        empty = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        migrate(empty)
        return Opened(empty, True, (f"The run history {path} cannot be created: results are not saved.",))
    # Reading a file in WAL mode creates a file beside it; if that is denied, the file is read as it is.
    for mode in ("mode=ro", "mode=ro&immutable=1"):
        connection = _connect(path, mode)
        try:
            version = _identify(connection, path)
        except READ_ERRORS as error:
            connection.close()
            if not is_refusal(error):
                raise store_error(error, path) from error
            refusal = error
        else:
            if version < len(STEPS):
                connection.close()
                raise StoreError("the run history has an older format and is not writable", where=str(path))
            return Opened(connection, True, (cannot,))
    raise store_error(refusal, path) from refusal


def _replace(path: Path) -> Opened:
    moved = beside(path, "damaged")
    for ending in ("", "-wal", "-shm"):
        try:
            os.rename(f"{path}{ending}", f"{moved}{ending}")
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"the run history is damaged and cannot be renamed: {error.strerror}",
                where=str(path),
                fix="Move the file, then restart Assay.",
            ) from error
    _mark(path).unlink(missing_ok=True)
    opened = _open_for_writing(path)
    kept = salvage(moved, opened.connection)
    notice = (
        f"The run history was damaged. It was renamed to {moved} and a new one was created. {_salvage_notice(kept)}"
    )
    return Opened(opened.connection, opened.is_readonly, (*opened.notices, notice))


def _salvage_notice(kept: Salvaged) -> str:
    if not kept.runs:
        return "No run could be recovered."
    return f"Recovered runs: {kept.runs}, with {kept.results} results."


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"file:{quote(str(path.absolute()))}?{how}"
    return sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _mark(path: Path) -> Path:
    return path.with_name(f"{path.name}.damaged")


T = TypeVar("T")


class HistoryFile:
    """The history file while it is in use. Raises StoreError as `open_history` does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        opened = open_history(path)
        self._connection: sqlite3.Connection | None = opened.connection
        self.is_readonly, self.notices = opened.is_readonly, opened.notices
        self._identity = None if self.is_readonly else path.stat()

    def close(self) -> None:
        """Close the file when no thread uses it."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @contextlib.contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection exclusively, outside a transaction."""
        with self._lock:
            if self._connection is None:
                raise StoreError("the run history is closed", where=str(self.path))
            try:
                yield self._connection
            except READ_ERRORS as error:
                if is_damage(error) and not self.is_readonly:
                    mark_damaged(self.path)
                raise store_error(error, self.path) from error

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold a transaction: at the end all of it is on disk, or nothing."""
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
        """Run a query on a consistent snapshot of the history."""
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
                "the run history is read-only",
                where=str(self.path),
                fix="Make the file and its folder writable, then restart Assay.",
            )
        # SQLite would continue to write to a file that has been deleted.
        same = False
        with contextlib.suppress(OSError):
            same = self._identity is not None and os.path.samestat(self.path.stat(), self._identity)
        if not same:
            raise StoreError(
                "the run history was removed or replaced while Assay was using it",
                where=str(self.path),
                fix="Restore the file, or restart Assay.",
            )
