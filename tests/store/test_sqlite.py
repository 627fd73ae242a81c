"""What is kept comes back as it was."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.kept_runs import (
    FINISHED,
    STARTED,
    hostile_run,
    large_run,
    make_case,
    make_plan,
    make_result,
    make_step,
    make_subject,
    small_run,
)
from tui.model.errors import StoreError, UnknownRun
from tui.model.outcomes import Outcome, outcome_of
from tui.model.prices import Price, Spent
from tui.model.results import Attempt, TrialKey, TrialResult, Usage, Verdict
from tui.model.run import KeptRun, new_run_id
from tui.model.suite import Step
from tui.model.values import JsonValue
from tui.reports.summary import summarize
from tui.store.protocol import Store
from tui.store.sqlite import SqliteStore

A, B = "openai/mock-a", "local/mock-b"


def keep_whole(store: Store, kept: KeptRun) -> None:
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.plan.run_id, kept.results)
    store.finish_run(kept.plan.run_id, kept.record.state, FINISHED)


def test_a_run_comes_back_as_it_was(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    back = store.read_run(kept.plan.run_id)
    assert back.plan == kept.plan
    assert back.results == kept.results
    assert back.record == kept.record
    assert store.list_runs() == (kept.record,)


def test_the_version_that_ran_it_is_kept(store: SqliteStore) -> None:
    import tui

    keep_whole(store, small_run())
    assert store.read_run(small_run().plan.run_id).assay == tui.__version__


def test_it_is_there_for_the_next_process(store: SqliteStore, history: Path) -> None:
    kept = small_run()
    keep_whole(store, kept)
    store.close()
    again = SqliteStore(history)
    assert again.read_run(kept.plan.run_id).results == kept.results
    assert again.notices == ()
    again.close()


def test_hostile_text_comes_back_to_the_letter(store: SqliteStore) -> None:
    kept = hostile_run()
    plan = replace(kept.plan, run_id=new_run_id())
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, kept.results)
    back = store.read_run(plan.run_id)
    assert back.results == kept.results
    assert back.plan.suite == plan.suite
    assert back.plan.subjects == plan.subjects


@pytest.mark.parametrize("memory", [{"a": 10**30, "b": 1.0, "c": True, "d": [None, {}]}, [], None, "text", 0, False])
def test_memory_keeps_its_types(store: SqliteStore, memory: JsonValue) -> None:
    plan = make_plan([make_case("one")], [A])
    result = make_result(plan.trials[0])
    step = replace(result.attempts[0].steps[0], memory=memory, memory_before={"was": memory})
    result = replace(result, attempts=(replace(result.attempts[0], steps=(step,)),))
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [result])
    back = store.read_trial(plan.run_id, plan.trials[0])
    assert back is not None
    assert repr(back.attempts[0].steps[0].memory) == repr(memory)
    assert back == result


@pytest.mark.parametrize("levels", [200, 300, 800])
def test_memory_that_is_nested_too_deeply_does_not_lose_the_result(store: SqliteStore, levels: int) -> None:
    memory: JsonValue = {}
    for _ in range(levels):
        memory = {"in": memory}
    plan = make_plan([make_case("one")], [A])
    step = replace(make_step(), memory=memory)
    result = TrialResult(plan.trials[0], "passed", False, None, (Attempt(1, "passed", None, (step,)),))
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [result])
    (back,) = store.read_run(plan.run_id).results
    assert back.attempts[0].steps[0].response == step.response


def test_results_come_in_the_order_of_the_plan(store: SqliteStore) -> None:
    kept = small_run()
    store.begin_run(kept.plan, STARTED)
    for result in reversed(kept.results):
        store.save_trials(kept.plan.run_id, [result])
    assert store.read_run(kept.plan.run_id).results == kept.results


def test_outcomes_are_the_results_without_their_texts(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    assert store.read_outcomes(kept.plan.run_id) == tuple(outcome_of(result) for result in kept.results)
    assert store.read_outcomes(kept.plan.run_id)[0] == Outcome(
        TrialKey("sec-001", A),
        "passed",
        "passed",
        False,
        0,
        None,
        1,
        150.0,
        1200.0,
        20,
        40,
        None,
        0,
        least_input_tokens=20,
        least_output_tokens=40,
    )


def test_costs_are_added_up_for_each_model(store: SqliteStore) -> None:
    kept = small_run()
    store.begin_run(kept.plan, STARTED)
    costs: dict[str, list[float | None]] = {A: [0.25, 0.5], B: [0.125, None]}
    for model, each in costs.items():
        trials = [key for key in kept.plan.trials if key.model == model]
        for key, usd in zip(trials, each, strict=False):
            step = replace(make_step(), cost_usd=usd)
            attempts = (Attempt(1, "failed", None, (step,)), Attempt(2, "passed", None, (step,)))
            store.save_trials(kept.plan.run_id, [TrialResult(key, "passed", True, None, attempts)])
    assert store.read_costs(kept.plan.run_id) == {A: Spent(1.5, 2, 2), B: Spent(0.25, 1, 2)}
    assert [outcome.cost_usd for outcome in store.read_outcomes(kept.plan.run_id)] == [0.5, 0.25, 1.0, None]


def test_the_newest_result_of_each_model_is_read(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    newest = {result.trial.model: result for result in kept.results}
    assert store.read_newest(kept.plan.run_id) == newest
    first = next(result for result in kept.results if result.trial.model == A)
    store.save_trials(kept.plan.run_id, [first])
    assert store.read_newest(kept.plan.run_id) == {**newest, A: first}


def test_what_took_part_is_kept_with_a_run_also_what_came_later(store: SqliteStore) -> None:
    kept = small_run()
    priced = replace(kept.plan.subjects[0], price=Price(1.75, 14.0, "config", longest_input=200_000))
    plan = replace(kept.plan, subjects=(priced, *kept.plan.subjects[1:]))
    store.begin_run(plan, STARTED, {"python": "3.11.7", "assay": "0.1.0"})
    for versions in ({"python": "3.12.1", "assay": "0.1.0"}, {"python": "3.11.7", "regress": "2026.9"}, {}):
        dearer = replace(plan, subjects=(replace(priced, price=Price(100.0, 100.0, "config")), *plan.subjects[1:]))
        store.begin_run(dearer, STARTED, versions)
    expected = {"python": "3.11.7, then 3.12.1", "assay": "0.1.0", "regress": "2026.9"}
    assert store.read_setup(plan.run_id).versions == expected
    assert store.read_run(plan.run_id).versions == expected
    assert store.read_setup(plan.run_id).subjects == plan.subjects


def test_one_trial_is_read_alone(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    assert store.read_trial(kept.plan.run_id, kept.results[2].trial) == kept.results[2]
    assert store.read_trial(kept.plan.run_id, TrialKey("bug-002", B)) is None


def test_recordings_are_the_results_of_a_model(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    assert store.read_recordings(kept.plan.run_id, A) == tuple(each for each in kept.results if each.trial.model == A)
    assert store.read_recordings(kept.plan.run_id, "nobody") == ()


def test_a_run_that_is_taken_up_keeps_what_it_was_begun_with(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    more = make_plan([make_case("new-001"), make_case("sec-001", name="renamed")], [A, "third"])
    store.begin_run(replace(more, run_id=kept.plan.run_id, command="other"), "2026-11-21T00:00:00+00:00")
    back = store.read_run(kept.plan.run_id)
    assert back.record.state == "running"
    assert back.record.finished_at is None
    assert back.record.started_at == STARTED
    assert back.results == kept.results
    assert back.plan.command == kept.plan.command
    new = [key for key in more.trials if key not in kept.plan.trials]
    assert back.plan.trials == (*kept.plan.trials, *new)
    assert back.record.trials == len(kept.plan.trials) + 3
    assert back.plan.suite.cases == (*kept.plan.suite.cases, make_case("new-001"))
    assert back.plan.subjects == (*kept.plan.subjects, make_subject("third"))
    assert back.record.models == (A, B, "third")


def test_a_trial_that_is_saved_again_is_replaced(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    before = store.list_runs()[0].passed
    key = TrialKey("sec-002", B)  # an error: a rerun replaces it
    better = make_result(key)
    broken = replace(better.attempts[0], verdict="error")
    again = replace(better, attempts=(broken, replace(better.attempts[0], number=2, asking=1)))
    store.save_trials(kept.plan.run_id, [again])
    assert store.read_trial(kept.plan.run_id, key) == again
    assert len(store.read_run(kept.plan.run_id).results) == len(kept.results)
    assert store.list_runs()[0].passed == before + 1
    store.save_trials(kept.plan.run_id, [replace(again, flaky=True)])
    assert store.list_runs()[0].passed == before


def test_a_rerun_does_not_change_what_a_judged_answer_counts_as(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    before = store.list_runs()[0].passed
    key = TrialKey("sec-001", B)  # failed
    failed, better = make_result(key, "failed"), make_result(key)
    rerun = replace(better, attempts=(*failed.attempts, replace(better.attempts[0], number=2, asking=1)))
    store.save_trials(kept.plan.run_id, [rerun])
    assert store.list_runs()[0].passed == before
    (outcome,) = [each for each in store.read_outcomes(kept.plan.run_id) if each.trial == key]
    assert (outcome.verdict, outcome.first_verdict, outcome.flaky, outcome.reruns) == ("passed", "failed", False, 1)


def test_unchecked_answers_are_counted_beside_the_passes(store: SqliteStore) -> None:
    plan = make_plan([make_case("one"), make_case("two")], [A])
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(key, "unchecked") for key in plan.trials])
    assert [(run.passed, run.unchecked) for run in store.list_runs()] == [(0, 2)]
    store.save_trials(plan.run_id, [make_result(plan.trials[0], "failed")])
    assert [(run.passed, run.unchecked) for run in store.list_runs()] == [(0, 1)]


def test_errors_in_cases_without_a_check_are_counted_as_unchecked_when_the_run_ends(store: SqliteStore) -> None:
    cases = [make_case("checked"), *(replace(make_case(name), steps=(Step("Ask."),)) for name in ("free", "imported"))]
    plan = make_plan(cases, [A, B])
    verdicts: dict[TrialKey, Verdict] = {
        TrialKey("checked", A, 1): "error",
        TrialKey("free", A, 1): "error",
        TrialKey("free", B, 1): "unchecked",
        TrialKey("imported", A, 1): "incomplete",
        TrialKey("imported", B, 1): "passed",  # recorded by another tool: the case has a check
    }
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(key, verdict) for key, verdict in verdicts.items()])
    for _ in range(2):  # a run may end twice
        store.finish_run(plan.run_id, "finished", STARTED)
        (record,) = store.list_runs()
        assert (record.passed, record.unchecked, record.checked) == (1, 2, 4)
        assert summarize(store.read_run(plan.run_id)).total.checked == 3, "one trial has not been run"

    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(TrialKey("free", A, 1), "unchecked")])
    store.finish_run(plan.run_id, "finished", STARTED)
    assert [run.unchecked for run in store.list_runs()] == [2]


def test_a_plan_whose_trials_have_got_other_results_since_is_refused(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    run_id, earlier = kept.plan.run_id, {each.trial: each for each in kept.results}
    missing = [key for key in kept.plan.trials if key not in earlier]
    resumed = replace(kept.plan, trials=tuple(missing), continues=True)
    rerun = replace(kept.plan, trials=(kept.results[0].trial,), earlier=earlier, continues=True)
    for plan, key, attempts in ((resumed, missing[0], 1), (rerun, rerun.trials[0], 2)):
        result = make_result(key)
        more = tuple(replace(result.attempts[0], number=number) for number in range(1, attempts + 1))
        store.save_trials(run_id, [replace(result, attempts=more)])
        before = store.read_run(run_id)
        with pytest.raises(StoreError, match=r"has other results .* Start it again"):
            store.begin_run(plan, STARTED)
        assert store.read_run(run_id) == before
    store.begin_run(replace(rerun, earlier=dict(store.read_trials(run_id, rerun.trials))), STARTED)


def test_a_plan_is_refused_if_another_run_has_got_its_id(store: SqliteStore) -> None:
    kept = small_run()
    earlier = {each.trial: each for each in kept.results}
    rerun = replace(kept.plan, trials=tuple(earlier), earlier=earlier, continues=True)
    attempt = kept.results[0].attempts[0]
    answer = replace(attempt, steps=(replace(attempt.steps[0], response="another answer"), *attempt.steps[1:]))
    others = (replace(kept.results[0], attempts=(answer, *kept.results[0].attempts[1:])), *kept.results[1:])
    [case, *cases] = kept.plan.suite.cases
    suite = replace(kept.plan.suite, cases=(replace(case, name="another"), *cases))
    for other in (replace(kept, results=others), replace(kept, plan=replace(kept.plan, suite=suite))):
        keep_whole(store, other)
        before = store.read_run(kept.plan.run_id)
        with pytest.raises(StoreError, match=r"has other results .* Start it again"):
            store.begin_run(rerun, STARTED)
        assert store.read_run(kept.plan.run_id) == before
        store.delete_run(kept.plan.run_id)
    keep_whole(store, kept)
    store.begin_run(rerun, STARTED)


def test_a_plan_that_continues_a_deleted_run_is_refused(store: SqliteStore) -> None:
    kept = small_run()
    keep_whole(store, kept)
    store.delete_run(kept.plan.run_id)
    with pytest.raises(StoreError, match="does not exist"):
        store.begin_run(replace(kept.plan, continues=True), STARTED)
    assert store.list_runs() == ()


def test_a_trial_that_nobody_planned_is_kept_too(store: SqliteStore) -> None:
    plan = make_plan([make_case("one")], [A])
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(TrialKey("one", A, 2))])
    assert store.read_run(plan.run_id).plan.trials == (TrialKey("one", A), TrialKey("one", A, 2))
    assert store.list_runs()[0].trials == 2


def test_a_batch_is_kept_whole_or_not_at_all(store: SqliteStore) -> None:
    plan = make_plan([make_case("one"), make_case("two")], [A])
    store.begin_run(plan, STARTED)
    bad = make_result(TrialKey("one", A, 2**70))
    with pytest.raises(OverflowError):
        store.save_trials(plan.run_id, [make_result(plan.trials[0]), bad])
    assert store.read_outcomes(plan.run_id) == ()
    store.save_trials(plan.run_id, [make_result(plan.trials[0])])


@pytest.mark.parametrize("tokens", [10**30, -1, 10**399, 10**4299])
def test_a_history_with_impossible_token_counts_opens_without_them(
    store: SqliteStore, history: Path, tokens: int
) -> None:
    plan = make_plan([make_case("one")], [A])
    step = replace(make_step(), usage=Usage(4711, 5, None))
    result = TrialResult(plan.trials[0], "passed", False, None, (Attempt(1, "passed", None, (step,)),))
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [result])
    with closing(sqlite3.connect(history)) as file, file:  # as versions before the bound wrote it
        file.execute("UPDATE result SET content = replace(content, '4711', ?)", (str(tokens),))
        file.execute("UPDATE trial SET input_tokens = ?", (max(-1, min(tokens, 2**63 - 1)),))
    [kept] = store.read_run(plan.run_id).results
    assert kept.attempts[0].steps[0].usage == Usage(None, 5, None)
    [outcome] = store.read_outcomes(plan.run_id)
    assert (outcome.input_tokens, outcome.output_tokens) == (None, 5)


def test_a_run_whose_suite_is_missing_is_an_error_of_the_history(store: SqliteStore, history: Path) -> None:
    kept = small_run()
    keep_whole(store, kept)
    with closing(sqlite3.connect(history)) as file, file:
        file.execute("UPDATE run SET suite = 4711")
    for read in (store.read_run, store.read_suite):
        with pytest.raises(StoreError, match="cannot read"):
            read(kept.plan.run_id)


def test_runs_are_found_by_the_beginning_of_their_id(store: SqliteStore) -> None:
    for run_id in ("0193aa00" + "0" * 24, "0193ab00" + "0" * 24):
        keep_whole(store, replace(small_run(), plan=replace(small_run().plan, run_id=run_id)))
    assert store.find_run("0193aa") == "0193aa00" + "0" * 24
    assert store.find_run("0193AA") == "0193aa00" + "0" * 24
    assert store.find_run("last") == "0193ab00" + "0" * 24
    assert [record.id[:6] for record in store.list_runs()] == ["0193ab", "0193aa"]
    with pytest.raises(UnknownRun, match=r"2 saved runs begin with '0193'.*Use a longer prefix of the id"):
        store.find_run("0193")
    for prefix in ("ff", "", "0193a%", "_", "\udcff"):
        with pytest.raises(UnknownRun, match="no saved run begins with"):
            store.find_run(prefix)


def test_without_runs_there_is_no_last(store: SqliteStore) -> None:
    assert store.list_runs() == ()
    with pytest.raises(UnknownRun, match="no saved run"):
        store.find_run("last")


def test_the_latest_results_are_those_of_the_newest_run(store: SqliteStore) -> None:
    first = make_plan([make_case("one"), make_case("two")], [A], run_id="01" * 16, path="suites/x.yaml")
    second = replace(first, run_id="02" * 16, trials=first.trials[:1])
    other = make_plan([make_case("one")], [A], run_id="03" * 16, path="suites/y.yaml")
    old, new = make_result(first.trials[0], "failed"), make_result(first.trials[0])
    store.begin_run(first, STARTED)
    store.save_trials(first.run_id, [old, make_result(first.trials[1])])
    store.begin_run(second, STARTED)
    store.save_trials(second.run_id, [new])
    store.begin_run(other, STARTED)
    store.save_trials(other.run_id, [old])
    assert set(store.latest_results("suites/x.yaml")) == {
        (second.run_id, new), (first.run_id, make_result(first.trials[1])),
    }  # fmt: skip
    assert {outcome.verdict for _, outcome in store.latest_outcomes("suites/x.yaml")} == {"passed"}
    # A rerun in the older run does not replace the results of the newer one.
    store.save_trials(first.run_id, [old])
    assert {(run, result.verdict) for run, result in store.latest_results("suites/x.yaml")} == {
        (second.run_id, new.verdict), (first.run_id, "passed"),
    }  # fmt: skip
    assert store.latest_results("suites/none.yaml") == ()


def test_the_latest_repeats_of_a_case_on_a_model_are_of_one_run(store: SqliteStore) -> None:
    cases = [make_case("one"), make_case("two")]
    first = make_plan(cases, [A, B], repeats=3, run_id="01" * 16, path="suites/x.yaml")
    second = replace(first, run_id="02" * 16, trials=(TrialKey("one", A, 1), TrialKey("one", A, 2)))
    store.begin_run(first, STARTED)
    store.save_trials(first.run_id, [make_result(trial, "failed") for trial in first.trials])
    store.begin_run(second, STARTED)
    store.save_trials(second.run_id, [make_result(second.trials[0])])
    others = [trial for trial in first.trials if (trial.case, trial.model) != ("one", A)]
    of_others = {(first.run_id, make_result(trial, "failed")) for trial in others}
    assert set(store.latest_results("suites/x.yaml")) == {(second.run_id, make_result(second.trials[0])), *of_others}
    assert len(store.latest_outcomes("suites/x.yaml")) == 10
    found = [store.find_latest("suites/x.yaml", TrialKey("one", A, repeat)) for repeat in (1, 2, 3)]
    assert found == [second.run_id, None, None]
    assert store.find_latest("suites/x.yaml", TrialKey("two", A, 3)) == first.run_id
    store.save_trials(first.run_id, [make_result(TrialKey("one", A, 3))])
    newest = [each for _, each in store.latest_outcomes("suites/x.yaml") if each.trial[:2] == ("one", A)]
    assert {each.trial.repeat: each.verdict for each in newest} == {1: "passed"}, "of the newer run"


def test_the_suites_with_newer_results_are_found(store: SqliteStore, tmp_path: Path) -> None:
    assert store.changed_suites(0) == (0, frozenset())
    plans = [
        make_plan([make_case("one")], [A], run_id=f"0{number}" * 16, path=str(tmp_path / name))
        for number, name in enumerate(("x.yaml", "y.yaml"), 1)
    ]
    for plan in plans:
        store.begin_run(plan, STARTED)
        store.save_trials(plan.run_id, [make_result(plan.trials[0])])
    newest, files = store.changed_suites(0)
    assert files == {str(tmp_path.resolve() / name) for name in ("x.yaml", "y.yaml")}
    assert store.changed_suites(newest) == (newest, frozenset())
    store.save_trials(plans[0].run_id, [make_result(plans[0].trials[0], "failed")])
    newer, files = store.changed_suites(newest)
    assert newer > newest
    assert files == {str(tmp_path.resolve() / "x.yaml")}
    store.finish_run(plans[0].run_id, "finished", STARTED)
    store.delete_run(plans[0].run_id)
    assert store.changed_suites(newer)[1] == frozenset()


def test_a_suite_is_the_same_however_its_path_is_written(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = make_plan([make_case("one")], [A], path="suites/x.yaml")
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, [make_result(plan.trials[0])])
    assert len(store.latest_results(str(tmp_path / "suites" / "x.yaml"))) == 1
    assert len(store.latest_results("./suites/../suites/x.yaml")) == 1
    assert store.list_runs()[0].suite_path == "suites/x.yaml"


def test_a_deleted_run_is_gone_for_good(store: SqliteStore, history: Path) -> None:
    kept = large_run(300)
    keep_whole(store, kept)
    full = history.stat().st_size + history.with_name("runs.sqlite-wal").stat().st_size
    keep_whole(store, replace(small_run(), plan=replace(small_run().plan, run_id="01" * 16)))
    store.delete_run(kept.plan.run_id)
    assert [record.id for record in store.list_runs()] == ["01" * 16]
    with pytest.raises(StoreError, match="does not exist"):
        store.read_run(kept.plan.run_id)
    store.close()
    left = b"".join(path.read_bytes() for path in history.parent.iterdir() if path.is_file())
    assert b"never joined to the text" not in left
    assert b"Use a parameter" in left
    assert len(left) < full / 3


def test_a_run_that_is_going_on_is_not_deleted(store: SqliteStore) -> None:
    plan = small_run().plan
    store.begin_run(plan, STARTED)
    with pytest.raises(StoreError, match="still running"):
        store.delete_run(plan.run_id)


def test_the_same_suite_is_kept_once(store: SqliteStore, history: Path) -> None:
    plan = make_plan([make_case(f"case-{number}", name="x" * 2000) for number in range(200)], [A])
    for number in range(20):
        store.begin_run(replace(plan, run_id=f"{number:032x}", trials=plan.trials[:1]), STARTED)
    assert history.stat().st_size + history.with_name("runs.sqlite-wal").stat().st_size < 2_000_000


def test_an_unknown_run_is_a_sentence(store: SqliteStore) -> None:
    for call in (
        lambda: store.save_trials("ff", []),
        lambda: store.finish_run("ff", "finished", FINISHED),
        lambda: store.read_outcomes("ff"),
        lambda: store.delete_run("ff"),
    ):
        with pytest.raises(StoreError, match="run ff does not exist"):
            call()


def test_a_closed_store_is_a_sentence(store: SqliteStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="is closed"):
        store.list_runs()


def test_threads_may_share_a_store(store: SqliteStore) -> None:
    kept = large_run(60)
    store.begin_run(kept.plan, STARTED)

    def write(part: int) -> None:
        for result in kept.results[part::4]:
            store.save_trials(kept.plan.run_id, [result])
            store.list_runs()
            store.read_outcomes(kept.plan.run_id)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(4)))
    assert store.read_run(kept.plan.run_id).results == kept.results


def test_opening_loads_no_pydantic(history: Path) -> None:
    program = (
        "import sys, pathlib; from tui.store.sqlite import SqliteStore; SqliteStore(pathlib.Path(sys.argv[1]));"
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program, history], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
