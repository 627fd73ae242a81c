"""Runs in the background of the app: one at a time, the others queued; what happens is folded, then told."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from textual.message import Message
from textual.message_pump import MessagePump

from tui.app.desk import Desk
from tui.app.flushing import PaneBuffers
from tui.app.shelf import Shelf
from tui.model.errors import AssayError
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    Event,
    ReasoningArrived,
    RepositoryCloned,
    RepositoryCloning,
    RunFinished,
    RunStarted,
    StepFinished,
    StoreRecovered,
    StoreStalled,
    TextArrived,
    TrialFinished,
)
from tui.model.plan import Plan
from tui.model.runs import RunState as Outcome
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.model.trials import TrialKey
from tui.runner.control import Control
from tui.session.consent import Consent

_QUIET = (CheckMoved, StepFinished)
_SLICE_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run. `stream` None means: as the suite says."""

    path: Path
    suite: Suite
    trials: tuple[TrialKey, ...]
    stream: bool | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are asked, in order."""
        return tuple(dict.fromkeys(trial.model for trial in self.trials))


class RunQueue:
    """Runs what is asked for, in order. `told` gets the messages below; `ask` asks a person for a consent.

    Text is not told but put into `text` and `thoughts`, moving checks mark their trial in
    `take_moved`: a timer reads all three.
    """

    class RunBegan(Message):
        """A run of the suite at `path` has started."""

        def __init__(self, path: Path) -> None:
            super().__init__()
            self.path = path

    class TrialMoved(Message):
        """A trial has another state."""

        def __init__(self, path: Path, trial: TrialKey) -> None:
            super().__init__()
            self.path, self.trial = path, trial

    class StoreTroubled(Message):
        """Results cannot be kept; `reason` is empty when they can be again."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    class ModelsMissed(Message):
        """Models that cannot be asked, each with a sentence why."""

        def __init__(self, path: Path, faults: dict[str, str]) -> None:
            super().__init__()
            self.path, self.faults = path, faults

    class RunRefused(Message):
        """A run did not start, or could not go on; `why` is a sentence."""

        def __init__(self, why: str) -> None:
            super().__init__()
            self.why = why

    class RunEnded(Message):
        """Nothing more comes of this run. `outcome` None where it never started."""

        def __init__(self, path: Path, outcome: Outcome | None) -> None:
            super().__init__()
            self.path, self.outcome = path, outcome

    def __init__(self, desk: Desk, shelf: Shelf, told: MessagePump, ask: Callable[[Consent], Awaitable[bool]]) -> None:
        self._desk, self._shelf, self._told, self._ask = desk, shelf, told, ask
        self._waiting: deque[RunRequest] = deque()
        self._asked, self._idle = asyncio.Event(), asyncio.Event()
        self._moved: set[TrialKey] = set()
        self._control = Control()
        self.text: PaneBuffers[TrialKey] = PaneBuffers()
        self.thoughts: PaneBuffers[TrialKey] = PaneBuffers()
        self.current: RunRequest | None = None
        self.began_at: float | None = None
        self.ended_at: float | None = None

    @property
    def busy(self) -> bool:
        """Whether something is running or waits to be run."""
        return self.current is not None or bool(self._waiting)

    @property
    def waiting(self) -> tuple[RunRequest, ...]:
        """What is queued."""
        return tuple(self._waiting)

    def is_queued(self, path: Path, case: str, model: str) -> bool:
        """Whether a trial waits for a run before its own."""
        key = TrialKey(case, model)
        return any(request.path == path and key in request.trials for request in self._waiting)

    def add(self, request: RunRequest) -> None:
        """Run this when everything before it is over."""
        self._waiting.append(request)
        self._asked.set()

    def cancel(self, trials: tuple[TrialKey, ...]) -> None:
        """Stop these trials of the current run."""
        for trial in trials:
            self._control.cancel(trial)

    def cancel_all(self) -> None:
        """Stop the current run, and forget what is queued."""
        self._waiting.clear()
        self._control.cancel_all()

    async def stop(self, within: float = 5.0) -> None:
        """Interrupt the current run, so that it can be resumed, and wait until that is kept. Seconds."""
        self._waiting.clear()
        self._control.interrupt()
        try:
            async with asyncio.timeout(within):
                while self.current is not None:
                    self._idle.clear()
                    await self._idle.wait()
        except TimeoutError:
            pass

    def drop_text(self, trial: TrialKey) -> None:
        """Forget what waits to be shown of a trial: it is shown anew, or is over."""
        self.text.drop(trial)
        self.thoughts.drop(trial)

    def take_moved(self) -> set[TrialKey]:
        """Trials that have moved since this was asked last, other than by more text."""
        moved, self._moved = self._moved, set()
        return moved

    async def work(self) -> None:
        """Run what is asked for. Never ends; made to be run as a worker."""
        while True:
            while self._waiting:
                await self._work_on(self._waiting.popleft())
            self._asked.clear()
            await self._asked.wait()

    async def _work_on(self, request: RunRequest) -> None:
        self.current, self._control = request, Control()
        self.began_at, self.ended_at = monotonic(), None
        outcome: Outcome | None = None
        try:
            outcome = await self._run(request)
        except AssayError as error:
            self._told.post_message(self.RunRefused(str(error)))
        except Exception as error:  # noqa: BLE001 - the one place around the app's worker: the app outlives it
            self._told.post_message(self.RunRefused(f"The run stopped: {type(error).__name__}: {error}"))
        finally:
            state = self._shelf.state(request.path)
            if state.running:
                state.take(RunFinished(state.run_id or "", outcome or "interrupted", ""))
            self.current, self.ended_at = None, monotonic()
            self._idle.set()
            self._told.post_message(self.RunEnded(request.path, outcome))

    async def _run(self, request: RunRequest) -> Outcome | None:
        plan = await self._plan(request)
        if plan is None:
            return None
        state, outcome = self._shelf.state(request.path), None
        rested = monotonic()
        async with aclosing(self._desk.run(plan, self._control)) as events:
            async for event in events:
                now = monotonic()
                state.take(event, now)
                self._tell(request.path, event)
                if isinstance(event, RunFinished):
                    outcome = event.state
                if now - rested > _SLICE_SECONDS:  # a fast server must not keep the keys waiting
                    await asyncio.sleep(0)
                    rested = monotonic()
        return outcome

    async def _plan(self, request: RunRequest) -> Plan | None:
        subjects, faults = await asyncio.to_thread(resolve_each, self._desk, request.suite, request.models)
        if faults:
            self._told.post_message(self.ModelsMissed(request.path, faults))
        trials = tuple(trial for trial in request.trials if trial.model not in faults)
        if not trials:
            return None
        for consent in await asyncio.to_thread(self._desk.missing_consents, request.suite):
            if not await self._ask(consent):
                self._told.post_message(self.RunRefused(f"Not run, because it was not allowed: {consent.what}."))
                return None
            await asyncio.to_thread(self._desk.allow, consent)
        if self._control.outcome != "finished":
            return None
        return await asyncio.to_thread(self._make_plan, request, subjects, trials)

    def _make_plan(self, request: RunRequest, subjects: tuple[Subject, ...], trials: tuple[TrialKey, ...]) -> Plan:
        return self._desk.make_plan(request.suite, subjects, trials=trials, stream=request.stream)

    def _tell(self, path: Path, event: Event) -> None:
        match event:
            case RunStarted():
                self._told.post_message(self.RunBegan(path))
            case RunFinished() | RepositoryCloning() | RepositoryCloned():
                pass  # the state has it
            case StoreStalled(reason):
                self._told.post_message(self.StoreTroubled(reason))
            case StoreRecovered():
                self._told.post_message(self.StoreTroubled(""))
            case _:
                if isinstance(event, TextArrived):
                    self.text.put(event.trial, event.text)
                    return
                if isinstance(event, ReasoningArrived):
                    self.thoughts.put(event.trial, event.text)
                    return
                if isinstance(event, AttemptStarted | TrialFinished):
                    self.drop_text(event.trial)
                self._moved.add(event.trial)
                if not isinstance(event, _QUIET):
                    self._told.post_message(self.TrialMoved(path, event.trial))


def resolve_each(desk: Desk, suite: Suite, models: tuple[str, ...]) -> tuple[tuple[Subject, ...], dict[str, str]]:
    """The models that lead somewhere, and for each other a sentence why not."""
    subjects: list[Subject] = []
    faults: dict[str, str] = {}
    for model in models:
        try:
            subjects += desk.subjects_of(suite) if model == suite.agent else desk.resolve([model])
        except AssayError as error:
            faults[model] = str(error)
    return tuple(subjects), faults
