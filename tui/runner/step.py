"""One step: ask the provider, watch the checks while the answer arrives, decide them on the whole."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import cast

from tui.checks.checker import Answer, Watch
from tui.model.errors import ProviderError
from tui.model.events import CheckMoved, LimitMoved, StepFinished, StepStarted
from tui.model.prices import cost
from tui.model.provider_messages import Chunk, Limited, Request, Sent, Waiting
from tui.model.results import CheckResult, Prompt, StepResult
from tui.model.suite import Step
from tui.providers.protocol import Provider
from tui.runner.arrival import Arrival
from tui.runner.control import Control, go_on_after_cancel
from tui.runner.pieces import Pieces, StepPlace
from tui.runner.prompting import without_secrets
from tui.runner.trial_context import Tools

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A step that is over: what came back, and what kept it from being whole; for `held_s` the run was paused before
    it was asked."""

    result: StepResult
    fault: ProviderError | None
    cancelled: bool
    held_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepOrder:
    """What has to be asked of whom, and how long it may take; `final` says that nothing follows in the trial."""

    request: Request
    step: Step
    provider: Provider
    timeout_ms: int
    final: bool = False


async def run_step(place: StepPlace, order: StepOrder, tools: Tools, control: Control) -> StepOutcome:
    """Ask one step. Failures of the provider end in the outcome; only a stop of the whole run is raised."""
    prompt = without_secrets(order.request.prompt, tools.secrets)
    place.tell(StepStarted(place.trial, place.attempt, place.step, prompt))
    arrival = Arrival(memory=order.request.memory)
    checks: tuple[CheckResult, ...] = ()
    try:
        await _gather(order, arrival, tools, place, control)
        arrival.end()
        if order.final:
            control.asks_no_more(place.trial)
        arrival.fault = arrival.fault or _shortfall(arrival)
        checks = await _decide(order, arrival, tools)
    except asyncio.CancelledError:
        if not control.stops(place.trial):
            raise
        go_on_after_cancel()
        arrival.end()
        arrival.cancelled = True
    result = _to_result(order, prompt, arrival, checks)
    place.tell(StepFinished(place.trial, place.attempt, place.step, result))
    return StepOutcome(result, arrival.fault, arrival.cancelled, arrival.held_s)


async def _gather(order: StepOrder, arrival: Arrival, tools: Tools, place: StepPlace, control: Control) -> None:
    watch = tools.checker.watch(order.step.checks) if order.request.stream and order.step.checks else None
    pieces = Pieces(place, tools.secrets, arrival, watch)
    try:
        async with _reporting(watch, place):
            arrival.held_s += await control.may_ask()
            while not await _hear(order, pieces, place, control):
                arrival.notes.clear()
                arrival.held_s += await control.may_ask()
    except TimeoutError:
        arrival.fault = ProviderError("timed_out", f"No complete answer within {order.timeout_ms / 1000:g} s")
    except ProviderError as error:
        arrival.fault = error
    finally:
        pieces.flush()


async def _hear(order: StepOrder, pieces: Pieces, place: StepPlace, control: Control) -> bool:
    """Ask, and take what comes; False where a pause of the run took the question back before it went out."""
    loop, is_out = asyncio.get_running_loop(), False
    answer = cast("AsyncGenerator[Chunk, None]", order.provider.ask(order.request))
    clock = asyncio.timeout(None)
    try:
        async with clock, aclosing(answer) as chunks:
            control.may_take_back(clock)
            async for chunk in chunks:
                if isinstance(chunk, Sent):
                    is_out = True
                    control.keep(clock)
                    clock.reschedule(loop.time() + order.timeout_ms / 1000)
                elif isinstance(chunk, Waiting):
                    is_out = False
                    clock.reschedule(None)
                    control.may_take_back(clock)
                elif isinstance(chunk, Limited):
                    provider = order.request.subject.provider
                    place.tell(LimitMoved(provider, chunk.limit, chunk.most, chunk.reason))
                pieces.take(chunk)
    except TimeoutError:
        if is_out or not clock.expired():
            raise
        return False
    finally:
        control.keep(clock)
    return True


@asynccontextmanager
async def _reporting(watch: Watch | None, place: StepPlace) -> AsyncIterator[None]:
    """While text arrives, tell how the checks stand."""
    if watch is None:
        yield
        return
    reporting = asyncio.create_task(_report_moves(watch, place))
    try:
        yield
    finally:
        reporting.cancel()
        watch.close()


async def _report_moves(watch: Watch, place: StepPlace) -> None:
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        for moved in await watch.poll():
            place.tell(CheckMoved(place.trial, place.attempt, place.step, moved.check, moved.state, moved.spans))


def _shortfall(arrival: Arrival) -> ProviderError | None:
    """What is wrong with an answer that came without a fault. An agent may say nothing: what it did counts as well."""
    if arrival.finish_reason is None:
        return ProviderError("incomplete", "The answer ended without saying that it was complete")
    if not arrival.size and not arrival.remembers:
        return ProviderError("empty", "empty answer")
    return None


async def _decide(order: StepOrder, arrival: Arrival, tools: Tools) -> tuple[CheckResult, ...]:
    checks = [check for check in order.step.checks if check.kind != "command"]
    nothing_to_judge = arrival.fault is not None and not arrival.size
    if not checks or nothing_to_judge:
        return ()
    return await tools.checker.decide(checks, Answer(arrival.text, tuple(arrival.tools), arrival.memory))


def _to_result(order: StepOrder, prompt: Prompt, arrival: Arrival, checks: tuple[CheckResult, ...]) -> StepResult:
    return StepResult(
        input=prompt.input,
        response=arrival.text,
        prompt=prompt,
        reasoning="".join(arrival.reasoning),
        tools_used=tuple(arrival.tools),
        memory_before=order.request.memory if arrival.remembers else None,
        memory=arrival.memory if arrival.remembers else None,
        checks=checks,
        usage=arrival.usage,
        timing=arrival.timing(),
        retries=tuple(arrival.retries),
        finish_reason=arrival.finish_reason,
        notes=tuple(arrival.notes),
        pace=tuple(arrival.pace),
        cost_usd=cost(arrival.usage, order.request.subject.price),
        served_by=arrival.served_by,
    )
