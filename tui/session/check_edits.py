"""Edits of the checks and cases in suite files, and recorded answers judged with an edited check before it is saved."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tui.checks.checker import Answer, Checker
from tui.checks.patterns import pattern_error
from tui.documents.files import NotRead, read_bytes
from tui.documents.problems import MOST_JSON_BYTES
from tui.documents.source_edits import NotEditable
from tui.documents.tables import digest_on_disk
from tui.model.errors import SuiteError
from tui.model.finish_reasons import early_stop
from tui.model.results import JUDGED, Attempt, CheckResult, TrialKey, Verdict, verdict_of_checks
from tui.model.suite import Case, Check, Suite
from tui.session.files import write_safely
from tui.store.protocol import Store
from tui.suites.edits import (
    EDITABLE_KINDS,
    AddedCase,
    CheckPlace,
    add_case,
    change_checks,
    copy_case,
    is_filled_in,
    places_of_check,
)

__all__ = ["CheckEdits", "CheckPlace", "CheckTrial", "JudgedAnswer", "RecordedAnswer", "is_editable", "is_filled_in"]

_MOST_OF_A_CASE = 300
_MOST_ANSWERS = 3_000
_FIRST_BATCH, _BATCH = 4, 24
_MOST_TIMEOUTS = 3
_STUCK_SECONDS = 0.2
_REPLAYED = "replay/"
_NOT_EVALUATED = "not evaluated: the pattern took too long in other answers"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer of the last attempt at a trial of a saved run, to the step of a check."""

    run: str
    trial: TrialKey
    attempt: Attempt
    step: int

    @property
    def text(self) -> str:
        """The answer to the step."""
        return self.attempt.steps[self.step].response

    @property
    def verdict(self) -> Verdict:
        """The recorded verdict of the attempt."""
        return self.attempt.verdict


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A recorded answer with the result of an edited check, and the verdict that follows from it.

    The other checks keep their recorded results.
    """

    answer: RecordedAnswer
    result: CheckResult
    verdict: Verdict

    @property
    def is_changed(self) -> bool:
        """Whether the verdict differs from the recorded one."""
        return self.verdict != self.answer.verdict


def is_editable(check: Check) -> bool:
    """Return whether the target of a check is one line of text in the file."""
    return check.kind in EDITABLE_KINDS and len(check.target.splitlines()) <= 1 and not check.target.endswith("\n")


class CheckEdits:
    """Edits of suite files. All methods block: call them in a thread. Those that save raise SuiteError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def places(self, suite: Suite, check: Check) -> tuple[CheckPlace, ...]:
        """Return every place of a suite that has an equal check."""
        return places_of_check(suite, check.kind, check.target)

    def read_answers(self, suite: Suite, places: Iterable[CheckPlace]) -> tuple[RecordedAnswer, ...]:
        """Return the recorded answers to the steps of checks, for each case the newest first. Raises StoreError.

        Replays of recorded answers are left out.
        """
        found: dict[tuple[str, TrialKey, int], RecordedAnswer] = {}
        for place in places:
            results = self._store.case_results(suite.path, place.case, _MOST_OF_A_CASE)
            for run, result in results:
                last = result.attempts[-1] if result.attempts else None
                if last and place.step < len(last.steps) and not result.trial.model.startswith(_REPLAYED):
                    key = (run, result.trial, place.step)
                    found.setdefault(key, RecordedAnswer(run, result.trial, last, place.step))
            if len(found) >= _MOST_ANSWERS:
                break
        return tuple(islice(found.values(), _MOST_ANSWERS))

    def save_check(self, suite: Suite, places: Sequence[CheckPlace], old: str, new: str) -> None:
        """Write another target of these checks to the suite's file."""
        self._save(suite, lambda content: change_checks(suite, content, places, old, new))

    def copy_case(self, suite: Suite, case: Case) -> str:
        """Write a copy of a case to the suite's file, and return its id."""
        return self._save_case(suite, lambda content: copy_case(suite, content, case))

    def add_case(self, suite: Suite, case: Case) -> str:
        """Write a new case to the suite's file, behind another one, and return its id."""
        return self._save_case(suite, lambda content: add_case(suite, content, case))

    def _save_case(self, suite: Suite, edit: Callable[[bytes], AddedCase]) -> str:
        added: list[AddedCase] = []

        def edited(content: bytes) -> bytes:
            added.append(edit(content))
            return added[-1].content

        self._save(suite, edited)
        return added[-1].case

    def _save(self, suite: Suite, edit: Callable[[bytes], bytes]) -> None:
        """Replace the suite's file, unless it differs from what was read, cannot be edited, or cannot be written."""
        path = Path(suite.path)
        try:
            new = edit(_read_unchanged(path, suite)).decode()
            _refuse_read_only(path)
            _read_unchanged(path, suite)
            write_safely(path, new)
        except NotRead as reason:
            raise SuiteError(str(reason), where=suite.path) from reason
        except NotEditable as reason:
            raise SuiteError(str(reason), where=suite.path, fix="Nothing was saved.") from reason
        except OSError as error:
            what = f"Cannot be written ({error.strerror})"
            raise SuiteError(what, where=suite.path, fix="Nothing was saved. Check its permissions.") from error


