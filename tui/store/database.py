"""Opening of the history file in every state: new, older, newer, damaged, or read-only."""

import contextlib
import errno
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from tui.model.current_folder import absolute_path, real_path
from tui.model.errors import StoreError
from tui.processes.file_lock import locked
from tui.store.pages import has_damaged_log
from tui.store.reader import has_strange_verdict, has_unreadable, has_unreadable_setup, is_undecodable
from tui.store.recovery import (
    BUSY_SECONDS,
    READ_ERRORS,
    begin_anew,
    complete_recovery,
    count_rows,
    decode_damaged,
    has_only_a_log,
    lock_path,
    recover,
    reserve_beside,
    was_recovered,
)
from tui.store.schema import APPLICATION_ID, STEPS, has_damaged_objects, has_our_objects, migrate, read_version

_READING = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)
_FULL = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "SQLITE_IOERR_WRITE")
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
        "Restart Assay: if file and folder are writable, it renames the damaged file and recovers what can be read.",
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


def _is_full(error: BaseException) -> bool:
    """Return whether the disk has no room for what SQLite writes when it opens a file."""
    return getattr(error, "sqlite_errorname", "") in _FULL


def store_error(error: Exception, path: Path) -> StoreError:
    """Return the StoreError for an error of SQLite, with a message for the user."""
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    what, fix = _SENTENCES.get(code_of(error), (f"cannot use the run history: {error}", ""))
    return StoreError(f"{what} ({name})", where=str(path), fix=fix)


_ALWAYS_CHECKED = 4 * 1024 * 1024  # bytes; a larger file is checked completely only after damage was found
_MOST_MARKED = 1_000
_FAR_VERSION = 1_000  # of the format: only damage writes a greater one
_NUMBER = re.compile("[0-9]{1,15}")
_UNWRITABLE = (errno.EROFS, errno.EACCES, errno.EPERM)
_FREE_LOG = 16 * 1024 * 1024
_LARGEST_COPY = 512 * 1024 * 1024  # bytes of a file and its log that are read in memory
_LOGS = ("-wal", "-journal")


@dataclass(frozen=True, slots=True)
class Opened:
    """An open history, with notices for the user, and the file that it writes to."""

    connection: sqlite3.Connection
    is_readonly: bool
    notices: tuple[str, ...] = ()
    identity: os.stat_result | None = None
    is_full: bool = False


class _Damaged(Exception):
    """The file is damaged."""


def open_history(path: Path) -> Opened:
    """Open the file; create, migrate or recover it if needed. Raises StoreError."""
    if path.is_dir():
        raise StoreError("the run history is a folder; expected a file", where=str(path))
    if not lock_path(path).exists() and not has_only_a_log(path) and not has_damaged_log(path):
        with contextlib.suppress(_Damaged):
            return _open(path)
    try:
        with locked(lock_path(path), BUSY_SECONDS):
            return _open_or_recover(path)
    except TimeoutError as error:
        raise StoreError(
            f"another program is recovering the run history and has locked it for {BUSY_SECONDS:g} seconds",
            where=str(path),
            fix="Wait until it has finished, then try again.",
        ) from error
    except OSError as error:
        try:
            if has_damaged_log(path):
                raise _Damaged
            return _open(path)
        except _Damaged:
            raise StoreError(
                f"the run history is damaged and cannot be renamed: {error.strerror}",
                where=str(path),
                fix="Make its folder writable or move the file, then restart Assay.",
            ) from error


def _open(path: Path, *, is_locked: bool = False) -> Opened:
    """Open the file for writing, or for reading if it cannot be written."""
    try:
        return _open_for_writing(path, is_locked=is_locked)
    except OSError as error:
        if error.errno in _UNWRITABLE:
            return _open_for_reading(path)
        raise StoreError(f"cannot open the run history: {error.strerror}", where=str(path)) from error
    except sqlite3.Error as error:
        if is_refusal(error) or _is_full(error):
            return _open_for_reading(path, is_full=_is_full(error))
        raise store_error(error, path) from error


