"""Replay of a run's recorded answers, at the original speed or without delays; always marked as recorded."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from typing import NamedTuple, get_args

from tui.model.errors import ProviderError, ProviderFault
from tui.model.finish_reasons import early_stop
from tui.model.provider_messages import (
    CallTree,
    Chunk,
    End,
    FinishReason,
    MemoryChunk,
    NoteChunk,
    Reasoning,
    RecordedChunk,
    Request,
    Sent,
    ServedByChunk,
    Text,
    ToolCall,
    UsageChunk,
)
from tui.model.results import (
    CHECK_NOT_EVALUATED,
    JUDGED,
    OTHER_PROMPT,
    Attempt,
    RecordedFigures,
    StepResult,
    TrialResult,
)
from tui.model.sanitize import sanitize_line
from tui.model.secrets import REMOVED
from tui.model.subjects import IMPORTED, Subject

_REASONS: Mapping[str, FinishReason] = {reason: reason for reason in get_args(FinishReason)}
_RECORDED = "Recorded error: "
_INCOMPLETE = "The recorded answer is incomplete"
_FAULTS: Mapping[str, ProviderFault] = {fault: fault for fault in get_args(ProviderFault)}


class Place(NamedTuple):
    """The position of an answer: `step` counts from 0, `repeat` from 1."""

    case: str
    step: int
    repeat: int


class Recorded(NamedTuple):
    """An answer, and the attempt that it ended; None if other answers of the attempt followed.

    `is_imported` says that another tool recorded it, perhaps without tools, memory and the fault of the attempt,
    `is_retry` that another attempt of the same run or rerun was before it.
    """

    step: StepResult
    ended: Attempt | None = None
    is_imported: bool = False
    is_retry: bool = False


def recordings_of(results: Iterable[TrialResult], subject: Subject) -> dict[Place, Recorded]:
    """Return what one model answered in a run: the steps of the first judged attempt of each trial, else of the last.

    Answers of reruns and retries are replayed only if no earlier answer was judged: they would raise the pass rate.
    Those of retries are marked, so that their trials are flaky again.
    """
    is_import = subject.how == IMPORTED
    return {
        Place(result.trial.case, number, result.trial.repeat): Recorded(
            step,
            attempt if step is attempt.steps[-1] else None,
            is_import or (step.recorded is not None and step.recorded.is_imported),
            attempt.is_retry
            or any(each.asking == attempt.asking and each.number < attempt.number for each in result.attempts),
        )
        for result in results
        if result.trial.model == subject.name and (attempt := result.first_judged) is not None
        for number, step in enumerate(attempt.steps)
    }


class ReplayProvider:
    """Replays recorded answers; each is marked with the note `recorded answer of run …`.

    `run` names the run. `speed` 1.0 keeps the recorded timing, 2.0 halves the delays, None has no delays.
    """

    def __init__(self, recordings: Mapping[Place, Recorded], run: str, speed: float | None = None) -> None:
        if speed is not None and not speed > 0:
            raise ValueError(f"expected a speed above 0, got {speed}")
        self._recordings, self._run, self._speed = recordings, run, speed

    async def ask(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Replay one answer. Raises ProviderError.

        The error is `not_found` if there is no recording, the recorded error at the end of an answer that failed,
        else `incomplete` at the end of an answer that was not complete.
        """
        place = Place(request.trial.case, request.step, request.trial.repeat)
        found = self._recordings.get(place)
        if found is None:
            raise ProviderError(
                "not_found",
                f"run {sanitize_line(self._run, 60)} has no answer for step {place.step + 1} of case "
                f"{sanitize_line(place.case, 80)}, repeat {place.repeat}",
                fix="Rerun the case, or replay a run that contains the answer.",
            )
        recorded = found.step
        began = asyncio.get_running_loop().time()
        yield Sent()
        yield NoteChunk(f"recorded answer of run {self._run}")
        if recorded.input not in ("", request.prompt.input) and REMOVED not in recorded.input:
            yield NoteChunk(OTHER_PROMPT)
        if recorded.reasoning:
            yield Reasoning(recorded.reasoning)
        for moment_ms, text in _pieces(recorded):
            await self._wait_until(began, moment_ms)
            yield Text(text)
        await self._wait_until(began, recorded.timing.duration_ms)
        for chunk in _rest(found):
            yield chunk
        if (fault := _fault_of(found)) is not None:
            raise fault
        yield End(_reason_of(recorded.finish_reason))

    async def models(self) -> tuple[str, ...]:
        """Return no models: recordings are selected by their run."""
        return ()

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    async def _wait_until(self, began: float, moment_ms: float) -> None:
        """Wait until this moment, measured from the beginning, so that late wake-ups do not add up."""
        if self._speed is not None:
            wait = began + moment_ms / 1000 / self._speed - asyncio.get_running_loop().time()
            if wait > 0:
                await asyncio.sleep(wait)


