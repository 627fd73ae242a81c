"""Controlling a run in progress: cancel, pause, resume, change its concurrency, and deliver its events."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, TypeAlias

from tui.model.events import Event, LimitMoved, RunPaused, RunResumed
from tui.model.results import TrialKey
from tui.model.run import Plan, RunState
from tui.providers.protocol import Limits
from tui.runner.trial_context import TrialContext

# The user has paused the run, or results cannot be stored.
PauseReason: TypeAlias = Literal["user", "store"]


class Control:
    """The control of one run in progress.

    Trials in progress have the result `cancelled` after cancelling; they have no result after an interruption, so that
    a resumed run repeats them. Must be used on the event loop of the run.
    """

    def __init__(self) -> None:
        self._trials: set[TrialKey] = set()
        self._outcome: RunState = "finished"
        self._running: dict[TrialKey, asyncio.Task[object]] = {}
        self._answered: set[TrialKey] = set()
        self._unsent: set[asyncio.Timeout] = set()
        self._at_once: dict[str, int] = {}
        self._changed, self._commanded = asyncio.Event(), asyncio.Event()
        self._run_stopped, self._resumed = asyncio.Event(), asyncio.Event()
        self._resumed.set()
        self._pauses: set[PauseReason] = set()

    @property
    def outcome(self) -> RunState:
        """The final state of the run: `finished`, unless the whole run was cancelled or interrupted."""
        return self._outcome

    def cancel(self, trial: TrialKey) -> None:
        """Stop one trial, or prevent it from starting."""
        self._trials.add(trial)
        self._stop_running()

    def cancel_all(self) -> None:
        """Stop the run; trials in progress are stored as cancelled."""
        self._stop_run("cancelled")

    def interrupt(self) -> None:
        """Stop the run; trials in progress have no result and can be resumed."""
        self._stop_run("interrupted")

    def should_stop(self, trial: TrialKey) -> bool:
        """Return whether this trial must stop, or must not start."""
        return self._outcome != "finished" or trial in self._trials

    async def wait_until_stopped(self) -> None:
        """Return once the whole run has to stop."""
        await self._run_stopped.wait()

    @property
    def is_paused(self) -> bool:
        """Whether no new request may be sent for now."""
        return bool(self._pauses)

    def is_paused_for(self, reason: PauseReason) -> bool:
        """Return whether this is one of the reasons for a pause."""
        return reason in self._pauses

    def pause(self, reason: PauseReason = "user") -> None:
        """Send no new request until `resume` with the same reason.

        Requests in progress are finished; requests that are not sent yet are taken back.
        """
        self._pauses.add(reason)
        self._resumed.clear()
        now = asyncio.get_running_loop().time()
        for clock in self._unsent:
            clock.reschedule(now)
        self._unsent.clear()
        self._commanded.set()

    def resume(self, reason: PauseReason = "user") -> None:
        """Allow new requests again after a pause, unless there is another reason for one."""
        self._pauses.discard(reason)
        if self._pauses:
            return
        self._resumed.set()
        self._commanded.set()
        self.notify_change()

    async def wait_while_paused(self) -> float:
        """Return when a request may be sent, with the seconds waited."""
        if not self.is_paused:
            return 0.0
        clock = asyncio.get_running_loop().time
        began = clock()
        await self._resumed.wait()
        return clock() - began

    def track_unsent(self, clock: asyncio.Timeout) -> None:
        """Register the timeout of a request that is not sent yet: it expires when the run is paused."""
        if self.is_paused:
            clock.reschedule(asyncio.get_running_loop().time())
        else:
            self._unsent.add(clock)

    def untrack_unsent(self, clock: asyncio.Timeout) -> None:
        """Unregister the timeout of a request that was sent or has ended."""
        self._unsent.discard(clock)

    def set_concurrency(self, cases: int, model: str) -> None:
        """Set the number of cases of a model that run at once, at least 1.

        Cases in progress beyond this number are not stopped.
        """
        self._at_once[model] = max(1, cases)
        self._commanded.set()
        self.notify_change()

    def concurrency_of(self, model: str, default: int) -> int:
        """Return the number of cases of a model that run at once: the number set by the user, else `default`."""
        return self._at_once.get(model, default)

    async def wait_for_command(self) -> None:
        """Return once the user has paused or resumed the run, or has changed its concurrency."""
        await self._commanded.wait()
        self._commanded.clear()

    async def wait_for_change(self, seconds: float | None = None) -> None:
        """Return after `seconds`, or as soon as a change may allow another trial to start."""
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass
        self._changed.clear()

    def notify_change(self) -> None:
        """Wake the tasks in `wait_for_change`."""
        self._changed.set()

    def mark_answered(self, trial: TrialKey) -> None:
        """Record that the last answer of this trial is complete: while it is judged, another trial may start."""
        self._answered.add(trial)
        self.notify_change()

    def is_unanswered(self, trial: TrialKey) -> bool:
        """Return whether a trial in progress may still send requests."""
        return trial not in self._answered

    @contextmanager
    def running(self, trial: TrialKey) -> Iterator[None]:
        """Register the current task as the one that runs this trial, inside the `with` block."""
        task = asyncio.current_task()
        assert task is not None
        self._running[trial] = task
        try:
            yield
        finally:
            del self._running[trial]
            self._answered.discard(trial)

    def _stop_run(self, outcome: RunState) -> None:
        self._outcome = outcome
        self._run_stopped.set()
        self._stop_running()

    def _stop_running(self) -> None:
        self.notify_change()
        for trial, task in self._running.items():
            if self.should_stop(trial):
                task.cancel()


def uncancel_current_task() -> None:
    """Undo the cancellation that Control requested, so that the current task can return a result."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


