"""Statements that write runs, each inside a transaction that the caller holds."""

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

import tui
from tui.model.current_folder import real_path
from tui.model.errors import StoreError
from tui.model.outcomes import Outcome, outcome_of
from tui.model.results import TrialKey, TrialResult, counted_as
from tui.model.run import VERSION_CHANGED, Plan, RunState
from tui.model.scores import current_answer_hash
from tui.model.suite import Suite
from tui.store import codec
from tui.store.codec import storable


def insert_run(
    connection: sqlite3.Connection, plan: Plan, started_at: str, owner: str, versions: Mapping[str, str]
) -> None:
    """Insert a new run with its whole plan."""
    suite = plan.suite
    row = {
        "id": plan.run_id,
        "state": "running",
        "owner": owner,
        "suite": _suite_number(connection, suite),
        "suite_name": storable(suite.name),
        "suite_path": storable(suite.path),
        "suite_place": canonical_path(suite.path),
        "suite_sha256": storable(suite.sha256),
        "subjects": codec.encode_subjects(plan.subjects),
        "models": json.dumps([subject.name for subject in plan.subjects]),
        "options": codec.encode_options(plan.options),
        "command": storable(plan.command),
        "assay": tui.__version__,
        "versions": codec.encode_versions(versions),
        "started_at": started_at,
        "saved_at": started_at,
    }
    names, marks = ", ".join(row), ", ".join("?" * len(row))
    run = connection.execute(f"INSERT INTO run ({names}) VALUES ({marks})", tuple(row.values())).lastrowid
    assert run is not None
    _add_trials(connection, run, plan.trials)


def resume_run(
    connection: sqlite3.Connection, run: int, plan: Plan, started_at: str, owner: str, versions: Mapping[str, str]
) -> None:
    """Resume a run: add what is new in the plan, leave the rest as it was begun.

    If its owner has no results in it yet, it starts now. Where a version has changed, both are stored.
    """
    kept_suite, kept_subjects, kept_versions = connection.execute(
        "SELECT suite.content, run.subjects, run.versions FROM run JOIN suite ON suite.number = run.suite"
        " WHERE run.number = ?",
        (run,),
    ).fetchone()
    suite = _merge_suites(codec.decode_suite(kept_suite), plan.suite)
    subjects = codec.decode_subjects(kept_subjects)
    known = {subject.name for subject in subjects}
    subjects += tuple(subject for subject in plan.subjects if subject.name not in known)
    connection.execute(
        "UPDATE run SET state = 'running', finished_at = NULL,"
        " started_at = iif(owner IS ?1 AND saved_at = started_at, ?2, started_at),"
        " saved_at = iif(owner IS ?1 AND saved_at = started_at, ?2, saved_at),"
        " owner = ?1, suite = ?3, subjects = ?4, models = ?5, versions = ?6 WHERE number = ?7",
        (
            owner,
            started_at,
            _suite_number(connection, suite),
            codec.encode_subjects(subjects),
            json.dumps([subject.name for subject in subjects]),
            codec.encode_versions(_both_versions(codec.decode_versions(kept_versions), versions)),
            run,
        ),
    )
    _count_unchecked(connection, run)  # without errors until the run ends again
    drop_unused_suites(connection)
    _add_trials(connection, run, plan.trials, are_more=plan.continues)


def refuse_changed(connection: sqlite3.Connection, run: int, plan: Plan) -> None:
    """Raise StoreError if a planned trial has another case or another result than that which the plan continues.

    Somebody else has run it since the plan was made, or has deleted the run and imported another of its id; the results
    of the plan would replace theirs.
    """
    content = connection.execute(
        "SELECT content FROM suite JOIN run ON suite.number = suite WHERE run.number = ?", (run,)
    )
    stored = {case.id: case for case in codec.decode_suite(content.fetchone()[0]).cases}
    planned = {case.id: case for case in plan.suite.cases}
    changed = {case_id for case_id, case in stored.items() if planned.get(case_id, case) != case}
    if any(
        trial.case in changed or _result_of(connection, run, trial) != plan.earlier.get(trial) for trial in plan.trials
    ):
        raise StoreError(
            f"run {plan.run_id} has other results than when its trials were selected to be run",
            fix="Start it again, from the results that it has now.",
        )


def _result_of(connection: sqlite3.Connection, run: int, key: TrialKey) -> TrialResult | None:
    place = storable(key.case), storable(key.model), key.repeat
    row = connection.execute(
        "SELECT CAST(content AS BLOB) FROM trial JOIN result ON result.trial = trial.number"
        " WHERE run = ? AND case_id = ? AND model = ? AND repeat = ?",
        (run, *place),
    ).fetchone()
    return None if row is None else codec.read_result(row[0], place)


