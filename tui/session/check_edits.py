"""Edits of the checks and cases in suite files, and recorded answers judged with an edited check before it is saved."""

import asyncio
import os
import stat
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tui.checks.backtracking import pattern_warning
from tui.checks.checker import Answer, Checker
from tui.checks.patterns import pattern_error
from tui.documents.files import NotRead, read_bytes
from tui.documents.problems import MOST_JSON_BYTES
from tui.documents.source_edits import NotEditable
from tui.documents.tables import digest_on_disk
from tui.model.errors import SuiteError
from tui.model.finish_reasons import early_stop
from tui.model.results import JUDGED, Attempt, CheckResult, TrialKey, Verdict, verdict_of_checks
from tui.model.secrets import Secrets
from tui.model.subjects import is_replay_name
from tui.model.suite import Case, Check, CheckKind, Suite
from tui.model.values import JsonObject
from tui.session.files import write_safely
from tui.session.recorded_cases import RecordedCases
from tui.store.protocol import Store
from tui.suites.drafts import draft_faults
from tui.suites.edits import (
    EDITABLE_KINDS,
    AddedCase,
    CaseEdit,
    CheckPlace,
    change_checks,
    draft_of,
    find_case,
    is_filled_in,
    places_of_check,
    write_draft,
)
from tui.suites.schema1.data_sets import fill_pattern, missing_columns

__all__ = [
    "CaseEdit",
    "CaseFault",
    "CasePath",
    "CheckEdits",
    "CheckPlace",
    "CheckTrial",
    "JudgedAnswer",
    "RecordedAnswer",
    "is_editable",
    "is_filled_in",
]

_MOST_OF_A_CASE = 300
_MOST_ANSWERS = 3_000
_FIRST_BATCH, _BATCH = 4, 24
_MOST_TIMEOUTS = 3
_STUCK_SECONDS = 0.2
_NOT_EVALUATED = "not evaluated: the pattern took too long in other answers"


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The first judged answer of a trial of a saved run, else the last one, to the step of a check.

    `checks` are the kinds and targets of the checks that the case has now; None if they are those of the run.
    """

    run: str
    trial: TrialKey
    attempt: Attempt
    step: int
    checks: frozenset[tuple[CheckKind, str]] | None = None

    @property
    def text(self) -> str:
        """The answer to the step."""
        return self.attempt.steps[self.step].response

    @property
    def verdict(self) -> Verdict:
        """The recorded verdict of the attempt."""
        return self.attempt.verdict

    def has_check(self, recorded: CheckResult) -> bool:
        """Return whether the case still has a check that was recorded. Its command is not among the checks."""
        return self.checks is None or recorded.kind == "command" or (recorded.kind, recorded.target) in self.checks


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """A recorded answer with the result of an edited check, and the verdict that follows from it.

    The other checks of the case keep their recorded results; those that the case no longer has do not count.
    """

    answer: RecordedAnswer
    result: CheckResult
    verdict: Verdict

    @property
    def is_changed(self) -> bool:
        """Whether the verdict differs from the recorded one."""
        return self.verdict != self.answer.verdict


class CaseFault(NamedTuple):
    """A problem of a case that is edited, which prevents that it is saved if it is an error."""

    what: str
    is_error: bool


CasePath = tuple[str | int, ...]
"""The keys and indexes that lead to a value of a case."""


def is_editable(check: Check) -> bool:
    """Return whether the target of a check is one line of text in the file."""
    return check.kind in EDITABLE_KINDS and len(check.target.splitlines()) <= 1 and not check.target.endswith("\n")


class CheckEdits:
    """Edits of suite files. All methods block: call them in a thread. Those that save raise SuiteError."""

    def __init__(self, store: Store, secrets: Secrets | None = None) -> None:
        self._store, self._secrets = store, secrets or Secrets()

    def trial(self, rows: Mapping[str, Mapping[str, str]]) -> "CheckTrial":
        """Return a trial of an edited check, with the `rows` of `CheckTrial`. Its details are without the secrets."""
        return CheckTrial(rows, self._secrets)

    def places(self, suite: Suite, check: Check) -> tuple[CheckPlace, ...]:
        """Return every place of a suite that has an equal check."""
        return places_of_check(suite, check.kind, check.target)

    def read_answers(self, suite: Suite, places: Iterable[CheckPlace]) -> tuple[RecordedAnswer, ...]:
        """Return the recorded answers to the steps of checks, for each case the newest first. Raises StoreError.

        They are the answers that are judged again: of each trial the first judged one. Replays of recorded answers, and
        answers to something else that the case asked before, are left out.
        """
        found: dict[tuple[str, TrialKey, int], RecordedAnswer] = {}
        checks = {
            case.id: frozenset((check.kind, check.target) for step in case.steps for check in step.checks)
            for case in suite.cases
        }
        recorded = RecordedCases(self._store, suite)
        for place in places:
            results = self._store.case_results(suite.path, place.case, _MOST_OF_A_CASE)
            for run, result in results:
                judged = result.first_judged
                if not recorded.asks_the_same(run, place.case) or is_replay_name(result.trial.model):
                    continue
                if judged and place.step < len(judged.steps):
                    key = (run, result.trial, place.step)
                    found.setdefault(key, RecordedAnswer(run, result.trial, judged, place.step, checks.get(place.case)))
            if len(found) >= _MOST_ANSWERS:
                break
        return tuple(islice(found.values(), _MOST_ANSWERS))

    def save_check(self, suite: Suite, places: Sequence[CheckPlace], old: str, new: str) -> str:
        """Write another target of these checks to the suite's file, and return the digest of the suite as saved."""
        return self._save(suite, lambda content: change_checks(suite, content, places, old, new))

    def read_case(self, suite: Suite, case: Case, edit: CaseEdit) -> JsonObject:
        """Return the value of a case in the suite's file, or the first value of a copy or of a new case behind it."""
        with _refusals(suite):
            return draft_of(suite, _read_unchanged(Path(suite.path), suite), case, edit)

    def find_case(self, suite: Suite, case: Case, old: JsonObject) -> Case:
        """Return the case of a suite that was `case` when its value in the file was `old`. Raises SuiteError."""
        with _refusals(suite):
            return find_case(suite, _read_unchanged(Path(suite.path), suite), case, old)

    def case_faults(self, suite: Suite, draft: JsonObject, own: str | None) -> Mapping[CasePath, CaseFault]:
        """Return the first problem at each path of the value of a case; `own` is the id that the case has in the file.

        It holds the messages of `assay validate`, but not the warnings about keys.
        """
        faults = draft_faults(suite, draft, own, pattern_error, pattern_warning)
        return {path: CaseFault(each.what, each.level == "error") for path, each in faults.items()}

    def save_case(self, suite: Suite, case: Case, edit: CaseEdit, old: JsonObject, new: JsonObject) -> str:
        """Write a case to the suite's file that was `old` when it was read, and return its id.

        An entry that differs from `old` in the file is not replaced.
        """
        saved: list[AddedCase] = []

        def edited(content: bytes) -> bytes:
            saved.append(write_draft(suite, content, case, edit, old, new))
            return saved[-1].content

        self._save(suite, edited)
        return saved[-1].case

    def _save(self, suite: Suite, edit: Callable[[bytes], bytes]) -> str:
        """Replace the suite's file, unless it differs from what was read, cannot be edited, or cannot be written.

        Return the digest of the suite as it was saved.
        """
        path = Path(suite.path)
        with _refusals(suite):
            new = edit(_read_unchanged(path, suite))
            digest = digest_on_disk(new, path.parent, suite.data_files)
            _refuse_read_only(path)
            _read_unchanged(path, suite)
            write_safely(path, new.decode())
        return digest


