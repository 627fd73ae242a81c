"""The screens that open above the current one, over a real store."""

from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from textual.pilot import Pilot

from tests.app.contexts import Notified, make_context
from tests.app.review.reviewed_runs import CASES, ME, A, B, keep_run, session_at
from tests.support.kept_runs import FINISHED, RUN_ID, STARTED, make_result
from tests.support.pilots import screen_rows, until
from tui.app.compare.screen import CompareScreen
from tui.app.context import AppContext
from tui.app.dialogs import ChoiceScreen
from tui.app.export_dialog import ExportScreen
from tui.app.navigator import Navigator, Subject
from tui.app.open_suites import OpenSuite
from tui.app.review.dialogs import ReviewStartScreen
from tui.app.review.screen import ReviewScreen
from tui.app.run_scores import ScoresChanged
from tui.app.runs.screen import RunsScreen
from tui.app.theme.themed_app import ThemedApp
from tui.model.shipped import shipped_folder
from tui.store.sqlite import SqliteStore


@dataclass
class Stage:
    """An app with an empty screen from which a navigator opens others; `posted` are the messages to all screens."""

    app: ThemedApp[None]
    pilot: Pilot[None]
    screen: Notified
    context: AppContext
    posted: list[Message]
    navigator: Navigator

    @property
    def suite(self) -> OpenSuite:
        return self.context.open_suites.all[0]

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        self.screen.run_worker(work)

    async def shows(self, kind: type) -> None:
        await until(self.pilot, lambda: isinstance(self.app.screen, kind), f"{kind.__name__} is open")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = keep_run(tmp_path)
    yield opened
    opened.close()


@asynccontextmanager
async def staged(store: SqliteStore, folder: Path) -> AsyncIterator[Stage]:
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    screen, posted = Notified(), list[Message]()
    async with app.run_test(size=(120, 40)) as pilot:
        context = await make_context(session_at(folder, store), app, posted)
        await app.push_screen(screen)
        yield Stage(app, pilot, screen, context, posted, Navigator(context, screen))


async def test_the_list_of_runs_returns_the_chosen_run(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        found = []

        async def choose() -> None:
            found.append(await stage.navigator.choose_run())

        stage.start(choose())
        await until(stage.pilot, lambda: isinstance(stage.app.screen, RunsScreen) and stage.app.screen.lines.run)
        await stage.pilot.press("enter")
        await until(stage.pilot, lambda: found, "a run is chosen")
        [(choice, deleted)] = found
        assert choice is not None
        assert (choice.act, choice.run.id, deleted) == ("open", RUN_ID, [])
        assert stage.app.screen is stage.screen


async def test_models_and_runs_are_compared(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        stage.start(stage.navigator.compare_models(stage.suite, (A, B), B, CASES[0].id))
        await stage.shows(CompareScreen)
        stage.app.pop_screen()
        [run] = store.list_runs()
        stage.start(stage.navigator.compare_run(run))
        await stage.shows(CompareScreen)


async def test_a_suite_that_displays_several_runs_asks_which_one_is_exported(
    store: SqliteStore, tmp_path: Path
) -> None:
    other = replace(store.read_plan(RUN_ID), run_id="2" * 32)
    store.begin_run(other, STARTED)
    store.finish_run(other.run_id, "finished", FINISHED)
    async with staged(store, tmp_path) as stage:
        results = dict.fromkeys(other.trials[:1], RUN_ID) | dict.fromkeys(other.trials[1:2], other.run_id)
        state = stage.context.open_suites.state(stage.suite.path)
        state.trials.clear()
        state.take_results(map(make_result, results), runs=results)
        stage.start(stage.navigator.export_suite(stage.suite))
        await stage.shows(ChoiceScreen)
        assert "A report is of one run." in "\n".join(screen_rows(stage.app.screen))
        await stage.pilot.press("enter")
        await stage.shows(ExportScreen)


async def test_the_answers_that_are_reviewed_are_of_the_run_of_the_case(store: SqliteStore, tmp_path: Path) -> None:
    other = replace(store.read_plan(RUN_ID), run_id="f" * 32)
    store.begin_run(other, STARTED)
    store.finish_run(other.run_id, "finished", FINISHED)
    async with staged(store, tmp_path) as stage:
        trial = other.trials[0]
        state = stage.context.open_suites.state(stage.suite.path)
        state.trials.clear()
        state.take_results([make_result(trial)], runs={trial: RUN_ID})
        stage.start(stage.navigator.open("review", Subject(str(stage.suite.path), case_id=trial.case)))
        await stage.shows(ReviewStartScreen)


async def test_nothing_to_compare_is_notified(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        await stage.navigator.compare_models(stage.suite, (), "", None)
        assert stage.screen.notices == ["Nothing to compare here. The suite has no models."]
        [run] = store.list_runs()
        store.delete_run(run.id)
        await stage.navigator.compare_run(run)
        assert len(stage.screen.notices) == 2, "the run has been deleted"
        await stage.navigator.compare_models(stage.suite._replace(suite=None), (A, B), B, None)
        assert stage.app.screen is stage.screen


async def test_every_screen_hears_when_a_review_is_closed(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        stage.start(stage.navigator.review(stage.suite))
        await stage.shows(ReviewStartScreen)
        await stage.pilot.press("end", "enter")
        await stage.shows(ReviewScreen)
        assert stage.context.scores.reviewer() == ME
        assert stage.posted == []
        await stage.pilot.press("escape")
        await until(stage.pilot, lambda: stage.posted, "the scores may have changed")
        assert [type(message) for message in stage.posted] == [ScoresChanged]
        assert stage.app.screen is stage.screen


async def test_a_review_that_is_not_started_changes_nothing(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        ended = []

        async def review() -> None:
            await stage.navigator.review_run(RUN_ID)
            ended.append(True)

        stage.start(review())
        await stage.shows(ReviewStartScreen)
        await stage.pilot.press("escape")
        await stage.shows(Notified)
        await until(stage.pilot, lambda: ended, "the review has ended")
        assert stage.posted == []


async def test_a_review_without_a_run_is_notified(store: SqliteStore, tmp_path: Path) -> None:
    async with staged(store, tmp_path) as stage:
        store.delete_run(RUN_ID)
        await stage.navigator.review(stage.suite)
        await stage.navigator.review_run(RUN_ID)
        assert "No saved run of this suite" in stage.screen.notices[0]
        assert len(stage.screen.notices) == 2
        assert stage.app.screen is stage.screen