def write_results(
    connection: sqlite3.Connection, run: int, results: Sequence[tuple[TrialResult, str]], saved_at: str
) -> None:
    """Write results with their JSON; an existing result of a trial is replaced."""
    passed = unchecked = 0
    for result, content in results:
        trial, was_passed, was_unchecked = _trial_number(connection, run, result.trial)
        save_outcome(connection, trial, result)
        connection.execute("INSERT OR REPLACE INTO result (trial, content) VALUES (?, ?)", (trial, content))
        counted = counted_as(result)
        passed += (counted == "passed") - was_passed
        unchecked += (counted == "unchecked") - was_unchecked
    connection.execute(
        "UPDATE run SET passed = passed + ?, unchecked = unchecked + ?, saved_at = ? WHERE number = ?",
        (passed, unchecked, saved_at, run),
    )


def derive_outcomes(connection: sqlite3.Connection) -> None:
    """Recompute the outcome columns from the results, and the counts of each run from those.

    For rows that an earlier format wrote; a result that cannot be read keeps its verdict.
    """
    connection.execute(
        "UPDATE trial SET first_verdict = verdict, reruns = 0 WHERE verdict IS NOT NULL AND first_verdict IS NULL"
    )
    for (trial,) in connection.execute("SELECT trial FROM result").fetchall():
        (content,) = connection.execute("SELECT content FROM result WHERE trial = ?", (trial,)).fetchone()
        with contextlib.suppress(ValueError, TypeError):
            save_outcome(connection, trial, codec.decode_result(content))
    connection.execute("UPDATE run SET trials = (SELECT count(*) FROM trial WHERE run = run.number)")
    count_outcomes(connection)


def save_outcome(connection: sqlite3.Connection, trial: int, result: TrialResult) -> None:
    """Write the outcome columns of a trial from its result."""
    connection.execute(_SAVE_OUTCOME, (*_outcome_row(outcome_of(result)), current_answer_hash(result), trial))


def count_outcomes(connection: sqlite3.Connection) -> None:
    """Recompute the counts of passes and of unchecked answers of every run from the outcomes of its trials."""
    connection.execute(f"""UPDATE run SET
        passed = (SELECT count(*) FROM trial WHERE run = run.number AND {IS_PASSED})""")
    for run, state in connection.execute("SELECT number, state FROM run").fetchall():
        _count_unchecked(connection, run, 0 if state == "running" else _errors_without_check(connection, run))


def end_run(connection: sqlite3.Connection, run: int, state: RunState, finished_at: str | None) -> None:
    """Mark a run as ended; without a time, at its last result."""
    _count_unchecked(connection, run, _errors_without_check(connection, run))
    connection.execute(
        "UPDATE run SET state = ?, owner = NULL, finished_at = coalesce(?, saved_at) WHERE number = ?",
        (state, finished_at, run),
    )


def _count_unchecked(connection: sqlite3.Connection, run: int, errors: int = 0) -> None:
    """Store the number of unchecked answers of a run and of `errors` in cases without a check."""
    unchecked = f"SELECT count(*) FROM trial WHERE run = ?1 AND {IS_UNCHECKED}"
    connection.execute(f"UPDATE run SET unchecked = ({unchecked}) + ?2 WHERE number = ?1", (run, errors))


def _errors_without_check(connection: sqlite3.Connection, run: int) -> int:
    """Return the number of errors in cases without a check, which no rate counts, as in `unchecked_cases`."""
    errors = dict(
        connection.execute(
            f"SELECT case_id, count(*) FROM trial WHERE run = ? AND {_IS_ERROR} GROUP BY case_id", (run,)
        ).fetchall()
    )
    if not errors:
        return 0
    judged = connection.execute(f"SELECT DISTINCT case_id FROM trial WHERE run = ? AND {_IS_JUDGED}", (run,)).fetchall()
    row = connection.execute(
        "SELECT suite.content FROM run JOIN suite ON suite.number = run.suite WHERE run.number = ?", (run,)
    ).fetchone()
    try:
        cases = codec.decode_suite(row[0]).cases if row else ()
    except (ValueError, TypeError):  # a damaged suite: its errors count as checked
        return 0
    unchecked = {storable(case.id) for case in cases if not case.is_checked} - {case for (case,) in judged}
    return sum(number for case, number in errors.items() if case in unchecked)


def remove_run(connection: sqlite3.Connection, run: int) -> None:
    """Delete a run with its trials and results."""
    connection.execute("DELETE FROM run WHERE number = ?", (run,))
    drop_unused_suites(connection)