def _reason_of(recorded: str | None) -> FinishReason | None:
    if recorded is None:
        return None
    return _REASONS.get(recorded, "incomplete" if early_stop(recorded) else "other")


def _fault_of(recorded: Recorded) -> ProviderError | None:
    """Return the recorded error, None if the answer itself was complete or stopped early: it is checked again.

    Imported runs record how an answer was judged, but no finish reason.
    """
    ended, finish_reason = recorded.ended, recorded.step.finish_reason
    is_import = recorded.is_imported and recorded.step.recorded is None
    if ended is None:  # another answer of the attempt followed
        return None
    if ended.fault is not None and not is_import and not recorded.step.stopped:
        return _recorded_error(ended)  # also of a trial that failed: a forbidden match decides a partial answer
    if early_stop(finish_reason):  # perhaps this time with `acceptTruncated`
        return None
    if is_import and ended.error == CHECK_NOT_EVALUATED:
        return None
    if not is_import and ended.fault is None and (finish_reason is not None or _has_unevaluated_check(ended)):
        return None  # a check or a command of the attempt failed, or another step
    if ended.verdict in ("error", "timed_out", "incomplete"):
        return _recorded_error(ended)
    if finish_reason is None and ended.verdict not in JUDGED:
        return ProviderError("incomplete", _INCOMPLETE)
    return None


def _has_unevaluated_check(ended: Attempt) -> bool:
    return any(check.state == "timed_out" for step in ended.steps for check in step.checks)


def _recorded_error(ended: Attempt) -> ProviderError:
    kind = _FAULTS.get(ended.fault or ended.verdict, "refused")
    error = (ended.error or "").removeprefix(_RECORDED)
    return ProviderError(kind, f"{_RECORDED}{error}" if error else _INCOMPLETE)


def _pieces(recorded: StepResult) -> Iterator[tuple[int, str]]:
    """Yield the answer in pieces with the time of each in milliseconds; text without a recorded time comes last."""
    sent, moment = 0, 0
    for moment, size in recorded.pace:
        if size > sent:
            yield moment, recorded.response[sent:size]
            sent = size
    if sent < len(recorded.response):
        yield moment, recorded.response[sent:]


def _rest(found: Recorded) -> Iterator[Chunk]:
    recorded = found.step
    yield from map(ToolCall, recorded.tools_used)
    if recorded.tool_calls:
        yield CallTree(recorded.tool_calls)
    if recorded.memory_before is not None or recorded.memory is not None:
        yield MemoryChunk(recorded.memory)
    yield UsageChunk(recorded.usage)
    # Imported results may have no duration, and neither tools nor memory.
    only_text = found.is_imported and not recorded.tools_used and recorded.memory is None
    figures = recorded.recorded or RecordedFigures(
        recorded.timing.duration_ms or None, recorded.cost_usd, found.is_imported
    )
    prompt = recorded.prompt if recorded.prompt.messages else None
    yield RecordedChunk(figures, recorded.finish_reason, only_text, recorded.stopped, prompt, found.is_retry)
    if recorded.served_by is not None:
        yield ServedByChunk(recorded.served_by)
    for note in recorded.notes:
        yield NoteChunk(note)