class EventBuffer:
    """A buffer of events in their order. One wake-up for many events costs a third of an asyncio.Queue."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._arrived = asyncio.Event()
        self._closed = False

    def add(self, event: Event) -> None:
        """Add an event to the end."""
        self._events.append(event)
        self._arrived.set()

    def close(self) -> None:
        """Close the buffer: no event will be added."""
        self._closed = True
        self._arrived.set()

    async def take(self) -> list[Event]:
        """Return all buffered events, waiting for at least one; an empty list if the buffer is closed and empty."""
        if not self._events and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()
        events, self._events = self._events, []
        return events


class Pacing:
    """Keeps the limit of concurrent requests to a provider at the sum of its active models' concurrencies."""

    def __init__(self, plan: Plan, context: TrialContext, control: Control, events: EventBuffer) -> None:
        self._plan, self._context, self._control, self._events = plan, context, control, events
        self._provider_of = {subject.name: subject.provider for subject in plan.subjects}
        self._models: Sequence[str] = ()
        self._most: dict[str, int] = {}

    def begin(self, models: Sequence[str]) -> None:
        """Set the models whose trials run now."""
        self._models = models
        self._update_limits()

    async def run(self) -> None:
        """Report pauses and apply changes of the concurrency until the task is cancelled."""
        paused = False
        while True:
            if self._control.is_paused != paused:
                paused = not paused
                self._events.add(RunPaused() if paused else RunResumed())
            self._update_limits()
            await self._control.wait_for_command()

    def _update_limits(self) -> None:
        limits: dict[str, int] = {}
        for model in self._models:
            name = self._provider_of[model]
            limits[name] = limits.get(name, 0) + self._control.concurrency_of(model, self._plan.options.concurrency)
        for name, most in limits.items():
            known = self._most.get(name)
            if most != known:
                self._most[name] = most
                limit = self._limit(name, most)
                # A limit of one is only reported if it was another before.
                if most > 1 or known is not None:
                    self._events.add(LimitMoved(name, limit, most))

    def _limit(self, name: str, most: int) -> int:
        """Return the lowest limit that the providers of that name accept."""
        models = [model for model in self._models if self._provider_of[model] == name]
        providers = {id(provider): provider for provider in (self._context.providers[model] for model in models)}
        return min(
            (provider.allow(most) for provider in providers.values() if isinstance(provider, Limits)), default=most
        )
