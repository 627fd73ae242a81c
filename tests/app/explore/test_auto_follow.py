"""The selection goes with what runs, until the person chooses for themselves; and what is said of a clone."""

from pathlib import Path

import pytest

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.scripted_session import prompt_of, result_of, step_of
from tui.model.context import NOTHING_SENT, PlannedCase, PlannedContext
from tui.model.events import (
    AttemptStarted,
    ContextRead,
    RepositoryCloned,
    RepositoryCloning,
    RequestSent,
    StepStarted,
    TextArrived,
    TrialFinished,
    TrialStarted,
)
from tui.model.results import TrialKey

KEYS = {(case, model): TrialKey(case, model) for case in ("one", "two", "three") for model in ("mock-a", "mock-b")}


def begun(key: TrialKey) -> tuple[TrialStarted, AttemptStarted, StepStarted, RequestSent, TextArrived]:
    start = TrialStarted(key), AttemptStarted(key, 1, 1), StepStarted(key, 1, 0, prompt_of()), RequestSent(key, 1, 0)
    return *start, TextArrived(key, 1, 0, f"Text of {key.case}. ")


async def start(seen: Seen, key: str) -> None:
    await seen.press(key)
    await seen.until(lambda: seen.session.plans, "a plan was made")


async def finish(seen: Seen, case: str) -> None:
    for model in ("mock-a", "mock-b"):
        seen.session.say(TrialFinished(result_of(KEYS[case, model], "passed", step_of(f"All of {case}."))))


async def test_the_selection_goes_with_the_run_case_by_case(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await start(seen, "R")
        await seen.until(lambda: "following" in seen.header)
        seen.session.say(*begun(KEYS["one", "mock-a"]), *begun(KEYS["one", "mock-b"]))
        await seen.until(lambda: "Text of one." in seen.text(1))
        seen.session.say(TrialFinished(result_of(KEYS["one", "mock-a"])), *begun(KEYS["two", "mock-a"]))
        await seen.until(lambda: seen.rows[2].startswith("    ✓●"))
        assert "reverse a text" in seen.row, "one of its answers still streams"
        seen.session.say(TrialFinished(result_of(KEYS["one", "mock-b"])))
        await seen.until(lambda: "query by mail" in seen.row)
        await seen.until(lambda: "Text of two." in seen.text(0))
        await finish(seen, "two")
        seen.session.say(*begun(KEYS["three", "mock-b"]))
        await seen.until(lambda: "hash a password" in seen.row)
        await finish(seen, "three")
        seen.session.finish()
        await seen.until(lambda: not seen.busy)
        await seen.until(lambda: "following" not in seen.header)
        assert "hash a password" in seen.row


@pytest.mark.parametrize(
    "keys", [("down",), ("1", "pageup"), *(pytest.param((key,), marks=pytest.mark.long) for key in ("full_stop", "n"))]
)
async def test_it_stays_where_the_person_looks_until_it_is_to_follow_again(
    tmp_path: Path, keys: tuple[str, ...]
) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await start(seen, "R")
        await seen.until(lambda: "following" in seen.header)
        assert "F follow" not in seen.footer
        await seen.press(*keys)
        await seen.until(lambda: "following" not in seen.header)
        await seen.until(lambda: "F follow" in seen.footer)
        here = seen.row
        seen.session.say(*begun(KEYS["three", "mock-a"]))
        await seen.until(lambda: "●" in seen.rows[-1])
        assert seen.row[2:] == here[2:]
        await seen.press("F")
        await seen.until(lambda: "hash a password" in seen.row)
        await seen.until(lambda: "Text of three." in seen.text(0))


async def test_one_case_is_not_followed_and_without_a_run_there_is_nothing_to_follow(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        assert "follow" not in seen.footer
        await start(seen, "r")
        seen.session.say(*begun(KEYS["one", "mock-a"]))
        await seen.until(lambda: "Text of one." in seen.text(0))
        assert "following" not in seen.header


@pytest.mark.long
async def test_only_cases_that_the_filter_leaves_are_followed(tmp_path: Path) -> None:
    async with explored(session_for(tmp_path)) as seen:
        await seen.press("slash", *"hash", "enter")
        await seen.until(lambda: "hash a password" in seen.row)
        await start(seen, "R")
        seen.session.say(*begun(KEYS["one", "mock-a"]), *begun(KEYS["three", "mock-a"]))
        await seen.until(lambda: "Text of three." in seen.text(0))
        assert "hash a password" in seen.row


async def test_a_clone_is_reported_while_it_goes_on_and_when_it_is_there(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    cloned = RepositoryCloned(
        "https://host/x.git", "main", ("A full clone: shallow is not possible here.",), "/tmp/kept"
    )
    session.before = (RepositoryCloning(1234, 5000, 99), cloned)
    async with explored(session) as seen:
        await start(seen, "r")
        await seen.until(lambda: "cloning 1,234/5,000 objects" in seen.header)
        assert "Preparing run." in seen.text(0)
        session.go_on.set()
        await seen.until(lambda: "0/2" in seen.header)
        assert any("A full clone" in notice and "/tmp/kept" in notice for notice in seen.notices)


@pytest.mark.long
async def test_a_clone_without_anything_to_say_says_nothing(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    session.before = (RepositoryCloning(12, 0, 99), RepositoryCloned("https://host/x.git", "main", (), None))
    async with explored(session) as seen:
        await start(seen, "r")
        await seen.until(lambda: "cloning 12 objects" in seen.header)
        session.go_on.set()
        await seen.until(lambda: "0/2" in seen.header)
        assert seen.notices == []


async def test_files_that_are_sent_as_they_were_recorded_are_reported(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    changed = PlannedCase("one", NOTHING_SENT, recorded=True)
    session.before = (ContextRead(PlannedContext()), ContextRead(PlannedContext((changed,))))
    async with explored(session) as seen:
        await start(seen, "r")
        session.go_on.set()
        await seen.until(lambda: "0/2" in seen.header)
        assert ["The files of 1 case are sent as they were recorded" in notice for notice in seen.notices] == [True]
