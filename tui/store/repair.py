"""Repair of the rows that were copied from a damaged history: what cannot be read or belongs to nothing is dropped."""

import json
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from tui.model.run import RunOptions
from tui.model.subjects import LOST, Subject
from tui.store import codec
from tui.store.planned_trials import rebuild_plans
from tui.store.rebuilt_runs import IndexedRuns, rebuild_runs
from tui.store.rebuilt_suites import rebuild_suites
from tui.store.writer import count_outcomes, save_outcome

T = TypeVar("T")
_LOST = "damage of the history"
"""The name among the versions of a run under which its lost columns are named."""


def repair(connection: sqlite3.Connection, indexed: IndexedRuns) -> None:
    """Make the rows a history that is readable as a whole; `indexed` is what its indexes say about runs."""
    rebuild_runs(connection, indexed)
    rebuild_suites(connection)
    connection.execute("DELETE FROM run WHERE suite NOT IN (SELECT number FROM suite)")
    connection.execute("DELETE FROM trial WHERE run NOT IN (SELECT number FROM run)")
    rebuild_plans(connection)
    _derive_from_results(connection)
    _restore_setups(connection)
    # A verdict without its texts is not a stored result: the trial counts as not run, and a resumed run repeats it.
    connection.execute(
        "UPDATE trial SET verdict = NULL, first_verdict = NULL WHERE number NOT IN (SELECT trial FROM result)"
    )
    connection.execute("""UPDATE run SET state = 'interrupted' WHERE state = 'finished' AND (
        trials > (SELECT count(*) FROM trial WHERE run = run.number)
        OR EXISTS (SELECT 1 FROM trial WHERE run = run.number AND verdict IS NULL))""")
    # A run whose lost trials are unknown keeps the number that was planned, so that it is never taken for complete.
    planned = "(SELECT count(*) FROM trial WHERE run = run.number)"
    connection.execute(f"UPDATE run SET trials = {planned} WHERE typeof(trials) <> 'integer' OR trials < {planned}")
    count_outcomes(connection)


def has_lost_setup(connection: sqlite3.Connection, run: int) -> bool:
    """Return whether models, options or versions of a run were lost: it cannot be continued as it was begun."""
    row = connection.execute("SELECT versions FROM run WHERE number = ?", (run,)).fetchone()
    return row is not None and _LOST in codec.decode_versions(row[0])


def _restore_setups(connection: sqlite3.Connection) -> None:
    """Replace the models, options and versions of runs that cannot be decoded by what the trials say about them."""
    runs = connection.execute("SELECT number, subjects, options, versions FROM run").fetchall()
    for run, subjects, options, versions in runs:
        models = _decoded(codec.decode_subjects, subjects)
        kept_options = _decoded(codec.decode_options, options)
        kept_versions = _decoded(codec.decode_versions, versions)
        kept = {"models": models, "options": kept_options, "versions": kept_versions}
        lost = " and ".join(name for name, value in kept.items() if value is None)
        if not lost:
            continue
        query = "SELECT model, max(repeat) FROM trial WHERE run = ? GROUP BY model ORDER BY min(number)"
        repeats: dict[str, int] = dict(connection.execute(query, (run,)).fetchall())
        models = tuple(map(_lost_subject, repeats)) if models is None else models
        connection.execute(
            "UPDATE run SET subjects = ?, models = ?, options = ?, versions = ? WHERE number = ?",
            (
                codec.encode_subjects(models),
                json.dumps([subject.name for subject in models]),
                codec.encode_options(kept_options or RunOptions(repeats=max(repeats.values(), default=1))),
                codec.encode_versions({**(kept_versions or {}), _LOST: f"what it said about the {lost} is lost"}),
                run,
            ),
        )


def _decoded(decode: Callable[[str], T], text: str) -> T | None:
    try:
        return decode(text)
    except (ValueError, TypeError):
        return None


def _lost_subject(name: str) -> Subject:
    provider, slash, model_id = name.partition("/")
    return Subject(name, provider, model_id, how=LOST) if slash else Subject(name, "unknown", name, how=LOST)


def _derive_from_results(connection: sqlite3.Connection) -> None:
    """Write the outcome of each trial from its result, and drop the results that cannot be read."""
    query = (
        "SELECT CAST(content AS BLOB), result.trial, case_id, model, repeat"
        " FROM result JOIN trial ON trial.number = result.trial WHERE result.number = ?"
    )
    for (number,) in connection.execute("SELECT number FROM result").fetchall():
        content, trial, *key = connection.execute(query, (number,)).fetchone()
        result = codec.read_result(content, tuple(key))
        if result is None:
            connection.execute("DELETE FROM result WHERE number = ?", (number,))
        else:
            save_outcome(connection, trial, result)
