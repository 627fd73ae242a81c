"""A Plan becomes a stream of events: lanes of trials, one for each model."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from tui.model.events import Event, RunFinished, RunStarted, TrialDelayed, TrialFinished
from tui.model.plan import Plan
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.model.trials import TrialKey
from tui.runner.control import Control
from tui.runner.outbox import Outbox
from tui.runner.tools import Tools
from tui.runner.trial import TrialOrder, run_trial


async def run_plan(plan: Plan, tools: Tools, control: Control) -> AsyncGenerator[list[Event], None]:
    """Run everything that is planned, and yield what has happened since the last time: events in their order, the
    first RunStarted, the last RunFinished. Closing the generator stops the work at once and leaves nothing running."""
    outbox = Outbox()
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


async def _run_lanes(plan: Plan, tools: Tools, control: Control, outbox: Outbox) -> None:
    cases = {case.id: case for case in plan.suite.cases}
    lanes = [_Lane(plan, subject, cases, tools, control, outbox) for subject in plan.subjects]
    if plan.options.parallel_models:
        async with asyncio.TaskGroup() as group:
            for lane in lanes:
                group.create_task(lane.run())
    else:
        for lane in lanes:
            await lane.run()


class _Lane:
    """The trials of one model, in order, so many at once, so far apart."""

    def __init__(
        self,
        plan: Plan,
        subject: Subject,
        cases: dict[str, Case],
        tools: Tools,
        control: Control,
        outbox: Outbox,
    ) -> None:
        self._plan, self._subject, self._cases = plan, subject, cases
        self._tools, self._control, self._outbox = tools, control, outbox
        self._waiting = deque(trial for trial in plan.trials if trial.model == subject.name)
        self._next_start = 0.0
        self._locked_out = False

    async def run(self) -> None:
        """Run the lane to its end."""
        workers = min(self._plan.options.concurrency, len(self._waiting))
        if workers <= 1:
            await self._work()
            return
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._work())

    async def _work(self) -> None:
        while self._waiting:
            key = self._waiting.popleft()
            await self._keep_distance(key)
            if self._control.stops(key):
                continue
            await self._run_one(key)

    async def _keep_distance(self, key: TrialKey) -> None:
        """Wait for the pause between two starts; each waiter books its own place in the row."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        start = max(now, self._next_start)
        self._next_start = start + self._plan.options.delay_ms / 1000
        if start > now and not self._locked_out:
            self._outbox.tell(TrialDelayed(key, round((start - now) * 1000)))
        while loop.time() < start and not self._locked_out and not self._control.stops(key):
            await self._control.pause(start - loop.time())

    async def _run_one(self, key: TrialKey) -> None:
        options = self._plan.options
        order = TrialOrder(
            key,
            self._cases[key.case],
            self._subject,
            options.timeout_ms,
            options.attempts,
            options.stream,
            self._plan.earlier.get(key),
        )
        with self._control.running(key):
            result = await run_trial(order, self._tools, self._control, self._outbox)
        if self._control.outcome == "interrupted" and result.verdict == "cancelled":
            return
        # A refused key refuses every further case as well: no use in spacing those out.
        self._locked_out = self._locked_out or result.attempts[-1].fault == "unauthorized"
        self._outbox.tell(TrialFinished(result))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
