"""Trials of cases with tools on a loopback server, in every protocol."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.faults.wires import WIRES, Call, Wire
from tests.support.asking import KEY, server_settings
from tests.support.clocks import FakeTime
from tests.support.model_server import Asked, ModelServer
from tests.support.plans import FixedContext
from tests.support.replies import Reply
from tui.checks.checker import Checker
from tui.model.events import Event
from tui.model.prices import Price
from tui.model.results import Attempt, StepResult, ToolUse, TrialKey, TrialResult
from tui.model.secrets import Secrets
from tui.model.subjects import Settings, Subject
from tui.model.suite import Case, Check, Step
from tui.model.tools import FixedResult, OfferedTool
from tui.runner.control import Control, EventBuffer
from tui.runner.trial import TrialOrder, run_trial
from tui.runner.trial_context import TrialContext

COMBINATIONS = [(wire, stream) for wire in WIRES for stream in (True, False)]
NAMES = [f"{wire.name} {'stream' if stream else 'whole'}" for wire, stream in COMBINATIONS]
WEATHER = OfferedTool(
    "get_weather",
    "Return the weather of a city",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "unknown city",
    (FixedResult({"city": "Paris"}, '{"temperature": 18}'),),
)
CLOCK = OfferedTool("get_time", result="noon")
PARIS = Call("call_1", "get_weather", '{"city": "Paris"}')
ROME = Call("call_2", "get_weather", '{"city": "Rome", "unit": "C"}')
_MOST_SECONDS = 60.0
_PRICE = Price(1.0, 2.0, "config")

Turn = Reply | Callable[[Wire, bool], Reply]


def tool_case(*checks: Check, tools: Sequence[OfferedTool] = (WEATHER, CLOCK), most: int = 8) -> Case:
    """Return a case with tools."""
    checks = checks or (Check("expected_pattern", "warm"),)
    return Case("case", "case", "General", (Step("How is Paris?", checks),), tools=tuple(tools), max_turns=most)


@dataclass(frozen=True)
class ToolTrial:
    """What became of a trial: its result, the bodies of its requests, and its events."""

    result: TrialResult
    bodies: list[dict[str, Any]]
    events: list[Event]

    @property
    def attempt(self) -> Attempt:
        """The only attempt."""
        (attempt,) = self.result.attempts
        return attempt

    @property
    def step(self) -> StepResult:
        """The only step."""
        (step,) = self.attempt.steps
        return step

    @property
    def turns(self) -> list[ToolUse]:
        """The turns that ended with calls."""
        return [call for call in self.step.tool_calls if call.kind == "model"]

    @property
    def calls(self) -> list[ToolUse]:
        """The calls of tools."""
        return [call for call in self.step.tool_calls if call.kind == "tool"]


async def run_tools(
    wire: Wire, stream: bool, turns: Sequence[Turn], case: Case | None = None, **more: Any
) -> ToolTrial:
    """Run a trial; the n-th request gets the n-th turn, each later one the last."""
    bodies: list[dict[str, Any]] = []

    def script(asked: Asked) -> Reply:
        bodies.append(asked.body)
        turn = turns[min(len(bodies), len(turns)) - 1]
        return turn if isinstance(turn, Reply) else turn(wire, stream)

    async with ModelServer(script, record=False) as server, asyncio.timeout(_MOST_SECONDS):
        result, events = await _run(wire, stream, f"http://127.0.0.1:{server.port}", case or tool_case(), **more)
    return ToolTrial(result, bodies, events)


async def _run(
    wire: Wire,
    stream: bool,
    url: str,
    case: Case,
    *,
    control: Control | None = None,
    timeout_ms: int = 3_600_000,
    limits: dict[str, Any] | None = None,
) -> tuple[TrialResult, list[Event]]:
    provider = wire.provider(replace(server_settings(url), key_name="THE_KEY"), FakeTime().patience(**(limits or {})))
    settings = Settings(api="responses" if wire.name == "responses" else None)
    subject = Subject("mock-a", wire.name, "mock-a", settings, price=_PRICE)
    checker, events = Checker(), EventBuffer()
    context = TrialContext({subject.name: provider}, checker, FixedContext(), Secrets([KEY]))
    order = TrialOrder(TrialKey(case.id, subject.name), case, subject, timeout_ms, 1, stream)
    try:
        result = await run_trial(order, context, control or Control(), events)
    finally:
        await provider.close()
        await checker.close()
    events.close()
    return result, await events.take()


def calling(*calls: Call, text: str = "") -> Turn:
    """Return a turn with calls."""
    return lambda wire, stream: wire.calls(*calls, text=text, stream=stream)


def answering(text: str) -> Turn:
    """Return a turn that is an answer."""
    return lambda wire, stream: wire.answer(text, stream)
