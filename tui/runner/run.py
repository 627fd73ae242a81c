"""A Plan becomes a stream of events: lanes of trials, one for each model."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from tui.model.events import Event, RunFinished, RunStarted
from tui.model.run import Plan
from tui.runner.control import Control
from tui.runner.lane import Lane
from tui.runner.outbox import Outbox
from tui.runner.pacing import Pacing
from tui.runner.trial_context import Tools


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
    lanes = [Lane(plan, subject, cases, tools, control, outbox) for subject in plan.subjects]
    pacing = Pacing(plan, tools, control, outbox)
    following = asyncio.create_task(pacing.follow())
    try:
        if plan.options.parallel_models:
            pacing.begin([lane.model for lane in lanes])
            async with asyncio.TaskGroup() as group:
                for lane in lanes:
                    group.create_task(lane.run())
        else:
            for lane in lanes:
                pacing.begin([lane.model])
                await lane.run()
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
