"""Queries that read runs."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, get_args

from tui.model.collector import paused_collector
from tui.model.outcomes import Outcome, outcome_of, unchecked_cases
from tui.model.prices import Spent
from tui.model.results import MOST_TOKENS, TrialKey, TrialResult, Verdict
from tui.model.run import KeptRun, Plan, RunRecord, RunSetup, RunState
from tui.model.suite import SuiteSources
from tui.store import codec
from tui.store.codec import storable
from tui.store.rebuilt_suites import REBUILT
from tui.store.writer import canonical_path

Row = tuple[Any, ...]
Alive = Callable[[str | None], bool]
_STATES = get_args(RunState)
_VERDICTS = frozenset(get_args(Verdict))

_RECORD = (
    "id, state, suite_name, suite_path, suite_sha256, models, started_at, finished_at, trials, passed, unchecked,"
    " owner, saved_at, suite_place"
)


def _counts(*names: str) -> str:
    """Return columns of tokens; earlier versions wrote whatever count a server reported."""
    return ", ".join(f"iif({name} BETWEEN 0 AND {MOST_TOKENS}, {name}, NULL)" for name in names)


_OUTCOME = (
    "case_id, model, repeat, verdict, first_verdict, flaky, reruns, error, attempts, first_token_ms, duration_ms,"
    f" {_counts('input_tokens', 'output_tokens', 'reasoning_tokens')}, retries, cost_usd,"
    f" {_counts('least_input_tokens', 'least_output_tokens')}, least_cost_usd"
)
# As bytes: sqlite3 refuses a whole query for one text that is not UTF-8. With the trial that the result must be of.
_RESULT = "CAST(content AS BLOB), result.number, case_id, model, repeat"
_RUN_ID = "(SELECT id FROM run WHERE run.number = of_run)"
# Ids of runs sort by their times; SQLite takes the other columns from the row of the max. A rerun of an older run does
# not replace the results of a newer one, and neither does its import.
_LATEST = """SELECT {columns} FROM (
    SELECT max(run.id), run AS of_run, case_id AS of_case, model AS of_model
    FROM run JOIN trial ON trial.run = run.number JOIN result ON result.trial = trial.number
    WHERE run.suite_place = ? GROUP BY case_id, model)
    JOIN trial ON run = of_run AND case_id = of_case AND model = of_model JOIN result ON result.trial = trial.number
    ORDER BY result.number"""


def select_records(connection: sqlite3.Connection) -> list[Row]:
    """Return rows for `record_of`, the newest run first."""
    return connection.execute(f"SELECT {_RECORD} FROM run ORDER BY id DESC").fetchall()


def is_complete(connection: sqlite3.Connection, run: int) -> bool:
    """Return whether each trial of the run with this number has a verdict, and none was lost with a damaged history."""
    missing = (
        "SELECT EXISTS (SELECT 1 FROM trial WHERE run = ?1 AND verdict IS NULL)"
        " OR trials > (SELECT count(*) FROM trial WHERE run = ?1) FROM run WHERE number = ?1"
    )
    return not connection.execute(missing, (run,)).fetchone()[0]


def has_hidden_trials(connection: sqlite3.Connection, run: int) -> bool:
    """Return whether a damaged index lacks trials of the run with this number.

    The whole table is only read for a run with fewer trials than were planned.
    """
    found = "(SELECT count(*) FROM trial WHERE run = ?1)"
    if not connection.execute(f"SELECT trials > {found} FROM run WHERE number = ?1", (run,)).fetchone()[0]:
        return False
    hides = f"SELECT (SELECT count(*) FROM trial NOT INDEXED WHERE run = ?1) > {found}"
    return bool(connection.execute(hides, (run,)).fetchone()[0])


def has_lost_run(connection: sqlite3.Connection) -> bool:
    """Return whether there are trials of a run after the last one, with which a new run would share its number."""
    lost = "SELECT (SELECT max(run) FROM trial) > (SELECT coalesce(max(number), 0) FROM run)"
    return bool(connection.execute(lost).fetchone()[0])


def lacks_results(connection: sqlite3.Connection) -> bool:
    """Return whether any trial has a verdict and no result."""
    lacks = (
        "SELECT EXISTS (SELECT 1 FROM trial WHERE verdict IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM result WHERE result.trial = trial.number))"
    )
    return bool(connection.execute(lacks).fetchone()[0])


def is_settled(connection: sqlite3.Connection, run: int) -> bool:
    """Return whether the run with this number is complete and none of its trials counts as cancelled."""
    cancelled = "SELECT EXISTS (SELECT 1 FROM trial WHERE run = ? AND first_verdict = 'cancelled')"
    return is_complete(connection, run) and not connection.execute(cancelled, (run,)).fetchone()[0]


def record_of(row: Row, is_alive: Alive) -> RunRecord:
    """Return the record of a run. A run whose process has ended was interrupted when its last result came.

    What damage has made unreadable is left empty, so that one such run does not hide the others.
    """
    (run_id, state, name, path, sha256, models, started_at, finished_at, trials, passed, unchecked,
     owner, saved_at, place) = row  # fmt: skip
    if state not in _STATES or (state == "running" and not is_alive(owner)):
        state, finished_at = "interrupted", saved_at
    return RunRecord(
        _text(run_id),
        state,
        _text(name),
        _text(path),
        _text(sha256),
        _names(models),
        _text(started_at),
        None if finished_at is None else _text(finished_at),
        _count(trials),
        _count(passed),
        _count(unchecked),
        _text(place),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _names(models: object) -> tuple[str, ...]:
    try:
        found = json.loads(models) if isinstance(models, str) else []
    except (ValueError, RecursionError):
        return ()
    return tuple(map(_text, found)) if isinstance(found, list) else ()


def select_kept(connection: sqlite3.Connection, run: int) -> tuple[tuple[Row, Row | None, list[Row]], list[Row]]:
    """Return rows for `kept_of`, and the results for `results_of`.

    They are the record, the plan (None if its suite is missing) and the trials.
    """
    record = connection.execute(f"SELECT {_RECORD} FROM run WHERE number = ?", (run,)).fetchone()
    planned = connection.execute(
        "SELECT CAST(suite.content AS BLOB), subjects, options, command, assay, versions"
        " FROM run JOIN suite ON suite.number = run.suite WHERE run.number = ?",
        (run,),
    ).fetchone()
    trials = select_trials(connection, run)
    # A result that is lost, so that only its verdict is left, is one that cannot be read.
    results = connection.execute(
        "SELECT CAST(coalesce(content, '') AS BLOB), coalesce(result.number, -trial.number), case_id, model, repeat"
        " FROM trial LEFT JOIN result ON result.trial = trial.number"
        " WHERE run = ? AND (verdict IS NOT NULL OR result.number IS NOT NULL) ORDER BY trial.number",
        (run,),
    ).fetchall()
    return (record, planned, trials), results


_SETUP = "subjects, options, command, assay, versions"


def select_suite(connection: sqlite3.Connection, run: int) -> bytes:
    """Return the JSON of a run's suite; empty if the suite is missing."""
    row = connection.execute(
        "SELECT CAST(suite.content AS BLOB) FROM run JOIN suite ON suite.number = run.suite WHERE run.number = ?",
        (run,),
    ).fetchone()
    return bytes(row[0]) if row else b""


