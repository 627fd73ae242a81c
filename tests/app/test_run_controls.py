"""The commands for runs that screens share."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.app import App
from textual.message import Message
from textual.pilot import Pilot

from tests.app.contexts import Notified, make_context, select_first
from tests.app.explore.explored import session_for
from tests.support.histories import run_history
from tests.support.kept_runs import RUN_ID, STARTED, make_case, make_plan, make_subject, make_suite
from tests.support.pilots import screen_rows, until
from tests.support.repositories import write_files
from tests.support.scripted_session import ScriptedSession, result_of
from tui.app.context import AppContext
from tui.app.dialogs import ChoiceScreen
from tui.app.open_suites import OpenSuite
from tui.app.run_controls import RunControls, cost_words, requests_by_run, split_errors
from tui.app.run_messages import RunQueued
from tui.app.run_requests import KnownCost, RunRequest, request_failed, request_suite
from tui.app.theme.themed_app import ThemedApp
from tui.model.progress import TrialProgress
from tui.model.results import TrialKey
from tui.model.shipped import shipped_folder
from tui.model.state import RunState
from tui.model.suite import RepositoryContext
from tui.store.sqlite import SqliteStore


def shown(app: App[None]) -> str:
    """Everything on the screen as one line, without the frames."""
    return " ".join(" ".join(screen_rows(app.screen)).replace("│", " ").split())


async def test_a_request_is_queued_and_nothing_to_run_is_notified(tmp_path: Path) -> None:
    posted: list[Message] = []
    context, screen = await make_context(session_for(tmp_path), posted=posted), Notified()
    select_first(context, "one")
    controls = RunControls(context, screen)
    controls.start(None, "There is nothing to run.")
    assert screen.notices == ["There is nothing to run."]
    controls.start(request_suite(context.selection), "")
    assert [type(message) for message in posted] == [RunQueued]
    controls.start(request_suite(context.selection), "")
    assert len(context.runs.queued) == 2
    assert len(screen.notices) == 2, "the second one waits"
    controls.cancel_all()
    assert not context.runs.busy


def test_a_rerun_that_was_cancelled_leaves_a_failed_trial_among_the_failed_ones() -> None:
    failed, error, unknown = (TrialKey(case, "m") for case in ("failed", "error", "unknown"))
    first = result_of(failed, "failed")
    again = replace(first.attempts[0], number=2, asking=1, verdict="cancelled")
    known = {
        failed: TrialProgress(
            failed, "cancelled", result=replace(first, verdict="cancelled", attempts=(*first.attempts, again))
        ),
        error: TrialProgress(error, "error", result=result_of(error, "error")),
    }
    assert split_errors([failed, error, unknown], known) == ((error, unknown), (failed,))


async def test_the_question_before_a_run_shows_its_files_and_their_cost(tmp_path: Path) -> None:
    session = session_for(tmp_path)
    path, opened = next(iter(session.suites.items()))
    assert opened.suite is not None
    write_files(tmp_path / "work", {"a.py": "x" * 80, "data.bin": "\0"})
    suite = replace(opened.suite, folder=str(tmp_path), repository_context=RepositoryContext("work"))
    session.suites[path] = replace(opened, suite=suite)
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test(size=(120, 40)) as pilot:
        context, screen = await make_context(session, app), Notified()
        await app.push_screen(screen)
        select_first(context, "one")
        request = request_suite(context.selection)
        assert request is not None
        RunControls(context, screen).start_asked([request], "")
        await until(pilot, lambda: "Context: 1 file, 107 characters" in shown(app))
        assert "Omitted: is binary: data.bin" in shown(app)
        assert "price unknown: mock-a" in shown(app)
        await pilot.press("y")
        await until(pilot, lambda: context.runs.busy)


def test_the_expected_cost_is_that_of_earlier_answers_of_the_same_models(tmp_path: Path, store: SqliteStore) -> None:
    session = session_with_run(tmp_path, store, str(tmp_path / "quickstart.yaml"))
    suite = make_suite([make_case("one"), make_case("two")])
    trials = tuple(TrialKey(case, model) for case in ("one", "two") for model in ("mock-a", "mock-b"))
    request = RunRequest(tmp_path / "quickstart.yaml", suite, trials)
    costs = [KnownCost(RUN_ID, "mock-a", 0.25), KnownCost(RUN_ID, "mock-a", 0.75), KnownCost("gone", "mock-b", 9.0)]
    assert cost_words(session, [(request, costs)]) == "", "mock-a stood for another model in that run"
    of_run = replace(request, run=RUN_ID)
    words = "Expected cost: {}, by the earlier answers of these models."
    assert cost_words(session, [(of_run, costs)]) == words.format("$19.00")
    session.subjects = {"mock-a": make_subject("mock-a")}
    assert cost_words(session, [(request, costs)]) == words.format("≥ $1.00")


async def test_commands_without_a_run_say_so(tmp_path: Path) -> None:
    context, screen = await make_context(session_for(tmp_path)), Notified()
    path = select_first(context, "one")
    controls = RunControls(context, screen)
    assert not controls.can_pause
    controls.toggle_pause()
    assert screen.notices == []
    controls.cancel_all()
    controls.change_concurrency(1)
    controls.cancel(path, (TrialKey("one", "mock-a"),))
    assert len(screen.notices) == 3


FAILED, LOST = TrialKey("one", "mock-a"), TrialKey("two", "mock-a")


def session_with_run(folder: Path, store: SqliteStore, path: str) -> ScriptedSession:
    """Return a session that displays the results of a stored run of the suite at this path: one failed, one lost."""
    session = session_for(folder)
    session.kept = (result_of(FAILED, "failed"), result_of(LOST, "error", error="refused"))
    plan = replace(make_plan([make_case("one"), make_case("two")], ["mock-a"], path=path), trials=(FAILED, LOST))
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, session.kept)
    store.finish_run(plan.run_id, "finished", STARTED)
    session.keeps = run_history(store, folder, lambda names: tuple(map(make_subject, names)))
    return session


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "runs.sqlite")
    yield opened
    opened.close()


@asynccontextmanager
async def staged(folder: Path, store: SqliteStore) -> AsyncIterator[tuple[Pilot[None], AppContext, Notified]]:
    """Run an app with an empty screen over a session with a stored run."""
    session = session_with_run(folder, store, str(folder / "quickstart.yaml"))
    app: ThemedApp[None] = ThemedApp(theme="assay-dark", theme_folders=[shipped_folder("themes")])
    async with app.run_test() as pilot:
        context, screen = await make_context(session, app), Notified()
        await app.push_screen(screen)
        yield pilot, context, screen


def test_a_rerun_leaves_out_what_has_passed_in_another_program(tmp_path: Path, store: SqliteStore) -> None:
    path = str(tmp_path / "quickstart.yaml")
    session = session_with_run(tmp_path, store, path)
    suite = replace(
        make_suite([make_case("one"), make_case("two")], path=path), sha256=store.list_runs()[0].suite_sha256
    )
    of_file = RunRequest(Path(path), suite, (FAILED, LOST, TrialKey("three", "mock-a")))
    of_run = replace(of_file, run=RUN_ID, trials=(FAILED, LOST))

    def runs(request: RunRequest) -> list[tuple[str, tuple[TrialKey, ...]]]:
        return [(each.run, each.trials) for each in requests_by_run(session.history, request)]

    new = ("", (TrialKey("three", "mock-a"),))
    repeats = tuple(TrialKey("three", "mock-a", repeat) for repeat in (2, 3))
    assert runs(replace(of_file, trials=repeats)) == [new], "a new run has no first repeat yet"
    assert runs(of_file) == [(RUN_ID, (FAILED, LOST)), new]
    current = {new[1][0]: RUN_ID}
    assert [each.run for each in requests_by_run(session.history, of_file, current)] == [RUN_ID]
    store.save_trials(RUN_ID, [result_of(FAILED, "passed")])
    assert runs(of_file) == [(RUN_ID, (LOST,)), new]
    assert runs(of_run) == [(RUN_ID, (LOST,))]
    store.save_trials(RUN_ID, [result_of(LOST, "unchecked")])
    assert runs(of_run) == []


@pytest.mark.parametrize("state", ["finished", "running"])
async def test_a_rerun_during_a_run_waits_for_it_and_counts_as_one(
    tmp_path: Path, store: SqliteStore, state: str
) -> None:
    async with staged(tmp_path, store) as (pilot, context, screen):
        path = select_first(context, "one")
        if state == "running":
            store.begin_run(replace(store.read_plan(RUN_ID), trials=(), continues=True), STARTED)
            assert store.list_runs()[0].state == "running"
        suite = replace(make_suite([make_case("one"), make_case("two")], path=str(path)))
        request = RunRequest(path, replace(suite, sha256=store.list_runs()[0].suite_sha256), (FAILED,))
        controls = RunControls(context, screen)
        controls.rerun(request, "")
        await until(pilot, lambda: context.runs.queued or context.runs.current is not None)
        assert [(each.run, each.trials) for each in context.runs.queued] == [(RUN_ID, (FAILED,))]
        controls.rerun(request, "")
        await until(pilot, lambda: "These trials are queued already." in screen.notices)
        assert len(context.runs.queued) == 1


async def test_a_rerun_of_what_has_passed_meanwhile_says_so(tmp_path: Path, store: SqliteStore) -> None:
    async with staged(tmp_path, store) as (pilot, context, screen):
        path = select_first(context, "one")
        open_suite = context.open_suites.get(path)
        assert open_suite is not None
        context.open_suites.add_saved_run(open_suite._replace(path=tmp_path / "run", run=RUN_ID), RunState())
        context.open_suites.state(tmp_path / "run").take_results([result_of(FAILED, "failed")])
        context.selection.select(tmp_path / "run", "one")
        store.save_trials(RUN_ID, [result_of(FAILED, "passed")])
        RunControls(context, screen).rerun(request_failed(context.selection), "")
        await until(pilot, lambda: "Not run again: 1 trial passed in another program since." in screen.notices)
        assert not context.runs.busy


async def test_a_saved_run_gets_further_models_and_cases_only_after_a_question(
    tmp_path: Path, store: SqliteStore
) -> None:
    async with staged(tmp_path, store) as (pilot, context, screen):
        path = select_first(context, "one")
        suite = context.selection.suite
        assert suite is not None
        context.open_suites.add_saved_run(
            OpenSuite(tmp_path / "run", "one", suite, run=RUN_ID), context.open_suites.state(path)
        )
        controls = RunControls(context, screen)
        failed = RunRequest(tmp_path / "run", suite, (FAILED,), run=RUN_ID)
        controls.start(failed, "")
        assert [each.trials for each in context.runs.queued] == [(FAILED,)]
        added = replace(failed, trials=(FAILED, TrialKey("one", "mock-b"), TrialKey("three", "mock-a")))
        controls.start(added, "")
        await until(pilot, lambda: "2 trials are not part of this saved run." in shown(pilot.app))
        await pilot.press("n")
        await until(pilot, lambda: pilot.app.screen is screen)
        assert len(context.runs.queued) == 1
        controls.start(added, "")
        await until(pilot, lambda: "Add trials to this saved run?" in shown(pilot.app))
        await pilot.press("y")
        await until(pilot, lambda: len(context.runs.queued) == 2)
        context.open_suites.add_saved_run(OpenSuite(tmp_path / "run", "one", suite, run=RUN_ID), RunState())
        controls.start(failed, "")
        await until(pilot, lambda: len(context.runs.queued) == 3, "it is part of the run, though it is not displayed")
        assert pilot.app.screen is screen


async def test_the_repeats_of_a_changed_case_are_not_said_to_have_passed(tmp_path: Path, store: SqliteStore) -> None:
    async with staged(tmp_path, store) as (pilot, context, screen):
        path = select_first(context, "one")
        suite = context.selection.suite
        assert suite is not None
        repeats = tuple(TrialKey("three", "mock-a", repeat) for repeat in (1, 2, 3))
        RunControls(context, screen).rerun(RunRequest(path, suite, repeats), "")
        await until(pilot, lambda: screen.notices)
        assert screen.notices == [
            "1 trial of cases that were changed since: a new run with one repeat of each, which counts anew."
        ]


async def test_a_rerun_asks_which_trials_where_some_failed_and_some_have_no_answer(
    tmp_path: Path, store: SqliteStore
) -> None:
    failed, lost = FAILED, LOST
    async with staged(tmp_path, store) as (pilot, context, screen):
        path = select_first(context, "one")
        request = request_failed(context.selection)
        assert request is not None
        assert set(request.trials) == {failed, lost}
        saved = context.open_suites.get(path)
        assert saved is not None
        context.open_suites.add_saved_run(
            saved._replace(path=tmp_path / "run", run=RUN_ID), context.open_suites.state(path)
        )
        context.selection.select(tmp_path / "run", "one")
        RunControls(context, screen).rerun(request_failed(context.selection), "")
        await until(pilot, lambda: isinstance(pilot.app.screen, ChoiceScreen))
        await pilot.press("enter")
        await until(pilot, lambda: context.runs.queued)
        assert context.runs.queued[0].trials == (lost,)
        assert context.runs.queued[0].run == RUN_ID
