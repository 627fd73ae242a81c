"""The interface of a store of runs, independent of its implementation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from tui.model.answer_search import AnswerHits, AnswerQuery, IndexProgress
from tui.model.outcomes import Outcome
from tui.model.prices import Spent
from tui.model.results import TrialKey, TrialResult
from tui.model.run import KeptRun, Plan, RunRecord, RunSetup, RunState
from tui.model.suite import Suite, SuiteSources


class Store(Protocol):
    """A store of runs.

    Every method may be called from any thread, and is durable when it returns; each raises StoreError, with what to
    do, if the history cannot be read or written.

    A run in state `running` whose process has ended is reported as `interrupted`.
    """

    @property
    def notices(self) -> tuple[str, ...]:
        """Messages for the user about the history since it was opened, one or two sentences each.

        Examples: it is read-only, a damaged file was moved aside. Reading may add some: results that cannot be read
        are left out of what is returned, and a message names their run.
        """
        ...

    @property
    def is_readonly(self) -> bool:
        """Whether every write raises StoreError."""
        ...

    def begin_run(self, plan: Plan, started_at: str, versions: Mapping[str, str] = ...) -> None:
        """Store a new run in state `running`; if the id is stored already, resume that run.

        The setup of a run stays (suite, options, prices, command, start); new trials, subjects and cases are added,
        and `versions` (of software and files, by name) that differ from before. Raises StoreError if another process
        is running it, if the run that the plan continues was deleted, and if the results of the planned trials are no
        longer those of which the plan was made.
        """
        ...

    def add_versions(self, run_id: str, versions: Mapping[str, str]) -> None:
        """Store versions that became known after the run had begun; where one differs from before, both are stored."""
        ...

    def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
        """Store finished trials, all or none; a stored trial is replaced."""
        ...

    def is_complete(self, run_id: str) -> bool:
        """Return whether each planned trial of the run has a result, and none was lost with a damaged history."""
        ...

    def is_settled(self, run_id: str) -> bool:
        """Return whether the run is complete and none of its trials counts as cancelled: nothing is left to run."""
        ...

    def check_stored(self, run_id: str) -> None:
        """Raise StoreError if the run was deleted, or the history removed or replaced while it is in use."""
        ...

    def finish_run(self, run_id: str, state: RunState, finished_at: str) -> None:
        """Store the final state of the run."""
        ...

    def list_runs(self) -> tuple[RunRecord, ...]:
        """Return all runs, newest first. `trials` counts the planned ones, `passed` the passes that are not flaky."""
        ...

    def find_run(self, prefix: str) -> str:
        """Return the full id of the one run whose id starts with the prefix (`last`: newest).

        Raises UnknownRun if there is none or several.
        """
        ...

    def read_run(self, run_id: str) -> KeptRun:
        """Return a run with its plan and results."""
        ...

    def read_suite(self, run_id: str) -> Suite:
        """Return the suite of a run as it was run."""
        ...

    def read_sources(self, sha256: str) -> Mapping[str, SuiteSources]:
        """Return where the files of each run of the suite file with this digest came from, as far as it can be read.

        They are not those of the file if options of the run named others.
        """
        ...

    def read_setup(self, run_id: str) -> RunSetup:
        """Return the setup of a run, without suite, trials and results. Takes a few milliseconds."""
        ...

    def read_plan(self, run_id: str) -> Plan:
        """Return the whole plan of a run, without results."""
        ...

    def read_outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """Return the results of one run without their texts, in the plan's order: many times faster than `read_run`."""
        ...

    def read_costs(self, run_id: str) -> Mapping[str, Spent]:
        """Return the total cost of each model's finished trials: many times faster than a sum over results."""
        ...

    def read_wordless(self, run_id: str) -> frozenset[TrialKey]:
        """Return the results whose last attempt has neither text nor a change, so that nothing can be judged.

        A plain verdict (passed, failed) always has an answer.
        """
        ...

    def read_answer_hashes(self, run_id: str) -> Mapping[TrialKey, str]:
        """Return the hash of each result's current answer (`tui.model.scores.answer_hash`); texts are not read."""
        ...

    def read_trials(self, run_id: str, trials: Iterable[TrialKey]) -> Mapping[TrialKey, TrialResult]:
        """Return these complete results; trials without a result are left out."""
        ...

    def read_newest(self, run_id: str) -> Mapping[str, TrialResult]:
        """Return the complete result that each model of a run finished last."""
        ...

    def read_trial(self, run_id: str, trial: TrialKey) -> TrialResult | None:
        """Return one complete result, or None if the trial has none."""
        ...

    def read_recordings(self, run_id: str, model: str) -> tuple[TrialResult, ...]:
        """Return what a model answered in a run, for replay."""
        ...

    def latest_results(self, suite_path: str) -> tuple[tuple[str, TrialResult], ...]:
        """Return the newest results of the suite at that path, each with the id of its run.

        All repeats of a case on a model are of one run: the newest one that has a result of them.
        """
        ...

    def latest_outcomes(self, suite_path: str) -> tuple[tuple[str, Outcome], ...]:
        """Return the same results as `latest_results`, without their texts."""
        ...

    def changed_suites(self, after: int) -> tuple[int, frozenset[str]]:
        """Return the number of the newest result, and the files (without links) of suites with greater numbers.

        Results are numbered in the order in which they were saved, by any program.
        """
        ...

    def find_latest(self, suite_path: str, trial: TrialKey) -> str | None:
        """Return the run from which `latest_results` has the result of a trial, or None if it has none."""
        ...

    def case_results(self, suite_path: str, case_id: str, most: int) -> tuple[tuple[str, TrialResult], ...]:
        """Return the newest `most` results of a case over all runs of the suite at that path, the newest first.

        Each has the id of its run.
        """
        ...

    def begin_index(self) -> IndexProgress:
        """Compare the index of answers with the history, before the first `update_index` of a search."""
        ...

    def update_index(self) -> IndexProgress:
        """Index the next few answers, the newest first. Call it until the progress is complete."""
        ...

    def search_answers(self, query: AnswerQuery, limit: int, run_id: str = "") -> AnswerHits:
        """Return the newest indexed answers with all words and phrases of a query, of all runs or of one."""
        ...

    def delete_run(self, run_id: str, confirm: Callable[[RunRecord], None] = ...) -> None:
        """Delete a run, also from the index of answers. Raises StoreError while a process runs it.

        `confirm` is called in the same transaction with the record of the run; the run stays if it raises.
        """
        ...

    def close(self) -> None:
        """Close the store and release its file."""
        ...
