"""Kept runs, worked with: planned again, marked, written, deleted; over a real store and real files."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.histories import run_history
from tests.support.kept_runs import RUN_ID, STARTED, hostile_run, make_subject, small_run
from tui.model.errors import AssayError, ConfigError, StoreError
from tui.model.prices import Price
from tui.model.results import TrialKey
from tui.model.run import KeptRun, ReportContent
from tui.model.subjects import replay_name
from tui.model.suite import Check, CommandCheck, RepositoryContext
from tui.model.tools import OfferedTool
from tui.session.run_comparison import read_trend
from tui.session.run_history import RunHistory, later_run_id
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data" / "runs.sqlite")
    yield opened
    opened.close()


def keep(store: SqliteStore, kept: KeptRun) -> KeptRun:
    store.begin_run(kept.plan, kept.record.started_at)
    store.save_trials(kept.record.id, kept.results)
    store.finish_run(kept.record.id, kept.record.state, kept.record.finished_at or "")
    return kept


def history_of(store: SqliteStore, folder: Path) -> RunHistory:
    return run_history(store, folder, lambda names: tuple(make_subject(name) for name in names))


def at_path(kept: KeptRun, path: Path, sha256: str = "") -> KeptRun:
    suite = replace(kept.plan.suite, path=str(path), sha256=sha256 or kept.plan.suite.sha256)
    record = replace(kept.record, suite_path=str(path), suite_sha256=suite.sha256)
    return replace(kept, plan=replace(kept.plan, suite=suite), record=record)


def test_a_run_is_opened_with_its_suite_and_says_when_the_file_is_another(store: SqliteStore, tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    file.write_text("one")
    kept = keep(store, at_path(small_run(), file, hashlib.sha256(b"one").hexdigest()))
    history = history_of(store, tmp_path)
    opened = history.open_run(kept.record.id)
    assert opened.suite == kept.plan.suite
    assert opened.changed == ""
    file.write_text("two")
    assert "has changed" in history.open_run(kept.record.id).changed
    file.unlink()
    assert "no longer exists" in history.open_run(kept.record.id).changed
    os.mkfifo(file)
    assert "no longer exists" in history.open_run(kept.record.id).changed


def test_what_is_read_of_a_run_is_what_was_kept(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    standing = history.read_progress(kept.record.id)
    assert [(key, each.status, each.flaky) for key, each in standing.items()] == [
        (result.trial, result.verdict, result.flaky) for result in kept.results
    ]
    assert all(each.is_unread for each in standing.values())
    trials = [kept.results[2].trial, TrialKey("bug-002", B)]
    assert history.read_trials(kept.record.id, trials) == (kept.results[2],)
    setup = history.read_details(kept.record.id).setup
    assert (setup.subjects, setup.options) == (kept.plan.subjects, kept.plan.options)
    assert (setup.command, setup.assay) == (kept.plan.command, kept.assay)


def test_resuming_asks_what_has_no_result_however_often_it_was_asked_for(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    missing = history.missing_trials(kept.record.id)
    assert missing == (TrialKey("bug-002", B),)
    plan = history.plan_again(kept.record.id, missing, missing=True)
    assert (plan.run_id, plan.trials, plan.earlier) == (kept.record.id, missing, {})
    assert plan.suite == kept.plan.suite
    assert history.plan_missing(history.find_run("last")) == plan
    store.save_trials(kept.record.id, [replace(kept.results[0], trial=missing[0])])
    assert history.plan_again(kept.record.id, missing, missing=True).trials == ()
    assert history.plan_missing(kept.record.id).trials == ()


def test_what_failed_is_asked_again_in_the_same_run_with_its_attempts(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    failed = history.failed_trials(kept.record.id)
    passed = {result.trial for result in kept.results if result.verdict == "passed"}
    assert failed == tuple(trial for trial in kept.plan.trials if trial not in passed)
    plan = history.plan_again(kept.record.id, failed)
    assert plan.trials == failed
    assert plan.earlier == {result.trial: result for result in kept.results if result.trial in failed}
    assert history.plan_failed(history.find_run(kept.record.id[:12])) == plan
    assert plan == replace(kept.plan, trials=plan.trials, earlier=plan.earlier)


def test_a_model_that_was_not_in_the_run_is_resolved(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    new = TrialKey("sec-001", "openai/mock-c")
    plan = history.plan_again(kept.record.id, [new, TrialKey("sec-001", A)])
    assert plan.trials == (TrialKey("sec-001", A), new)
    assert [subject.name for subject in plan.subjects] == [A, B, "openai/mock-c"]


def test_a_replay_is_a_new_run_of_recorded_answers(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    plan = history.plan_replay(kept.record.id)
    assert plan.options.replay_speed is None
    assert history.plan_replay(kept.record.id, 2.0).options.replay_speed == 2.0
    assert plan.run_id != kept.record.id
    assert {trial.model for trial in plan.trials} == {replay_name(kept.record.id, A), replay_name(kept.record.id, B)}
    assert len(plan.trials) == len(kept.results)


def test_answers_are_judged_again_only_for_cases_with_the_same_input(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    first, second, third, *rest = kept.plan.suite.cases
    step = first.steps[0]
    suite = replace(
        kept.plan.suite,
        cases=(
            replace(first, line=7, tags=(), steps=(replace(step, checks=(Check("expected_pattern", "new"),)),)),
            replace(second, steps=(replace(step, input="another question"),)),
            replace(third, system_message="Be brief."),
            replace(rest[0], id="another"),
        ),
    )
    plan = history.plan_rejudge(kept.record.id, suite)
    assert plan.suite is suite
    assert plan.run_id != kept.record.id
    assert (plan.options.attempts, plan.options.accept_truncated) == (1, False)
    accepting = replace(suite, options=replace(suite.options, accept_truncated=True))
    accepted = history.plan_rejudge(kept.record.id, accepting)
    assert accepted.options.accept_truncated
    store.begin_run(accepted, kept.record.started_at)
    assert not history.plan_rejudge(accepted.run_id, suite).options.accept_truncated
    assert {trial.case for trial in plan.trials} == {first.id}
    assert {trial.model for trial in plan.trials} == {replay_name(kept.record.id, A), replay_name(kept.record.id, B)}
    moved = replace(kept.plan.suite, repository_context=RepositoryContext("src"))
    assert history.plan_rejudge(kept.record.id, moved).trials == ()


def test_a_suite_has_one_baseline_which_outlives_the_app(store: SqliteStore, tmp_path: Path) -> None:
    first = keep(store, small_run())
    second = replace(first, record=replace(first.record, id="f" * 32), plan=replace(first.plan, run_id="f" * 32))
    keep(store, second)
    history = history_of(store, tmp_path)
    assert history.baseline_of(first.plan.suite) is None
    history.mark_baseline(first.record)
    history.mark_baseline(second.record)
    again = history_of(store, tmp_path)
    assert again.baseline_of(first.plan.suite) == second.record.id
    assert again.baselines(again.list_runs()) == {second.record.id}
    again.mark_baseline(second.record)
    assert again.baseline_of(first.record) is None
    again.mark_baseline(first.record)
    (file,) = (tmp_path / "baselines").iterdir()
    for damaged in ("", "[]", "[" * 20_000):
        file.write_text(damaged)
        assert again.baseline_of(first.record) is None


def test_a_run_belongs_to_the_file_that_was_run_whatever_the_current_folder_is(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = small_run()
    suite = tmp_path / "a" / "suites" / "s.yaml"
    runs = []
    for at, project in enumerate(("a", "b")):
        file = tmp_path / project / "suites" / "s.yaml"
        file.parent.mkdir(parents=True)
        file.write_text(project)
        monkeypatch.chdir(tmp_path / project)
        run = at_path(kept, Path("suites/s.yaml"), hashlib.sha256(project.encode()).hexdigest())
        run_id = f"{at:032x}"
        runs.append(run_id)
        plan = replace(run.plan, run_id=run_id, suite=replace(run.plan.suite, folder=str(file.parent)))
        keep(store, replace(run, plan=plan, record=replace(run.record, id=run_id)))
    history = history_of(store, tmp_path)
    for folder in (tmp_path / "a", tmp_path / "b", tmp_path):
        monkeypatch.chdir(folder)
        assert [run.id for run in history.answers.list_runs(str(suite))] == runs[:1]
        assert [history.open_run(run).changed for run in runs] == ["", ""]
    monkeypatch.chdir(tmp_path / "b")
    (first,) = history.answers.list_runs(str(suite))
    history.mark_baseline(first)
    assert history.baselines(history.list_runs()) == {runs[0]}
    assert history.baseline_of(history.open_run(runs[0]).suite) == runs[0]
    assert history.baseline_of(history.open_run(runs[1]).suite) is None
    monkeypatch.chdir(tmp_path / "a")
    assert history.baseline_of(first) == runs[0]
    assert [len(each.points) for each in read_trend(store, suite)] == [1, 1]


def test_a_deleted_run_is_no_baseline(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    history.mark_baseline(kept.record)
    history.delete(kept.record)
    assert history.list_runs() == ()
    assert history.baseline_of(kept.record) is None
    with pytest.raises(StoreError, match="no longer exists"):
        history.open_run(kept.record.id)


def test_a_baseline_that_cannot_be_kept_is_reported(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    (tmp_path / "baselines").write_text("in the way")
    with pytest.raises(StoreError, match="Cannot save"):
        history_of(store, tmp_path).mark_baseline(kept.record)


def test_a_report_is_written_whole_or_not_at_all(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    file = tmp_path / "out" / "report.json"
    with pytest.raises(ConfigError, match="does not exist"):
        history.export(kept.record.id, ReportContent("json"), file, replaces=False)
    file.parent.mkdir()
    history.export(kept.record.id, ReportContent("json"), file, replaces=False)
    assert json.loads(file.read_text())["run"]["id"] == kept.record.id
    before = file.read_text()
    with pytest.raises(FileExistsError):
        history.export(kept.record.id, ReportContent("html", responses=True), file, replaces=False)
    assert file.read_text() == before
    history.export(kept.record.id, ReportContent("html", responses=True), file, replaces=True)
    assert file.read_text().startswith("<!DOCTYPE html>")
    assert [each.name for each in file.parent.iterdir()] == ["report.json"]
    assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0o044
    with pytest.raises(ConfigError, match="folder"):
        history.export(kept.record.id, ReportContent("csv"), tmp_path, replaces=True)
    with pytest.raises(AssayError, match="annot write"):
        history.export(kept.record.id, ReportContent("csv"), tmp_path / ("x" * 300), replaces=False)


def test_hostile_runs_are_opened_marked_and_deleted(store: SqliteStore, tmp_path: Path) -> None:
    hostile = hostile_run()
    plan = replace(hostile.plan, run_id="e" * 32)
    kept = keep(
        store,
        replace(
            hostile, plan=plan, record=replace(hostile.record, id="e" * 32, started_at=STARTED, finished_at=STARTED)
        ),
    )
    history = history_of(store, tmp_path)
    record = history.list_runs()[0]
    assert history.open_run(record.id).changed
    history.mark_baseline(record)
    assert history.baselines([record]) == {record.id}
    assert len(history.read_progress(record.id)) == len(kept.results)
    history.delete(record)


def test_a_new_run_is_the_last_one_although_the_clock_was_set_back(store: SqliteStore) -> None:
    assert later_run_id(store)
    kept = small_run()
    ahead = "ffffffffff00" + "7" + "0" * 19
    store.begin_run(replace(kept.plan, run_id=ahead), STARTED)
    run_id = later_run_id(store)
    assert run_id > ahead
    store.begin_run(replace(kept.plan, run_id=run_id), STARTED)
    assert store.find_run("last") == run_id


def test_answers_of_a_case_with_other_tools_are_not_judged_again(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    first, second, *rest = kept.plan.suite.cases
    changed = (replace(first, tools=(OfferedTool("search", result="x"),)), replace(second, max_turns=3), *rest)
    plan = history.plan_rejudge(kept.record.id, replace(kept.plan.suite, cases=changed))
    assert {trial.case for trial in plan.trials} == {case.id for case in rest}


def test_answers_are_judged_again_with_another_command(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history = history_of(store, tmp_path)
    changed = tuple(replace(case, command=CommandCheck("test -e b.txt")) for case in kept.plan.suite.cases)
    plan = history.plan_rejudge(kept.record.id, replace(kept.plan.suite, cases=changed))
    assert len(plan.trials) == len(history.plan_replay(kept.record.id).trials)


def test_a_name_with_other_settings_or_another_price_is_not_the_same_model(store: SqliteStore, tmp_path: Path) -> None:
    kept = keep(store, small_run())
    history, runs = history_of(store, tmp_path), (kept.record.id,)
    one, other = kept.plan.subjects
    assert history.find_same_models(kept.plan.subjects, runs) == {(RUN_ID, one.name), (RUN_ID, other.name)}
    now = (replace(one, model_id="dear"), replace(other, price=Price(100.0, 100.0, "config")))
    assert history.find_same_models(now, runs) == frozenset()
    assert history.find_same_models(now, ("gone",)) == frozenset()


def test_a_price_from_another_source_is_the_same_price(store: SqliteStore, tmp_path: Path) -> None:
    kept = small_run()
    priced = tuple(replace(each, price=Price(1.0, 2.0, "package 1.0")) for each in kept.plan.subjects)
    keep(store, replace(kept, plan=replace(kept.plan, subjects=priced)))
    now = tuple(replace(each, price=Price(1.0, 2.0, "package 2.0")) for each in priced)
    assert len(history_of(store, tmp_path).find_same_models(now, (RUN_ID,))) == 2
