"""Recovery of a damaged history: a new file with every readable row takes its place, and the damaged one is renamed.

The new file is complete before the damaged one is renamed, so that a kill or a full disk at any moment loses nothing:
the next opening starts again, or completes the renames. Programs that use the damaged file cannot write to it
meanwhile, and notice afterwards that it was replaced. The names, for `runs.sqlite`:

- `runs.sqlite.recovering`: the new file while it is built
- `runs.damaged-<time>.sqlite.recovered`: the complete new file, until it takes the place of the damaged one
- `runs.damaged-<time>.sqlite`: the damaged file
- `runs.sqlite.lock`: locked during a recovery; once it exists, every opening takes the lock
"""

import contextlib
import errno
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tui.model.current_folder import absolute_path
from tui.store.pages import PageRow, has_damaged_log, rows_in_log, rows_in_pages
from tui.store.rebuilt_runs import IndexedRuns
from tui.store.repair import repair
from tui.store.schema import has_known_objects, migrate

_TABLES = ("suite", "run", "trial", "result")
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors of a query on a damaged file; see `code_of` in `tui/store/database.py`."""
BUSY_SECONDS = 10.0
"""How long a program waits for another one that writes to the history."""
_TRIED_EACH = 2_000  # row numbers after the last readable row that are tried one by one
_GREATEST = 2**40  # row number that is tried
_Row = tuple[Any, ...]
_AS_BYTES = {"result": "content"}
"""The column of a table that is copied as bytes: with replaced characters, a result would be another answer."""
_ID_LENGTH = 32
_PASSING = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_CANTOPEN,
)
_BAD_SECTORS = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS)
_LOGS = ("-wal", "-shm")
_PAGE, _PAGE_COUNT_AT = 4_096, 28  # bytes


def lock_path(path: Path) -> Path:
    """Return the file that is locked during a recovery. Without it, the history was never recovered."""
    return path.with_name(f"{path.name}.lock")


def reserve_beside(path: Path, word: str) -> Path:
    """Create an empty file beside the file, such as `runs.damaged-20261120T101500Z.sqlite`. Raises OSError."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    number = 1
    while True:
        name = path.with_name(f"{path.stem}.{word}-{stamp}{'' if number == 1 else f'-{number}'}{path.suffix}")
        with contextlib.suppress(FileExistsError):
            if not any(os.path.lexists(f"{name}{ending}") for ending in _LOGS):
                os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
                return name
        number += 1


def recover(path: Path) -> Path:
    """Replace a damaged history by a new one with every readable row, and return the damaged file's new path.

    The caller holds the lock. Raises OSError and sqlite3.Error if that is not possible now; the damaged file then
    keeps its name.
    """
    _remove_leftovers(path)
    with _without_writers(path) as refuse_changed:
        try:
            building = path.with_name(f"{path.name}.recovering")
            _build(path, building)
            moved = reserve_beside(path, "damaged")
            ready = moved.with_name(f"{moved.name}.recovered")
            os.replace(building, ready)
            refuse_changed()
            os.replace(path, moved)
        except (OSError, *READ_ERRORS):
            _remove_leftovers(path)
            raise
        _put_in_place(ready, path)
    return moved


@contextlib.contextmanager
def _without_writers(path: Path) -> Iterator[Callable[[], None]]:
    """Keep other programs from writing to the damaged file, or notice that one has written.

    Yield a function that raises OSError if one has: the write lock of a file with a damaged header cannot be taken, but
    a program that opened it earlier can still write. On Windows an open file cannot be renamed, so there is no lock.
    """
    guard: sqlite3.Connection | None = None
    is_locked = False
    try:
        if os.name != "nt":
            address = f"file:{quote(str(absolute_path(path)))}?mode=rw"
            guard = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
            with _unless_passing():
                guard.execute("BEGIN IMMEDIATE")
                is_locked = True
        before = _stamps(path)

        def refuse_changed() -> None:
            if not is_locked and _stamps(path) != before:
                raise OSError(errno.EBUSY, "another program has written to it meanwhile")

        yield refuse_changed
    finally:
        if guard is not None:
            guard.close()


