"""The plan of a run that lost planned trials: rebuilt where it is known, so that a resumed run runs them."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tui.store import codec
from tui.store.codec import storable

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class _LostTrials:
    """A run that lost trials although its plan is known: every case × model × repeat.

    `plan` has the number of each trial, None if that is unknown; `strange` are the numbers of the trials of no case or
    model of the run, which damage has renamed.
    """

    run: int
    plan: dict[_Key, int | None]
    strange: tuple[int, ...]

    @property
    def has_numbers(self) -> bool:
        """Whether the lost trials get their own numbers again, by which results refer to them."""
        return None not in self.plan.values()

    def delete_strange(self, connection: sqlite3.Connection) -> None:
        """Delete the renamed trials; a result stays for the trial that gets its number back."""
        connection.executemany("DELETE FROM trial WHERE number = ?", ((number,) for number in self.strange))

    def insert(self, connection: sqlite3.Connection) -> None:
        """Insert the lost trials, which have no result yet."""
        connection.executemany(
            "INSERT OR IGNORE INTO trial (number, run, case_id, model, repeat) VALUES (?, ?, ?, ?, ?)",
            ((number, self.run, *key) for key, number in self.plan.items()),
        )


def rebuild_plans(connection: sqlite3.Connection) -> None:
    """Insert the lost trials of each run whose plan is known, and drop the results that remain without a trial."""
    runs = connection.execute(
        "SELECT run.number, trials, suite.content, subjects, options FROM run JOIN suite ON suite.number = run.suite"
        " WHERE typeof(trials) = 'integer'"
    ).fetchall()
    found = [lost for row in runs if (lost := _find_lost(connection, *row))]
    for lost in found:
        lost.delete_strange(connection)
    for lost in found:
        if lost.has_numbers:
            lost.insert(connection)
    # Before other trials take their numbers.
    connection.execute("DELETE FROM result WHERE trial NOT IN (SELECT number FROM trial)")
    for lost in found:
        if not lost.has_numbers:
            lost.insert(connection)


def _find_lost(
    connection: sqlite3.Connection, run: int, planned: int, suite: str, subjects: str, options: str
) -> _LostTrials | None:
    """Return the lost trials of a run if the number of planned trials proves what its plan was; else None."""
    rows: list[tuple[int, str, str, int]] = connection.execute(
        "SELECT number, case_id, model, repeat FROM trial WHERE run = ?", (run,)
    ).fetchall()
    try:
        cases = tuple(dict.fromkeys(storable(case.id) for case in codec.decode_suite(suite).cases))
        models = tuple(dict.fromkeys(storable(subject.name) for subject in codec.decode_subjects(subjects)))
        repeats = range(1, codec.decode_options(options).repeats + 1)
    except (ValueError, TypeError):
        return None
    known_cases, known_models = set(cases), set(models)
    known = {(case, model, repeat): number for number, case, model, repeat in rows
             if case in known_cases and model in known_models}  # fmt: skip
    if len(known) >= planned:
        return None
    strange = tuple({row[0] for row in rows} - set(known.values()))
    kept_cases = {key[0] for key in known}
    for selected in (cases, tuple(case for case in cases if case in kept_cases)):
        if len(selected) * len(models) * len(repeats) != planned:
            continue
        for order in _orders(selected, models, repeats):
            if known.keys() <= order.keys() and (plan := _numbered(connection, order, known, strange)):
                return _LostTrials(run, plan, strange)
        if known.keys() <= (order := next(_orders(selected, models, repeats))).keys():
            return _LostTrials(run, {**dict.fromkeys(order), **known}, strange)
    return None


def _orders(cases: Sequence[str], models: Sequence[str], repeats: range) -> Iterator[dict[_Key, int]]:
    """Yield the orders in which plans are made, each with the place of every trial."""
    by_model = ((case, model, repeat) for model in models for case in cases for repeat in repeats)
    yield {key: place for place, key in enumerate(by_model)}
    by_case = ((case, model, repeat) for case in cases for model in models for repeat in repeats)
    yield {key: place for place, key in enumerate(by_case)}


def _numbered(
    connection: sqlite3.Connection, order: dict[_Key, int], known: dict[_Key, int], strange: Collection[int]
) -> dict[_Key, int | None] | None:
    """Return the numbers of all trials if those that are left were numbered in this order, else None."""
    starts = {number - order[key] for key, number in known.items()}
    if len(starts) != 1:
        return None
    start = starts.pop()
    within = connection.execute(
        "SELECT number FROM trial WHERE number BETWEEN ? AND ?", (start, start + len(order) - 1)
    ).fetchall()
    if start < 1 or not {number for (number,) in within} <= {*known.values(), *strange}:
        return None  # another run has one of the numbers
    return {key: start + place for key, place in order.items()}