def select_suite_digests(connection: sqlite3.Connection, sha256: str) -> list[Row]:
    """Return the id of each run of a suite file, and the digest of its stored suite unless that was rebuilt."""
    return connection.execute(
        "SELECT id, digest FROM run JOIN suite ON suite.number = run.suite"
        f" WHERE suite_sha256 = ? AND digest NOT LIKE '{REBUILT}%'",
        (sha256,),
    ).fetchall()


def select_sources(connection: sqlite3.Connection, digest: str) -> SuiteSources | None:
    """Return where the files of the stored suite with this digest come from; None if that cannot be read."""
    query = "SELECT json_extract(content, '$.repository_context', '$.repo_clone') FROM suite WHERE digest = ?"
    try:
        row = connection.execute(query, (digest,)).fetchone()
        return codec.decode_sources(row[0]) if row else None
    except (sqlite3.OperationalError, ValueError, TypeError):  # damaged
        return None


def has_unreadable_setup(connection: sqlite3.Connection) -> bool:
    """Return whether the models, options or versions of any run cannot be read."""
    try:
        for setup in connection.execute(f"SELECT {_SETUP} FROM run"):
            setup_of(setup)
    except (ValueError, TypeError):
        return True
    except sqlite3.OperationalError as error:
        if is_undecodable(error):
            return True
        raise
    return False


