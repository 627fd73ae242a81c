"""Running one step: send the requests of its turns, and decide its checks on the whole answer."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from typing import cast

from tui.checks.checker import Answer, Watch
from tui.model.errors import ProviderError, WorkspaceError
from tui.model.events import CheckMoved, LimitMoved, StepFinished, StepStarted
from tui.model.finish_reasons import early_stop
from tui.model.provider_messages import Chunk, Limited, RecordedChunk, Request, Sent, Waiting
from tui.model.results import CheckResult, Prompt, RecordedFigures, StepResult
from tui.model.suite import TOOL_KINDS, Check, Step
from tui.model.tools import DEFAULT_TURNS
from tui.model.values import JsonObject
from tui.providers.protocol import Provider
from tui.runner.control import Control, uncancel_current_task
from tui.runner.partial_step import ChunkHandler, PartialStep, StepPlace, hide_in
from tui.runner.prompt import without_secrets
from tui.runner.tools import NotContinued, ToolConversation
from tui.runner.trial_context import TrialContext

_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The outcome of a step: its result, and the failure or cancellation that made it incomplete.

    `paused_s` is how long a pause of the run delayed the request; `is_retry` says that a replayed answer is that of a
    retry.
    """

    result: StepResult
    fault: ProviderError | None
    cancelled: bool
    paused_s: float = 0.0
    is_retry: bool = False


@dataclass(frozen=True, slots=True)
class StepOrder:
    """The request of a step with its provider and time limit; `final` is true for the last step of the trial.

    `max_turns` is how many turns the model may take if the request offers tools.
    """

    request: Request
    step: Step
    provider: Provider
    timeout_ms: int
    final: bool = False
    max_turns: int = DEFAULT_TURNS


async def run_step(place: StepPlace, order: StepOrder, context: TrialContext, control: Control) -> StepOutcome:
    """Run one step. A failure of the provider is part of the outcome; only a stop of the whole run is raised."""
    prompt = without_secrets(order.request.prompt, context.secrets)
    place.emit(StepStarted(place.trial, place.attempt, place.step, prompt))
    memory = cast("JsonObject", hide_in(context.secrets, order.request.memory))
    partial = PartialStep(memory=memory)
    checks: tuple[CheckResult, ...] = ()
    try:
        await _gather(order, partial, context, place, control)
        partial.end()
        if order.final:
            control.mark_answered(place.trial)
        partial.fault = partial.fault or _incomplete_fault(order, partial)
        checks = await _decide(order, partial, context)
    except asyncio.CancelledError:
        if not control.should_stop(place.trial):
            raise
        uncancel_current_task()
        partial.end()
        partial.cancelled = True
    result = _to_result(order, prompt, memory, partial, checks)
    place.emit(StepFinished(place.trial, place.attempt, place.step, result))
    is_retry = partial.recorded is not None and partial.recorded.is_retry
    return StepOutcome(result, partial.fault, partial.cancelled, partial.paused_s, is_retry)


async def _gather(
    order: StepOrder, partial: PartialStep, context: TrialContext, place: StepPlace, control: Control
) -> None:
    watch = context.checker.watch(order.step.checks) if order.request.stream and order.step.checks else None
    offers_tools = bool(order.request.tools)
    chunk_handler = ChunkHandler(place, context.secrets, partial, watch, offers_tools=offers_tools)
    conversation = ToolConversation(order.request.tools, order.max_turns)
    try:
        async with _reporting(watch, place):
            while True:
                partial.paused_s += await control.wait_while_paused()
                if not await _receive(order, chunk_handler, place, control):
                    if not partial.usages:
                        partial.notes.clear()
                    continue
                if not partial.calls or not partial.is_complete or early_stop(partial.finish_reason):
                    break
                chunk_handler.flush()
                chunk_handler.end_turn(conversation.answer(partial.text, partial.calls, partial.echo))
                order = replace(order, request=replace(order.request, turns=conversation.turns))
    except NotContinued as reason:
        partial.stopped = str(reason)
    except TimeoutError:
        partial.fault = ProviderError("timed_out", f"No complete answer within {order.timeout_ms / 1000:g} s")
    except ProviderError as error:
        partial.fault = error
    finally:
        chunk_handler.close()


