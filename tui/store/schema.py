"""The tables of the history and the migrations between its formats."""

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from tui.store.writer import derive_outcomes

APPLICATION_ID = 0x61737361
"""Marks the file as ours in its header: `assa`."""

Step = tuple[str, ...]

STEPS: tuple[Step, ...] = (
    (
        # The same suite file runs many times: each version of it is stored once.
        """CREATE TABLE suite (
            number INTEGER PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            content TEXT NOT NULL
        )""",
        """CREATE TABLE run (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            state TEXT NOT NULL,
            owner TEXT,
            suite INTEGER NOT NULL REFERENCES suite,
            suite_name TEXT NOT NULL,
            suite_path TEXT NOT NULL,
            suite_place TEXT NOT NULL,
            suite_sha256 TEXT NOT NULL,
            subjects TEXT NOT NULL,
            models TEXT NOT NULL,
            options TEXT NOT NULL,
            command TEXT NOT NULL,
            assay TEXT NOT NULL,
            started_at TEXT NOT NULL,
            saved_at TEXT NOT NULL,
            finished_at TEXT,
            trials INTEGER NOT NULL DEFAULT 0,
            passed INTEGER NOT NULL DEFAULT 0
        )""",
        "CREATE INDEX run_by_place ON run (suite_place)",
        "CREATE INDEX run_by_suite ON run (suite)",
        # Planned trials, in the order of the plan; `verdict` is NULL until there is a result.
        """CREATE TABLE trial (
            number INTEGER PRIMARY KEY,
            run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
            case_id TEXT NOT NULL,
            model TEXT NOT NULL,
            repeat INTEGER NOT NULL,
            verdict TEXT,
            flaky INTEGER,
            error TEXT,
            attempts INTEGER,
            first_token_ms REAL,
            duration_ms REAL,
            input_tokens INTEGER,
            output_tokens INTEGER,
            reasoning_tokens INTEGER,
            retries INTEGER,
            UNIQUE (run, case_id, model, repeat)
        )""",
        # Apart from the verdicts, so that a list does not read the texts. A greater number is a newer result.
        """CREATE TABLE result (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            trial INTEGER NOT NULL UNIQUE REFERENCES trial ON DELETE CASCADE,
            content TEXT NOT NULL
        )""",
    ),
    (
        "ALTER TABLE trial ADD COLUMN cost_usd REAL",
        # JSON: the name of a program or file, and its version.
        "ALTER TABLE run ADD COLUMN versions TEXT NOT NULL DEFAULT '{}'",
    ),
    (
        # The verdict that counts in figures, and how often a user requested a rerun.
        "ALTER TABLE trial ADD COLUMN first_verdict TEXT",
        "ALTER TABLE trial ADD COLUMN reruns INTEGER",
        "ALTER TABLE run ADD COLUMN unchecked INTEGER NOT NULL DEFAULT 0",
    ),
    # The hash of the current answer, which scores refer to; NULL if a result cannot be read.
    ("ALTER TABLE trial ADD COLUMN answer TEXT",),
    (
        # Sums of the known counts and costs, where the sums of all are unknown.
        "ALTER TABLE trial ADD COLUMN least_input_tokens INTEGER",
        "ALTER TABLE trial ADD COLUMN least_output_tokens INTEGER",
        "ALTER TABLE trial ADD COLUMN least_cost_usd REAL",
        "UPDATE trial SET least_input_tokens = input_tokens, least_output_tokens = output_tokens,"
        " least_cost_usd = cost_usd",
    ),
)
_OUTCOMES_SINCE = 5
"""Files of an earlier format hold verdicts by the rules of their time, no hashes or no known parts of unknown sums: the
outcomes are derived anew."""


_MOST_FLIPPED = 8
"""Characters of the objects that are taken for damaged ones."""


def read_version(connection: sqlite3.Connection) -> int:
    """Return the format of the file; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


Object = tuple[str, str, str, tuple[str, ...]]


def has_our_objects(connection: sqlite3.Connection, steps: tuple[Step, ...]) -> bool:
    """Return whether the file has the tables and indexes of these steps and no other object.

    A view or a computed column in the place of ours could run for ever or fill the memory.
    """
    return _objects(connection) == _objects_of(steps)


def has_known_objects(connection: sqlite3.Connection) -> bool:
    """Return whether the file has the tables and indexes of this or an earlier format and no other object."""
    found = _objects(connection)
    return any(found == _objects_of(STEPS[:version]) for version in range(len(STEPS) + 1))


def has_damaged_objects(connection: sqlite3.Connection) -> bool:
    """Return whether the objects of the file are ours but for a few characters, which only damage can have changed."""
    objects = _objects(connection)
    if not all(isinstance(word, str) for type, name, table, _ in objects for word in (type, name, table)):
        return True  # SQLite writes texts only
    theirs, ours = Counter(_text_of(objects)), Counter(_text_of(_objects_of(STEPS)))
    return theirs.total() == ours.total() and 0 < (theirs - ours).total() <= _MOST_FLIPPED


def _text_of(objects: Iterable[Object]) -> str:
    return " ".join(word for type, name, table, words in objects for word in (type, name, table, *words))


@cache
def _objects_of(steps: tuple[Step, ...]) -> frozenset[Object]:
    model = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(model, steps)
        return _objects(model)
    finally:
        model.close()


def _objects(connection: sqlite3.Connection) -> frozenset[Object]:
    """Return type, name, table and words of every object but SQLite's own.

    The words are sorted: where a later format has added a column depends on the version of SQLite.
    """
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite~_%' ESCAPE '~'"
    )
    return frozenset(
        (type, name, table, tuple(sorted(re.findall(r"\w+", str(sql))))) for type, name, table, sql in rows
    )


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Migrate the file to the newest format, all or nothing. Safe if another process does the same."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = read_version(connection)
        for step in steps[version:]:
            for statement in step:
                connection.execute(statement)
        if version < _OUTCOMES_SINCE <= len(steps):
            derive_outcomes(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