def _read_unchanged(path: Path, suite: Suite) -> bytes:
    content = read_bytes(path, MOST_JSON_BYTES, "a suite file")
    if digest_on_disk(content, path.parent, suite.data_files) != suite.sha256:
        fix = "Nothing was saved. Edit it again after it was reloaded."
        raise SuiteError("The file has changed since it was read", where=suite.path, fix=fix)
    return content


def _refuse_read_only(path: Path) -> None:
    """Raise OSError for a file without write permission, which could be replaced in a writable folder."""
    if not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))


class CheckTrial:
    """Judges recorded answers with an edited check, in worker processes of its own. Belongs to one event loop."""

    def __init__(self) -> None:
        self._checker = Checker()

    async def start(self) -> None:
        """Start a worker process, so that the first pattern does not wait for it."""
        await self._checker.decide([Check("expected_pattern", "^")], Answer(""))

    async def fault(self, check: Check) -> str | None:
        """Return why the target of a check is invalid, or None."""
        return await asyncio.to_thread(pattern_error, check.kind, check.target)

    async def judge(
        self, old: Check, new: Check, answers: Sequence[RecordedAnswer], *, accept_truncated: bool
    ) -> AsyncGenerator[Sequence[JudgedAnswer]]:
        """Yield the judged answers in batches, in their order; `new` takes the place of the check `old`.

        A pattern that took too long in several answers is not tried on the others. When the iteration is cancelled
        while a pattern takes long, its processes are replaced: the next pattern does not wait for it.
        """
        loop, place, timeouts = asyncio.get_running_loop(), 0, 0
        while place < len(answers):
            batch = answers[place : place + (_BATCH if place else _FIRST_BATCH)]
            place += len(batch)
            began = loop.time()
            try:
                results = await asyncio.gather(*(self._decide(new, each, timeouts) for each in batch))
            except asyncio.CancelledError:
                if loop.time() - began > _STUCK_SECONDS:
                    await self.close()
                    self._checker = Checker()
                raise
            timeouts += sum(result.state == "timed_out" for result in results)
            yield [
                JudgedAnswer(answer, result, _verdict(answer, old, result, accept_truncated))
                for answer, result in zip(batch, results, strict=True)
            ]
            await asyncio.sleep(0)

    async def _decide(self, check: Check, answer: RecordedAnswer, timeouts: int) -> CheckResult:
        if timeouts >= _MOST_TIMEOUTS:
            return CheckResult(check.kind, check.target, "timed_out", _NOT_EVALUATED)
        step = answer.attempt.steps[answer.step]
        [result] = await self._checker.decide([check], Answer(step.response, step.tools_used, step.memory))
        return result

    @property
    def pids(self) -> tuple[int, ...]:
        """The ids of the running worker processes."""
        return self._checker.pids

    async def close(self) -> None:
        """End the worker processes."""
        await self._checker.close()


def _verdict(answer: RecordedAnswer, old: Check, result: CheckResult, accept_truncated: bool) -> Verdict:
    """Return the verdict of an attempt in which the result takes the place of that of the check `old`."""
    attempt = answer.attempt
    recorded = [check for step in attempt.steps for check in step.checks]
    was_judged = attempt.verdict in (*JUDGED, "incomplete")
    was_unsure = attempt.verdict == "error" and not attempt.fault and any(c.state == "timed_out" for c in recorded)
    if not was_judged and not was_unsure:
        return attempt.verdict
    own = attempt.steps[answer.step].checks
    replaced = next((check for check in own if (check.kind, check.target) == (old.kind, old.target)), None)
    early = not accept_truncated and any(early_stop(step.finish_reason) for step in attempt.steps)
    return verdict_of_checks(
        [*(check for check in recorded if check is not replaced), result],
        is_incomplete=early or "incomplete" in (attempt.fault, attempt.verdict),
        is_checked=True,
    )