def select_setup(connection: sqlite3.Connection, run: int) -> Row:
    """Return the row for `setup_of`."""
    row: Row = connection.execute(f"SELECT {_SETUP} FROM run WHERE number = ?", (run,)).fetchone()
    return row


def setup_of(row: Row) -> RunSetup:
    """Return the setup of a run. Raises ValueError for invalid content."""
    subjects, options, command, assay, versions = row
    return RunSetup(
        codec.decode_subjects(subjects), codec.decode_options(options), command, assay, codec.decode_versions(versions)
    )


def select_trials(connection: sqlite3.Connection, run: int) -> list[Row]:
    """Return the planned trials, in the plan's order."""
    return connection.execute(
        "SELECT case_id, model, repeat FROM trial WHERE run = ? ORDER BY number", (run,)
    ).fetchall()


def kept_of(rows: tuple[Row, Row | None, list[Row]], results: Sequence[TrialResult | None], is_alive: Alive) -> KeptRun:
    """Return a run with those of its results that can be read. Raises ValueError for invalid content."""
    record, planned, trials = rows
    if planned is None:
        raise ValueError("its suite is missing")
    suite, subjects, options, command, assay, versions = planned
    plan = Plan(
        run_id=record[0],
        suite=codec.decode_suite(suite),
        subjects=codec.decode_subjects(subjects),
        options=codec.decode_options(options),
        trials=trials_of(trials),
        command=command,
    )
    readable = tuple([result for result in results if result is not None])
    kept = KeptRun(record_of(record, is_alive), plan, readable, assay, codec.decode_versions(versions))
    return kept if len(readable) == len(results) else _without_unreadable(kept)


def _without_unreadable(kept: KeptRun) -> KeptRun:
    """Return a run whose record counts the results that can be read; it is not finished."""
    outcomes = [outcome_of(result) for result in kept.results]
    unchecked = unchecked_cases(kept.plan.suite.cases, outcomes)
    record = replace(
        kept.record,
        state="interrupted" if kept.record.state == "finished" else kept.record.state,
        passed=sum(outcome.counted == "passed" for outcome in outcomes),
        unchecked=sum(
            outcome.counted == "unchecked" or (outcome.counted == "error" and outcome.case in unchecked)
            for outcome in outcomes
        ),
    )
    return replace(kept, record=record)


def select_outcomes(connection: sqlite3.Connection, run: int) -> list[Row]:
    """Return rows for `outcomes_of`, in the plan's order."""
    return connection.execute(
        f"SELECT {_OUTCOME} FROM trial WHERE run = ? AND verdict IS NOT NULL ORDER BY number", (run,)
    ).fetchall()


def select_costs(connection: sqlite3.Connection, run: int) -> dict[str, Spent]:
    """Return the total cost of each model's finished trials."""
    rows = connection.execute(
        "SELECT model, sum(least_cost_usd), count(cost_usd), count(*) FROM trial WHERE run = ? AND verdict IS NOT NULL"
        " GROUP BY model ORDER BY min(number)",
        (run,),
    )
    return {model: Spent(None if usd is None else round(usd, 12), known, trials) for model, usd, known, trials in rows}


# The answer of these is not always that of their last attempt (`TrialResult.current_attempt`), which is the one whose
# text SQLite finds and whose hash earlier versions wrote.
_RERUN_IN_VAIN = "(reruns > 0 AND verdict NOT IN ('passed', 'failed', 'unchecked'))"

