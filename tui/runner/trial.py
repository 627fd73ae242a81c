"""One trial: attempts at a case until one passes or none are left."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tui.model.errors import AssayError, ProviderError, WorkspaceError
from tui.model.events import AttemptFinished, AttemptStarted, TrialStarted
from tui.model.finish_reasons import early_stop
from tui.model.provider_messages import Request
from tui.model.results import Attempt, Change, NotApplied, StepResult, TrialKey, TrialResult, Verdict, is_flaky
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.model.values import JsonObject
from tui.runner.control import Control, EventBuffer, go_on_after_cancel
from tui.runner.prompt import compose_prompt
from tui.runner.step import StepOrder, StepOutcome, StepPlace, run_step
from tui.runner.trial_context import TrialContext


@dataclass(frozen=True, slots=True)
class Changed:
    """What came of the answers. `steps` is None where the steps stand as they were; a command adds its check. `error`
    is why the repository could not be worked on."""

    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()
    steps: tuple[StepResult, ...] | None = None
    error: str | None = None
    cancelled: bool = False


NO_CHANGE = Changed()


async def apply_answers(
    case: Case, trial: TrialKey, steps: Sequence[StepResult], tools: TrialContext, control: Control
) -> Changed:
    """Apply the last answer and run the case's command over it. What is or is not applied never changes the
    verdict."""
    if tools.repository is None or not (case.apply_changes or case.command):
        return NO_CHANGE
    changed = NO_CHANGE
    try:
        applied = await tools.repository.apply(case, steps[-1].response, trial)
        # A line of the repository that stands in a diff may hold a key as well.
        changes = tuple(replace(change, diff=tools.secrets.hide(change.diff)) for change in applied.changes)
        changed = Changed(changes, applied.not_applied)
        if case.command is None:
            return changed
        check = await tools.repository.run_command(applied, case.command)
    except WorkspaceError as error:
        return replace(changed, error=str(error))
    except asyncio.CancelledError:
        if not control.stops(trial):
            raise
        go_on_after_cancel()
        return replace(changed, cancelled=True)
    last = replace(steps[-1], checks=(*steps[-1].checks, check))
    return replace(changed, steps=(*steps[:-1], last))


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
    accept_truncated: bool = False
    earlier: TrialResult | None = None

    @property
    def asking(self) -> int:
        """0 for a trial that is asked for the first time, n for its n-th rerun."""
        return self.earlier.reruns + 1 if self.earlier else 0


async def run_trial(order: TrialOrder, tools: TrialContext, control: Control, outbox: EventBuffer) -> TrialResult:
    """Ask until an attempt passes or none are left. A fault of ours becomes the trial's error as well: one trial
    that goes wrong never ends a run."""
    outbox.tell(TrialStarted(order.key))
    done = list(order.earlier.attempts) if order.earlier else []
    first = len(done)
    for number in range(first + 1, first + order.attempts + 1):
        outbox.tell(AttemptStarted(order.key, number, first + order.attempts))
        try:
            is_last = number == first + order.attempts
            attempt, changed = await _Try(order, number, is_last, tools, control, outbox).run()
        except Exception as error:  # noqa: BLE001 - the one place around a trial
            attempt, changed = _broken(order, number, error, tools), NO_CHANGE
        done.append(attempt)
        outbox.tell(AttemptFinished(order.key, attempt))
        if attempt.verdict in ("passed", "unchecked", "cancelled") or attempt.fault in _HOPELESS:
            break
    last = done[-1]
    return TrialResult(
        order.key, last.verdict, is_flaky(done), last.error, tuple(done), changed.changes, changed.not_applied
    )


class _Try:
    """One attempt: the steps of the case, then what the answer changes."""

    def __init__(
        self, order: TrialOrder, number: int, is_last: bool, tools: TrialContext, control: Control, outbox: EventBuffer
    ) -> None:
        self._order, self._number, self._is_last, self._tools = order, number, is_last, tools
        self._control, self._outbox = control, outbox
        self._steps: list[StepResult] = []
        self._held_s = 0.0

    async def run(self) -> tuple[Attempt, Changed]:
        """The attempt and its changes. Raises what is no failure of the provider."""
        started_at, started = datetime.now(UTC), time.monotonic()
        outcome = await self._ask_steps()
        changed = NO_CHANGE
        if outcome.fault is None and not outcome.cancelled:
            changed = await apply_answers(self._order.case, self._order.key, self._steps, self._tools, self._control)
        cancelled = outcome.cancelled or changed.cancelled
        steps = changed.steps or tuple(self._steps)
        verdict, error = _judge(self._order, steps, outcome.fault, cancelled)
        if changed.error and not cancelled:
            verdict, error = "error", changed.error
        attempt = Attempt(
            self._number,
            verdict,
            self._tools.secrets.hide(error) if error else None,
            steps,
            started_at.isoformat(),
            round((time.monotonic() - started - self._held_s) * 1000, 1),
            asking=self._order.asking,
            fault=outcome.fault.fault if outcome.fault else None,
        )
        return attempt, changed

    async def _ask_steps(self) -> StepOutcome:
        """Ask step after step, until one has no whole answer; the outcome of the last one asked."""
        order, tools = self._order, self._tools
        context = tools.context.context_of(order.case)
        # Commands of two cases of a model must not run at once where the cases should not.
        is_final = self._is_last and not (order.case.apply_changes or order.case.command)
        memory: JsonObject = order.case.memory
        for index, step in enumerate(order.case.steps):
            prompt = compose_prompt(order.subject, order.case, context, self._steps)
            last = index == len(order.case.steps) - 1
            request = Request(order.subject, prompt, order.key, index, order.stream, memory, last)
            outcome = await run_step(
                StepPlace(order.key, self._number, index, self._outbox),
                StepOrder(request, step, tools.providers[order.subject.name], order.timeout_ms, last and is_final),
                tools,
                self._control,
            )
            self._steps.append(outcome.result)
            self._held_s += outcome.held_s
            if outcome.fault or outcome.cancelled:
                break
            if isinstance(outcome.result.memory, dict):
                memory = outcome.result.memory
        return outcome


def _judge(
    order: TrialOrder, steps: Sequence[StepResult], fault: ProviderError | None, cancelled: bool
) -> tuple[Verdict, str | None]:
    """The verdict of an attempt, and the sentence that explains an answer that could not be judged.

    What is missing from an answer that the provider stopped early may have been about to come; what was found in it
    stays found: a forbidden pattern makes it `failed`, every other check leaves it `incomplete`.
    """
    if cancelled:
        return "cancelled", "Cancelled"
    checks = [check for step in steps for check in step.checks]
    early = None if fault or order.accept_truncated else _early_stop(steps)
    if early or (fault and fault.fault == "incomplete"):
        if any(check.kind == "forbidden_pattern" and check.state == "failed" for check in checks):
            return "failed", None
        return "incomplete", early or str(fault)
    if fault:
        return ("timed_out" if fault.fault == "timed_out" else "error"), str(fault)
    if any(check.state == "failed" for check in checks):
        return "failed", None
    unsure = [check for check in checks if check.state == "timed_out"]
    if unsure:
        return "error", f"Could not be checked: {unsure[0].target}: {unsure[0].detail}"
    return ("passed" if order.case.is_checked else "unchecked"), None


def _early_stop(steps: Sequence[StepResult]) -> str | None:
    """Why the first answer that the provider stopped early is not whole; None where all are."""
    return next((why for step in steps if (why := early_stop(step.finish_reason))), None)


def _broken(order: TrialOrder, number: int, error: Exception, tools: TrialContext) -> Attempt:
    if isinstance(error, AssayError):
        text = str(error)
    else:
        _log.exception("trial %s", order.key)
        text = f"A fault in Assay itself: {type(error).__name__}: {error}"
    now = datetime.now(UTC).isoformat()
    return Attempt(number, "error", tools.secrets.hide(text), (), now, asking=order.asking)