@contextmanager
def _refusals(suite: Suite) -> Iterator[None]:
    """Raise SuiteError where a file cannot be read, edited or written."""
    try:
        yield
    except NotRead as reason:
        raise SuiteError(str(reason), where=suite.path) from reason
    except NotEditable as reason:
        raise SuiteError(str(reason), where=suite.path, fix="Nothing was saved.") from reason
    except OSError as error:
        what = f"Cannot be written ({error.strerror})"
        raise SuiteError(
            what,
            where=suite.path,
            fix="Nothing was saved. Free disk space or fix the permissions of the file, then save again.",
        ) from error


def _read_unchanged(path: Path, suite: Suite) -> bytes:
    content = read_bytes(path, MOST_JSON_BYTES, "a suite file")
    if digest_on_disk(content, path.parent, suite.data_files) != suite.sha256:
        fix = "Nothing was saved. Close the editor, and open it again."
        raise SuiteError("The file has changed since it was read", where=suite.path, fix=fix)
    return content


def _refuse_read_only(path: Path) -> None:
    """Raise OSError for a file without write permission, which could be replaced in a writable folder."""
    if not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied", str(path))


class CheckTrial:
    """Judges recorded answers with an edited check, in worker processes of its own. Belongs to one event loop.

    `rows` are the texts of the data sets by the id of the case: they are filled in for `{{column}}`, as in a run.
    """

    def __init__(
        self, rows: Mapping[str, Mapping[str, str]] = MappingProxyType({}), secrets: Secrets | None = None
    ) -> None:
        self._checker, self._rows, self._secrets = Checker(secrets), rows, secrets

    async def start(self) -> None:
        """Start a worker process, so that the first pattern does not wait for it."""
        await self._checker.decide([Check("expected_pattern", "^")], Answer(""))

    async def fault(self, check: Check, case: str = "") -> str | None:
        """Return why the target of a check of a case is invalid, or None."""
        if missing := missing_columns(check.target, self._rows[case]) if case in self._rows else []:
            columns = ", ".join(self._rows[case])
            return f"the data has no column `{missing[0]}`; correct the name, or use one of: {columns}"
        return await asyncio.to_thread(pattern_error, check.kind, self._filled(check, case).target)

    def _filled(self, check: Check, case: str) -> Check:
        """Return a check with the texts of the row of its case."""
        row = self._rows.get(case)
        if row is None or "{{" not in check.target or missing_columns(check.target, row):
            return check
        return replace(check, target=fill_pattern(check.target, row))

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
                    self._checker = Checker(self._secrets)
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
        [result] = await self._checker.decide(
            [self._filled(check, answer.trial.case)], Answer(step.response, step.tools_used, step.memory)
        )
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
        [*(check for check in recorded if check is not replaced and answer.has_check(check)), result],
        is_incomplete=early or "incomplete" in (attempt.fault, attempt.verdict),
        is_checked=True,
    )
