"""Saved runs opened beside the suite files, over a real store and without a screen."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.contexts import make_context
from tests.app.review.reviewed_runs import session_at
from tests.support.kept_runs import RUN_ID, STARTED, large_run, small_run
from tests.support.scripted_session import Opened
from tui.app.context import AppContext
from tui.app.explore.saved_runs import SavedRuns
from tui.model.errors import StoreError, SuiteError
from tui.model.results import TrialKey
from tui.model.run import KeptRun, RunRecord
from tui.model.subjects import replay_name
from tui.model.suite import Step
from tui.store.sqlite import SqliteStore

KEPT = small_run()
A, B = "openai/mock-a", "local/mock-b"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data" / "runs.sqlite")
    (tmp_path / "suites").mkdir()
    yield opened
    opened.close()


def save(store: SqliteStore, kept: KeptRun = KEPT) -> RunRecord:
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.record.id, kept.results)
    store.finish_run(kept.record.id, kept.record.state, STARTED)
    return kept.record


async def make_parts(store: SqliteStore, folder: Path) -> tuple[AppContext, SavedRuns]:
    context = await make_context(session_at(folder, store))
    return context, SavedRuns(context)


async def test_a_run_is_opened_as_a_suite_with_its_first_results(store: SqliteStore, tmp_path: Path) -> None:
    save(store, large_run(20))
    context, saved_runs = await make_parts(store, tmp_path)
    saved, unread = await saved_runs.open(RUN_ID)
    assert unread
    assert (saved.run, saved.folder, saved.suite) == (RUN_ID, "saved runs", large_run(20).plan.suite)
    assert context.open_suites.all[-1] is saved
    assert context.selection.models_of(saved.path) == (A, B)
    assert {key.case for key in context.open_suites.state(saved.path).trials} == {"case-00000"}
    await saved_runs.read_outcomes(saved)
    trials = context.open_suites.state(saved.path).trials.values()
    assert len(trials) == 40
    assert {trial.key.case for trial in trials if not trial.is_unread} == {"case-00000"}


async def test_only_the_selected_case_is_read_whole(store: SqliteStore, tmp_path: Path) -> None:
    save(store, large_run(20))
    context, saved_runs = await make_parts(store, tmp_path)
    assert saved_runs.unread_trials() == ()
    saved, _ = await saved_runs.open(RUN_ID)
    await saved_runs.read_outcomes(saved)
    context.selection.select(saved.path, "case-00007")
    keys = TrialKey("case-00007", A), TrialKey("case-00007", B)
    assert saved_runs.unread_trials() == keys
    await saved_runs.read_trials(keys)
    assert saved_runs.unread_trials() == ()
    state = context.open_suites.state(saved.path)
    assert sum(not trial.is_unread for trial in state.trials.values()) == 4
    context.selection.select(context.open_suites.all[0].path, "one")
    assert saved_runs.unread_trials() == (), "the results of a suite file are read whole"


async def test_a_file_that_has_changed_since_the_run_is_a_warning(store: SqliteStore, tmp_path: Path) -> None:
    path = str(tmp_path / "missing.yaml")
    suite, record = replace(KEPT.plan.suite, path=path), replace(KEPT.record, suite_path=path)
    save(store, replace(KEPT, plan=replace(KEPT.plan, suite=suite), record=record))
    _, saved_runs = await make_parts(store, tmp_path)
    saved, _ = await saved_runs.open(RUN_ID)
    [problem] = saved.problems
    assert problem.level == "warning"
    assert "no longer exists" in problem.what


async def test_missing_and_failed_trials_are_requested_for_the_run_that_has_them(
    store: SqliteStore, tmp_path: Path
) -> None:
    save(store)
    _, saved_runs = await make_parts(store, tmp_path)
    saved, _ = await saved_runs.open(RUN_ID)
    missing, failed = await saved_runs.request(saved, "missing"), await saved_runs.request(saved, "failed")
    assert missing is not None
    assert failed is not None
    assert missing.trials == (TrialKey("bug-002", B),)
    passed = {result.trial for result in KEPT.results if result.verdict == "passed"}
    assert set(failed.trials) == set(KEPT.plan.trials) - passed
    assert (missing.run, missing.mode, failed.run, failed.mode) == (RUN_ID, "missing", RUN_ID, "attempts")
    assert await saved_runs.request(saved._replace(suite=None), "missing") is None


async def test_a_complete_run_has_nothing_to_request(store: SqliteStore, tmp_path: Path) -> None:
    kept = large_run(2)
    passed = tuple(replace(result, verdict="passed") for result in kept.results)
    save(store, replace(kept, results=passed))
    _, saved_runs = await make_parts(store, tmp_path)
    saved, _ = await saved_runs.open(RUN_ID)
    assert await saved_runs.request(saved, "missing") is None
    assert await saved_runs.request(saved, "failed") is None


async def test_a_run_that_is_queued_stays_as_it_is(store: SqliteStore, tmp_path: Path) -> None:
    save(store)
    context, saved_runs = await make_parts(store, tmp_path)
    saved, _ = await saved_runs.open(RUN_ID)
    request = await saved_runs.request(saved, "missing")
    assert request is not None
    context.runs.add(request)
    state = context.open_suites.state(saved.path)
    assert await saved_runs.open(RUN_ID) == (saved, False)
    assert context.open_suites.state(saved.path) is state


async def test_recorded_answers_are_replayed_by_models_of_their_own(store: SqliteStore, tmp_path: Path) -> None:
    run = save(store)
    context, saved_runs = await make_parts(store, tmp_path)
    added, request = await saved_runs.replay(run, 2.0)
    assert (added.folder, added.run) == ("recorded answers", "")
    assert context.open_suites.state(added.path).trials == {}
    assert request is not None
    assert (request.path, request.run, request.mode, request.speed) == (added.path, RUN_ID, "replay", 2.0)
    recorded = {(result.trial.case, replay_name(RUN_ID, result.trial.model)) for result in KEPT.results}
    assert {(key.case, key.model) for key in request.trials} == recorded
    assert set(context.selection.models_of(added.path)) == {replay_name(RUN_ID, A), replay_name(RUN_ID, B)}


async def test_a_run_without_answers_is_opened_for_a_replay_of_nothing(store: SqliteStore, tmp_path: Path) -> None:
    run = save(store, replace(KEPT, results=()))
    _, saved_runs = await make_parts(store, tmp_path)
    _, request = await saved_runs.replay(run, None)
    assert request is None


async def test_a_run_whose_cases_all_ask_something_else_now_is_not_opened_to_be_judged_again(
    store: SqliteStore, tmp_path: Path
) -> None:
    run = save(store)
    session = session_at(tmp_path, store)
    context = await make_context(session)
    saved_runs, suite, file = SavedRuns(context), KEPT.plan.suite, Path(run.suite_file)
    cases = tuple(replace(case, steps=(Step("Something else."),)) for case in suite.cases)
    before = context.open_suites.all
    session.suites[file] = Opened(replace(suite, cases=cases))
    with pytest.raises(SuiteError, match="No case of the file was run with its current prompt"):
        await saved_runs.rejudge(run)
    assert context.open_suites.all == before
    session.suites[file] = Opened(suite)
    added, request = await saved_runs.rejudge(run)
    assert (request.path, request.mode, len(request.trials)) == (added.path, "rejudge", len(KEPT.results))


async def test_runs_that_were_deleted_are_closed(store: SqliteStore, tmp_path: Path) -> None:
    run = save(store)
    context, saved_runs = await make_parts(store, tmp_path)
    saved, _ = await saved_runs.open(RUN_ID)
    await saved_runs.remove_deleted([replace(run, id="another")])
    assert context.open_suites.get(saved.path) is saved
    await saved_runs.remove_deleted([run])
    assert context.open_suites.get(saved.path) is None


async def test_an_unknown_run_is_an_error(store: SqliteStore, tmp_path: Path) -> None:
    _, saved_runs = await make_parts(store, tmp_path)
    with pytest.raises(StoreError):
        await saved_runs.open("0" * 32)
