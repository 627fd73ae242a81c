"""A run that is paused, and one that a person lets ask more or less at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tests.support.brief_checks import set_brief_limits
from tests.support.clocks import LoopClock
from tests.support.plans import FixedContext, case_of, plan_of, suite_of
from tests.support.scripted_provider import Script, ScriptedProvider, says
from tui.checks.checker import Checker
from tui.model.events import (
    Event,
    LimitMoved,
    RunFinished,
    RunPaused,
    RunResumed,
    StepStarted,
    TrialFinished,
    TrialStarted,
)
from tui.model.provider_messages import Chunk, End, Limited, NoteChunk, Request, Sent, Text, Waiting
from tui.model.results import TrialKey
from tui.model.run import Plan, RunOptions
from tui.model.secrets import Secrets
from tui.model.state import RunState
from tui.runner.control import Control
from tui.runner.run import run_plan
from tui.runner.trial_context import TrialContext

QUICK = RunOptions(delay_ms=0)


@dataclass
class Going:
    """A run in the background: what has happened so far."""

    control: Control
    events: list[Event] = field(default_factory=list)
    state: RunState = field(default_factory=RunState)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(condition)

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    async def ended(self) -> None:
        await self.until(lambda: self.of(RunFinished))


@asynccontextmanager
async def going(plan: Plan, provider: ScriptedProvider, control: Control | None = None) -> AsyncIterator[Going]:
    run = Going(control or Control())
    checker = Checker()
    context = TrialContext({subject.name: provider for subject in plan.subjects}, checker, FixedContext(), Secrets())

    async def follow() -> None:
        async for batch in run_plan(plan, context, run.control):
            for event in batch:
                run.state.take(event)
            async with run.changed:
                run.events += batch
                run.changed.notify_all()

    following = asyncio.create_task(follow())
    try:
        yield run
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        await checker.close()


def cases(count: int, *inputs: str) -> Plan:
    return plan_of(suite_of(*(case_of(f"c{number}", *inputs) for number in range(count))), QUICK)


def gated(gate: asyncio.Event) -> ScriptedProvider:
    return ScriptedProvider(lambda _: (Sent(), Text("half"), gate, Text(" done"), End()))


async def settled() -> None:
    """Let everybody do what they can do now."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_while_it_is_paused_nothing_new_is_asked_and_what_is_out_is_answered() -> None:
    gate = asyncio.Event()
    provider = gated(gate)
    async with going(cases(4), provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.pause()
        await run.until(lambda: run.of(RunPaused))
        assert (run.state.paused, run.state.answering) == (True, 1)
        gate.set()
        await run.until(lambda: run.of(TrialFinished))
        await settled()
        assert (run.state.paused, run.state.answering) == (True, 0)
        assert len(provider.requests) == len(run.of(TrialStarted)) == 1
        assert run.state.counts.passed == 1
        run.control.resume()
        await run.ended()
    assert len(run.of(RunResumed)) == 1
    assert run.state.counts.passed == 4
    assert not run.state.paused


async def passed(seconds: float) -> None:
    """So much time is over."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()


async def test_the_next_step_waits_as_well_and_that_is_no_part_of_how_long_it_took() -> None:
    gate = asyncio.Event()
    provider = gated(gate)
    began = asyncio.get_running_loop().time()
    async with going(cases(1, "one", "two"), provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.pause()
        gate.set()
        await run.until(lambda: len(run.of(StepStarted)) == 2)
        await passed(0.2)
        assert len(provider.requests) == 1
        run.control.resume()
        await run.ended()
        whole_s = asyncio.get_running_loop().time() - began
    result = run.state.trials[TrialKey("c0", "a")].result
    assert result is not None
    assert result.verdict == "passed"
    assert result.attempts[0].duration_ms / 1000 <= whole_s - 0.2


async def test_the_next_attempt_waits_as_well() -> None:
    gate = asyncio.Event()
    provider = gated(gate)
    plan = plan_of(suite_of(case_of("c0", expected=["never"])), RunOptions(delay_ms=0, attempts=2))
    async with going(plan, provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.pause()
        gate.set()
        await run.until(lambda: len(run.of(StepStarted)) == 2)
        await settled()
        assert len(provider.requests) == 1
        run.control.resume()
        await run.ended()
    assert len(provider.requests) == 2


@pytest.mark.parametrize("before", [(), (NoteChunk("a note"), Sent(), Waiting("429", 1000))], ids=["first", "retry"])
async def test_a_question_that_is_not_out_is_taken_back_and_asked_anew(before: tuple[Chunk, ...]) -> None:
    never = asyncio.Event()
    asked_again = (NoteChunk("a note"), *says("whole"))
    scripts: list[Script] = [(*before, never), asked_again]
    provider = ScriptedProvider(lambda _: scripts.pop(0))
    async with going(cases(1), provider) as run:
        await run.until(lambda: provider.going == 1)
        await settled()
        run.control.pause()
        await run.until(lambda: provider.going == 0 and run.of(RunPaused))
        await settled()
        assert len(provider.requests) == 1
        run.control.resume()
        await run.ended()
    result = run.state.trials[TrialKey("c0", "a")].result
    assert result is not None
    assert (result.verdict, result.attempts[0].steps[0].notes) == ("passed", ("a note",))


async def test_a_retry_that_begins_to_wait_in_a_pause_is_not_asked_either() -> None:
    refused = asyncio.Event()
    scripts: list[Script] = [(Sent(), refused, Waiting("429", 0), Sent(), Text("too early"), End()), says("whole")]
    provider = ScriptedProvider(lambda _: scripts.pop(0))
    async with going(cases(1), provider) as run:
        await run.until(lambda: run.state.answering == 1)
        run.control.pause()
        refused.set()
        await run.until(lambda: provider.going == 0)
        await settled()
        assert run.state.answering == 0
        run.control.resume()
        await run.ended()
    result = run.state.trials[TrialKey("c0", "a")].result
    assert result is not None
    assert result.attempts[0].steps[0].response == "whole"


async def test_no_deadline_runs_for_what_waits_for_the_end_of_a_pause() -> None:
    plan = plan_of(suite_of(case_of("c0", "one", "two")), RunOptions(delay_ms=0, timeout_ms=100))
    provider = ScriptedProvider(lambda _: says("ok"))
    control, clock = Control(), LoopClock()
    control.pause()
    async with going(plan, provider, control) as run:
        await run.until(lambda: run.of(RunPaused))
        clock.advance(0.25)
        await settled()
        assert provider.requests == []
        control.resume()
        await run.ended()
    assert run.state.counts.passed == 1


@pytest.mark.parametrize(("stop", "outcome"), [("interrupt", "interrupted"), ("cancel_all", "cancelled")])
async def test_a_paused_run_can_be_stopped(stop: str, outcome: str) -> None:
    gate = asyncio.Event()
    provider = gated(gate)
    async with going(cases(3, "one", "two"), provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.pause()
        gate.set()
        await run.until(lambda: len(run.of(StepStarted)) == 2)
        getattr(run.control, stop)()
        await run.ended()
    assert run.state.ended == outcome
    assert len(provider.requests) == 1
    assert len(run.of(TrialFinished)) == (1 if stop == "cancel_all" else 0)
    assert not run.state.paused


async def test_one_trial_can_be_cancelled_in_a_pause() -> None:
    gate = asyncio.Event()
    provider = gated(gate)
    async with going(cases(2), provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.pause()
        run.control.cancel(TrialKey("c0", "a"))
        await run.until(lambda: run.of(TrialFinished))
        gate.set()
        run.control.resume()
        await run.ended()
    assert run.state.trials[TrialKey("c0", "a")].status == "cancelled"
    assert run.state.trials[TrialKey("c1", "a")].status == "passed"


async def test_more_and_fewer_cases_at_once_while_it_runs() -> None:
    gates = {f"c{number}": asyncio.Event() for number in range(12)}

    def script(request: Request) -> Script:
        return (Sent(), gates[request.trial.case], Text("done"), End())

    provider = ScriptedProvider(script)
    async with going(cases(12), provider) as run:
        await run.until(lambda: provider.going == 1)
        run.control.set_concurrency(4, "a")
        await run.until(lambda: provider.going == 4)
        run.control.set_concurrency(2, "a")
        for number in range(3):
            gates[f"c{number}"].set()
        await run.until(lambda: len(run.of(TrialFinished)) == 3)
        await settled()
        assert provider.going == 2
        assert [request.trial.case for request in provider.requests] == ["c0", "c1", "c2", "c3", "c4"]
        for gate in gates.values():
            gate.set()
        await run.ended()
    assert provider.most_at_once == 4
    assert run.of(LimitMoved) == [LimitMoved("a", 4, 4), LimitMoved("a", 2, 2)]
    assert [event.trial.case for event in run.events if isinstance(event, TrialStarted)] == list(gates)


async def test_a_limit_above_one_is_reported() -> None:
    plan = plan_of(suite_of(case_of("c0")), RunOptions(delay_ms=0, concurrency=3, parallel_models=True), ("a", "b"))
    provider = ScriptedProvider(lambda _: (Sent(), Text("ok"), Limited(2, 3, "429"), End()))
    async with going(plan, provider) as run:
        await run.ended()
    assert run.of(LimitMoved) == [
        LimitMoved("a", 3, 3), LimitMoved("b", 3, 3), LimitMoved("a", 2, 3, "429"), LimitMoved("b", 2, 3, "429"),
    ]  # fmt: skip


async def test_a_worker_starts_a_trial_as_soon_as_there_is_room() -> None:
    """No case waits for others than the one whose place it takes."""
    slow = asyncio.Event()

    def script(request: Request) -> Script:
        return (Sent(), slow, Text("late"), End()) if request.trial.case == "c0" else says("quick")

    plan = plan_of(suite_of(*(case_of(f"c{number}") for number in range(8))), RunOptions(delay_ms=0, concurrency=2))
    async with going(plan, ScriptedProvider(script)) as run:
        await run.until(lambda: len(run.of(TrialFinished)) == 7)
        slow.set()
        await run.ended()


SLOW = r"^(a|aa)+$"


def slow_to_judge(count: int, attempts: int = 1) -> tuple[Plan, ScriptedProvider]:
    """Every answer takes its pattern until it is given up."""
    plan = plan_of(
        suite_of(*(case_of(f"c{number}", expected=[SLOW]) for number in range(count))),
        RunOptions(delay_ms=0, attempts=attempts),
    )
    return plan, ScriptedProvider(lambda _: says("a" * 60 + "!"))


def story(run: Going) -> list[str]:
    """Who began, and who was over, in their order."""
    trial_events = [event for event in run.events if isinstance(event, TrialStarted | TrialFinished)]
    return [("+" if isinstance(event, TrialStarted) else "-") + event.trial.case for event in trial_events]


async def test_while_an_answer_is_judged_the_next_case_is_asked_but_no_more_than_as_many_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_brief_limits(monkeypatch)
    plan, provider = slow_to_judge(3)
    async with going(plan, provider) as run:
        await run.until(lambda: len(story(run)) >= 3)
    assert story(run)[:2] == ["+c0", "+c1"]
    assert story(run)[2] in ("-c0", "-c1")
    assert provider.most_at_once == 1


async def test_a_case_that_may_be_asked_again_keeps_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    set_brief_limits(monkeypatch)
    plan, provider = slow_to_judge(2, attempts=2)
    async with going(plan, provider) as run:
        await run.until(lambda: len(provider.requests) == 2)
        assert [request.trial.case for request in provider.requests] == ["c0", "c0"]


async def test_the_notes_of_a_server_are_limited() -> None:
    notes = [NoteChunk(f"{number} {'x' * 10_000}") for number in range(200)]
    provider = ScriptedProvider(lambda _: [NoteChunk("same"), NoteChunk("same"), *notes, *says("whole")])
    async with going(cases(1), provider) as run:
        await run.ended()
    result = run.state.trials[TrialKey("c0", "a")].result
    assert result is not None
    kept = result.attempts[0].steps[0].notes
    assert kept[0] == "same"
    assert len(kept) == 50
    assert max(map(len, kept)) == 2_000