async def _receive(order: StepOrder, chunk_handler: ChunkHandler, place: StepPlace, control: Control) -> bool:
    """Send the request and handle its chunks; return False if a pause of the run took it back before it was sent."""
    loop, is_sent = asyncio.get_running_loop(), False
    answer = cast("AsyncGenerator[Chunk, None]", order.provider.ask(order.request))
    clock = asyncio.timeout(None)
    try:
        async with clock, aclosing(answer) as chunks:
            control.track_unsent(clock)
            async for chunk in chunks:
                if isinstance(chunk, Sent):
                    is_sent = True
                    control.untrack_unsent(clock)
                    clock.reschedule(loop.time() + order.timeout_ms / 1000 - chunk_handler.spent_s)
                elif isinstance(chunk, Waiting):
                    is_sent = False
                    clock.reschedule(None)
                    control.track_unsent(clock)
                elif isinstance(chunk, Limited):
                    provider = order.request.subject.provider
                    place.emit(LimitMoved(provider, chunk.limit, chunk.most, chunk.reason))
                chunk_handler.take(chunk)
    except TimeoutError:
        if is_sent or not clock.expired():
            raise
        return False
    finally:
        control.untrack_unsent(clock)
    return True


@asynccontextmanager
async def _reporting(watch: Watch | None, place: StepPlace) -> AsyncIterator[None]:
    """Report the provisional states of the checks while text arrives."""
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
            place.emit(CheckMoved(place.trial, place.attempt, place.step, moved.check, moved.state, moved.spans))


def _incomplete_fault(order: StepOrder, partial: PartialStep) -> ProviderError | None:
    """Return the fault of an answer that is incomplete or empty (white space only), or None.

    An agent's answer may be empty if it reported its memory. An answer that ends with calls of tools is complete if
    only the calls are checked.
    """
    if partial.recorded is not None:
        partial.stopped = partial.stopped or partial.recorded.stopped
    if partial.stopped:
        kinds = {check.kind for check in order.step.checks}
        if not kinds or not kinds <= TOOL_KINDS:
            return ProviderError("incomplete", partial.stopped)
        if partial.stopped not in partial.notes:  # a recorded one is
            partial.notes.append(partial.stopped)
        return None
    if not partial.is_complete:
        return ProviderError("incomplete", "The answer ended without an end marker and may be incomplete")
    if not partial.remembers and not any(part.strip() for part in partial.parts):
        early = early_stop(partial.finish_reason)
        return ProviderError("incomplete", early) if early else ProviderError("empty", "empty answer")
    return None


async def _decide(order: StepOrder, partial: PartialStep, context: TrialContext) -> tuple[CheckResult, ...]:
    checks = [check for check in order.step.checks if check.kind != "command"]
    nothing_to_judge = partial.fault is not None and not partial.size
    if not checks or nothing_to_judge:
        return ()
    usage = partial.usage
    known = partial.recorded or RecordedChunk(
        RecordedFigures(partial.timing().duration_ms, partial.cost_at(order.request.subject.price)),
        partial.finish_reason,
    )
    answer = Answer(
        partial.text,
        tuple(partial.tools),
        partial.memory,
        known.figures.duration_ms,
        known.figures.cost_usd,
        usage.input_tokens,
        usage.output_tokens,
        known.finish_reason,
        known.has_only_text,
    )
    decided = iter(await context.checker.decide(checks, answer, context.secrets))
    return tuple(
        [
            await _run_command(check, answer, context) if check.kind == "assert.command" else next(decided)
            for check in checks
        ]
    )


async def _run_command(check: Check, answer: Answer, context: TrialContext) -> CheckResult:
    assert context.commands is not None, "the session prepares commands for every suite"
    try:
        result = await context.commands.check_answer(check, answer.text)
    except WorkspaceError as error:
        result = CheckResult(check.kind, check.target, "timed_out", f"could not be evaluated: {error}")
    return replace(result, detail=context.secrets.hide(result.detail))


def _to_result(
    order: StepOrder, prompt: Prompt, memory: JsonObject, partial: PartialStep, checks: tuple[CheckResult, ...]
) -> StepResult:
    if partial.recorded is not None and partial.recorded.prompt is not None:
        prompt = partial.recorded.prompt
    return StepResult(
        input=prompt.input,
        response=partial.text,
        prompt=prompt,
        reasoning="".join(partial.reasoning),
        tools_used=tuple(partial.tools),
        tool_calls=tuple(partial.tool_calls) if any(call.has_details for call in partial.tool_calls) else (),
        memory_before=memory if partial.remembers else None,
        memory=partial.memory if partial.remembers else None,
        checks=checks,
        usage=partial.usage,
        timing=partial.timing(),
        retries=tuple(partial.retries),
        finish_reason=partial.finish_reason,
        notes=tuple(partial.notes),
        pace=tuple(partial.pace),
        cost_usd=partial.cost_at(order.request.subject.price),
        served_by=partial.served_by,
        stopped=partial.stopped,
        recorded=partial.recorded.figures if partial.recorded is not None else None,
    )
