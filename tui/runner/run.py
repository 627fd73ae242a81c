"""A Plan becomes a stream of events: lanes of trials, one for each model."""

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
    """Starts trials while there is room for one more. How many go at once may change meanwhile; one of which the last
    answer is there, and is being judged, is in nobody's way."""

    def __init__(
        self,
        plan: Plan,
        subject: Subject,
        cases: Mapping[str, Case],
        tools: TrialContext,
        control: Control,
        outbox: EventBuffer,
    ) -> None:
        self._plan, self._subject, self._cases = plan, subject, cases
        self._tools, self._control, self._outbox = tools, control, outbox
        self._waiting = deque(trial for trial in plan.trials if trial.model == subject.name)
        self._delayed: TrialKey | None = None
        self._next_start = 0.0
        self._going: set[TrialKey] = set()
        self._locked_out = False

    @property
    def model(self) -> str:
        """The model's name in the plan."""
        return self._subject.name

    async def run(self) -> None:
        """Run the lane to its end."""
        loop, control = asyncio.get_running_loop(), self._control
        async with asyncio.TaskGroup() as group:
            while self._waiting:
                key = self._waiting[0]
                if control.stops(key):
                    self._waiting.popleft()
                elif control.is_held or not self._has_room():
                    await control.pause()
                elif (left := self._next_start - loop.time()) > 0 and not self._locked_out:
                    self._tell_delay(key, left)
                    await control.pause(left)
                else:
                    self._waiting.popleft()
                    self._next_start = loop.time() + self._plan.options.delay_ms / 1000
                    self._going.add(key)
                    group.create_task(self._run_one(key))

    def _has_room(self) -> bool:
        most = self._control.at_once(self.model, self._plan.options.concurrency)
        if len(self._going) < most:
            return True
        # Where a pattern is slow, answers come faster than they are judged: as many again may wait for that.
        return len(self._going) < 2 * most and sum(map(self._control.still_asks, self._going)) < most

    def _tell_delay(self, key: TrialKey, seconds: float) -> None:
        if self._delayed != key:
            self._delayed = key
            self._outbox.tell(TrialDelayed(key, round(seconds * 1000)))

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
                result = await run_trial(order, self._tools, self._control, self._outbox)
        finally:
            self._going.discard(key)
            self._control.stir()
        if self._control.outcome == "interrupted" and result.verdict == "cancelled":
            return
        # A refused key refuses every further case as well: no use in spacing those out.
        self._locked_out = self._locked_out or result.attempts[-1].fault == "unauthorized"
        self._outbox.tell(TrialFinished(result))


async def run_plan(plan: Plan, tools: TrialContext, control: Control) -> AsyncGenerator[list[Event], None]:
    """Run everything that is planned, and yield what has happened since the last time: events in their order, the
    first RunStarted, the last RunFinished. Closing the generator stops the work at once and leaves nothing running."""
    outbox = EventBuffer()
    outbox.tell(RunStarted(plan.run_id, plan.trials, _now()))
    work = asyncio.create_task(_run_lanes(plan, tools, control, outbox))
    work.add_done_callback(lambda _: outbox.close())
    try:
        while happened := await outbox.take():
            yield happened
        work.result()
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    yield [RunFinished(plan.run_id, control.outcome, _now())]


async def _run_lanes(plan: Plan, tools: TrialContext, control: Control, outbox: EventBuffer) -> None:
    cases = {case.id: case for case in plan.suite.cases}
    lanes = [ModelWorker(plan, subject, cases, tools, control, outbox) for subject in plan.subjects]
    pacing = Pacing(plan, tools, control, outbox)
    following = asyncio.create_task(pacing.follow())
    try:
        if plan.options.parallel_models:
            pacing.begin([model_worker.model for model_worker in lanes])
            async with asyncio.TaskGroup() as group:
                for model_worker in lanes:
                    group.create_task(model_worker.run())
        else:
            for model_worker in lanes:
                pacing.begin([model_worker.model])
                await model_worker.run()
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