def drop_unused_suites(connection: sqlite3.Connection) -> None:
    """Delete suites that no run refers to."""
    connection.execute("DELETE FROM suite WHERE number NOT IN (SELECT suite FROM run)")


def canonical_path(path: str) -> str:
    """Return the absolute path of a suite, however it was written."""
    try:
        return storable(real_path(path))
    except ValueError:  # NUL, or other characters that no file name can hold
        return storable(path)


def add_versions(connection: sqlite3.Connection, run: int, versions: Mapping[str, str]) -> None:
    """Add versions to those of a run."""
    (kept,) = connection.execute("SELECT versions FROM run WHERE number = ?", (run,)).fetchone()
    both = _both_versions(codec.decode_versions(kept), versions)
    connection.execute("UPDATE run SET versions = ? WHERE number = ?", (codec.encode_versions(both), run))


def _both_versions(kept: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    both = dict(kept)
    for name, version in new.items():
        known = both.get(name)
        if known is None:
            both[name] = version
        elif version not in known.split(VERSION_CHANGED):
            both[name] = f"{known}{VERSION_CHANGED}{version}"
    return both


# `counted_as` as an SQL expression.
IS_PASSED = "first_verdict = 'passed' AND NOT flaky"
IS_UNCHECKED = "first_verdict = 'unchecked'"
_IS_JUDGED = "first_verdict IN ('passed', 'failed')"
_IS_ERROR = "first_verdict NOT IN ('passed', 'failed', 'unchecked')"
_SAVE_OUTCOME = """UPDATE trial SET verdict = ?, first_verdict = ?, flaky = ?, reruns = ?, error = ?, attempts = ?,
    first_token_ms = ?, duration_ms = ?, input_tokens = ?, output_tokens = ?, reasoning_tokens = ?, retries = ?,
    cost_usd = ?, least_input_tokens = ?, least_output_tokens = ?, least_cost_usd = ?, answer = ? WHERE number = ?"""


def _outcome_row(outcome: Outcome) -> tuple[object, ...]:
    return (
        outcome.verdict,
        outcome.first_verdict,
        outcome.flaky,
        outcome.reruns,
        None if outcome.error is None else storable(outcome.error),
        outcome.attempts,
        outcome.first_token_ms,
        outcome.duration_ms,
        outcome.input_tokens,
        outcome.output_tokens,
        outcome.reasoning_tokens,
        outcome.retries,
        outcome.cost_usd,
        outcome.least_input_tokens,
        outcome.least_output_tokens,
        outcome.least_cost_usd,
    )


def _suite_number(connection: sqlite3.Connection, suite: Suite) -> int:
    content = codec.encode_suite(suite)
    digest = hashlib.sha256(content.encode()).hexdigest()
    connection.execute("INSERT OR IGNORE INTO suite (digest, content) VALUES (?, ?)", (digest, content))
    return int(connection.execute("SELECT number FROM suite WHERE digest = ?", (digest,)).fetchone()[0])


def _merge_suites(kept: Suite, new: Suite) -> Suite:
    known = {case.id for case in kept.cases}
    added = tuple(case for case in new.cases if case.id not in known)
    return replace(kept, cases=kept.cases + added) if added else kept


def _add_trials(
    connection: sqlite3.Connection, run: int, trials: Sequence[TrialKey], *, are_more: bool = False
) -> None:
    """Add the trials that are not planned yet: `are_more` if they are none that a damaged history may have lost."""
    added = connection.executemany(
        "INSERT OR IGNORE INTO trial (run, case_id, model, repeat) VALUES (?, ?, ?, ?)",
        ((run, storable(key.case), storable(key.model), key.repeat) for key in trials),
    )
    # Not fewer than before: a run may have lost trials with a damaged history.
    connection.execute(
        "UPDATE run SET trials = max(trials + ?2, (SELECT count(*) FROM trial WHERE run = ?1)) WHERE number = ?1",
        (run, added.rowcount if are_more else 0),
    )


def _trial_number(connection: sqlite3.Connection, run: int, key: TrialKey) -> tuple[int, bool, bool]:
    """Return the trial's row, and whether it counts as passed or as unchecked so far. An unplanned trial is added."""
    query = f"SELECT number, {IS_PASSED}, {IS_UNCHECKED} FROM trial WHERE run = ? AND case_id = ? AND model = ?"
    place = (run, storable(key.case), storable(key.model), key.repeat)
    row = connection.execute(f"{query} AND repeat = ?", place).fetchone()
    if row is None:
        _add_trials(connection, run, (key,))
        row = connection.execute(f"{query} AND repeat = ?", place).fetchone()
    if row is None:
        raise StoreError(f"the trial of {key.case} by {key.model} could not be saved")
    return int(row[0]), bool(row[1]), bool(row[2])