def _open_or_recover(path: Path) -> Opened:
    """Open the file under the lock. It may have been recovered since it was found damaged."""
    try:
        moved = complete_recovery(path)
        if has_only_a_log(path):
            begin_anew(path)
        try:
            if has_damaged_log(path):
                raise _Damaged
            opened = _open(path, is_locked=True)
        except _Damaged:
            moved = recover(path)
            _mark(path).unlink(missing_ok=True)
            opened = _open(path, is_locked=True)
    except _Damaged as error:
        raise StoreError(
            "the recovered run history is damaged again", where=str(path), fix="Check the disk."
        ) from error
    except READ_ERRORS as error:
        return _open_unrecovered(path, str(error))
    except OSError as error:
        return _open_unrecovered(path, error.strerror or str(error))
    if moved is None:
        return opened
    try:
        runs, results = count_rows(opened.connection)
    except sqlite3.Error as error:
        raise store_error(error, path) from error
    recovered = f"Recovered runs: {runs}, with {results} results." if runs else "No run could be recovered."
    notice = f"The run history was damaged. It was renamed to {moved} and a new one was created. {recovered}"
    return replace(opened, notices=(*opened.notices, notice))


def _open_unrecovered(path: Path, why: str) -> Opened:
    return _open_empty(
        f"The run history {path} is damaged and cannot be recovered now ({why}): its runs are not shown, and new "
        "results are not saved. The file is unchanged; Assay tries again at the next start."
    )


def _open_empty(notice: str) -> Opened:
    """Return an empty history in memory, which refuses to save."""
    empty = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    migrate(empty)
    return Opened(empty, True, (notice,))


