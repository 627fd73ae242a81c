"""What a store of runs can do, whatever stands behind it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from tui.model.outcomes import Outcome
from tui.model.prices import Spent
from tui.model.results import TrialKey, TrialResult
from tui.model.run import KeptRun, Plan, RunRecord, RunSetup, RunState
from tui.model.suite import Suite


class Store(Protocol):
    """Keeps runs. Every method may be called from any thread, and is durable when it returns; each raises StoreError
    with what to do when the history cannot be read or written.

    A run that is `running` while nobody runs it any more is told as `interrupted`.
    """

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know about the history since it was opened, a sentence or two each: that it can only be
        read, that a damaged file was moved aside, …"""
        ...

    @property
    def is_readonly(self) -> bool:
        """Whether every writing raises StoreError."""
        ...

    def begin_run(self, plan: Plan, started_at: str, versions: Mapping[str, str] = ...) -> None:
        """Keep a new run, state `running`; or, where the id is kept already, take that run up again.

        What a run was begun with stays (suite, options, prices, command, start); trials, subjects and cases that are
        new are added, and `versions` (of what takes part, by name) that are others than before. StoreError where
        another process is running it.
        """
        ...

    def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is replaced."""
        ...

    def finish_run(self, run_id: str, state: RunState, finished_at: str) -> None:
        """Keep how the run ended."""
        ...

    def list_runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first. `trials` counts what is planned, `passed` the plain passes (flaky left out)."""
        ...

    def find_run(self, prefix: str) -> str:
        """The whole id of the one run that begins so (`last`: newest). UnknownRun where that is none or several."""
        ...

    def read_run(self, run_id: str) -> KeptRun:
        """One run, whole."""
        ...

    def read_suite(self, run_id: str) -> Suite:
        """The suite of a run as it was run."""
        ...

    def read_setup(self, run_id: str) -> RunSetup:
        """With what a run was begun, without suite, trials and results: a few milliseconds."""
        ...

    def read_plan(self, run_id: str) -> Plan:
        """Everything that was planned in a run, without a result."""
        ...

    def read_outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """The results of one run without their texts, in the plan's order: many times faster than `read_run`."""
        ...

    def read_costs(self, run_id: str) -> Mapping[str, Spent]:
        """What the trials of each model cost together, as far as they are over: many times faster than adding up."""
        ...

    def read_wordless(self, run_id: str) -> frozenset[TrialKey]:
        """The results whose last attempt has neither text nor a change: there is nothing to judge. A plain verdict
        (passed, failed) is always of something."""
        ...

    def read_answer_hashes(self, run_id: str) -> Mapping[TrialKey, str]:
        """Of each result the hash of its current answer (`tui.model.scores.answer_hash`), without reading the texts."""
        ...

    def read_trials(self, run_id: str, trials: Iterable[TrialKey]) -> Mapping[TrialKey, TrialResult]:
        """These results, whole; what has none is left out."""
        ...

    def read_newest(self, run_id: str) -> Mapping[str, TrialResult]:
        """Of each model in a run the result that came last, whole."""
        ...

    def read_trial(self, run_id: str, trial: TrialKey) -> TrialResult | None:
        """One result, whole; None where the trial has none."""
        ...

    def read_recordings(self, run_id: str, model: str) -> tuple[TrialResult, ...]:
        """What a model answered in a run, for replay."""
        ...

    def latest_results(self, suite_path: str) -> tuple[TrialResult, ...]:
        """The newest result of each case × model × repeat over all runs of the suite at that path."""
        ...

    def latest_outcomes(self, suite_path: str) -> tuple[Outcome, ...]:
        """The same without their texts."""
        ...

    def find_latest(self, suite_path: str, trial: TrialKey) -> str | None:
        """The run with the newest result of a trial of the suite at that path."""
        ...

    def delete_run(self, run_id: str) -> None:
        """Forget a run for good. StoreError while somebody runs it."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