# Only for the verdicts without a judgement; what SQLite does not accept as JSON (NaN in a memory) counts as an
# answer.
_WORDLESS = rf"""SELECT case_id, model, repeat FROM trial JOIN result ON result.trial = trial.number
    WHERE run = ? AND verdict NOT IN ('passed', 'failed') AND NOT {_RERUN_IN_VAIN} AND json_valid(content)
    AND json_array_length(content, '$.changes') = 0
    AND NOT EXISTS (SELECT 1 FROM json_each(content, '$.attempts[#-1].steps') AS step
        WHERE trim(json_extract(step.value, '$.response'), char(9, 10, 11, 12, 13, 32)) <> '')"""


def select_wordless(connection: sqlite3.Connection, run: int) -> tuple[list[Row], list[Row]]:
    """Return trials whose result has neither text nor a change, and the results of which that must be computed."""
    return connection.execute(_WORDLESS, (run,)).fetchall(), _select_results_where(connection, run, _RERUN_IN_VAIN)


def select_answers_of_results(connection: sqlite3.Connection, run: int) -> tuple[list[Row], list[Row]]:
    """Return trials with the stored hash of their answer, and the results of those for which it must be computed."""
    hashed = connection.execute(
        "SELECT case_id, model, repeat, answer FROM trial"
        " WHERE run = ? AND verdict IS NOT NULL AND typeof(answer) = 'text'",
        (run,),
    ).fetchall()
    return hashed, _select_results_where(connection, run, f"(typeof(answer) <> 'text' OR {_RERUN_IN_VAIN})")


def _select_results_where(connection: sqlite3.Connection, run: int, condition: str) -> list[Row]:
    return connection.execute(
        f"SELECT {_RESULT} FROM trial JOIN result ON result.trial = trial.number WHERE run = ? AND {condition}", (run,)
    ).fetchall()


def select_newest(connection: sqlite3.Connection, run: int) -> list[Row]:
    """Return the newest result of each model, for `results_of`. The texts of the others are not read."""
    return connection.execute(
        f"SELECT {_RESULT} FROM (SELECT max(result.number) AS newest"
        " FROM trial JOIN result ON result.trial = trial.number WHERE run = ? GROUP BY model)"
        " JOIN result ON result.number = newest JOIN trial ON trial.number = result.trial",
        (run,),
    ).fetchall()


def outcomes_of(rows: Iterable[Row]) -> tuple[Outcome, ...]:
    """Return results without their texts."""
    with paused_collector():
        return tuple([Outcome(TrialKey(*row[:3]), row[3], row[4], bool(row[5]), *row[6:]) for row in rows])


def is_outcome(row: Row) -> bool:
    """Return whether a row for `outcomes_of` has a trial and verdicts, and no values that damage has made of them."""
    return is_trial(row[:3]) and row[3] in _VERDICTS and row[4] in _VERDICTS


def is_trial(row: Row) -> bool:
    """Return whether a row has the types of a trial's key: damage of an index may have changed them."""
    case, model, repeat = row
    return isinstance(case, str) and isinstance(model, str) and isinstance(repeat, int)


def trials_of(rows: Sequence[Row]) -> tuple[TrialKey, ...]:
    """Return the keys of trials. Raises ValueError for values that are none."""
    if not all(map(is_trial, rows)):
        raise ValueError("a trial has no case, model or repeat")
    return tuple(map(TrialKey._make, rows))


def has_strange_verdict(connection: sqlite3.Connection) -> bool:
    """Return whether any trial has a word that is no verdict."""
    words = ", ".join(f"'{word}'" for word in sorted(_VERDICTS))
    query = f"SELECT EXISTS (SELECT 1 FROM trial WHERE verdict NOT IN ({words}) OR first_verdict NOT IN ({words}))"
    return bool(connection.execute(query).fetchone()[0])


def results_of(rows: Iterable[Row]) -> tuple[TrialResult | None, ...]:
    """Return complete results; None for each that damage has made unreadable, so that it does not hide the others.

    It is no result of a newer version: a history of a newer format is refused as a whole.
    """
    with paused_collector():
        return tuple([codec.read_result(row[0], row[2:]) for row in rows])


