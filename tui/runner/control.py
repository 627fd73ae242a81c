"""Stopping a run from outside: one trial, one model, or all of it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from tui.model.runs import RunState
from tui.model.trials import TrialKey


class Control:
    """What a person wants stopped. Cancelling keeps a result `cancelled` for what was running; an interruption
    keeps none, so that a resumed run asks it again. Must be used on the event loop of the run."""

    def __init__(self) -> None:
        self._trials: set[TrialKey] = set()
        self._models: set[str] = set()
        self._outcome: RunState = "finished"
        self._running: dict[TrialKey, asyncio.Task[object]] = {}
        self._stop_asked = asyncio.Event()
        self._run_stopped = asyncio.Event()

    @property
    def outcome(self) -> RunState:
        """The state in which the run ends: `finished`, unless it was cancelled or interrupted as a whole."""
        return self._outcome

    def cancel(self, trial: TrialKey) -> None:
        """Stop one trial, or keep it from starting."""
        self._trials.add(trial)
        self._stop_running()

    def cancel_model(self, model: str) -> None:
        """Stop all trials of one model."""
        self._models.add(model)
        self._stop_running()

    def cancel_all(self) -> None:
        """Stop the run; what is under way is kept as cancelled."""
        self._stop_run("cancelled")

    def interrupt(self) -> None:
        """Stop the run; what is under way has no result and can be resumed."""
        self._stop_run("interrupted")

    def stops(self, trial: TrialKey) -> bool:
        """Whether this trial is to be stopped, or not to be started."""
        return self._outcome != "finished" or trial in self._trials or trial.model in self._models

    async def stopped(self) -> None:
        """Return once the run as a whole is to be stopped."""
        await self._run_stopped.wait()

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until somebody asks for a stop."""
        try:
            async with asyncio.timeout(seconds):
                await self._stop_asked.wait()
        except TimeoutError:
            pass
        self._stop_asked.clear()

    @contextmanager
    def running(self, trial: TrialKey) -> Iterator[None]:
        """While the current task runs this trial."""
        task = asyncio.current_task()
        assert task is not None
        self._running[trial] = task
        try:
            yield
        finally:
            del self._running[trial]

    def _stop_run(self, outcome: RunState) -> None:
        self._outcome = outcome
        self._run_stopped.set()
        self._stop_running()

    def _stop_running(self) -> None:
        self._stop_asked.set()
        for trial, task in self._running.items():
            if self.stops(trial):
                task.cancel()


def go_on_after_cancel() -> None:
    """The stop was asked for through Control: the current task still has a result to hand in."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