@contextlib.contextmanager
def _unless_passing() -> Iterator[None]:
    """Ignore errors that lie in the content of the damaged file."""
    try:
        yield
    except READ_ERRORS as error:
        _raise_passing(error)


def _stamps(path: Path) -> list[tuple[int, int]]:
    """Return the size and time of change of the file and its log, if they have content."""
    stats = [file.stat() for file in (path, path.with_name(f"{path.name}-wal")) if file.exists()]
    return [(stat.st_size, stat.st_mtime_ns) for stat in stats if stat.st_size]


def complete_recovery(path: Path) -> Path | None:
    """Complete a recovery that was killed after the damaged file was renamed, and return that file's path.

    The caller holds the lock. Raises OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size:
            return None
    found = _ready(path)
    if not found:
        return None
    _put_in_place(found[-1], path)
    return _damaged_of(found[-1])


def has_only_a_log(path: Path) -> bool:
    """Return whether the file is missing or empty while its log has content, which SQLite would remove."""
    with contextlib.suppress(OSError):
        return path.with_name(f"{path.name}-wal").stat().st_size > 0 and not (path.exists() and path.stat().st_size)
    return False


def begin_anew(path: Path) -> None:
    """Give a file that has only a log an empty first page, so that the log is read. The caller holds the lock."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(bytes(_PAGE))


def was_recovered(path: Path, identity: os.stat_result) -> bool:
    """Return whether the file that was opened at this path is a damaged one by now that a recovery has renamed."""
    for moved in path.parent.glob(f"{path.stem}.damaged-*{path.suffix}"):
        with contextlib.suppress(OSError):
            if os.path.samestat(moved.stat(), identity):
                return True
    return False