def select_result(connection: sqlite3.Connection, run: int, key: TrialKey) -> list[Row]:
    """Return the row of one result, or none, for `results_of`."""
    return connection.execute(
        f"SELECT {_RESULT} FROM trial JOIN result ON result.trial = trial.number"
        " WHERE run = ? AND case_id = ? AND model = ? AND repeat = ?",
        (run, storable(key.case), storable(key.model), key.repeat),
    ).fetchall()


def select_answers(connection: sqlite3.Connection, run: int, model: str) -> list[Row]:
    """Return the results of one model, for `results_of`."""
    return connection.execute(
        f"SELECT {_RESULT} FROM trial JOIN result ON result.trial = trial.number"
        " WHERE run = ? AND model = ? ORDER BY trial.number",
        (run, storable(model)),
    ).fetchall()


def select_latest(connection: sqlite3.Connection, suite_path: str) -> list[Row]:
    """Return run id and content of the newest results of a suite: of each case on each model those of one run."""
    return connection.execute(_LATEST.format(columns=f"{_RUN_ID}, {_RESULT}"), (canonical_path(suite_path),)).fetchall()


def select_latest_outcomes(connection: sqlite3.Connection, suite_path: str) -> list[Row]:
    """Return the run id of the same results as `select_latest`, each with a row for `outcomes_of`."""
    return connection.execute(
        _LATEST.format(columns=f"{_RUN_ID}, {_OUTCOME}"), (canonical_path(suite_path),)
    ).fetchall()


def select_latest_run(connection: sqlite3.Connection, suite_path: str, key: TrialKey) -> str | None:
    """Return the id of the newest run with a result of a case on a model; None if it has none of that repeat."""
    row = connection.execute(
        "SELECT run.id FROM run JOIN (SELECT run AS of_run FROM run JOIN trial ON trial.run = run.number"
        " JOIN result ON result.trial = trial.number"
        " WHERE run.suite_place = ?1 AND case_id = ?2 AND model = ?3 ORDER BY run.id DESC LIMIT 1)"
        " ON run.number = of_run JOIN trial ON trial.run = of_run JOIN result ON result.trial = trial.number"
        " WHERE case_id = ?2 AND model = ?3 AND repeat = ?4",
        (canonical_path(suite_path), storable(key.case), storable(key.model), key.repeat),
    ).fetchone()
    return None if row is None else str(row[0])


def select_changed(connection: sqlite3.Connection, after: int) -> tuple[int, list[str]]:
    """Return the number of the newest result, and the places of the suites with results of greater numbers."""
    newest = connection.execute("SELECT coalesce(max(number), 0) FROM result").fetchone()[0]
    if newest <= after:
        return newest, []
    places = connection.execute(
        "SELECT DISTINCT run.suite_place FROM result JOIN trial ON trial.number = result.trial"
        " JOIN run ON run.number = trial.run WHERE result.number > ?",
        (after,),
    ).fetchall()
    return newest, [place for (place,) in places if isinstance(place, str)]


def select_case(connection: sqlite3.Connection, suite_path: str, case_id: str, most: int) -> list[Row]:
    """Return run id and content of the newest results of a case over all runs of a suite, the newest first."""
    return connection.execute(
        f"SELECT run.id, {_RESULT} FROM run JOIN trial ON trial.run = run.number"
        " JOIN result ON result.trial = trial.number"
        " WHERE run.suite_place = ? AND case_id = ? ORDER BY result.number DESC LIMIT ?",
        (canonical_path(suite_path), storable(case_id), most),
    ).fetchall()


def select_running(connection: sqlite3.Connection) -> list[Row]:
    """Return number and owner of every run whose stored state is running."""
    return connection.execute("SELECT number, owner FROM run WHERE state = 'running'").fetchall()


