"""Running a plan with one worker per model, as a stream of events."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from datetime import UTC, datetime

from tui.model.events import Event, RunFinished, RunStarted, TrialDelayed, TrialFinished
from tui.model.results import TrialKey
from tui.model.run import Plan
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.runner.control import Control, EventBuffer, Pacing
from tui.runner.trial import TrialOrder, run_trial
from tui.runner.trial_context import TrialContext


class ModelWorker:
    """Runs the trials of one model, as many at once as its current concurrency.

    A trial whose last answer is being judged does not count against it.
    """

    def __init__(
        self,
        plan: Plan,
        subject: Subject,
        cases: Mapping[str, Case],
        context: TrialContext,
        control: Control,
        events: EventBuffer,
    ) -> None:
        self._plan, self._subject, self._cases = plan, subject, cases
        self._context, self._control, self._events = context, control, events
        self._waiting = deque(trial for trial in plan.trials if trial.model == subject.name)
        self._delayed: TrialKey | None = None
        self._next_start = 0.0
        self._in_progress: set[TrialKey] = set()
        self._is_unauthorized = False

    @property
    def model(self) -> str:
        """The model's name in the plan."""
        return self._subject.name

    async def run(self) -> None:
        """Run all trials of the model."""
        loop, control = asyncio.get_running_loop(), self._control
        async with asyncio.TaskGroup() as group:
            while self._waiting:
                key = self._waiting[0]
                if control.should_stop(key):
                    self._waiting.popleft()
                elif control.is_paused or not self._has_room():
                    await control.wait_for_change()
                elif (left := self._next_start - loop.time()) > 0 and not self._is_unauthorized:
                    self._report_delay(key, left)
                    await control.wait_for_change(left)
                else:
                    self._waiting.popleft()
                    self._next_start = loop.time() + self._plan.options.delay_ms / 1000
                    self._in_progress.add(key)
                    group.create_task(self._run_one(key))

    def _has_room(self) -> bool:
        most = self._control.concurrency_of(self.model, self._plan.options.concurrency)
        if len(self._in_progress) < most:
            return True
        # With a slow pattern answers arrive faster than they are judged: as many again may wait for that.
        return len(self._in_progress) < 2 * most and sum(map(self._control.is_unanswered, self._in_progress)) < most

    def _report_delay(self, key: TrialKey, seconds: float) -> None:
        if self._delayed != key:
            self._delayed = key
            self._events.add(TrialDelayed(key, round(seconds * 1000)))

    async def _run_one(self, key: TrialKey) -> None:
        options = self._plan.options
        order = TrialOrder(
            key,
            self._cases[key.case],
            self._subject,
            options.timeout_ms,
            options.attempts,
            options.stream,
            self._plan.options.accept_truncated,
            self._plan.earlier.get(key),
        )
        try:
            with self._control.running(key):
                result = await run_trial(order, self._context, self._control, self._events)
        finally:
            self._in_progress.discard(key)
            self._control.notify_change()
        if self._control.outcome == "interrupted" and result.verdict == "cancelled":
            return
        # An invalid key fails every further case as well, so there is no delay between those.
        self._is_unauthorized = self._is_unauthorized or result.attempts[-1].fault == "unauthorized"
        self._events.add(TrialFinished(result))


async def run_plan(plan: Plan, context: TrialContext, control: Control) -> AsyncGenerator[list[Event], None]:
    """Run all trials of the plan, and yield events in batches, in their order.

    The first event is RunStarted, the last RunFinished. Closing the generator cancels the run at once.
    """
    events = EventBuffer()
    events.add(RunStarted(plan.run_id, plan.trials, _now(), plan.continues))
    work = asyncio.create_task(_run_workers(plan, context, control, events))
    work.add_done_callback(lambda _: events.close())
    try:
        while happened := await events.take():
            yield happened
        work.result()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    yield [RunFinished(plan.run_id, control.outcome, _now())]


async def _run_workers(plan: Plan, context: TrialContext, control: Control, events: EventBuffer) -> None:
    cases = {case.id: case for case in plan.suite.cases}
    workers = [ModelWorker(plan, subject, cases, context, control, events) for subject in plan.subjects]
    pacing = Pacing(plan, context, control, events)
    pacing_task = asyncio.create_task(pacing.run())
    try:
        if plan.options.parallel_models:
            pacing.begin([model_worker.model for model_worker in workers])
            async with asyncio.TaskGroup() as group:
                for model_worker in workers:
                    group.create_task(model_worker.run())
        else:
            for model_worker in workers:
                pacing.begin([model_worker.model])
                await model_worker.run()
    finally:
        pacing_task.cancel()
        await asyncio.gather(pacing_task, return_exceptions=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
