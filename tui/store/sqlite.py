"""The store in one SQLite file."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from tui.model.answer_search import AnswerHits, AnswerQuery, IndexProgress
from tui.model.collector import paused_collector
from tui.model.current_folder import real_path
from tui.model.errors import StoreError, UnknownRun
from tui.model.outcomes import Outcome
from tui.model.prices import Spent
from tui.model.results import TrialKey, TrialResult
from tui.model.run import KeptRun, Plan, RunRecord, RunSetup, RunState
from tui.model.scores import current_answer_hash
from tui.model.suite import Suite, SuiteSources
from tui.store import reader, writer
from tui.store.answer_index import AnswerIndex
from tui.store.codec import decode_suite, encode_result
from tui.store.database import HistoryFile, mark_damaged
from tui.store.ownership import Owner, is_alive, sweep_owners
from tui.store.rebuilt_suites import is_rebuilt
from tui.store.repair import has_lost_setup
from tui.store.unreadable import UnreadableResults

T = TypeVar("T")

_RESTART = "Restart Assay: it recovers what can be read of a damaged history."
_NO_VERSIONS: Mapping[str, str] = MappingProxyType({})


class SqliteStore:
    """Implements `tui.store.protocol.Store`.

    Opening never fails for a damaged, old or unwritable file (see `notices`); it raises StoreError for a newer one
    and for one of another program.

    JSON is converted outside the connection's lock, so that threads do not wait for it.
    """

    def __init__(self, path: Path) -> None:
        # The log of a linked file is beside the file, and a recovery renames the file, not the link.
        self._path = path = Path(real_path(path)) if path.is_symlink() else path
        self._owner = Owner(path)
        self._file = HistoryFile(path)
        self._unreadable = UnreadableResults(self._file)
        self._index = AnswerIndex(self._file)
        self._sources: dict[str, SuiteSources | None] = {}  # by the digest of a stored suite
        self._complete = set[int]()  # the numbers of runs of which no index hides a trial
        if not self._file.is_readonly:
            # It is reported as interrupted anyway; the disk may be full.
            with contextlib.suppress(StoreError):
                self._end_abandoned()

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages for the user about the history since it was opened."""
        return (*self._file.notices, *self._unreadable.notices)

    @property
    def is_readonly(self) -> bool:
        """Whether every write raises StoreError."""
        return self._file.is_readonly

    def begin_run(self, plan: Plan, started_at: str, versions: Mapping[str, str] = _NO_VERSIONS) -> None:
        """Store a new run, or resume the run of that id."""
        with self._file.writing() as connection:
            self._claim()
            run = self._known(connection, plan.run_id) if plan.continues else self._number(connection, plan.run_id)
            if run is None:
                if reader.has_lost_run(connection):
                    raise self._damaged("the run history is damaged: a run is missing, of which it has trials")
                writer.insert_run(connection, plan, started_at, self._owner.token, versions)
            else:
                self._refuse_running(connection, run, plan.run_id, but=self._owner.token)
                if plan.continues:
                    if is_rebuilt(connection, run):
                        raise StoreError(
                            f"run {plan.run_id} cannot be continued: its suite was lost with a damaged history, and "
                            "what was rebuilt from its results may send other prompts",
                            fix="Start a new run of the suite's file.",
                        )
                    if has_lost_setup(connection, run):
                        raise StoreError(
                            f"run {plan.run_id} cannot be continued: its models, options or versions were lost with a "
                            "damaged history",
                            fix="Start a new run of the suite's file.",
                        )
                    writer.refuse_changed(connection, run, plan)
                writer.resume_run(connection, run, plan, started_at, self._owner.token, versions)

    def add_versions(self, run_id: str, versions: Mapping[str, str]) -> None:
        """Store versions that became known after the run had begun; where one differs from before, both are stored."""
        with self._file.writing() as connection:
            writer.add_versions(connection, self._known(connection, run_id), versions)

    def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
        """Store finished trials, all or none."""
        encoded = [(result, encode_result(result)) for result in results]
        with self._file.writing() as connection:
            writer.write_results(connection, self._known(connection, run_id), encoded, _now())

    def is_complete(self, run_id: str) -> bool:
        """Return whether each planned trial of the run has a result."""
        return self._file.read(lambda connection: reader.is_complete(connection, self._known(connection, run_id)))

    def is_settled(self, run_id: str) -> bool:
        """Return whether the run is complete and none of its trials counts as cancelled."""
        return self._file.read(lambda connection: reader.is_settled(connection, self._known(connection, run_id)))

    def check_stored(self, run_id: str) -> None:
        """Raise StoreError if the run was deleted, or the history removed or replaced while it is in use."""
        self._file.read(lambda connection: self._known(connection, run_id), in_place=True)

    def finish_run(self, run_id: str, state: RunState, finished_at: str) -> None:
        """Store the final state of the run."""
        with self._file.writing() as connection:
            writer.end_run(connection, self._known(connection, run_id), state, finished_at)

    def list_runs(self) -> tuple[RunRecord, ...]:
        """Return all runs, newest first."""
        rows = self._file.read(reader.select_records)
        return tuple([reader.record_of(row, self._is_alive) for row in rows])

    def find_run(self, prefix: str) -> str:
        """Return the full id of the one run whose id starts with the prefix (`last`: newest)."""
        latest = prefix == "last"
        ids = self._file.read(
            lambda connection: reader.select_ids(connection, "" if latest else prefix.strip().lower())
        )
        if latest and ids:
            return ids[0]
        if not prefix or not ids:
            raise UnknownRun(
                "no saved run" if latest else f"no saved run begins with {prefix!r}",
                fix="Run `assay runs` to list the saved runs.",
            )
        if len(ids) > 1:
            shown = ", ".join(ids[:3]) + (", …" if len(ids) > 3 else "")
            raise UnknownRun(
                f"{len(ids)} saved runs begin with {prefix!r}: {shown}", fix="Use a longer prefix of the id."
            )
        return ids[0]

    def read_run(self, run_id: str) -> KeptRun:
        """Return a run with its plan and results."""
        rows, contents = self._file.read(
            lambda connection: reader.select_kept(connection, self._known(connection, run_id))
        )
        with paused_collector():
            results = self._results(contents, repeat(run_id))
            return self._decode(lambda: reader.kept_of(rows, results, self._is_alive))

    def read_suite(self, run_id: str) -> Suite:
        """Return the suite of a run as it was run."""
        text = self._file.read(lambda connection: reader.select_suite(connection, self._known(connection, run_id)))
        with paused_collector():
            return self._decode(lambda: decode_suite(text))

    def read_sources(self, sha256: str) -> Mapping[str, SuiteSources]:
        """Return where the files of each run of the suite file with this digest came from, as far as it can be read."""

        def read(connection: sqlite3.Connection) -> list[reader.Row]:
            rows = reader.select_suite_digests(connection, sha256)
            for digest in {digest for _, digest in rows} - self._sources.keys():
                self._sources[digest] = reader.select_sources(connection, digest)
            return rows

        found = {run: self._sources[digest] for run, digest in self._file.read(read)}
        return {run: sources for run, sources in found.items() if sources is not None}

    def read_setup(self, run_id: str) -> RunSetup:
        """Return the setup of a run."""
        row = self._file.read(lambda connection: reader.select_setup(connection, self._known(connection, run_id)))
        return self._decode(lambda: reader.setup_of(row))

    def read_plan(self, run_id: str) -> Plan:
        """Return the whole plan of a run, without results."""
        rows = self._file.read(lambda connection: reader.select_trials(connection, self._known(connection, run_id)))
        setup = self.read_setup(run_id)
        trials = self._decode(lambda: reader.trials_of(rows))
        return Plan(run_id, self.read_suite(run_id), setup.subjects, setup.options, trials, setup.command)

    def read_outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """Return the results of one run without their texts, in the plan's order."""
        rows = self._file.read(lambda connection: reader.select_outcomes(connection, self._known(connection, run_id)))
        return reader.outcomes_of(self._outcomes_in(rows))

    def read_costs(self, run_id: str) -> Mapping[str, Spent]:
        """Return the total cost of each model's finished trials."""
        return self._file.read(lambda connection: reader.select_costs(connection, self._known(connection, run_id)))

    def read_wordless(self, run_id: str) -> frozenset[TrialKey]:
        """Return the results whose current answer has neither text nor a change."""
        rows, others = self._file.read(
            lambda connection: reader.select_wordless(connection, self._known(connection, run_id))
        )
        computed = (each.trial for each in self._readable(others, run_id) if not each.has_answer)
        return frozenset((*map(TrialKey._make, rows), *computed))

    def read_answer_hashes(self, run_id: str) -> Mapping[TrialKey, str]:
        """Return the hash of each result's current answer."""
        hashed, others = self._file.read(
            lambda connection: reader.select_answers_of_results(connection, self._known(connection, run_id))
        )
        found = {TrialKey(case, model, repeat): answer for case, model, repeat, answer in hashed}
        results = self._readable(others, run_id)
        return found | {result.trial: current_answer_hash(result) for result in results}

    def read_trials(self, run_id: str, trials: Iterable[TrialKey]) -> Mapping[TrialKey, TrialResult]:
        """Return these complete results; trials without a result are left out."""
        selected = list(trials)
        rows = self._file.read(
            lambda connection: [
                row
                for run in (self._known(connection, run_id),)
                for trial in selected
                for row in reader.select_result(connection, run, trial)
            ]
        )
        return {result.trial: result for result in self._readable(rows, run_id)}

    def read_newest(self, run_id: str) -> Mapping[str, TrialResult]:
        """Return the newest result of each model."""
        rows = self._file.read(lambda connection: reader.select_newest(connection, self._known(connection, run_id)))
        return {result.trial.model: result for result in self._readable(rows, run_id)}

    def read_trial(self, run_id: str, trial: TrialKey) -> TrialResult | None:
        """Return one complete result, or None if the trial has none."""
        rows = self._file.read(
            lambda connection: reader.select_result(connection, self._known(connection, run_id), trial)
        )
        found = self._readable(rows, run_id)
        return found[0] if found else None

    def read_recordings(self, run_id: str, model: str) -> tuple[TrialResult, ...]:
        """Return what a model answered in a run."""
        rows = self._file.read(
            lambda connection: reader.select_answers(connection, self._known(connection, run_id), model)
        )
        return self._readable(rows, run_id)

    def latest_results(self, suite_path: str) -> tuple[tuple[str, TrialResult], ...]:
        """Return the newest results of the suite at that path, each with the id of its run.

        All repeats of a case on a model are of one run.
        """
        rows = self._file.read(lambda connection: reader.select_latest(connection, suite_path))
        return self._readable_by_run(rows)

    def latest_outcomes(self, suite_path: str) -> tuple[tuple[str, Outcome], ...]:
        """Return the same results as `latest_results`, without their texts."""
        rows = self._file.read(lambda connection: reader.select_latest_outcomes(connection, suite_path))
        rows = self._outcomes_in(rows, first=1)
        outcomes = reader.outcomes_of(row[1:] for row in rows)
        return tuple((row[0], outcome) for row, outcome in zip(rows, outcomes, strict=True))

    def changed_suites(self, after: int) -> tuple[int, frozenset[str]]:
        """Return the number of the newest result, and the places of the suites with results of greater numbers."""
        newest, places = self._file.read(lambda connection: reader.select_changed(connection, after))
        return newest, frozenset(places)

    def find_latest(self, suite_path: str, trial: TrialKey) -> str | None:
        """Return the run from which `latest_results` has the result of a trial, or None if it has none."""
        return self._file.read(lambda connection: reader.select_latest_run(connection, suite_path, trial))

    def case_results(self, suite_path: str, case_id: str, most: int) -> tuple[tuple[str, TrialResult], ...]:
        """Return the newest results of a case over all runs of the suite at that path, each with the id of its run."""
        rows = self._file.read(lambda connection: reader.select_case(connection, suite_path, case_id, most))
        return self._readable_by_run(rows)

    def delete_run(self, run_id: str, confirm: Callable[[RunRecord], None] = lambda _: None) -> None:
        """Delete a run: its pages are overwritten and returned to the disk.

        `confirm` is called before the deletion is committed, with the record of the run.
        """
        with self._file.writing() as connection:  # refused if the file is read-only
            run = self._known(connection, run_id)
            self._refuse_running(connection, run, run_id)
            results = reader.select_results_of_run(connection, run)
        self._index.forget(results)  # before and after: the process may be killed, and another one may index them again
        with self._file.writing() as connection:
            run = self._known(connection, run_id)
            self._refuse_running(connection, run, run_id)
            records = (reader.record_of(row, self._is_alive) for row in reader.select_records(connection))
            record = next(record for record in records if record.id == run_id)
            connection.execute("PRAGMA secure_delete = ON")
            writer.remove_run(connection, run)
            confirm(record)
        with self._file.using() as connection, contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA secure_delete = OFF")
            # `execute` would run one step of the pragma, which frees one page.
            connection.executescript("PRAGMA incremental_vacuum")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._index.forget(results)

    def begin_index(self) -> IndexProgress:
        """Compare the index of answers with the history, and remove what was deleted."""
        return self._index.begin_update()

    def update_index(self) -> IndexProgress:
        """Index the next few answers."""
        return self._index.update()

    def search_answers(self, query: AnswerQuery, limit: int, run_id: str = "") -> AnswerHits:
        """Return the newest indexed answers that match a query, of all runs or of one."""
        return self._index.search(query, limit, run_id)

    def close(self) -> None:
        """Close the store and release its file."""
        self._index.close()
        self._file.close()
        self._owner.release()

    def _readable(self, rows: Sequence[reader.Row], run_id: str) -> tuple[TrialResult, ...]:
        """Return the results of a run that can be read; the others are noted."""
        return tuple([result for result in self._results(rows, repeat(run_id)) if result is not None])

    def _readable_by_run(self, rows: Sequence[reader.Row]) -> tuple[tuple[str, TrialResult], ...]:
        """Return the same of rows that begin with the id of their run, each with that id."""
        runs = [row[0] for row in rows]
        results = self._results([row[1:] for row in rows], runs)
        return tuple((run, result) for run, result in zip(runs, results, strict=True) if result is not None)

    def _results(self, rows: Sequence[reader.Row], runs: Iterable[str]) -> tuple[TrialResult | None, ...]:
        results = reader.results_of(rows)
        self._unreadable.add(
            (run, row[1]) for run, row, result in zip(runs, rows, results, strict=False) if result is None
        )
        return results

    def _outcomes_in(self, rows: list[reader.Row], first: int = 0) -> list[reader.Row]:
        """Return the rows of outcomes, which begin at column `first`, without those that damage has changed.

        The next opening of the history derives them from the results again.
        """
        found = [row for row in rows if reader.is_outcome(row[first:])]
        if len(found) < len(rows) and not self._file.is_readonly:
            mark_damaged(self._path)
        return found

    def _decode(self, decode: Callable[[], T]) -> T:
        try:
            return decode()
        except ValueError as error:
            raise self._damaged("the run history contains a run that Assay cannot read") from error

    def _damaged(self, what: str) -> StoreError:
        """Mark the history as damaged, and return the error that says so."""
        if not self._file.is_readonly:
            mark_damaged(self._path)
        return StoreError(what, where=str(self._path), fix=_RESTART)

    def _claim(self) -> None:
        try:
            self._owner.claim()
        except OSError as error:
            raise StoreError(
                f"cannot create a file in the folder of the run history: {error.strerror}", where=str(self._path)
            ) from (error)

    def _is_alive(self, owner: str | None) -> bool:
        return owner == self._owner.token or is_alive(self._path, owner)

    def _end_abandoned(self) -> None:
        """Mark runs whose process has ended: as finished if only a rerun of their trials was stopped."""
        running = self._file.read(reader.select_running)
        abandoned = [run for run, owner in running if not self._is_alive(owner)]
        if abandoned:
            with self._file.writing() as connection:
                for run, owner in reader.select_running(connection):
                    if not self._is_alive(owner):
                        is_settled = reader.is_settled(connection, run)
                        writer.end_run(connection, run, "finished" if is_settled else "interrupted", None)
        sweep_owners(self._path)

    def _refuse_running(self, connection: sqlite3.Connection, run: int, run_id: str, but: str = "") -> None:
        owners = [owner for number, owner in reader.select_running(connection) if number == run]
        if owners and owners[0] != but and self._is_alive(owners[0]):
            raise StoreError(f"run {run_id} is still running", fix="Cancel it, or wait until it has finished.")

    def _number(self, connection: sqlite3.Connection, run_id: str) -> int | None:
        row = connection.execute("SELECT number FROM run WHERE id = ?", (run_id,)).fetchone()
        return None if row is None else int(row[0])

    def _known(self, connection: sqlite3.Connection, run_id: str) -> int:
        number = self._number(connection, run_id)
        if number is None:
            raise StoreError(f"run {run_id} does not exist", fix="Run `assay runs` to list the saved runs.")
        if number not in self._complete:
            if reader.has_hidden_trials(connection, number):
                raise self._damaged(f"trials of run {run_id} cannot be found, because the run history is damaged")
            self._complete.add(number)
        return number


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