def mark_damaged(path: Path, results: Iterable[int] = ()) -> None:
    """Record that damage was found, so that the next opening checks the whole file, and results with these numbers."""
    with (
        contextlib.suppress(OSError),
        open(os.open(_mark(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w", encoding="ascii") as mark,
    ):
        mark.writelines(f"{number}\n" for number in results)


def _marked_results(path: Path) -> list[int]:
    """Return the first results that were marked: one that cannot be read is enough to recover the history."""
    try:
        with _mark(path).open(encoding="ascii", errors="replace") as mark:
            return [int(line) for line in islice(mark, _MOST_MARKED) if _NUMBER.fullmatch(line.strip())]
    except OSError:
        return []


def _open_for_writing(path: Path, *, is_locked: bool) -> Opened:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # SQLite would create it readable for all. An existing file is never opened here: closing it would drop the locks
    # of every other connection of this process.
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if not is_locked and lock_path(path).exists():
            # A recovery has begun since and may just have renamed the damaged file: look again under the lock.
            raise _Damaged
    identity = path.stat()
    connection = _connect(path, "mode=rw")
    try:
        notices = _prepare(connection, path)
        if not is_locked and not _is_same(path, identity):
            raise _Damaged  # Recovered by another program meanwhile: this may be the renamed file.
    except BaseException as error:
        connection.close()
        if is_damage(error) or is_undecodable(error):
            raise _Damaged from error
        raise
    return Opened(connection, is_readonly=False, notices=notices, identity=identity)


def _is_same(path: Path, identity: os.stat_result | None) -> bool:
    """Return whether the file at the path is still the one that was opened."""
    with contextlib.suppress(OSError):
        return identity is not None and os.path.samestat(path.stat(), identity)
    return False


def _prepare(connection: sqlite3.Connection, path: Path) -> tuple[str, ...]:
    version = _identified(connection, path)
    _check(connection, path, is_current=version == len(STEPS))
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    _use_log(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA journal_size_limit = {_FREE_LOG}")
    notices: tuple[str, ...] = ()
    if 0 < version < len(STEPS):
        with _backed_up(connection, path, version) as copy:
            migrate(connection, STEPS)
        notices = (f"The run history was migrated to a newer format; the old file was saved as {copy}.",)
    elif not version:
        migrate(connection, STEPS)
    # Only an attempt shows whether writing works: permissions, mounts and systems differ, and BEGIN alone proves
    # nothing.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {len(STEPS)}")
    connection.execute("ROLLBACK")
    return notices


@contextlib.contextmanager
def _backed_up(connection: sqlite3.Connection, path: Path, version: int) -> Iterator[Path]:
    """Copy the file for a migration, and yield the path of the copy. It is removed if the migration fails."""
    copy = reserve_beside(path, f"format-{version}")
    try:
        target = sqlite3.connect(copy)
        try:
            connection.backup(target)
        finally:
            target.close()
        yield copy
    except BaseException:
        for file in (copy, *(copy.with_name(f"{copy.name}{ending}") for ending in _LOGS)):
            file.unlink(missing_ok=True)
        raise


def _identified(connection: sqlite3.Connection, path: Path) -> int:
    """Return the format of the file, as `_identify` does, in one state: another program may migrate it meanwhile."""
    connection.execute("BEGIN")
    try:
        return _identify(connection, path)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _identify(connection: sqlite3.Connection, path: Path) -> int:
    """Return the format of the file.

    Raises StoreError if it is of another program, or newer than this version, and _Damaged if only damage can have made
    it seem so.
    """
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = read_version(connection)
    is_current = bool(tables) and has_our_objects(connection, STEPS)
    if is_current and (application != APPLICATION_ID or not len(STEPS) <= version < _FAR_VERSION):
        raise _Damaged
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
    if (version or tables) and not (is_current or has_our_objects(connection, STEPS[:version])):
        if has_damaged_objects(connection):
            raise _Damaged
        raise StoreError(
            "the file is not a run history of Assay: it has other tables or views",
            where=str(path),
            fix="Move the file, or use another path.",
        )
    return version


def _check(connection: sqlite3.Connection, path: Path, *, is_current: bool) -> None:
    suspected = _mark(path).exists()
    is_whole = suspected or path.stat().st_size <= _ALWAYS_CHECKED
    # The runs and their indexes are checked in any file: a new run would get the number of one that is lost.
    if connection.execute(f"PRAGMA integrity_check({'1' if is_whole else 'run'})").fetchone()[0] != "ok":
        raise _Damaged
    if is_whole:
        if not is_current:  # It lacks tables or columns. The mark stays until the next start, when they are there.
            return
        if has_strange_verdict(connection):
            raise _Damaged
        if suspected:
            if has_unreadable_setup(connection) or has_unreadable(connection, _marked_results(path)):
                raise _Damaged
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


def _open_for_reading(path: Path, *, is_full: bool = False) -> Opened:
    cannot = f"The run history {path} is read-only: new results are not saved."
    if is_full:
        cannot = (
            f"The disk of the run history {path} is full: new results are not saved. Free space, then restart Assay."
        )
    if not path.exists():
        return _open_empty(f"The run history {path} cannot be created: results are not saved.")
    identity = path.stat()
    # Reading a file in WAL mode creates a file beside it; if that is denied, the file is read as it is.
    for connect in (_connect_readonly, _connect_alone):
        connection: sqlite3.Connection | None = None
        try:
            connection = connect(path)
            version = _identified(connection, path)
        except READ_ERRORS as error:
            if connection is not None:
                connection.close()
            if not is_refusal(error) and not _is_full(error):
                raise store_error(error, path) from error
            refusal = error
        else:
            if version < len(STEPS):
                connection.close()
                why, fix = _SENTENCES[sqlite3.SQLITE_READONLY]
                if is_full:
                    why, fix = "the disk is full", "Free disk space, then restart Assay."
                what = f"the run history has an older format and cannot be migrated: {why}"
                raise StoreError(what, where=str(path), fix=fix)
            return Opened(connection, True, (cannot,), identity, is_full)
    raise store_error(refusal, path) from refusal


def _connect_readonly(path: Path) -> sqlite3.Connection:
    return _connect(path, "mode=ro")


def _connect_alone(path: Path) -> sqlite3.Connection:
    """Return a connection to a file beside which no file can be created: if it has a log, to a copy of both in memory.

    A log that a killed program left contains the newest results; that of a linked file is beside the file itself.
    Raises StoreError if it cannot be read.
    """
    try:
        own = Path(real_path(path))
        logs = [log for ending in _LOGS if (log := own.with_name(f"{own.name}{ending}")).exists()]
        files = {file: file.stat() for file in (own, *logs) if file.stat().st_size}
        if len(files) < 2:
            return _connect(path, "mode=ro&immutable=1")
        if sum(stat.st_size for stat in files.values()) > _LARGEST_COPY:
            raise _unread_log(path, f"they have more than {_LARGEST_COPY // 2**20} MiB together")
        with tempfile.TemporaryDirectory(prefix="assay-history-") as folder:
            for file in files:
                shutil.copyfile(file, Path(folder, file.name))
            if any(_stamp(file.stat()) != _stamp(stat) for file, stat in files.items()):
                raise _unread_log(path, "another program has written to them meanwhile")
            return _read_in_memory(Path(folder, own.name))
    except OSError as error:
        raise _unread_log(path, error.strerror or str(error)) from error


def _unread_log(path: Path, why: str) -> StoreError:
    return StoreError(
        f"the run history is read-only and was not closed, and it cannot be copied with its log to be read: {why}",
        where=str(path),
        fix="Make the file and its folder writable, or copy the whole folder to where you can write.",
    )


def _stamp(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_size, stat.st_mtime_ns


def _read_in_memory(copy: Path) -> sqlite3.Connection:
    """Return the content of a file and its log, both of which SQLite may change."""
    source = _connect(copy, "mode=rw")
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        source.execute("PRAGMA journal_mode = DELETE")
        source.backup(memory)
    except BaseException:
        memory.close()
        raise
    finally:
        source.close()
    return memory


def _connect(path: Path, how: str) -> sqlite3.Connection:
    address = f"file:{quote(str(absolute_path(path)))}?{how}"
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
        self._identity, self._is_full = opened.identity, opened.is_full

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
        self._follow_recovery()
        with self.using() as connection:
            if self.is_readonly:
                what, fix = _SENTENCES[sqlite3.SQLITE_READONLY]
                if self._is_full:
                    what, fix = "the disk of the run history was full", "Free space, then restart Assay."
                raise StoreError(what, where=str(self.path), fix=fix)
            connection.execute("BEGIN IMMEDIATE")
            try:
                self._refuse_replaced()
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _accept_undecodable(self, connection: sqlite3.Connection) -> None:
        """Read damaged texts with replaced characters from now on, so that they hide nothing else; say so.

        Texts are not read like that from the beginning, because it takes longer.
        """
        connection.text_factory = decode_damaged
        what = f"The run history {self.path} is damaged: characters of names cannot be read, and are shown as �."
        if self.is_readonly:
            self.notices = (*self.notices, what)
        else:
            mark_damaged(self.path)
            self.notices = (
                *self.notices,
                f"{what} Assay renames the file at its next start and recovers what it holds.",
            )

    def read(self, select: Callable[[sqlite3.Connection], T], *, in_place: bool = False) -> T:
        """Run a query on a consistent snapshot of the history.

        With `in_place`, raises StoreError if the file was removed or replaced since it was opened.
        """
        if in_place:
            self._follow_recovery()
        with self.using() as connection:
            connection.execute("BEGIN")
            try:
                if in_place:
                    self._refuse_replaced()
                try:
                    return select(connection)
                except sqlite3.OperationalError as error:
                    if not is_undecodable(error):
                        raise
                    self._accept_undecodable(connection)
                    return select(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _follow_recovery(self) -> None:
        """Open the new file if another program has recovered the damaged one: it has all that was saved."""
        with self._lock:
            known = self._identity
            if self._connection is None or known is None or _is_same(self.path, known):
                return
            if was_recovered(self.path, known):
                opened, unused = open_history(self.path), self._connection
                if opened.is_readonly:  # not now: the next write tries again
                    unused = opened.connection
                else:
                    self._connection, self._identity = opened.connection, opened.identity
                unused.close()

    def _refuse_replaced(self) -> None:
        """Raise StoreError if the file was deleted or replaced: SQLite would continue to write to it.

        Checked within a transaction, because a recovery replaces the file while it holds the write lock.
        """
        if not _is_same(self.path, self._identity):
            raise StoreError(
                "the run history was removed or replaced while Assay was using it",
                where=str(self.path),
                fix="Close Assay. Before you restore a copy, remove the files -wal and -shm beside it.",
            )
