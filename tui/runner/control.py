"""What a person wants of a run that goes on: that it stops, pauses, or asks more or less at once."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tui.model.events import Event, LimitMoved, RunPaused, RunResumed
from tui.model.results import TrialKey
from tui.model.run import Plan, RunState
from tui.providers.protocol import Limits
from tui.runner.trial_context import TrialContext


class Control:
    """What a person wants. Cancelling keeps a result `cancelled` for what was running; an interruption
    keeps none, so that a resumed run asks it again. Must be used on the event loop of the run."""

    def __init__(self) -> None:
        self._trials: set[TrialKey] = set()
        self._models: set[str] = set()
        self._outcome: RunState = "finished"
        self._running: dict[TrialKey, asyncio.Task[object]] = {}
        self._asked_out: set[TrialKey] = set()
        self._unsent: set[asyncio.Timeout] = set()
        self._at_once: dict[str, int] = {}
        self._stirred, self._wished = asyncio.Event(), asyncio.Event()
        self._run_stopped, self._goes_on = asyncio.Event(), asyncio.Event()
        self._goes_on.set()

    @property
    def outcome(self) -> RunState:
        """The state in which the run ends: `finished`, unless it was cancelled or interrupted as a whole."""
        return self._outcome

    # --- stopping

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

    # --- pausing

    @property
    def is_held(self) -> bool:
        """Whether nothing new is to be asked for now."""
        return not self._goes_on.is_set()

    def hold(self) -> None:
        """Ask nothing new until `go_on`. What is out is answered to its end; what is not out yet is taken back."""
        self._goes_on.clear()
        now = asyncio.get_running_loop().time()
        for clock in self._unsent:
            clock.reschedule(now)
        self._unsent.clear()
        self._wished.set()

    def go_on(self) -> None:
        """Ask again."""
        self._goes_on.set()
        self._wished.set()
        self.stir()

    async def may_ask(self) -> float:
        """Return when something new may be asked, with the seconds that this took."""
        if not self.is_held:
            return 0.0
        clock = asyncio.get_running_loop().time
        began = clock()
        await self._goes_on.wait()
        return clock() - began

    def may_take_back(self, clock: asyncio.Timeout) -> None:
        """A question of the current task is not out: its clock, which does not run, ends when the run is held."""
        if self.is_held:
            clock.reschedule(asyncio.get_running_loop().time())
        else:
            self._unsent.add(clock)

    def keep(self, clock: asyncio.Timeout) -> None:
        """The question is out, or over."""
        self._unsent.discard(clock)

    # --- how much at once

    def ask_at_once(self, cases: int, model: str) -> None:
        """So many cases of a model at once from now on, 1 at least; what goes beyond that is not stopped."""
        self._at_once[model] = max(1, cases)
        self._wished.set()
        self.stir()

    def at_once(self, model: str, begun_with: int) -> int:
        """How many cases of a model go at once: what a person wants now, else what the run was begun with."""
        return self._at_once.get(model, begun_with)

    # --- for those who obey

    async def wish(self) -> None:
        """Return once a person has paused the run, let it go on, or asked for more or less at once."""
        await self._wished.wait()
        self._wished.clear()

    async def pause(self, seconds: float | None = None) -> None:
        """Wait so long, or until something has changed that a start of a trial may depend on."""
        try:
            async with asyncio.timeout(seconds):
                await self._stirred.wait()
        except TimeoutError:
            pass
        self._stirred.clear()

    def stir(self) -> None:
        """Something has changed: those that `pause` look again."""
        self._stirred.set()

    def asks_no_more(self, trial: TrialKey) -> None:
        """The last answer of this trial is there: while it is judged, another trial may be asked."""
        self._asked_out.add(trial)
        self.stir()

    def still_asks(self, trial: TrialKey) -> bool:
        """Whether something of a running trial is asked or may still be."""
        return trial not in self._asked_out

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
            self._asked_out.discard(trial)

    def _stop_run(self, outcome: RunState) -> None:
        self._outcome = outcome
        self._run_stopped.set()
        self._stop_running()

    def _stop_running(self) -> None:
        self.stir()
        for trial, task in self._running.items():
            if self.stops(trial):
                task.cancel()


def go_on_after_cancel() -> None:
    """The stop was asked for through Control: the current task still has a result to hand in."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()


class EventBuffer:
    """Events in the order in which they happened. A list and one wake-up for many events cost a third of a queue."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._arrived = asyncio.Event()
        self._closed = False

    def tell(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)
        self._arrived.set()

    def close(self) -> None:
        """Nothing more will come."""
        self._closed = True
        self._arrived.set()

    async def take(self) -> list[Event]:
        """All events that have gathered, at least one; an empty list when there are none and no more will come."""
        if not self._events and not self._closed:
            self._arrived.clear()
            await self._arrived.wait()
        taken, self._events = self._events, []
        return taken


class Pacing:
    """A provider may be asked as many questions at once as the models that are asked of it now have cases at once."""

    def __init__(self, plan: Plan, tools: TrialContext, control: Control, outbox: EventBuffer) -> None:
        self._plan, self._tools, self._control, self._outbox = plan, tools, control, outbox
        self._provider_of = {subject.name: subject.provider for subject in plan.subjects}
        self._models: Sequence[str] = ()
        self._most: dict[str, int] = {}

    def begin(self, models: Sequence[str]) -> None:
        """These models are asked from now on."""
        self._models = models
        self._allow()

    async def follow(self) -> None:
        """Never ends."""
        held = False
        while True:
            if self._control.is_held != held:
                held = not held
                self._outbox.tell(RunPaused() if held else RunResumed())
            self._allow()
            await self._control.wish()

    def _allow(self) -> None:
        wanted: dict[str, int] = {}
        for model in self._models:
            name = self._provider_of[model]
            wanted[name] = wanted.get(name, 0) + self._control.at_once(model, self._plan.options.concurrency)
        for name, most in wanted.items():
            known = self._most.get(name)
            if most != known:
                self._most[name] = most
                limit = self._limit(name, most)
                # One at a time is nothing to tell of, as long as it was never anything else.
                if most > 1 or known is not None:
                    self._outbox.tell(LimitMoved(name, limit, most))

    def _limit(self, name: str, most: int) -> int:
        """The least that one of the providers of that name wants to be asked at once."""
        models = [model for model in self._models if self._provider_of[model] == name]
        asked = {id(provider): provider for provider in (self._tools.providers[model] for model in models)}
        return min((provider.allow(most) for provider in asked.values() if isinstance(provider, Limits)), default=most)
