"""Runs that damage has made unreadable: rebuilt from the indexes of their table, their suites and their results."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tui.model.run import new_run_id
from tui.store import codec

_NAME = "Recovered run"
_LOST = ""
"""What stands for the lost models, options and versions: `repair` replaces what cannot be decoded."""


@dataclass(slots=True)
class IndexedRuns:
    """What the indexes of a damaged history say about its runs, by their numbers: ids, suites and places of suites.

    `has_all_ids` says that the index of the ids could be read to its end: a number without an id is not that of a run.
    """

    ids: Mapping[int, str] = field(default_factory=dict)
    suites: Mapping[int, int] = field(default_factory=dict)
    places: Mapping[int, str] = field(default_factory=dict)
    has_all_ids: bool = False


def rebuild_runs(connection: sqlite3.Connection, indexed: IndexedRuns) -> None:
    """Insert each run whose row was lost and of which a result is left, as an interrupted one."""
    lost = connection.execute(
        "SELECT run, count(*) FROM trial WHERE run NOT IN (SELECT number FROM run)"
        " GROUP BY run HAVING max(number IN (SELECT trial FROM result)) ORDER BY run"
    ).fetchall()
    (unused,) = connection.execute(
        "SELECT 1 + max((SELECT coalesce(max(number), 0) FROM suite), (SELECT coalesce(max(suite), 0) FROM run))"
    ).fetchone()
    unused = max(unused, 1 + max(indexed.suites.values(), default=0))
    for run, trials in lost:
        run_id = indexed.ids.get(run, "")
        started = _started_at(connection, run) if run_id or not indexed.has_all_ids else None
        if started is None:
            continue
        suite = indexed.suites.get(run) or unused
        unused += suite == unused
        name, path, place, sha256 = _suite_of(connection, suite, indexed.places.get(run, ""))
        row = {
            "number": run,
            "id": run_id or new_run_id(),
            "state": "interrupted",
            "suite": suite,
            "suite_name": name,
            "suite_path": path,
            "suite_place": place,
            "suite_sha256": sha256,
            "subjects": _LOST,
            "models": _LOST,
            "options": _LOST,
            "command": "",
            "assay": "",
            "versions": _LOST,
            "started_at": started,
            "saved_at": started,
            "trials": trials,
        }
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        connection.execute(f"INSERT OR IGNORE INTO run ({names}) VALUES ({marks})", tuple(row.values()))


def _started_at(connection: sqlite3.Connection, run: int) -> str | None:
    """Return when the first stored attempt of a run began, in ISO 8601; None if no result can be read."""
    rows = connection.execute(
        "SELECT CAST(content AS BLOB), case_id, model, repeat FROM trial JOIN result ON result.trial = trial.number"
        " WHERE run = ?",
        (run,),
    )
    times: list[str] = []
    for content, *key in rows:
        if (result := codec.read_result(content, tuple(key))) is not None:
            times += [attempt.started_at for attempt in result.attempts] or [""]
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return min(filter(None, times), default=now) if times else None


def _suite_of(connection: sqlite3.Connection, number: int, place: str) -> tuple[str, str, str, str]:
    """Return name, path, place and digest of a suite, from another run of it or from the suite."""
    other = connection.execute(
        "SELECT suite_name, suite_path, suite_place, suite_sha256 FROM run WHERE suite = ? ORDER BY number", (number,)
    ).fetchone()
    if other is not None:
        name, path, known_place, sha256 = map(str, other)
        return name, path, place or known_place, sha256
    content = connection.execute("SELECT content FROM suite WHERE number = ?", (number,)).fetchone()
    try:
        suite = codec.decode_suite(content[0] if content else "")
    except (ValueError, TypeError):
        return _NAME, place, place, ""
    return codec.storable(suite.name), codec.storable(suite.path), place, codec.storable(suite.sha256)
