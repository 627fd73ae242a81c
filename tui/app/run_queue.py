"""Runs in the background of the app: one at a time, the others queued; what happens is folded, then told."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from time import monotonic

from textual.message import Message
from textual.message_pump import MessagePump

from tui.app.open_suites import OpenSuites
from tui.app.presentation.sentences import Coming
from tui.app.run_messages import RunMessages
from tui.app.run_requests import RunRequest
from tui.app.session_protocol import Session
from tui.app.stopwatch import Stopwatch
from tui.model.errors import AssayError
from tui.model.events import RunFinished
from tui.model.results import TrialKey
from tui.model.run import Plan
from tui.model.run import RunState as Outcome
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.runner.control import Control
from tui.session.consent import Consent

_SLICE_SECONDS = 0.01


class RunQueue:
    """Runs what is asked for, in order. `told` gets the messages below and those of `news`; `ask` asks a person for a
    consent."""

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

    def __init__(
        self, session: Session, open_suites: OpenSuites, told: MessagePump, ask: Callable[[Consent], Awaitable[bool]]
    ) -> None:
        self._desk, self._shelf, self._told, self._ask = session, open_suites, told, ask
        self._waiting: deque[RunRequest] = deque()
        self._asked, self._idle = asyncio.Event(), asyncio.Event()
        self._control = Control()
        self.news = RunMessages(told)
        self.current: RunRequest | None = None
        self._reruns: set[Path] = set()
        self.watch = Stopwatch()
        self._going: Plan | None = None

    @property
    def busy(self) -> bool:
        """Whether something is running or waits to be run."""
        return self.current is not None or bool(self._waiting)

    def is_rerun(self, path: Path) -> bool:
        """Return whether the last run of a suite asked some trials of a kept run again."""
        return path in self._reruns

    @property
    def waiting(self) -> tuple[RunRequest, ...]:
        """What is queued."""
        return tuple(self._waiting)

    def coming(self, path: Path, case: str, model: str) -> Coming:
        """What a trial that was asked for waits for: a run before its own, or that its own begins to ask."""
        current, waiting = self.current, list(self._waiting)
        trial = self._shelf.state(path).trial(case, model) if self.is_paused else None
        if trial is not None and trial.is_open and not trial.is_answered and current and current.path == path:
            return "paused"
        if current is None and waiting:
            current = waiting.pop(0)
        prepares = current is not None and current.path == path and not self._shelf.state(path).running
        if current is not None and prepares and self._has(current, path, case, model):
            return "preparing"
        return "queued" if any(self._has(each, path, case, model) for each in waiting) else ""

    @staticmethod
    def _has(request: RunRequest, path: Path, case: str, model: str) -> bool:
        return request.path == path and TrialKey(case, model) in request.trials

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

    @property
    def is_paused(self) -> bool:
        """Whether the current run asks nothing new for now."""
        return self._going is not None and self._control.is_held

    def turn_pause(self) -> None:
        """Pause the current run, or let it go on; its time stands still meanwhile."""
        if self._going is None:
            return
        if self._control.is_held:
            self._control.go_on()
            self.watch.go_on(monotonic())
        else:
            self._control.hold()
            self.watch.stop(monotonic())

    def ask_more(self, by: int, model: str = "") -> dict[str, int]:
        """So many more cases of a model at once in the current run, or of each model; how many it is now. Empty where
        nothing of it runs."""
        if self._going is None:
            return {}
        control, begun_with = self._control, self._going.options.concurrency
        names = [subject.name for subject in self._going.subjects if subject.name == model or not model]
        for name in names:
            control.ask_at_once(control.at_once(name, begun_with) + by, name)
        return {name: control.at_once(name, begun_with) for name in names}

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

    async def work(self) -> None:
        """Run what is asked for. Never ends; made to be run as a worker."""
        while True:
            while self._waiting:
                await self._work_on(self._waiting.popleft())
            self._asked.clear()
            await self._asked.wait()

    async def _work_on(self, request: RunRequest) -> None:
        self.current, self._control = request, Control()
        if request.run and request.again == "attempts":
            self._reruns.add(request.path)
        else:
            self._reruns.discard(request.path)
        self.watch.begin(monotonic())
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
            self.current = self._going = None
            self.watch.stop(monotonic())
            self._idle.set()
            self._told.post_message(self.RunEnded(request.path, outcome))

    async def _run(self, request: RunRequest) -> Outcome | None:
        plan = await self._plan(request)
        if plan is None:
            return None
        self._going = plan
        state, outcome = self._shelf.state(request.path), None
        rested = monotonic()
        async with aclosing(self._desk.run(plan, self._control)) as events:
            async for event in events:
                now = monotonic()
                state.take(event, now)
                self.news.tell(request.path, event)
                if isinstance(event, RunFinished):
                    outcome = event.state
                if now - rested > _SLICE_SECONDS:  # a fast server must not keep the keys waiting
                    await asyncio.sleep(0)
                    rested = monotonic()
        if request.run and request.again != "replay":
            await asyncio.to_thread(self._desk.history.settle, request.run)
        return outcome

    async def _plan(self, request: RunRequest) -> Plan | None:
        if request.run:
            return await self._plan_again(request)
        subjects, faults = await asyncio.to_thread(resolve_each, self._desk, request.suite, request.models)
        if faults:
            self._told.post_message(self.ModelsMissed(request.path, faults))
        trials = tuple(trial for trial in request.trials if trial.model not in faults)
        if not trials:
            return None
        if not await self._may_run(request.suite):
            return None
        return await asyncio.to_thread(self._make_plan, request, subjects, trials)

    async def _plan_again(self, request: RunRequest) -> Plan | None:
        """In a kept run: its own suite, models and options."""
        plan = await asyncio.to_thread(_plan_again, self._desk, request)
        return plan if plan.trials and await self._may_run(plan.suite) else None

    async def _may_run(self, suite: Suite) -> bool:
        for consent in await asyncio.to_thread(self._desk.missing_consents, suite):
            if not await self._ask(consent):
                self._told.post_message(self.RunRefused(f"Not run, because it was not allowed: {consent.what}."))
                return False
            await asyncio.to_thread(self._desk.allow, consent)
        return self._control.outcome == "finished"

    def _make_plan(self, request: RunRequest, subjects: tuple[Subject, ...], trials: tuple[TrialKey, ...]) -> Plan:
        return self._desk.make_plan(request.suite, subjects, trials=trials, stream=request.stream)


def _plan_again(session: Session, request: RunRequest) -> Plan:
    if request.again == "replay":
        return session.history.plan_replay(request.run, request.speed)
    return session.history.plan_again(request.run, request.trials, missing=request.again == "missing")


def resolve_each(session: Session, suite: Suite, models: tuple[str, ...]) -> tuple[tuple[Subject, ...], dict[str, str]]:
    """The models that lead somewhere, and for each other a sentence why not."""
    subjects: list[Subject] = []
    faults: dict[str, str] = {}
    for model in models:
        try:
            subjects += session.subjects_of(suite) if model == suite.agent else session.resolve([model])
        except AssayError as error:
            faults[model] = str(error)
    return tuple(subjects), faults
