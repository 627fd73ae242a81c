"""Scores as the current reviewer may see them, over real score files and without a screen."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.message import Message
from textual.pilot import Pilot

from tests.app.contexts import make_context
from tests.app.review.reviewed_runs import ME, OTHER, A, B, acts, keep_run, results, session_at
from tests.support.kept_runs import RUN_ID
from tests.support.pilots import until
from tests.support.scripted_session import ScriptedSession
from tui.app.open_suites import OpenSuite, OpenSuites, Selection
from tui.app.run_scores import RunScores, ScoresChanged
from tui.app.workers import start_worker
from tui.model.subjects import Config
from tui.store.sqlite import SqliteStore

LATER = "0293f2a4c6d0" + "0" * 20
BLIND_ITEMS = 2
KEYS = [result.trial for result in results()]


class Notices(App[None]):
    """An app that records its notifications in `notices`."""

    def __init__(self) -> None:
        super().__init__()
        self.notices: list[str] = []

    def notify(self, message: str, **options: Any) -> None:
        del options
        self.notices.append(message)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = keep_run(tmp_path)
    yield opened
    opened.close()


async def make_scores(session: ScriptedSession, app: Notices | None = None) -> tuple[RunScores, OpenSuite]:
    """Return the scores, and the suite file that displays the results of the saved run."""
    context = await make_context(session, app or Notices())
    suite = context.open_suites.all[0]
    context.open_suites.state(suite.path).take_results(results(), runs=dict.fromkeys(KEYS, RUN_ID))
    return context.scores, suite


@asynccontextmanager
async def running(session: ScriptedSession) -> AsyncIterator[tuple[RunScores, Notices, Pilot[None]]]:
    """Return the scores, and the app that runs their workers."""
    app = Notices()
    async with app.run_test() as pilot:
        scores, _ = await make_scores(session, app)
        yield scores, app, pilot


def score_blind(session: ScriptedSession, name: str) -> None:
    """Score the first items of the run blind, and leave the session open."""
    review = session.reviews.open_review(RUN_ID, name, blind=True)
    for item in review.items[:BLIND_ITEMS]:
        review.give(item.key, 2)


def looks(session: ScriptedSession) -> int:
    """Return how often it is recorded that names were displayed."""
    return sum(act.act == "look" for act in acts(session))


async def test_who_scored_last_is_the_reviewer_now_and_at_the_next_start(store: SqliteStore, tmp_path: Path) -> None:
    session = session_at(tmp_path, store, Config())
    scores, _ = await make_scores(session)
    assert scores.reviewer() is None
    await scores.set_reviewer(OTHER)
    assert scores.reviewer() == OTHER
    assert session_at(tmp_path, store, Config()).reviews.default_reviewer() == OTHER


async def test_a_name_that_cannot_be_stored_is_notified_and_used(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "data" / "reviewer").mkdir()
    app = Notices()
    scores, _ = await make_scores(session_at(tmp_path, store, Config()), app)
    await scores.set_reviewer(OTHER)
    assert len(app.notices) == 1
    assert scores.reviewer() == OTHER


async def test_own_blind_scores_are_hidden_from_their_reviewer_only(store: SqliteStore, tmp_path: Path) -> None:
    session = session_at(tmp_path, store)
    scores, suite = await make_scores(session)
    score_blind(session, ME)
    assert scores.hidden_scores(RUN_ID) == BLIND_ITEMS
    assert await scores.read_bands(suite) == {}
    await scores.set_reviewer(OTHER)
    assert scores.hidden_scores(RUN_ID) == 0
    assert await scores.read_bands(suite) != {}


@pytest.mark.parametrize("runs", [1, 2])
async def test_answers_that_are_not_displayed_have_no_band(store: SqliteStore, tmp_path: Path, runs: int) -> None:
    session = session_at(tmp_path, store)
    review = session.reviews.open_review(RUN_ID, OTHER, blind=False)
    for item in review.items:
        review.give(item.key, 4)
    context = await make_context(session, Notices())
    suite = context.open_suites.all[0]
    state = context.open_suites.state(suite.path)
    displayed, others = KEYS[0], KEYS[1:]
    state.take_results(results()[:1], runs={displayed: RUN_ID})
    assert set(await context.scores.read_bands(suite)) == {displayed}
    if runs == 2:
        state.take_results(results()[1:], runs=dict.fromkeys(others, LATER))
        assert set(await context.scores.read_bands(suite)) == {displayed}


async def test_blind_scores_of_a_typed_name_stay_hidden_after_a_restart(store: SqliteStore, tmp_path: Path) -> None:
    first, _ = await make_scores(session_at(tmp_path, store, Config(reviewer=ME)))
    await first.set_reviewer(OTHER)
    session = session_at(tmp_path, store, Config(reviewer=ME))
    score_blind(session, OTHER)
    app = Notices()
    async with app.run_test() as pilot:
        scores, suite = await make_scores(session, app)
        assert scores.hidden_scores(RUN_ID) == BLIND_ITEMS
        assert await scores.read_bands(suite) == {}
        scores.record_names(RUN_ID, "Explore")
        await until(pilot, lambda: looks(session) == 1)
        assert scores.reviewer() == ME, "the config names who begins the next review"
        await scores.set_reviewer(ME)
        again, suite = await make_scores(session_at(tmp_path, store, Config(reviewer=ME)), app)
        assert await again.read_bands(suite) != {}, "the last reviewer has scored nothing blind"


def _has(posted: list[Message], number: int) -> bool:
    return len(posted) == number


async def test_scores_that_another_program_stores_are_noticed_once(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.app.run_scores._POLL_SECONDS", 0.01)
    session, posted = session_at(tmp_path, store), list[Message]()
    async with Notices().run_test() as pilot:
        context = await make_context(session, pilot.app, posted)
        start_worker(pilot.app, context.scores.work, group="watch")
        assert await context.scores.read_bands(context.open_suites.all[0]) == {}
        for number in (1, 2):
            review = session_at(tmp_path, store).reviews.open_review(RUN_ID, OTHER, blind=False)
            review.give(review.items[0].key, 4)
            await until(pilot, partial(_has, posted, number))
        assert {type(message) for message in posted} == {ScoresChanged}


async def test_a_suite_displays_its_current_run_else_the_newest(store: SqliteStore, tmp_path: Path) -> None:
    keep_run(tmp_path, run=LATER).close()
    scores, suite = await make_scores(session_at(tmp_path, store))
    assert scores.current_run(suite) == ""
    assert scores.run_of(suite) == LATER
    assert scores.run_of(suite._replace(run=RUN_ID)) == RUN_ID
    assert scores.run_of(suite._replace(run="not stored")) == "not stored"
    assert scores.run_of(suite._replace(suite=None)) == ""
    review = await scores.read_review(suite)
    assert review is not None
    assert review.record.id == LATER


async def test_a_suite_without_a_run_has_no_scores(store: SqliteStore, tmp_path: Path) -> None:
    store.delete_run(RUN_ID)
    app = Notices()
    scores, suite = await make_scores(session_at(tmp_path, store), app)
    assert await scores.read_review(suite) is None
    assert await scores.read_bands(suite) == {}
    assert app.notices == []


async def test_scores_that_cannot_be_read_are_notified(store: SqliteStore, tmp_path: Path) -> None:
    (tmp_path / "data" / "scores" / RUN_ID / "folder.jsonl").mkdir(parents=True)
    app = Notices()
    scores, suite = await make_scores(session_at(tmp_path, store), app)
    assert await scores.read_review(suite) is None
    assert len(app.notices) == 1


async def test_names_shown_to_a_blind_reviewer_are_recorded_once_until_the_next_review(
    store: SqliteStore, tmp_path: Path
) -> None:
    session = session_at(tmp_path, store)
    score_blind(session, ME)
    async with running(session) as (scores, app, pilot):
        scores.record_names(RUN_ID, "Matrix")
        await until(pilot, lambda: app.notices)
        assert f"{ME} reviews this run blind and has now seen model names" in app.notices[0]
        scores.record_names(RUN_ID, "Matrix")
        await until(pilot, lambda: not any(worker.is_running for worker in app.workers), "the workers have ended")
        assert looks(session) == 1
        scores.begin_review(RUN_ID)
        scores.record_names(RUN_ID, "Runs")
        await until(pilot, lambda: looks(session) == 2)
        scores.begin_review(RUN_ID)
        scores.end_review(RUN_ID)
        scores.record_names(RUN_ID, "Runs")
        await until(pilot, lambda: not any(worker.is_running for worker in app.workers), "the workers have ended")
        assert looks(session) == 2


async def test_names_are_not_recorded_for_who_does_not_score_blind(store: SqliteStore, tmp_path: Path) -> None:
    session = session_at(tmp_path, store)
    async with running(session) as (scores, app, pilot):
        scores.record_names(RUN_ID, "Matrix")
        await until(pilot, lambda: not any(worker.is_running for worker in app.workers), "the workers have ended")
        assert acts(session) == ()
        assert app.notices == []


async def test_answers_that_are_read_again_below_review_are_no_look(store: SqliteStore, tmp_path: Path) -> None:
    session = session_at(tmp_path, store)
    score_blind(session, ME)
    async with running(session) as (scores, _, pilot):
        selection = Selection(OpenSuites(session, []))
        path = tmp_path / "suites" / "quickstart.yaml"
        selection.select(path, "c0")
        selection.choose_models([A, B], path)
        selection.state.take_results(results(), runs=dict.fromkeys((each.trial for each in results()), RUN_ID))
        assert {trial.run for trial in selection.repeats()} == {RUN_ID}
        scores.begin_review(RUN_ID)
        scores.record_answers(selection)
        assert not [worker for worker in pilot.app.workers if worker.group == "record names"]
        scores.end_review(RUN_ID)
        scores.record_answers(selection)
        assert not [worker for worker in pilot.app.workers if worker.group == "record names"], "Review recorded it"
