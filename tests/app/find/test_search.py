"""The dialog that searches saved answers, in the running app over a real store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.explore.explored import Seen, explored, session_for
from tests.support.histories import run_history
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result, make_subject
from tests.support.pilots import screen_rows
from tests.support.scripted_session import ScriptedSession
from tui.app.find.search_dialog import SearchDialog
from tui.app.find.search_panel import SearchPanel
from tui.app.presentation.pieces import text_of
from tui.app.widgets.list_view import FoundList
from tui.model.results import TrialKey
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"
ONE, TWO = "0193f2" + "1" * 26, "0193f2" + "2" * 26


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data" / "runs.sqlite")
    cases = [make_case("first"), make_case("second")]
    for run, words in ((ONE, "an old parameter"), (TWO, "a new parameter [/foo] \x1b[31m")):
        plan = make_plan(cases, [A, B], run_id=run)
        opened.begin_run(plan, STARTED)
        opened.save_trials(
            run,
            [
                make_result(TrialKey(case.id, model), response=f"Answer of {model} to {case.id}: {words}.")
                for case in cases
                for model in (A, B)
            ],
        )
        opened.finish_run(run, "finished", STARTED)
    yield opened
    opened.close()


def session_of(store: SqliteStore, folder: Path) -> ScriptedSession:
    session = session_for(folder)
    session.keeps = run_history(store, folder / "data", lambda names: tuple(make_subject(name) for name in names))
    return session


def hits(seen: Seen) -> list[str]:
    found = seen.app.screen.query_one(FoundList)
    return [" ".join(text_of(found.line_at(place, 200)).split()) for place in range(found.line_count)]


async def searched(seen: Seen, text: str) -> None:
    await seen.press("ctrl+f")
    await seen.until(lambda: isinstance(seen.app.screen, SearchDialog))
    await seen.press(*text)
    panel = seen.app.screen.query_one(SearchPanel)
    await seen.until(lambda: panel.shown_text == text)


def note(seen: Seen) -> str:
    return str(seen.app.screen.query("SearchPanel > Static").last().render())


async def test_answers_of_all_runs_are_found_and_opened(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path), (160, 45)) as seen:
        await searched(seen, '"an old" second')
        await seen.until(lambda: len(hits(seen)) == 2, "the index is built")
        assert note(seen) == "2 answers."
        assert "second local/mock-b Answer of local/mock-b to second: an old parameter." in hits(seen)[0]
        assert hits(seen)[0].startswith("✓ 20 Nov")
        await seen.press("enter")
        await seen.until(lambda: seen.screen.selection.run == ONE and seen.screen.selection.case_id == "second")
        await seen.until(lambda: seen.screen.answers.current_model == B)
        await seen.until(lambda: "to second: an old parameter." in seen.text(1))


@pytest.mark.long
async def test_only_the_displayed_run_is_searched(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path), (160, 45)) as seen:
        await searched(seen, "first mock-a parameter")
        await seen.until(lambda: len(hits(seen)) == 2)
        await seen.press("enter")
        await seen.until(lambda: seen.screen.selection.run == TWO, "the newest answer is the first")
        await searched(seen, "first mock-a parameter")
        await seen.until(lambda: len(hits(seen)) == 2)
        await seen.press("ctrl+r")
        await seen.until(lambda: len(hits(seen)) == 1)
        assert "a new parameter" in hits(seen)[0]
        await seen.press("ctrl+r")
        await seen.until(lambda: len(hits(seen)) == 2)


@pytest.mark.long
async def test_it_is_recorded_that_names_were_displayed(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path)) as seen:
        await searched(seen, '"an old"')
        await seen.until(lambda: hits(seen))
        await seen.until(lambda: ONE in seen.screen.context.scores._recorded)


@pytest.mark.long
async def test_nothing_is_an_error(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path)) as seen:
        await searched(seen, 'text:( " NOT *')
        await seen.until(lambda: "No answer matches." in note(seen))
        await seen.press("enter")
        assert len(seen.app.screen_stack) == 2, "the dialog stays open"
        await seen.press("escape")
        await seen.until(lambda: len(seen.app.screen_stack) == 1)


@pytest.mark.long
async def test_a_suite_without_a_run_says_so(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path)) as seen:
        await searched(seen, "parameter")
        await seen.press("ctrl+r")
        await seen.until(lambda: note(seen) == "The displayed suite has no saved run.")


@pytest.mark.long
async def test_a_run_that_was_deleted_since_is_an_error(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path)) as seen:
        await searched(seen, '"an old"')
        await seen.until(lambda: hits(seen))
        store.delete_run(ONE)
        await seen.press("enter")
        await seen.until(lambda: any("no longer exists" in notice for notice in seen.notices))


async def test_hostile_answers_are_displayed(store: SqliteStore, tmp_path: Path) -> None:
    async with explored(session_of(store, tmp_path), (200, 45)) as seen:
        await searched(seen, "new")
        await seen.until(lambda: len(hits(seen)) == 4)
        assert any("new parameter [/foo] ␛[31m" in row for row in screen_rows(seen.app.screen))
