"""What a store of runs can do, whatever stands behind it."""

from collections.abc import Sequence
from typing import Protocol

from tui.model.kept import KeptRun
from tui.model.plan import Plan
from tui.model.runs import RunRecord, RunState
from tui.model.trials import TrialResult


class Store(Protocol):
    """Keeps runs. Every method may be called from any thread, and is durable when it returns; each raises StoreError
    with what to do when the history cannot be read or written."""

    def begin_run(self, plan: Plan, started_at: str) -> None:
        """Keep a new run, state `running`; or, where the id is kept already, take that run up again."""
        ...

    def save_trials(self, run_id: str, results: Sequence[TrialResult]) -> None:
        """Keep finished trials, all or none; a trial that is kept already is replaced."""
        ...

    def finish_run(self, run_id: str, state: RunState, finished_at: str) -> None:
        """Keep how the run ended."""
        ...

    def list_runs(self) -> tuple[RunRecord, ...]:
        """All runs, the newest first."""
        ...

    def find_run(self, prefix: str) -> str:
        """The whole id of the one run that begins so (`last`: newest). StoreError where that is none or several."""
        ...

    def read_run(self, run_id: str) -> KeptRun:
        """One run, whole."""
        ...

    def latest_results(self, suite_path: str) -> tuple[TrialResult, ...]:
        """The newest result of each case × model × repeat over all runs of the suite at that path."""
        ...

    def delete_run(self, run_id: str) -> None:
        """Forget a run for good."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...
