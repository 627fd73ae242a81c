"""Recovery of readable rows from a damaged history."""

import contextlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from tui.store.writer import derive_outcomes

_TABLES = ("suite", "run", "trial", "result")
READ_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors of a query on a damaged file; see `code_of` in `tui/store/database.py`."""
_GIVE_UP = 2_000  # row numbers tried after the last readable row


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The number of recovered runs and results."""

    runs: int = 0
    results: int = 0


def salvage(damaged: Path, fresh: sqlite3.Connection) -> Salvaged:
    """Copy every readable row to a new history. The damaged file is not changed, and its content raises no error."""
    old = sqlite3.connect(f"file:{quote(str(damaged.absolute()))}?mode=ro", uri=True)
    old.text_factory = lambda data: data.decode(errors="replace")
    fresh.execute("PRAGMA foreign_keys = OFF")
    fresh.execute("BEGIN IMMEDIATE")
    try:
        for table in _TABLES:
            _copy(table, old, fresh)
        _drop_orphans(fresh)
        kept = Salvaged(_count(fresh, "run"), _count(fresh, "result"))
        fresh.execute("COMMIT")
    except READ_ERRORS:
        if fresh.in_transaction:
            fresh.execute("ROLLBACK")
        return Salvaged()
    finally:
        fresh.execute("PRAGMA foreign_keys = ON")
        old.close()
    return kept


def _copy(table: str, old: sqlite3.Connection, fresh: sqlite3.Connection) -> None:
    columns = _columns(table, fresh)
    with contextlib.suppress(*READ_ERRORS):
        # A file of an older format lacks some tables; unreadable ones are noticed with the rows.
        columns = [name for name in columns if name in _columns(table, old)] or columns
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    for row in _rows(f"SELECT {names} FROM {table} NOT INDEXED", old):
        try:
            fresh.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", row)
        except (sqlite3.IntegrityError, sqlite3.InterfaceError):
            continue


def _columns(table: str, connection: sqlite3.Connection) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _rows(query: str, old: sqlite3.Connection) -> Iterator[tuple[object, ...]]:
    """Yield rows in order as far as possible, then one by one, skipping unreadable ones."""
    last = 0
    try:
        for row in old.execute(f"{query} ORDER BY number"):
            last = row[0]
            yield row
    except (*READ_ERRORS, TypeError):
        missed = 0
        while missed < _GIVE_UP:
            last += 1
            row = _row(query, last, old)
            missed = 0 if row else missed + 1
            if row:
                yield row


def _row(query: str, number: int, old: sqlite3.Connection) -> tuple[object, ...] | None:
    try:
        found: tuple[object, ...] | None = old.execute(f"{query} WHERE number = ?", (number,)).fetchone()
    except READ_ERRORS:
        return None
    return found


def _drop_orphans(fresh: sqlite3.Connection) -> None:
    fresh.execute("DELETE FROM suite WHERE NOT json_valid(content)")
    fresh.execute("DELETE FROM result WHERE NOT json_valid(content)")
    fresh.execute("DELETE FROM run WHERE suite NOT IN (SELECT number FROM suite)")
    fresh.execute("DELETE FROM trial WHERE run NOT IN (SELECT number FROM run)")
    fresh.execute("DELETE FROM result WHERE trial NOT IN (SELECT number FROM trial)")
    # A verdict without its texts is not a stored result: the trial counts as not run.
    fresh.execute(
        "UPDATE trial SET verdict = NULL, first_verdict = NULL WHERE number NOT IN (SELECT trial FROM result)"
    )
    derive_outcomes(fresh)


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