def count_rows(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of runs and results."""
    runs, results = (
        int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in ("run", "result")
    )
    return runs, results


def _ready(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.stem}.damaged-*{path.suffix}.recovered"))


def _damaged_of(ready: Path) -> Path:
    return ready.with_name(ready.name.removesuffix(".recovered"))


def _remove_leftovers(path: Path) -> None:
    """Remove the new files of recoveries that did not rename the damaged file, and the reserved empty files."""
    building = path.with_name(f"{path.name}.recovering")
    for leftover in (building, _copy_path(building)):
        leftover.unlink(missing_ok=True)
    for ready in _ready(path):
        ready.unlink()
    for reserved in path.parent.glob(f"{path.stem}.damaged-*{path.suffix}"):
        if not reserved.stat().st_size:
            reserved.unlink()


def _put_in_place(ready: Path, path: Path) -> None:
    for ending in _LOGS:
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{_damaged_of(ready)}{ending}")
    os.replace(ready, path)


def _build(damaged: Path, building: Path) -> None:
    os.close(os.open(building, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    fresh = sqlite3.connect(building, isolation_level=None)
    try:
        fresh.execute("PRAGMA auto_vacuum = INCREMENTAL")
        fresh.execute("PRAGMA journal_mode = MEMORY")
        fresh.execute("PRAGMA synchronous = FULL")
        fresh.execute("PRAGMA foreign_keys = OFF")
        migrate(fresh)
        with building.open("rb") as file:
            first_page = file.read(_PAGE)
        salvage(damaged, fresh)
        if count_rows(fresh) == (0, 0):
            _salvage_below(first_page, damaged, _copy_path(building), fresh)
    finally:
        fresh.close()


def _copy_path(building: Path) -> Path:
    return building.with_name(f"{building.name}.copy")


def _salvage_below(first_page: bytes, damaged: Path, copy: Path, fresh: sqlite3.Connection) -> None:
    """Copy the rows of a history whose first page is damaged, from a copy with another one in its place.

    The page has the header and the schema, which are those of every history that was created in the newest format.
    What is only in the log of the damaged file is not found.
    """
    pages = damaged.stat().st_size // _PAGE
    if pages < 2:
        return
    try:
        os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with damaged.open("rb") as source, copy.open("wb") as target:
            source.seek(_PAGE)
            target.write(first_page[:_PAGE_COUNT_AT] + pages.to_bytes(4, "big") + first_page[_PAGE_COUNT_AT + 4 :])
            shutil.copyfileobj(source, target)
        salvage(copy, fresh)
    finally:
        copy.unlink(missing_ok=True)


def decode_damaged(data: bytes) -> str:
    """Return a text of a damaged file: what is not UTF-8 is replaced."""
    return data.decode(errors="replace")


def salvage(damaged: Path, fresh: sqlite3.Connection) -> None:
    """Copy every readable row to a new history. The damaged file is not changed, and its content raises no error.

    Raises sqlite3.Error for what may be different at the next try, such as a full disk.
    """
    old = sqlite3.connect(f"file:{quote(str(absolute_path(damaged)))}?mode=ro", uri=True)
    old.text_factory = decode_damaged
    fresh.execute("BEGIN IMMEDIATE")
    try:
        # Without this, SQLite reads nothing of a file that is shorter than its header says.
        old.execute("PRAGMA writable_schema = ON")
        is_known = _has_known_objects(old)
        if has_damaged_log(damaged):  # SQLite reads what the rows were before
            _insert_rows(rows_in_log(damaged), fresh)
        for table in _TABLES if is_known else ():
            _copy(table, old, fresh)
        # Those that are only in pages to which no other page leads any more.
        _insert_rows(rows_in_pages(damaged), fresh)
        if is_known:
            _copy_indexed_trials(old, fresh)
        repair(fresh, _read_indexed_runs(old) if is_known else IndexedRuns())
        fresh.execute("COMMIT")
    except READ_ERRORS as error:
        if fresh.in_transaction:
            fresh.execute("ROLLBACK")
        _raise_passing(error)
    finally:
        old.close()


def _has_known_objects(old: sqlite3.Connection) -> bool:
    """Return whether the objects of the file are ours, as far as they can be read: nothing of others is executed."""
    try:
        return has_known_objects(old)
    except READ_ERRORS as error:
        _raise_passing(error)
        return True


def _raise_passing(error: Exception) -> None:
    """Raise the error again unless it lies in the content of the damaged file."""
    code = int(getattr(error, "sqlite_errorcode", 0) or 0)
    if code & 0xFF in _PASSING and code not in _BAD_SECTORS:
        raise error


def _copy(table: str, old: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    try:
        # A file of an older format lacks some columns.
        readable = _columns(table, old)
    except READ_ERRORS as error:
        _raise_passing(error)
        return
    columns = [name for name in _columns(table, fresh) if name in readable]
    if not columns:
        return
    as_bytes = _AS_BYTES.get(table)
    selected = ", ".join(f"CAST({name} AS BLOB)" if name == as_bytes else name for name in columns)
    for row in _rows(f"SELECT {selected} FROM {table} NOT INDEXED", old):
        _insert(fresh, table, columns, row)


def _insert_rows(rows: Iterable[PageRow], fresh: sqlite3.Connection) -> None:
    """Insert the rows of pages that are those of a history."""
    columns = {table: _columns(table, fresh) for table in _TABLES}
    for row in rows:
        table = _table_of(row.values)
        if table and len(row.values) <= len(columns[table]):
            values = (row.number, *row.values[1:])
            _insert(fresh, table, columns[table][: len(values)], values)


def _table_of(values: Sequence[object]) -> str | None:
    """Return the table of a row, by the number and the types of its columns; None for other rows."""
    match values:
        case [None, int(), bytes()]:
            return "result"
        case [None, bytes(), bytes()]:
            return "suite"
        case [None, int(), bytes(), bytes(), int(), *_]:
            return "trial"
        case [None, bytes(run_id), bytes(), _, int(), *_] if len(run_id) == _ID_LENGTH:
            return "run"
    return None


def _insert(fresh: sqlite3.Connection, table: str, columns: Sequence[str], row: Sequence[Any]) -> None:
    """Insert a row, unless the table has it or it breaks a rule of the table."""
    as_bytes = _AS_BYTES.get(table)
    # No other column holds bytes: damage has made them of a text.
    values = [
        decode_damaged(value) if isinstance(value, bytes) and name != as_bytes else value
        for name, value in zip(columns, row, strict=True)
    ]
    marks = ", ".join("CAST(? AS TEXT)" if name == as_bytes else "?" for name in columns)
    with contextlib.suppress(sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.DataError, OverflowError):
        fresh.execute(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", values)


def _copy_indexed_trials(old: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    """Insert the trials whose rows cannot be read, with the names that an index repeats."""
    columns = "run, case_id, model, repeat"
    insert = f"INSERT OR IGNORE INTO trial (number, {columns}) VALUES (?, ?, ?, ?, ?)"
    for row in _index_rows("trial", "sqlite_autoindex_trial_1", columns, old):
        if row is not None:
            with contextlib.suppress(sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.DataError):
                fresh.execute(insert, row)


def _read_indexed_runs(old: sqlite3.Connection) -> IndexedRuns:
    """Return what the indexes of the runs repeat."""
    ids = [*_index_rows("run", "sqlite_autoindex_run_1", "id", old)]
    suites = filter(None, _index_rows("run", "run_by_suite", "suite", old))
    places = filter(None, _index_rows("run", "run_by_place", "suite_place", old))
    return IndexedRuns(
        ids={number: run_id for number, run_id in filter(None, ids) if isinstance(run_id, str)},
        suites={number: suite for number, suite in suites if isinstance(suite, int)},
        places={number: place for number, place in places if isinstance(place, str)},
        has_all_ids=None not in ids,
    )


def _index_rows(table: str, index: str, columns: str, old: sqlite3.Connection) -> Iterator[_Row | None]:
    """Yield the number of a row and the columns that an index repeats, from the first one on.

    If one cannot be read, yield None, then the rows from the last one on until there.
    """
    first = columns.split(",")[0]
    for order in ("ASC", "DESC"):
        query = f"SELECT number, {columns} FROM {table} INDEXED BY {index} ORDER BY {first} {order}"
        try:
            yield from old.execute(query)
            return
        except (*READ_ERRORS, TypeError) as error:
            _raise_passing(error)
        yield None


def _columns(table: str, connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _rows(query: str, old: sqlite3.Connection) -> Iterator[_Row]:
    """Yield the rows that can be read, in order."""
    last: int | None = 0
    while last is not None:
        try:
            for row in old.execute(f"{query} WHERE number > ? ORDER BY number", (last,)):
                if row[0] <= last:
                    raise sqlite3.DatabaseError("rows are not in order")
                last = row[0]
                yield row
            return
        except (*READ_ERRORS, TypeError) as error:
            _raise_passing(error)
        # One row at a time: with the last row before the damage, sqlite3 reads the next one and fails.
        found = _rows_after_damage(query, last, old)
        last = found[0][0] if found else None
        yield from found


def _rows_after_damage(query: str, last: int, old: sqlite3.Connection) -> list[_Row]:
    """Return the first row after the number `last` that can be read, or nothing.

    A damaged page hides the numbers of its rows and those of the gap before them; a deleted run leaves a gap of any
    size. Each of the first numbers is tried, then they are tried in growing steps, and backward from the first found.
    """
    hidden, number = last, last + 1
    while (found := _first_row(query, number, old)) is None:
        hidden, number = number, number + 1 + (number - last) // _TRIED_EACH
        if number > _GREATEST:
            return []
    while number - hidden > 1:
        middle = (hidden + number) // 2
        if (earlier := _first_row(query, middle, old)) is None:
            hidden = middle
        else:
            number, found = middle, earlier
    return found


def _first_row(query: str, number: int, old: sqlite3.Connection) -> list[_Row] | None:
    """Return the first row from this number on, nothing after the last row, or None if it cannot be read."""
    try:
        found: list[_Row] = old.execute(f"{query} WHERE number >= ? ORDER BY number LIMIT 1", (number,)).fetchall()
        return None if found and found[0][0] < number else found
    except (*READ_ERRORS, TypeError) as error:
        _raise_passing(error)
        return None
