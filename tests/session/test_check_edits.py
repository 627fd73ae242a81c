"""Checks and cases are written to suite files, and recorded answers are judged with an edited check."""

import asyncio
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.brief_checks import set_brief_limits
from tests.support.kept_runs import STARTED, make_plan, make_result, make_step
from tests.support.processes import is_computing, wait_until
from tui.model.errors import SuiteError
from tui.model.results import Attempt, CheckResult, TrialKey, TrialResult, Verdict
from tui.model.suite import Check, CheckKind, Suite
from tui.session.check_edits import CheckEdits, CheckPlace, CheckTrial, JudgedAnswer, RecordedAnswer, is_editable
from tui.session.session import open_suite
from tui.store.sqlite import SqliteStore

SUITE = """\
name: S
description: Two cases
models: [m]
testCases:
  - {id: a, name: A, category: C, prompt: p, expectedPatterns: [parameter], forbiddenPatterns: [eval]}
  - {id: b, name: B, category: C, prompt: p, expectedPatterns: [parameter, x]}
"""
OLD = Check("expected_pattern", "parameter")
PLACE = CheckPlace("a", 0, 0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def edits(store: SqliteStore) -> CheckEdits:
    return CheckEdits(store)


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    path = tmp_path / "s.yaml"
    path.write_text(SUITE)
    return read(path)


def read(path: Path) -> Suite:
    loaded = open_suite(path)
    assert loaded.suite is not None, loaded.problems
    return loaded.suite


def test_a_check_is_saved(edits: CheckEdits, suite: Suite) -> None:
    path = Path(suite.path)
    path.chmod(0o640)
    edits.save_check(suite, [PLACE], "parameter", r"\bparam")
    assert path.read_text() == SUITE.replace("[parameter],", r"[\bparam],")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_check_is_saved_in_every_case_that_has_it(edits: CheckEdits, suite: Suite) -> None:
    places = edits.places(suite, OLD)
    assert places == (PLACE, CheckPlace("b", 0, 0))
    edits.save_check(suite, places, "parameter", "z")
    assert [case.steps[0].checks[0].target for case in read(Path(suite.path)).cases] == ["z", "z"]


def test_cases_are_saved(edits: CheckEdits, suite: Suite) -> None:
    draft = edits.read_case(suite, suite.cases[0], "copy")
    assert edits.save_case(suite, suite.cases[0], "copy", draft, draft) == "a-copy"
    suite = read(Path(suite.path))
    draft = {**edits.read_case(suite, suite.cases[0], "new"), "name": "N", "prompt": "q"}
    assert edits.save_case(suite, suite.cases[0], "new", draft, draft) == "new-case"
    assert [case.id for case in read(Path(suite.path)).cases] == ["a", "new-case", "a-copy", "b"]


def test_a_symbolic_link_stays_and_its_file_is_written(edits: CheckEdits, tmp_path: Path, suite: Suite) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(suite.path)
    edits.save_check(read(link), [PLACE], "parameter", "z")
    assert link.is_symlink()
    assert "[z]," in Path(suite.path).read_text()


def refused(edits: CheckEdits, suite: Suite) -> str:
    with pytest.raises(SuiteError) as error:
        edits.save_check(suite, [PLACE], "parameter", "z")
    return str(error.value)


def test_a_file_that_has_changed_is_not_overwritten(edits: CheckEdits, suite: Suite) -> None:
    path = Path(suite.path)
    path.write_text(SUITE + "# more\n")
    assert "The file has changed since it was read. Nothing was saved." in refused(edits, suite)
    assert path.read_text() == SUITE + "# more\n"


def test_a_file_that_is_gone_or_no_file_is_refused(edits: CheckEdits, suite: Suite) -> None:
    path = Path(suite.path)
    path.unlink()
    assert "does not exist" in refused(edits, suite)
    path.mkdir()
    assert "is a folder" in refused(edits, suite)
    path.rmdir()
    os.mkfifo(path)
    assert "is not a regular file" in refused(edits, suite)


def test_a_read_only_file_is_refused(edits: CheckEdits, suite: Suite) -> None:
    Path(suite.path).chmod(0o444)
    assert "Cannot be written (Permission denied). Nothing was saved." in refused(edits, suite)
    assert Path(suite.path).read_text() == SUITE


def test_a_full_disk_leaves_the_file(edits: CheckEdits, suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    assert "Cannot be written (No space left on device)" in refused(edits, suite)
    assert Path(suite.path).read_text() == SUITE
    assert [each.name for each in Path(suite.path).parent.iterdir() if "s.yaml." in each.name] == []


def test_an_anchor_that_is_shared_is_refused(edits: CheckEdits, tmp_path: Path) -> None:
    path = tmp_path / "shared.yaml"
    path.write_text(SUITE.replace("[parameter]", "&p [parameter]").replace("[parameter, x]", "*p"))
    assert "is shared by the anchor &p" in refused(edits, read(path))
    assert "Nothing was saved" in refused(edits, read(path))


def test_checks_that_are_one_line_of_text_are_editable() -> None:
    assert is_editable(OLD)
    assert is_editable(Check("output.equals", ""))
    assert not is_editable(Check("output.equals", "a\nb"))
    assert not is_editable(Check("expected_pattern", "a\n"))
    assert not is_editable(Check("memory", "a", 1))
    assert not is_editable(Check("command", "make"))


def keep(store: SqliteStore, suite: Suite, run: str, *results: TrialResult) -> None:
    plan = replace(make_plan(suite.cases, ["m", "n"], run_id=run * 32), suite=suite)
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, results)
    store.finish_run(plan.run_id, "finished", STARTED)


def test_the_answers_of_all_runs_are_read_newest_first(store: SqliteStore, edits: CheckEdits, suite: Suite) -> None:
    keep(store, suite, "1", make_result(TrialKey("a", "m")), make_result(TrialKey("b", "m")))
    keep(store, suite, "2", make_result(TrialKey("a", "m")), make_result(TrialKey("a", "n"), "failed"))
    keep(store, suite, "3", make_result(TrialKey("a", f"replay/{'2' * 32}/m")))
    keep(store, replace(suite, path="other.yaml"), "4", make_result(TrialKey("a", "m")))
    answers = edits.read_answers(suite, [PLACE])
    assert [(each.run[0], each.trial.model, each.verdict) for each in answers] == [
        ("2", "n", "failed"),
        ("2", "m", "passed"),
        ("1", "m", "passed"),
    ]
    assert len(edits.read_answers(suite, edits.places(suite, OLD))) == 4
    assert edits.read_answers(suite, [CheckPlace("a", 1, 0)]) == ()


def test_the_first_judged_answer_of_a_trial_is_read(store: SqliteStore, edits: CheckEdits, suite: Suite) -> None:
    result = make_result(TrialKey("a", "m"), "failed")
    rerun = replace(result.attempts[-1], number=len(result.attempts) + 1, asking=1, verdict="passed")
    keep(store, suite, "1", replace(result, verdict="passed", attempts=(*result.attempts, rerun)))
    [read] = edits.read_answers(suite, [PLACE])
    assert (read.verdict, read.attempt.number) == ("failed", result.first_judged.number if result.first_judged else 0)


def answer(
    *checks: CheckResult, verdict: Verdict = "passed", text: str = "Use a parameter.", **more: object
) -> RecordedAnswer:
    fault, finish = more.get("fault"), more.get("finish", "stop")
    step = replace(make_step(text), checks=checks, finish_reason=str(finish))
    attempt = Attempt(1, verdict, None, (step,), STARTED, fault=str(fault) if fault else None)
    return RecordedAnswer("1" * 32, TrialKey("a", "m"), attempt, 0)


def judged(
    new: str, *answers: RecordedAnswer, kind: CheckKind = "expected_pattern", accept: bool = False
) -> list[JudgedAnswer]:
    async def run() -> list[JudgedAnswer]:
        trial = CheckTrial()
        old = replace(OLD, kind=kind)
        try:
            batches = trial.judge(old, replace(old, target=new), answers, accept_truncated=accept)
            return [each async for batch in batches for each in batch]
        finally:
            await trial.close()

    return asyncio.run(run())


FOUND = CheckResult("expected_pattern", "parameter", "passed", "", ((6, 15),))
CLEAN = CheckResult("forbidden_pattern", "eval", "passed")
UNSURE = CheckResult("expected_pattern", "parameter", "timed_out")


@pytest.mark.parametrize(
    ("recorded", "new", "verdict"),
    [
        (answer(FOUND, CLEAN), "parameter", "passed"),
        (answer(FOUND, CLEAN), r"\d", "failed"),
        (answer(FOUND, CLEAN), "USE A", "passed"),
        (answer(replace(FOUND, state="failed"), verdict="failed"), "use", "passed"),
        (answer(FOUND, replace(CLEAN, state="failed"), verdict="failed"), "use", "failed"),
        (answer(UNSURE, verdict="error"), "use", "passed"),
        (answer(verdict="unchecked"), "use", "passed"),
        (answer(FOUND, verdict="error", fault="crashed"), "use", "error"),
        (answer(FOUND, verdict="error"), "use", "error"),
        (answer(verdict="cancelled"), "use", "cancelled"),
        (answer(verdict="timed_out", fault="timed_out"), "use", "timed_out"),
        (answer(FOUND, verdict="incomplete", fault="incomplete"), r"\d", "incomplete"),
        (answer(FOUND, verdict="incomplete", finish="length"), "use", "incomplete"),
        (answer(FOUND, FOUND), r"\d", "failed"),
    ],
)
def test_an_answer_is_judged_with_the_other_checks_as_recorded(
    recorded: RecordedAnswer, new: str, verdict: Verdict
) -> None:
    [found] = judged(new, recorded)
    assert found.verdict == verdict
    assert found.is_changed == (verdict != recorded.verdict)


def test_recorded_checks_that_the_case_no_longer_has_do_not_count(
    store: SqliteStore, edits: CheckEdits, suite: Suite
) -> None:
    key, failed = TrialKey("a", "m"), CheckResult("expected_pattern", "replaced", "failed")
    attempt = answer(failed, CLEAN, verdict="failed").attempt
    keep(store, suite, "1", TrialResult(key, "failed", False, None, (attempt,)))
    command = CheckResult("command", "make", "failed")
    attempt = answer(failed, command, verdict="failed").attempt
    keep(store, suite, "2", TrialResult(key, "failed", False, None, (attempt,)))
    newest, oldest = edits.read_answers(suite, [PLACE])
    assert [each.verdict for each in judged("use", newest, oldest)] == ["failed", "passed"], "a command is no check"


def test_matches_of_the_edited_pattern_are_returned() -> None:
    [found] = judged("[ae] p|\\.", answer(FOUND))
    assert found.result.spans == ((4, 7), (15, 16))


def test_a_forbidden_pattern_in_an_incomplete_answer_fails_it() -> None:
    cut = answer(verdict="incomplete", finish="length")
    assert [each.verdict for each in judged("use", cut, kind="forbidden_pattern")] == ["failed"]
    assert [each.verdict for each in judged("eval", cut, kind="forbidden_pattern")] == ["incomplete"]
    accepted = answer(FOUND, finish="length")
    assert [each.verdict for each in judged("use", accepted, accept=True)] == ["passed"]


def test_a_pattern_that_runs_too_long_is_not_tried_on_every_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    set_brief_limits(monkeypatch)
    slow = [answer(FOUND, text=f"{'a' * 40}! {number}") for number in range(40)]
    found = judged("(a+)+$", *slow)
    assert {each.result.state for each in found} == {"timed_out"}
    assert {each.verdict for each in found} == {"error"}
    assert "took too long in other answers" in found[-1].result.detail


async def test_the_next_pattern_does_not_wait_for_one_that_runs_long() -> None:
    trial = CheckTrial()
    answers = [answer(FOUND, text=f"{'a' * 60}! {number}") for number in range(8)]

    async def first_batch(pattern: str) -> Sequence[JudgedAnswer]:
        async for batch in trial.judge(OLD, replace(OLD, target=pattern), answers, accept_truncated=False):
            return batch
        return ()

    try:
        slow = asyncio.create_task(first_batch("(a+)+$"))
        await asyncio.to_thread(wait_until, lambda: any(map(is_computing, trial.pids)))
        assert not slow.done()
        before = set(trial.pids)
        slow.cancel()
        await asyncio.wait([slow])
        assert [each.verdict for each in await first_batch(r"a\b")] == ["passed"] * 4
        assert before
        assert not before & set(trial.pids)
    finally:
        await trial.close()


async def test_the_text_of_a_row_is_filled_in_as_in_a_run() -> None:
    trial = CheckTrial({"a": {"word": "para.meter"}, "b": {"word": "parameter"}})
    try:
        check = replace(OLD, target="{{word}}")
        second = replace(answer(FOUND), trial=TrialKey("b", "m"))
        batches = trial.judge(OLD, check, [answer(FOUND), second], accept_truncated=False)
        found = [each async for batch in batches for each in batch]
        assert [each.verdict for each in found] == ["failed", "passed"], "in a pattern the text is escaped"
        assert await trial.fault(check, "a") is None
        assert await trial.fault(replace(OLD, target=r"\{{2}}"), "a") is None, "escaped braces are no name"
        fault = await trial.fault(replace(OLD, target="{{words}}"), "a") or ""
        assert fault == "the data has no column `words`; correct the name, or use one of: word"
    finally:
        await trial.close()


async def test_an_invalid_pattern_is_explained() -> None:
    trial = CheckTrial()
    assert "parenthesis" in (await trial.fault(replace(OLD, target="(")) or "")
    assert "longer than 32,768 characters" in (await trial.fault(replace(OLD, target="a" * 1_000_000)) or "")
    assert await trial.fault(Check("output.includes", "(")) is None
    await trial.close()
