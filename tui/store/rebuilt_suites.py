"""Suites that damage has made unreadable: rebuilt from the results of their runs, which are read as before."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from tui.model.results import JUDGED, Attempt, TrialResult
from tui.model.suite import Case, Check, Step, Suite
from tui.store import codec

REBUILT = "rebuilt "
"""What the digest of a rebuilt suite begins with: no suite that is run again becomes this one."""
_DESCRIPTION = "Rebuilt from the results of its runs: the suite was lost with a damaged history."
_UNKNOWN = Check("recorded", "unknown: lost with a damaged history")


def is_rebuilt(connection: sqlite3.Connection, run: int) -> bool:
    """Return whether the suite of a run was rebuilt: it lacks what results do not say, such as system messages."""
    row = connection.execute(
        "SELECT digest FROM suite JOIN run ON run.suite = suite.number WHERE run.number = ?", (run,)
    ).fetchone()
    return row is not None and str(row[0]).startswith(REBUILT)


def rebuild_suites(connection: sqlite3.Connection) -> None:
    """Drop suites that cannot be read, and rebuild those whose runs have a readable result."""
    for number, digest, content in connection.execute("SELECT number, digest, content FROM suite").fetchall():
        try:
            codec.decode_suite(content)
        except (ValueError, TypeError):
            connection.execute("DELETE FROM suite WHERE number = ?", (number,))
            continue
        if not str(digest).startswith(REBUILT) and digest != hashlib.sha256(str(content).encode()).hexdigest():
            # Readable, but changed: a new run of the real suite would get this one.
            connection.execute("UPDATE suite SET digest = ? WHERE number = ?", (f"damaged {number}", number))
    missing = connection.execute("SELECT DISTINCT suite FROM run WHERE suite NOT IN (SELECT number FROM suite)")
    for (number,) in missing.fetchall():
        if (suite := _rebuilt(connection, number)) is not None:
            row = number, f"{REBUILT}{number}", codec.encode_suite(suite)
            connection.execute("INSERT INTO suite (number, digest, content) VALUES (?, ?, ?)", row)


def _rebuilt(connection: sqlite3.Connection, number: int) -> Suite | None:
    """Return the suite of the runs that had the suite with this number; None if no result of them can be read."""
    row = connection.execute(
        "SELECT suite_name, suite_path, suite_place, suite_sha256 FROM run WHERE suite = ? ORDER BY number", (number,)
    ).fetchone()
    name, path, place, sha256 = map(str, row)
    attempts: dict[str, list[Attempt]] = {}
    ids: dict[str, str] = {}
    trials = connection.execute(
        "SELECT CAST(content AS BLOB), case_id, model, repeat FROM run JOIN trial ON trial.run = run.number"
        " LEFT JOIN result ON result.trial = trial.number WHERE suite = ? ORDER BY trial.number",
        (number,),
    )
    for content, *key in trials:
        found = attempts.setdefault(key[0], [])
        result: TrialResult | None = None if content is None else codec.read_result(content, tuple(key))
        if result is not None:
            ids[key[0]] = result.trial.case
            # Two of all attempts, so that the memory does not hold every result.
            every = [*found, *result.attempts]
            judged = next((each for each in every if each.verdict in JUDGED), None)
            found[:] = [each for each in (_most_complete(every), judged) if each is not None]
    if not ids:
        return None
    cases = tuple(_case(ids.get(case, case), found) for case, found in attempts.items())
    folder = str(Path(place).parent) if Path(place).is_absolute() else ""
    return Suite(name, _DESCRIPTION, path, sha256, "schema-1.0.0", cases, _models(connection, number), folder=folder)


def _most_complete(attempts: Iterable[Attempt]) -> Attempt | None:
    """Return the attempt with the most steps and checks: one that failed early has fewer than its case."""
    sizes = [(len(each.steps), sum(len(step.checks) for step in each.steps), each) for each in attempts]
    return max(sizes, key=lambda size: size[:2])[2] if sizes else None


def _case(case_id: str, attempts: list[Attempt]) -> Case:
    best = _most_complete(attempts)
    steps = tuple(
        Step(step.input, tuple(Check(check.kind, check.target) for check in step.checks))
        for step in (best.steps if best else ())
    )
    if not any(step.checks for step in steps) and not any(each.verdict in JUDGED for each in attempts):
        # No answer says whether the case has checks: its errors count as before, like those of a checked case.
        first = steps[0].input if steps else ""
        steps = (Step(first, (_UNKNOWN,)), *steps[1:])
    return Case(case_id, case_id, "Recovered", steps)


def _models(connection: sqlite3.Connection, number: int) -> tuple[str, ...]:
    (models,) = connection.execute("SELECT models FROM run WHERE suite = ? ORDER BY number", (number,)).fetchone()
    try:
        found = json.loads(models)
    except (ValueError, TypeError):
        return ()
    return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()