def select_ids(connection: sqlite3.Connection, prefix: str) -> list[str]:
    """Return the ids that start with the prefix, newest first."""
    rows = connection.execute(
        "SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id DESC", (storable(prefix),)
    ).fetchall()
    return [row[0] for row in rows]


def is_undecodable(error: BaseException) -> bool:
    """Return whether Python could not decode a text of the file: a damaged one, which SQLite itself does not notice."""
    return isinstance(error, sqlite3.OperationalError) and "Could not decode to UTF-8" in str(error)


def has_unreadable(connection: sqlite3.Connection, results: Iterable[int]) -> bool:
    """Return whether something that is stored cannot be read: a suite, a text of a run or a trial, one of the results
    with these numbers, or a run or result of which only other rows are left."""
    try:
        for table in ("run", "trial"):
            for _ in connection.execute(f"SELECT * FROM {table}"):
                pass
    except sqlite3.OperationalError as error:
        if is_undecodable(error):
            return True
        raise
    try:
        for (content,) in connection.execute("SELECT CAST(content AS BLOB) FROM suite"):
            codec.decode_suite(content)
    except (ValueError, TypeError):
        return True
    rows = connection.execute(
        f"SELECT {_RESULT} FROM json_each(?) AS wanted JOIN result ON result.number = wanted.value"
        " JOIN trial ON trial.number = result.trial",
        (json.dumps(list(results)),),
    )
    return None in results_of(rows) or lacks_results(connection) or has_lost_run(connection)


def select_result_numbers(connection: sqlite3.Connection, after: int, limit: int) -> list[Row]:
    """Return numbers of results in their order with the hash of the answer, empty where there is none."""
    return connection.execute(
        "SELECT result.number, iif(typeof(answer) = 'text', answer, '') FROM result"
        " JOIN trial ON trial.number = result.trial WHERE result.number > ? ORDER BY result.number LIMIT ?",
        (after, limit),
    ).fetchall()


def select_content(connection: sqlite3.Connection, number: int) -> tuple[str, bytes] | None:
    """Return the hash of the answer of a result and its JSON; None if it is not saved any more."""
    row = connection.execute(
        "SELECT iif(typeof(answer) = 'text', answer, ''), CAST(content AS BLOB) FROM result"
        " JOIN trial ON trial.number = result.trial WHERE result.number = ?",
        (number,),
    ).fetchone()
    return None if row is None else (str(row[0]), bytes(row[1]))


def select_places(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[Row]:
    """Return for each of these results its number, run, suite, start, case, model, repeat and verdict."""
    wanted = json.dumps(list(numbers))
    return connection.execute(
        "SELECT result.number, run.id, run.suite_name, run.started_at, case_id, model, repeat, verdict"
        " FROM json_each(?) AS wanted JOIN result ON result.number = wanted.value"
        " JOIN trial ON trial.number = result.trial JOIN run ON run.number = trial.run",
        (wanted,),
    ).fetchall()


def select_contents(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, bytes]:
    """Return the contents of these results by their number, if they have several attempts."""
    rows = connection.execute(
        "SELECT result.number, CAST(content AS BLOB) FROM json_each(?) AS wanted"
        " JOIN result ON result.number = wanted.value JOIN trial ON trial.number = result.trial WHERE attempts > 1",
        (json.dumps(list(numbers)),),
    )
    return dict(rows.fetchall())


def select_result_range(connection: sqlite3.Connection, run_id: str) -> tuple[int, int]:
    """Return the smallest and greatest number of the results of a run; (0, -1) if it has none."""
    first, last = connection.execute(
        "SELECT min(result.number), max(result.number) FROM run JOIN trial ON trial.run = run.number"
        " JOIN result ON result.trial = trial.number WHERE run.id = ?",
        (run_id,),
    ).fetchone()
    return (0, -1) if first is None else (first, last)


def select_results_of_run(connection: sqlite3.Connection, run: int) -> list[int]:
    """Return the numbers of the results of a run."""
    rows = connection.execute(
        "SELECT result.number FROM trial JOIN result ON result.trial = trial.number WHERE run = ?", (run,)
    )
    return [row[0] for row in rows]
