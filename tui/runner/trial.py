"""One trial: attempts at a case until one passes or none are left."""

import asyncio
import logging
import time
from dataclasses import dataclass
from datetime import UTC, datetime

from tui.model.chunks import Request
from tui.model.errors import AssayError, ProviderError
from tui.model.events import AttemptFinished, AttemptStarted, Event, TrialStarted
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.model.trials import Attempt, StepResult, TrialKey, TrialResult, Verdict
from tui.model.values import JsonObject
from tui.runner.asking import StepOrder, StepOutcome, run_step
from tui.runner.control import Control
from tui.runner.pieces import StepPlace
from tui.runner.prompting import compose_prompt
from tui.runner.tools import Tools

_log = logging.getLogger(__name__)
# Asking again would get the same answer: nothing was judged, and nothing about the request will change.
_HOPELESS = {"unauthorized", "not_found", "refused"}


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """A trial as a plain value: everything that it depends on. `earlier` is the kept result that is asked again."""

    key: TrialKey
    case: Case
    subject: Subject
    timeout_ms: int
    attempts: int
    stream: bool
    earlier: TrialResult | None = None


async def run_trial(order: TrialOrder, tools: Tools, control: Control, outbox: asyncio.Queue[Event]) -> TrialResult:
    """Ask until an attempt passes or none are left. A fault of ours becomes the trial's error as well: one trial
    that goes wrong never ends a run."""
    outbox.put_nowait(TrialStarted(order.key))
    done = list(order.earlier.attempts) if order.earlier else []
    first = len(done)
    for number in range(first + 1, first + order.attempts + 1):
        outbox.put_nowait(AttemptStarted(order.key, number, first + order.attempts))
        try:
            attempt = await _run_attempt(order, number, tools, control, outbox)
        except Exception as error:  # noqa: BLE001 - the one place around a trial
            attempt = _broken(order, number, error, tools)
        done.append(attempt)
        outbox.put_nowait(AttemptFinished(order.key, attempt))
        if attempt.verdict in ("passed", "cancelled") or attempt.fault in _HOPELESS:
            break
    last = done[-1]
    flaky = last.verdict == "passed" and len(done) - first > 1
    return TrialResult(order.key, last.verdict, flaky, last.error, tuple(done))


async def _run_attempt(
    order: TrialOrder, number: int, tools: Tools, control: Control, outbox: asyncio.Queue[Event]
) -> Attempt:
    started_at, started = datetime.now(UTC), time.monotonic()
    context = tools.context.context_of(order.case)
    memory: JsonObject = order.case.memory
    steps: list[StepResult] = []
    outcome: StepOutcome | None = None
    for index, step in enumerate(order.case.steps):
        prompt = compose_prompt(order.subject, order.case, context, steps)
        last = index == len(order.case.steps) - 1
        request = Request(order.subject, prompt, order.key, index, order.stream, memory, last)
        provider = tools.providers[order.subject.name]
        outcome = await run_step(
            StepPlace(order.key, number, index, outbox),
            StepOrder(request, step, provider, order.timeout_ms),
            tools,
            control,
        )
        steps.append(outcome.result)
        if outcome.fault or outcome.cancelled:
            break
        if isinstance(outcome.result.memory, dict):
            memory = outcome.result.memory
    verdict, error = _judge(steps, outcome)
    fault = outcome.fault.fault if outcome and outcome.fault else None
    return Attempt(
        number,
        verdict,
        tools.secrets.hide(error) if error else None,
        tuple(steps),
        started_at.isoformat(),
        round((time.monotonic() - started) * 1000, 1),
        asked_again=order.earlier is not None,
        fault=fault,
    )


def _judge(steps: list[StepResult], outcome: StepOutcome | None) -> tuple[Verdict, str | None]:
    """The verdict of an attempt, and the sentence that explains an answer that could not be judged."""
    if outcome and outcome.cancelled:
        return "cancelled", "Cancelled"
    if outcome and outcome.fault:
        return _verdict_of(outcome.fault), str(outcome.fault)
    checks = [check for step in steps for check in step.checks]
    if any(check.state == "failed" for check in checks):
        return "failed", None
    unsure = [check for check in checks if check.state == "timed_out"]
    if unsure:
        return "error", f"Could not be checked: {unsure[0].target}: {unsure[0].detail}"
    return "passed", None


def _verdict_of(fault: ProviderError) -> Verdict:
    if fault.fault == "timed_out":
        return "timed_out"
    if fault.fault == "incomplete":
        return "incomplete"
    return "error"


def _broken(order: TrialOrder, number: int, error: Exception, tools: Tools) -> Attempt:
    if isinstance(error, AssayError):
        text = str(error)
    else:
        _log.exception("trial %s", order.key)
        text = f"A fault in Assay itself: {type(error).__name__}: {error}"
    now = datetime.now(UTC).isoformat()
    return Attempt(number, "error", tools.secrets.hide(text), (), now, asked_again=order.earlier is not None)
