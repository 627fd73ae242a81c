"""Repair of the rows that were copied from a damaged history: what cannot be read or belongs to nothing is dropped."""

import sqlite3

from tui.store import codec
from tui.store.planned_trials import rebuild_plans
from tui.store.rebuilt_suites import rebuild_suites
from tui.store.writer import count_outcomes, save_outcome


def repair(connection: sqlite3.Connection) -> None:
    """Make the rows a history that is readable as a whole."""
    rebuild_suites(connection)
    connection.execute("DELETE FROM run WHERE suite NOT IN (SELECT number FROM suite)")
    connection.execute("DELETE FROM trial WHERE run NOT IN (SELECT number FROM run)")
    rebuild_plans(connection)
    _derive_from_results(connection)
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
