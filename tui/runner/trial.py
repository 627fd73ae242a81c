"""Running one trial: attempts at a case until one passes or none are left."""

import asyncio
import logging
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tui.model.errors import AssayError, ProviderError, WorkspaceError
from tui.model.events import AttemptFinished, AttemptStarted, TrialStarted
from tui.model.finish_reasons import early_stop
from tui.model.provider_messages import Request
from tui.model.results import (
    RAN_UNCHANGED,
    Attempt,
    Change,
    NotApplied,
    StepResult,
    TrialKey,
    TrialResult,
    Verdict,
    current_attempt,
    is_flaky,
    verdict_of_checks,
)
from tui.model.sanitize import sanitize_text
from tui.model.subjects import Subject
from tui.model.suite import Case
from tui.model.values import JsonObject
from tui.runner.control import Control, EventBuffer, uncancel_current_task
from tui.runner.partial_step import StepPlace
from tui.runner.prompt import compose_prompt
from tui.runner.step import StepOrder, StepOutcome, run_step
from tui.runner.trial_context import CaseContext, TrialContext


@dataclass(frozen=True, slots=True)
class Changed:
    """The result of applying an answer to the repository.

    `steps` is None if the steps are unchanged; a command adds its check to the last one. `error` is a failure of the
    repository.
    """

    changes: tuple[Change, ...] = ()
    not_applied: tuple[NotApplied, ...] = ()
    steps: tuple[StepResult, ...] | None = None
    error: str | None = None
    cancelled: bool = False


NO_CHANGE = Changed()


async def apply_answers(
    case: Case, trial: TrialKey, steps: Sequence[StepResult], context: TrialContext, control: Control
) -> Changed:
    """Apply the last answer to the repository and run the case's command on it.

    Whether an answer can be applied never affects the verdict.
    """
    if not (case.apply_changes or case.command):
        return NO_CHANGE
    if context.repository is None:
        return Changed(error="The command was not run: there is no repository" if case.command else None)
    changed = NO_CHANGE
    try:
        applied = await context.repository.apply(case, steps[-1].response, trial)
        # The lines and the names of files in the repository may contain a key as well.
        hide = context.secrets.hide
        changes = tuple(replace(each, path=hide(each.path), diff=hide(each.diff)) for each in applied.changes)
        not_applied = tuple(
            replace(each, path=each.path and hide(each.path), reason=hide(each.reason)) for each in applied.not_applied
        )
        changed = Changed(changes, not_applied)
        if case.command is None:
            return changed
        check = await context.repository.run_command(applied, case.command)
    except WorkspaceError as error:
        return replace(changed, error=str(error))
    except asyncio.CancelledError:
        if not control.should_stop(trial):
            raise
        uncancel_current_task()
        return replace(changed, cancelled=True)
    detail = hide(check.detail)
    if case.apply_changes and not changes:
        detail = f"{detail}\n{RAN_UNCHANGED}".lstrip()
    check = replace(check, detail=detail)
    last = replace(steps[-1], checks=(*steps[-1].checks, check))
    return replace(changed, steps=(*steps[:-1], last))


_log = logging.getLogger(__name__)
# Another attempt would fail in the same way, because the request would be the same.
_FINAL_FAULTS = {"unauthorized", "not_found", "refused"}


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """All parameters of a trial. `earlier` is the stored result of a trial that is rerun."""

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
        """The number of the rerun: 0 for the first run of a trial."""
        return self.earlier.reruns + 1 if self.earlier else 0


async def run_trial(order: TrialOrder, context: TrialContext, control: Control, events: EventBuffer) -> TrialResult:
    """Run attempts until one passes or none are left.

    Any exception becomes the error of the trial, so that it never ends the run.
    """
    events.add(TrialStarted(order.key))
    done = list(order.earlier.attempts) if order.earlier else []
    first = len(done)
    for number in range(first + 1, first + order.attempts + 1):
        events.add(AttemptStarted(order.key, number, first + order.attempts))
        try:
            is_last = number == first + order.attempts
            attempt, changed = await _AttemptRun(order, number, is_last, context, control, events).run()
        except Exception as error:  # noqa: BLE001 - the one place around a trial
            attempt, changed = _broken(order, number, error, context), NO_CHANGE
        done.append(attempt)
        events.add(AttemptFinished(order.key, attempt))
        if attempt.verdict in ("passed", "unchecked", "cancelled") or attempt.fault in _FINAL_FAULTS:
            break
    last = done[-1]
    # A rerun that does not replace the answer does not replace its changes.
    kept = changed if order.earlier is None or current_attempt(done) is last else order.earlier
    return TrialResult(order.key, last.verdict, is_flaky(done), last.error, tuple(done), kept.changes, kept.not_applied)


