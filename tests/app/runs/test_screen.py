"""Runs in the app: what is pressed, what is asked, what is seen while it happens."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.histories import run_history
from tests.support.pilots import screen_rows
from tests.support.scripted_session import prompt_of, result_of, step_of
from tui.app import run_queue
from tui.app.dialogs import ConfirmScreen
from tui.app.run_messages import RunBegan, RunEnded, RunQueued, TrialChanged
from tui.model.events import (
    AttemptFinished,
    AttemptStarted,
    CheckMoved,
    RequestRetried,
    RequestSent,
    StepStarted,
    StoreRecovered,
    StoreStalled,
    TextArrived,
    TrialDelayed,
    TrialFinished,
    TrialStarted,
)
from tui.model.results import Attempt, CheckResult, Retry, TrialKey
from tui.session.consent import Consent
from tui.store.sqlite import SqliteStore

A, B = TrialKey("one", "mock-a"), TrialKey("one", "mock-b")


def begun(key: TrialKey, of: int = 1) -> tuple[TrialStarted, AttemptStarted, StepStarted, RequestSent]:
    return TrialStarted(key), AttemptStarted(key, 1, of), StepStarted(key, 1, 0, prompt_of()), RequestSent(key, 1, 0)


async def start(seen: Seen, key: str = "r") -> None:
    plans = len(seen.session.plans)
    await seen.press(key)
    await seen.until(lambda: len(seen.session.plans) > plans, "a plan was made")


async def test_text_and_checks_arrive_while_it_runs(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        assert session.plans[-1].trials == (A, B)
        await seen.until(lambda: "◦◦" in seen.row)
        assert "Waiting for a free slot." in seen.text(0)
        session.say(*begun(A), TextArrived(A, 1, 0, "def reverse"))
        await seen.until(lambda: "def reverse" in seen.text(0))
        assert seen.row.startswith("●◦")
        assert seen.pane(0).view.streaming
        session.say(CheckMoved(A, 1, 0, 0, "found", ((0, 3),)), TextArrived(A, 1, 0, "(text)\neval"))
        await seen.until(lambda: "eval" in seen.text(0))
        await seen.until(lambda: "… 1 so far  line 1" in seen.checks[0])
        assert seen.pane(0).view.matches == 1
        session.say(CheckMoved(A, 1, 0, 1, "forbidden", ((19, 23),)))
        await seen.until(lambda: "… found so far  line 2" in seen.checks[1])
        checks = (
            CheckResult("expected_pattern", "def", "passed", spans=((0, 3),)),
            CheckResult("forbidden_pattern", "eval", "failed", spans=((19, 23),)),
        )
        session.say(TrialFinished(result_of(A, "failed", step_of("def reverse(text)\neval", *checks))))
        await seen.until(lambda: seen.row.startswith("✗◦"))
        await seen.until(lambda: "1/2  ✓ 0  ✗ 1" in seen.header)
        await seen.until(lambda: "✗  0.9 s · TTFT 0.15 ·  16 tok/s ·   12 tok" in seen.pane(0).figures)
        assert not seen.pane(0).view.streaming
        session.say(TrialFinished(result_of(B, "passed", step_of("Whole at once."))))
        session.finish()
        await seen.until(lambda: "■ 2/2  ✓ 1  ✗ 1" in seen.header)
        assert "Whole at once." in seen.text(1)
        kinds = [type(message) for message in seen.messages if type(message).__module__ == "tui.app.run_messages"]
        assert kinds[:2] == [RunQueued, RunBegan]
        assert kinds[-1] is RunEnded
        assert set(kinds[2:-1]) == {TrialChanged}


@pytest.mark.long
async def test_tokens_are_no_messages(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        session.say(*begun(A))
        await seen.until(lambda: seen.row.startswith("●"))
        before = len(seen.posted(TrialChanged))
        session.say(*(TextArrived(A, 1, 0, f"word{number} ") for number in range(500)))
        await seen.until(lambda: "word499" in seen.text(0))
        assert len(seen.posted(TrialChanged)) == before


async def test_what_streams_unseen_is_whole_when_it_is_looked_at(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        session.say(*begun(A), TextArrived(A, 1, 0, "first "))
        await seen.until(lambda: "first" in seen.text(0))
        await seen.press("full_stop")
        session.say(TextArrived(A, 1, 0, "second "))
        await seen.until(lambda: seen.screen.selection.case_id == "two")
        assert "first" not in seen.text(0)
        await seen.press("comma")
        session.say(TextArrived(A, 1, 0, "third"))
        await seen.until(lambda: "first second third" in seen.text(0))


async def test_nothing_is_gathered_for_a_trial_that_is_over(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        await seen.press("full_stop")
        session.say(*begun(A), TextArrived(A, 1, 0, "unseen"))
        queue = seen.screen.context.runs
        await seen.until(lambda: bool(queue.messages.text))
        session.say(TrialFinished(result_of(A, "passed", step_of("unseen"))))
        await seen.until(lambda: not queue.messages.text)


async def test_waiting_and_retrying_are_reported(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        session.say(TrialDelayed(A, 500))
        await seen.until(lambda: "Waiting 0.5 s before the next case" in seen.text(0))
        session.say(*begun(A))
        await seen.until(lambda: "No text received yet" in seen.text(0))
        session.say(RequestRetried(A, 1, 0, "Too many requests (429).", 1500))
        await seen.until(lambda: "Too many requests (429). Retrying in 1.5 s." in seen.text(0))
        session.say(RequestSent(A, 1, 0), TextArrived(A, 1, 0, "there"))
        await seen.until(lambda: seen.text(0) == "there\n▌" or seen.text(0).startswith("there"))
        assert "Too many" not in seen.text(0)


async def test_attempts_follow_each_other_and_are_listed(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    store = SqliteStore(tmp_path / "runs.sqlite")
    session.keeps = run_history(store, tmp_path, session.resolve)  # the Risk tab, on the way, looks for scores
    async with explored(session) as seen:
        await start(seen)
        retry = Retry("connection dropped", 250)
        first = Attempt(1, "failed", None, (step_of("bad answer", retries=[retry]),), duration_ms=700)
        session.say(*begun(A, of=3), TextArrived(A, 1, 0, "bad answer"))
        await seen.until(lambda: "bad answer" in seen.text(0))
        session.say(AttemptFinished(A, first), AttemptStarted(A, 2, 3), StepStarted(A, 2, 0, prompt_of()))
        session.say(RequestSent(A, 2, 0), TextArrived(A, 2, 0, "good"))
        await seen.until(lambda: "good" in seen.text(0) and "bad" not in seen.text(0))
        assert "2/3" in seen.pane(0).figures
        session.say(TrialFinished(result_of(A, "passed", step_of("good"), flaky=True, earlier=[first])))
        await seen.until(lambda: seen.row.startswith("◐"))
        await seen.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        await seen.until(lambda: "Attempts 2" in str(seen.screen.query_one("#tabs").render()))
    store.close()


async def test_an_error_is_a_sentence_below_the_answer(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        fault = "Cannot connect to localhost:1 (refused). Is the server running?"
        session.say(*begun(A), TrialFinished(result_of(A, "error", error=fault)))
        await seen.until(lambda: fault in seen.text(0))
        assert seen.row.startswith("!")


async def test_a_second_run_is_queued_and_then_runs(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        await seen.press("full_stop")
        await seen.press("r")
        await seen.until(lambda: "Queued" in seen.text(0))
        await seen.until(lambda: "1 queued" in seen.header)
        assert len(session.plans) == 1
        session.say(TrialFinished(result_of(A)), TrialFinished(result_of(B)))
        session.finish()
        await seen.until(lambda: len(session.plans) == 2)
        assert {trial.case for trial in session.plans[1].trials} == {"two"}


async def test_a_trial_that_runs_or_has_ended_is_not_called_queued(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        await seen.press("r")
        await seen.until(lambda: "1 queued" in seen.header)
        session.say(*begun(A), *begun(B), TrialFinished(result_of(B, "error", error="Cannot connect.")))
        await seen.until(lambda: "Cannot connect." in seen.text(1))
        assert "No text received yet" in seen.text(0)
        assert "Queued" not in seen.text(0)


@pytest.mark.long
async def test_the_suite_a_category_and_what_failed_can_be_run(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    store = SqliteStore(tmp_path / "runs.sqlite")
    session.keeps = run_history(store, tmp_path, session.resolve)
    async with explored(session) as seen:
        await start(seen, "R")
        assert len(session.plans[-1].trials) == 6
        for key in session.plans[-1].trials:
            session.say(TrialFinished(result_of(key, "failed" if key.case == "three" else "passed")))
        session.finish()
        await seen.until(lambda: "■ 6/6  ✓ 4  ✗ 2" in seen.header)
        await start(seen, "f")
        assert {trial.case for trial in session.plans[-1].trials} == {"three"}
        session.finish("cancelled")
        await seen.until(lambda: not seen.busy)
        await seen.press("down")
        assert "Security" in seen.row
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await start(seen, "y")
        assert {trial.case for trial in session.plans[-1].trials} == {"two", "three"}
    store.close()


async def test_x_cancels_the_case_and_shift_x_all(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        assert "x cancel" not in seen.footer
        await start(seen, "R")
        await seen.until(lambda: "x cancel" in seen.footer)
        session.say(*begun(A), TextArrived(A, 1, 0, "half an "))
        await seen.until(lambda: "half an" in seen.text(0))
        await seen.press("x")
        await seen.until(lambda: seen.row.startswith("--"))
        assert seen.busy
        await seen.press("X")
        await seen.until(lambda: not seen.busy)
        assert session.ended == ["cancelled"]
        await seen.until(lambda: "cancelled" in seen.header)


async def test_a_run_that_is_not_allowed_does_not_run(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "mark"))
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("n")
        await seen.until(lambda: any("permission denied" in notice for notice in seen.notices))
        assert session.plans == []
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: len(session.plans) == 1)
        assert session.allowed == session.consents


async def test_a_run_that_is_stopped_while_its_files_are_compared_asks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_for(tmp_path)
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "mark"))
    begun, may_end, find_missing = threading.Event(), threading.Event(), session.missing_consents

    def compare_slowly(*arguments: Any, **options: Any) -> tuple[Consent, ...]:
        begun.set()
        may_end.wait(60)
        return find_missing(*arguments, **options)

    monkeypatch.setattr(session, "missing_consents", compare_slowly)
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(begun.is_set)
        stopping = asyncio.create_task(seen.screen.context.runs.stop(within=600))
        await asyncio.sleep(0)
        may_end.set()
        await seen.until(stopping.done)
        assert not isinstance(seen.app.screen, ConfirmScreen)


async def test_notifications_wait_for_the_answer_to_a_question(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "mark"))
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        seen.app.notify("Not run: a model with a long name.")
        assert "Not run: a model with a long name." not in seen.notices
        await seen.press("n")
        await seen.until(lambda: "Not run: a model with a long name." in seen.notices)


async def test_a_command_that_is_too_long_to_be_displayed_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_queue, "LONGEST_QUESTION", 1_000)
    session = session_for(tmp_path)
    session.consents.append(Consent("commands", f"The suite runs: true {'x' * 990}", "mark"))
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: any("1,011 characters, too many to be displayed" in notice for notice in seen.notices))
        assert (session.plans, session.allowed) == ([], [])
        session.consents[0] = Consent("commands", f"The suite runs: true {'x' * 979}", "mark")
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))


async def test_stopping_does_not_wait_for_the_answer_to_a_question(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "mark"))
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        async with asyncio.timeout(20):
            await seen.screen.context.runs.stop(within=3600)
        assert session.plans == []


async def test_what_changes_while_the_question_is_displayed_is_asked_again(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "first content"))
    async with explored(session) as seen:
        await seen.press("r")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "second content"))
        await seen.press("y")
        await seen.until(lambda: len(session.allowed) == 1 and isinstance(seen.app.screen, ConfirmScreen))
        assert session.plans == []
        await seen.press("y")
        await seen.until(lambda: len(session.plans) == 1)


@pytest.mark.long
async def test_a_y_right_after_the_key_that_runs_allows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
    session = session_for(tmp_path)
    session.consents.append(Consent("commands", "The suite runs: true", "mark"))
    async with explored(session) as seen:
        await seen.press("r", "y")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: any("keys are ignored" in row for row in screen_rows(seen.app.screen)))
        assert isinstance(seen.app.screen, ConfirmScreen)
        assert (session.allowed, session.plans) == ([], [])


async def test_a_letter_that_is_typed_when_the_question_appears_allows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 3600.0)
    session, ready = session_for(tmp_path), threading.Event()
    session.consents.append(Consent("agent", "The suite runs the Python file agent.py", "mark"))
    find_missing = session.missing_consents
    monkeypatch.setattr(
        session, "missing_consents", lambda *given, **more: ready.wait(60) and find_missing(*given, **more)
    )
    async with explored(session) as seen:
        await seen.press("r")
        await seen.press("/", *"man")
        ready.set()
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y", *"queries")
        assert isinstance(seen.app.screen, ConfirmScreen)
        assert (session.allowed, session.plans) == ([], [])
        monkeypatch.setattr(ConfirmScreen, "quiet_seconds", 0.01)
        await seen.press("e")
        await seen.until(lambda: not any("keys are ignored" in row for row in screen_rows(seen.app.screen)))
        await seen.press("y")
        await seen.until(lambda: len(session.plans) == 1)


async def test_models_that_lead_nowhere_are_left_out_of_the_run(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.unresolved["mock-b"] = "There is no key for mock-b. Set MOCK_API_KEY."
    async with explored(session) as seen:
        await start(seen)
        assert session.plans[-1].trials == (A,)
        await seen.until(lambda: any("mock-b: see the pane" in notice for notice in seen.notices))
        await seen.until(lambda: "Set MOCK_API_KEY." in seen.text(1))


async def test_a_store_in_trouble_is_reported(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        session.say(StoreStalled("The disk is full."))
        await seen.until(lambda: any("The disk is full." in notice for notice in seen.notices))
        session.say(StoreRecovered())
        await seen.until(lambda: any("pending results are saved now" in notice for notice in seen.notices))


async def test_leaving_while_results_cannot_be_stored_says_what_would_be_lost(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.unstored = (result_of(A), result_of(B))
    async with explored(session) as seen:
        await start(seen)
        session.say(StoreStalled("The disk is full."))
        await seen.until(lambda: "paused: results cannot be saved" in seen.header)
        await seen.press("q")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        question = " ".join(" ".join(row.strip(" │") for row in screen_rows(seen.app.screen)).split())
        assert "its last answers cannot be saved: they would be lost. The disk is full." in question
        await seen.press("y")
        await seen.until(lambda: seen.app.return_code is not None)
    assert seen.app.return_code == 3
    assert seen.app.lost == "2 answers could not be saved: the disk is full"


async def test_leaving_asks_while_a_run_is_going(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await start(seen)
        await seen.press("q")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("n")
        await seen.until(lambda: not isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("ctrl+c")
        await seen.until(lambda: isinstance(seen.app.screen, ConfirmScreen))
        await seen.press("y")
        await seen.until(lambda: seen.app.return_code is not None)
    assert session.ended == ["interrupted"]
    assert seen.app.return_code == 0


async def test_streaming_can_be_turned_off_for_the_next_run(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        await seen.press("U")
        await start(seen)
        assert session.plans[-1].options.stream is False


async def test_a_fault_of_ours_is_reported_and_the_app_lives(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    async with explored(session) as seen:
        session.make_plan = lambda *_, **__: 1 / 0  # type: ignore[method-assign, assignment]
        await seen.press("r")
        await seen.until(lambda: any("ZeroDivisionError" in notice for notice in seen.notices))
        await seen.until(lambda: not seen.busy)
