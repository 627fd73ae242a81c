"""The run queue: runs one request at a time in the background, applies its events to the state, and posts messages."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from time import monotonic

from textual.message import Message

from tui.app.open_suites import OpenSuites
from tui.app.presentation.figures import counted
from tui.app.presentation.model_faults import ModelFault, fault_of
from tui.app.run_messages import ModelsUnresolved, RunEnded, RunMessages, RunQueued, RunRefused
from tui.app.run_requests import RunRequest, WaitReason
from tui.app.session_protocol import Session
from tui.model.errors import AssayError
from tui.model.events import RunFinished
from tui.model.results import TrialKey
from tui.model.run import Plan
from tui.model.run import RunState as Outcome
from tui.model.servers import is_agent_of
from tui.model.state import RunState
from tui.model.subjects import Subject
from tui.model.suite import Suite
from tui.runner.control import Control
from tui.session.consent import Consent
from tui.session.store_writer import ResultsNotStored

LONGEST_QUESTION = 100_000  # characters; the screen takes a second to lay them out, and a person longer to read
_SLICE_SECONDS = 0.01


class Stopwatch:
    """Measure the duration of a run without its pauses. All times are monotonic seconds."""

    def __init__(self) -> None:
        self._started: float | None = None
        self._stopped: float | None = None

    def start(self, now: float) -> None:
        """Start at zero."""
        self._started, self._stopped = now, None

    def stop(self, now: float) -> None:
        """Stop for a pause, or at the end of the run."""
        if self._stopped is None:
            self._stopped = now

    def resume(self, now: float) -> None:
        """Continue after a stop."""
        if self._stopped is not None and self._started is not None:
            self._started += now - self._stopped
        self._stopped = None

    def elapsed(self, now: float) -> float | None:
        """Return the seconds measured so far; None before the start."""
        if self._started is None:
            return None
        return (now if self._stopped is None else self._stopped) - self._started


class RunQueue:
    """Run requests in the order in which they were added.

    `post` gets the messages of `run_messages`; `confirm` asks the user for a consent. Run `work` as one worker for as
    long as the app runs.
    """

    def __init__(
        self,
        session: Session,
        open_suites: OpenSuites,
        post: Callable[[Message], object],
        confirm: Callable[[Consent], Awaitable[bool]],
    ) -> None:
        self._session, self._open_suites, self._post, self._confirm = session, open_suites, post, confirm
        self._queued: deque[RunRequest] = deque()
        self._added, self._idle = asyncio.Event(), asyncio.Event()
        self._control = Control()
        self._plan: Plan | None = None
        self._reruns: set[Path] = set()
        self._is_asking = False  # whether a question for a consent is open
        self.current: RunRequest | None = None
        self._lost = ""
        self.messages = RunMessages(post)
        self._stopwatch = Stopwatch()
        self._stopwatches: dict[Path, Stopwatch] = {}

    @property
    def busy(self) -> bool:
        """Return whether a run is in progress or queued."""
        return self.current is not None or bool(self._queued)

    @property
    def queued(self) -> tuple[RunRequest, ...]:
        """Return the requests that wait for the current run to end."""
        return tuple(self._queued)

    @property
    def running_state(self) -> RunState | None:
        """Return the state of the suite whose trials are running, or None."""
        state = self._open_suites.state(self.current.path) if self.current else None
        return state if state and state.running else None

    def is_rerun(self, path: Path) -> bool:
        """Return whether the last run of a suite added attempts to a saved run."""
        return path in self._reruns

    def elapsed(self, path: Path, now: float) -> float | None:
        """Return the seconds that the last run of a suite took so far, without pauses; None before its first run."""
        stopwatch = self._stopwatches.get(path)
        return stopwatch.elapsed(now) if stopwatch else None

    def is_active(self, path: Path) -> bool:
        """Return whether a run of the suite is in progress or queued."""
        return self._open_suites.state(path).running or any(each.path == path for each in self.queued)

    def wait_reason(self, path: Path, case: str, model: str) -> WaitReason:
        """Return why a trial has not started or has no displayed answer; empty if it has, or was never requested."""
        current, queued = self.current, list(self.queued)
        trial, is_here = self._open_suites.state(path).trial(case, model), current and current.path == path
        if self.is_paused and trial is not None and trial.is_open and not trial.is_answered and is_here:
            return "paused"
        if current is None and queued:
            current = queued.pop(0)
        prepares = current is not None and current.path == path and not self._open_suites.state(path).running
        if current is not None and prepares and self._has(current, path, case, model):
            return "preparing"
        is_begun = is_here and trial is not None and trial.status != "waiting"
        if not is_begun and any(self._has(each, path, case, model) for each in queued):
            return "queued"
        if current is not None and self._starts_local(path, case, model):
            return "starting"
        return "changed" if self._open_suites.state(path).is_outdated(case, model) else ""

    def _starts_local(self, path: Path, case: str, model: str) -> bool:
        """Return whether a running trial waits for the local model, which answers no other trial."""
        state = self._open_suites.state(path)
        trial = state.trial(case, model)
        if trial is None or trial.status != "running" or not _is_local(model):
            return False
        return not any(_is_local(key.model) and state.trials[key].is_answered for key in state.in_progress)

    @staticmethod
    def _has(request: RunRequest, path: Path, case: str, model: str) -> bool:
        return request.path == path and TrialKey(case, model) in request.trials

    def add(self, request: RunRequest) -> None:
        """Queue a request."""
        self._queued.append(request)
        self._added.set()
        self._post(RunQueued(request))

    def cancel(self, trials: tuple[TrialKey, ...]) -> None:
        """Cancel trials of the current run."""
        for trial in trials:
            self._control.cancel(trial)

    def cancel_all(self) -> None:
        """Cancel the current run, and empty the queue."""
        self._queued.clear()
        self._control.cancel_all()

    @property
    def is_paused(self) -> bool:
        """Return whether the current run is paused."""
        return self._plan is not None and self._control.is_paused

    def toggle_pause(self) -> None:
        """Pause or resume the current run; the stopwatch stops meanwhile."""
        if self._plan is None:
            return
        if self._control.is_paused_for("user"):
            self._control.resume()
            self._stopwatch.resume(monotonic())
        else:
            self._control.pause()
            self._stopwatch.stop(monotonic())

    def change_concurrency(self, by: int, model: str = "") -> dict[str, int]:
        """Change the concurrency of a model, or of every model, of the current run by `by`.

        Returns the new concurrency of each changed model; empty if none is running.
        """
        if self._plan is None:
            return {}
        control, initial = self._control, self._plan.options.concurrency
        names = [subject.name for subject in self._plan.subjects if subject.name == model or not model]
        for name in names:
            control.set_concurrency(control.concurrency_of(name, initial) + by, name)
        return {name: control.concurrency_of(name, initial) for name in names}

    async def stop(self, within: float = 5.0, while_stalled: float = 15.0) -> None:
        """Interrupt the current run so that it can be resumed, and wait up to `within` seconds until it is stored.

        While results cannot be stored, wait for `while_stalled` seconds more: a write to a locked history takes ten. A
        run that waits for a consent has not begun: there is nothing to store.
        """
        self._queued.clear()
        self._control.interrupt()
        if await self._is_idle_within(within) or not self._is_stalled:
            return
        if not await self._is_idle_within(while_stalled) and self._is_stalled:
            self._lost = "The run history did not answer in time: the last results may be missing"

    @property
    def _is_stalled(self) -> bool:
        state = self.running_state
        return state is not None and state.stalled is not None

    async def _is_idle_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while self.current is not None and not self._is_asking:
                    self._idle.clear()
                    await self._idle.wait()
        except TimeoutError:
            return False
        return True

    @property
    def lost(self) -> str:
        """A sentence about results that could not be stored before their run was stopped; empty if all were."""
        return self._lost

    async def work(self) -> None:
        """Run queued requests until cancelled."""
        while True:
            while self._queued:
                await self._work_on(self._queued.popleft())
            self._added.clear()
            await self._added.wait()

    async def _work_on(self, request: RunRequest) -> None:
        self.current, self._control = request, Control()
        if request.run and request.mode == "attempts":
            self._reruns.add(request.path)
        else:
            self._reruns.discard(request.path)
        self._stopwatch = self._stopwatches[request.path] = Stopwatch()
        self._stopwatch.start(monotonic())
        outcome: Outcome | None = None
        try:
            outcome = await self._run(request)
        except ResultsNotStored as error:
            self._lost = f"{counted(len(error.results), 'answer')} could not be saved: {error}"
            self._post(RunRefused(self._lost))
        except AssayError as error:
            self._post(RunRefused(str(error)))
        except Exception as error:  # noqa: BLE001 - an unexpected error ends the run, not the app
            self._post(RunRefused(f"Run stopped: {type(error).__name__}: {error}"))
        finally:
            state = self._open_suites.state(request.path)
            if state.running:
                state.take(RunFinished(state.run_id or "", outcome or "interrupted", ""))
            self.current = self._plan = None
            self._stopwatch.stop(monotonic())
            self._idle.set()
            self._post(RunEnded(request.path, outcome))

    async def _run(self, request: RunRequest) -> Outcome | None:
        plan = await self._make_plan(request)
        if plan is None:
            return None
        self._plan = plan
        state, outcome = self._open_suites.state(request.path), None
        state.prepare(plan.suite, {subject.name: subject.definition for subject in plan.subjects})
        yielded = monotonic()
        async with aclosing(self._session.run(plan, self._control)) as events:
            async for event in events:
                now = monotonic()
                state.take(event, now)
                self.messages.post_event(request.path, event)
                if isinstance(event, RunFinished):
                    outcome = event.state
                if now - yielded > _SLICE_SECONDS:  # handle keys while a fast server sends events
                    await asyncio.sleep(0)
                    yielded = monotonic()
        return outcome

    async def _make_plan(self, request: RunRequest) -> Plan | None:
        if request.run:
            plan = await asyncio.to_thread(_plan_in_saved_run, self._session, request)
            return plan if plan.trials and await self._is_allowed(plan.suite, plan.subjects, saved=True) else None
        subjects, errors = await asyncio.to_thread(resolve_models, self._session, request.suite, request.models)
        errors |= _tool_faults(self._session, request, subjects)
        subjects = tuple(subject for subject in subjects if subject.name not in errors)
        if errors:
            self._post(ModelsUnresolved(request.path, errors))
        trials = tuple(trial for trial in request.trials if trial.model not in errors)
        if not trials or not await self._is_allowed(request.suite, subjects):
            return None
        return await asyncio.to_thread(
            lambda: self._session.make_plan(request.suite, subjects, trials=trials, stream=request.streaming)
        )

    async def _is_allowed(self, suite: Suite, subjects: Sequence[Subject], *, saved: bool = False) -> bool:
        """Ask for every missing consent; once more after the last answer, as files may have changed meanwhile."""
        find_missing = partial(self._session.missing_consents, suite, subjects, saved=saved)
        while missing := await asyncio.to_thread(find_missing):
            if self._control.outcome != "finished" or not await self.ask(missing):  # stopped meanwhile, or refused
                return False
        return self._control.outcome == "finished"

    async def ask(self, consents: Sequence[Consent]) -> bool:
        """Ask for consents one after the other, and return whether all were given."""
        for consent in consents:
            if (length := len(consent.what)) > LONGEST_QUESTION:
                what = f"the question for permission has {length:,} characters, too many to be displayed"
                self._post(RunRefused(f"Not run, {what}; put the command into a file: {consent.what}"))
                return False
            self._is_asking = True
            try:
                is_allowed = await self._confirm(consent)
            finally:
                self._is_asking = False
            if not is_allowed:
                self._post(RunRefused(f"Not run, permission denied: {consent.what}."))
                return False
            await asyncio.to_thread(self._session.allow, consent)
        return True


def _plan_in_saved_run(session: Session, request: RunRequest) -> Plan:
    """Return a plan with the models and the options of the saved run, and with its suite or that of the request."""
    if request.mode == "replay":
        return session.history.plan_replay(request.run, request.speed)
    if request.mode == "rejudge":
        return session.history.plan_rejudge(request.run, request.suite)
    return session.history.plan_again(request.run, request.trials, missing=request.mode == "missing")


def _tool_faults(session: Session, request: RunRequest, subjects: Sequence[Subject]) -> dict[str, ModelFault]:
    """Return the fault of each model that cannot run its requested cases because they offer tools."""
    offering = [case for case in request.suite.cases if case.tools]
    faults: dict[str, ModelFault] = {}
    for subject in subjects if offering else ():
        asked = {trial.case for trial in request.trials if trial.model == subject.name}
        if fault := session.tools_fault(subject, [case for case in offering if case.id in asked]):
            faults[subject.name] = fault_of(fault)
    return faults


def _is_local(model: str) -> bool:
    return model.startswith("local/")


def resolve_models(
    session: Session, suite: Suite, models: tuple[str, ...]
) -> tuple[tuple[Subject, ...], dict[str, ModelFault]]:
    """Return the subjects of the models that can be resolved, and the fault of each other model."""
    subjects: list[Subject] = []
    errors: dict[str, ModelFault] = {}
    for model in models:
        try:
            subjects += session.subjects_of(suite) if is_agent_of(suite, model) else session.resolve([model])
        except AssayError as error:
            errors[model] = fault_of(error)
    return tuple(subjects), errors