class _AttemptRun:
    """One attempt: the steps of the case, then the changes to the repository."""

    def __init__(
        self,
        order: TrialOrder,
        number: int,
        is_last: bool,
        context: TrialContext,
        control: Control,
        events: EventBuffer,
    ) -> None:
        self._order, self._number, self._is_last, self._context = order, number, is_last, context
        self._control, self._events = control, events
        self._steps: list[StepResult] = []
        self._paused_s = 0.0

    async def run(self) -> tuple[Attempt, Changed]:
        """Run the attempt, and return it with its changes. Raises exceptions other than provider failures."""
        started_at, started = datetime.now(UTC), time.monotonic()
        outcome = await self._run_steps()
        changed = NO_CHANGE
        if outcome.fault is None and not outcome.cancelled:
            changed = await apply_answers(self._order.case, self._order.key, self._steps, self._context, self._control)
        cancelled = outcome.cancelled or changed.cancelled
        steps = changed.steps or tuple(self._steps)
        verdict, error = _judge(self._order, steps, outcome.fault, cancelled)
        if changed.error and not cancelled:
            verdict, error = "error", changed.error
        attempt = Attempt(
            self._number,
            verdict,
            self._context.secrets.hide(error) if error else None,
            steps,
            started_at.isoformat(),
            round((time.monotonic() - started - self._paused_s) * 1000, 1),
            asking=self._order.asking,
            fault=outcome.fault.fault if outcome.fault else None,
            is_retry=outcome.is_retry,
        )
        return attempt, changed

    async def _run_steps(self) -> StepOutcome:
        """Run the steps until one has no complete answer, and return the outcome of the last one."""
        order, context = self._order, self._context
        # The prompt of a replayed answer is the recorded one, whatever has become of its files.
        is_replay = order.subject.is_replay
        case_context = CaseContext() if is_replay else context.context_source.context_of(order.case)
        # The commands of two cases of a model must not run at once if the cases must not.
        is_final = self._is_last and not (order.case.apply_changes or order.case.command)
        memory: JsonObject = order.case.memory
        for index, step in enumerate(order.case.steps):
            prompt = compose_prompt(order.subject, order.case, case_context, self._steps)
            last = index == len(order.case.steps) - 1
            tools = order.case.tools
            request = Request(order.subject, prompt, order.key, index, order.stream, memory, last, tools)
            outcome = await run_step(
                StepPlace(order.key, self._number, index, self._events),
                StepOrder(
                    request,
                    step,
                    context.providers[order.subject.name],
                    order.timeout_ms,
                    last and is_final,
                    order.case.max_turns,
                ),
                context,
                self._control,
            )
            self._steps.append(outcome.result)
            self._paused_s += outcome.paused_s
            if outcome.fault or outcome.cancelled:
                break
            if isinstance(outcome.result.memory, dict):
                memory = outcome.result.memory
        return outcome


def _judge(
    order: TrialOrder, steps: Sequence[StepResult], fault: ProviderError | None, cancelled: bool
) -> tuple[Verdict, str | None]:
    """Return the verdict of an attempt, and a sentence about an answer that could not be judged."""
    if cancelled:
        return "cancelled", "Cancelled"
    early = None if fault or order.accept_truncated else _early_stop(steps)
    is_incomplete = bool(early or (fault and fault.fault == "incomplete"))
    if fault and not is_incomplete:
        return ("timed_out" if fault.fault == "timed_out" else "error"), str(fault)
    checks = [check for step in steps for check in step.checks]
    verdict = verdict_of_checks(checks, is_incomplete=is_incomplete, is_checked=order.case.is_checked)
    if verdict == "incomplete":
        return verdict, early or str(fault)
    if verdict == "error":
        unsure = next(check for check in checks if check.state == "timed_out")
        return verdict, f"Check not evaluated: {unsure.target}: {unsure.detail}"
    return verdict, None


def _early_stop(steps: Sequence[StepResult]) -> str | None:
    """Return why the first answer that the provider stopped early is incomplete, or None."""
    return next((why for step in steps if (why := early_stop(step.finish_reason))), None)


def _broken(order: TrialOrder, number: int, error: Exception, context: TrialContext) -> Attempt:
    if isinstance(error, AssayError):
        text = str(error)
    else:
        trace = "".join(traceback.format_exception(error))
        _log.error("trial %s\n%s", order.key, sanitize_text(context.secrets.hide(trace)))
        text = f"Internal error in Assay: {type(error).__name__}: {error}"
    now = datetime.now(UTC).isoformat()
    return Attempt(number, "error", context.secrets.hide(text), (), now, asking=order.asking)
