"""Rows are read from the pages of a file and its log, whatever leads to them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tui.store.pages import has_damaged_log, rows_in_log, rows_in_pages

LONG = "long " * 5_000
VALUES: tuple[object, ...] = (
    0,
    1,
    -1,
    127,
    2**15,
    2**23,
    -(2**31),
    2**47,
    2**63 - 1,
    0.5,
    "höhe",
    "",
    b"\0",
    LONG,
    None,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.sqlite"


@pytest.fixture
def connection(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as opened:
        opened.execute("PRAGMA secure_delete = OFF")
        opened.execute("PRAGMA auto_vacuum = INCREMENTAL")
        opened.execute("PRAGMA journal_mode = WAL")
        opened.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, value)")
        yield opened


def values(file: Path) -> dict[int, object]:
    """Return the values of the table by the numbers of their rows; texts are bytes."""
    return {row.number: row.values[1] for row in rows_in_pages(file) if len(row.values) == 2}


def test_every_kind_of_value_comes_back(file: Path, connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO kept VALUES (?, ?)", list(enumerate(VALUES, 1)))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    expected = {number: value.encode() if isinstance(value, str) else value for number, value in enumerate(VALUES, 1)}
    assert values(file) == expected


def test_the_pages_of_the_log_are_newer_than_those_of_the_file(file: Path, connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(1, "old"), (2, "deleted later")])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("UPDATE kept SET value = 'new' WHERE number = 1")
    connection.execute("DELETE FROM kept WHERE number = 2")
    assert values(file) == {1: b"new"}
    connection.execute("BEGIN")
    connection.execute("PRAGMA cache_size = 1")
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(number, LONG) for number in range(3, 40)])
    assert values(file) == {1: b"new"}, "what is not committed does not count"
    connection.execute("ROLLBACK")


def test_free_pages_are_not_read(file: Path, connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(number, "x" * 900) for number in range(1, 60)])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("DELETE FROM kept WHERE number > 2")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert connection.execute("PRAGMA freelist_count").fetchone()[0] > 5
    assert file.read_bytes().count(b"x" * 900) > 20, "their content is still there"
    assert values(file).keys() == {1, 2}


def test_rows_that_nothing_leads_to_are_read(file: Path, connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(number, f"{number} " * 300) for number in range(1, 60)])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    root = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'kept'").fetchone()[0]
    connection.close()
    for page in (1, root):
        content = bytearray(file.read_bytes())
        content[(page - 1) * 4096 : page * 4096] = bytes(4096)
        file.write_bytes(content)
        assert values(file).keys() == {*range(1, 60)}


def test_a_file_without_a_pointer_map_or_of_anything_else_has_no_rows(tmp_path: Path) -> None:
    plain = tmp_path / "plain.sqlite"
    with closing(sqlite3.connect(plain)) as opened, opened:
        opened.execute("CREATE TABLE kept (number INTEGER PRIMARY KEY, value)")
        opened.execute("INSERT INTO kept VALUES (1, 'x')")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "short").write_bytes(b"SQLite format 3\0" * 3)
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 160)
    for name in ("plain.sqlite", "empty", "short", "noise"):
        assert values(tmp_path / name) == {}
    with pytest.raises(OSError, match="No such file"):
        values(tmp_path / "none")


LOG_HEADER, FRAME = 32, 24 + 4_096


def log_of(file: Path) -> Path:
    return file.with_name(f"{file.name}-wal")


@pytest.mark.parametrize("offset", [0, 5, 20, 30, LOG_HEADER, LOG_HEADER + 9, LOG_HEADER + 17, LOG_HEADER + FRAME + 99])
def test_a_log_with_committed_frames_behind_a_damaged_one_is_damaged(
    file: Path, connection: sqlite3.Connection, offset: int
) -> None:
    for number in range(1, 9):
        connection.execute("INSERT INTO kept VALUES (?, 'x')", (number,))
    assert not has_damaged_log(file)
    copy = file.with_name("copy.sqlite")
    data = bytearray(log_of(file).read_bytes())
    data[offset] ^= 4
    copy.write_bytes(file.read_bytes())
    log_of(copy).write_bytes(data)
    assert has_damaged_log(copy)
    found = {row.number for row in rows_in_log(copy) if len(row.values) == 2}
    assert found >= {1, 2, 3, 4, 5, 6, 7, 8}, "the last version of a page has all rows"


def test_a_log_that_ends_in_a_transaction_is_not_damaged(file: Path, connection: sqlite3.Connection) -> None:
    connection.execute("INSERT INTO kept VALUES (1, 'x')")
    whole = log_of(file).read_bytes()
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(number, LONG) for number in range(2, 40)])
    assert len(log_of(file).read_bytes()) > len(whole) + FRAME
    assert not has_damaged_log(file)
    connection.execute("COMMIT")
    log_of(file).write_bytes(log_of(file).read_bytes()[: -FRAME - 100])
    assert not has_damaged_log(file), "it was cut off"
    log_of(file).write_bytes(whole[: LOG_HEADER + FRAME // 2])
    assert not has_damaged_log(file)
    log_of(file).write_bytes(b"")
    assert not has_damaged_log(file)


def test_frames_of_an_earlier_generation_of_the_log_are_not_damage(file: Path, connection: sqlite3.Connection) -> None:
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(number, LONG) for number in range(1, 9)])
    connection.execute("PRAGMA wal_checkpoint(RESTART)")
    before = log_of(file).stat().st_size
    connection.execute("INSERT INTO kept VALUES (100, 'x')")
    assert log_of(file).stat().st_size == before > LOG_HEADER + 9 * FRAME
    assert not has_damaged_log(file)
    assert {row.number for row in rows_in_log(file) if len(row.values) == 2} <= {*range(1, 9), 100}
