"""Damaged rows: one that cannot be read does not hide the others, is never counted, and is run again."""

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.test_database import ask, change, overwrite, overwrite_index
from tests.support.kept_runs import FINISHED, STARTED, make_case, make_plan, make_result
from tui.model.errors import StoreError
from tui.model.results import TrialKey, TrialResult
from tui.model.run import Plan
from tui.model.suite import Step
from tui.reports.summary import summarize
from tui.store.schema import STEPS
from tui.store.sqlite import SqliteStore

PLAN = make_plan([make_case(f"c{number}") for number in range(6)], ["m", "n"])
RESULTS = tuple(make_result(key, "passed" if key.model == "m" else "failed") for key in PLAN.trials)
LOST = PLAN.trials[4]
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "not UTF-8": lambda content: content.replace(b"Use a parameter", b"\xd5se a parameter"),
    "not JSON": lambda content: content.replace(b'"attempts"', b'#attempts"'),
    "a key": lambda content: content.replace(b'"attempts"', b'"\x60ttempts"'),
    "a value": lambda content: content.replace(b'"verdict":"passed"', b'"verdict":"pasred"'),
    "the trial": lambda content: content.replace(b'["c2",', b'["c3",'),
    "everything": lambda _: b"",
}


def finish(history: Path, plan: Plan = PLAN, results: Sequence[TrialResult] = RESULTS) -> None:
    store = SqliteStore(history)
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, results)
    store.finish_run(plan.run_id, "finished", FINISHED)
    store.close()


def damage(history: Path, how: str, trial: TrialKey = LOST) -> None:
    """Damage the result of a trial in the file."""
    with closing(sqlite3.connect(history)) as file, file:
        number, content = file.execute(
            "SELECT result.number, CAST(content AS BLOB) FROM trial JOIN result ON result.trial = trial.number"
            " WHERE case_id = ? AND model = ?",
            trial[:2],
        ).fetchone()
        damaged = DAMAGES[how](content)
        assert damaged != content
        file.execute("UPDATE result SET content = CAST(? AS TEXT) WHERE number = ?", (damaged, number))


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_result_is_left_out_reported_and_run_again(history: Path, how: str) -> None:
    finish(history)
    damage(history, how)
    store = SqliteStore(history)
    assert [*store.notices] == []
    kept = store.read_run(PLAN.run_id)
    others = tuple(result for result in RESULTS if result.trial != LOST)
    assert kept.results == others
    assert (kept.record.state, kept.record.passed) == ("interrupted", 5)
    summary = summarize(kept)
    assert (summary.total.trials, summary.not_run, summary.interim) == (11, 1, True)
    assert store.read_trial(PLAN.run_id, LOST) is None
    assert store.read_trials(PLAN.run_id, PLAN.trials) == {result.trial: result for result in others}
    assert store.read_recordings(PLAN.run_id, "m") == tuple(result for result in others if result.trial.model == "m")
    assert [result for _, result in store.latest_results(PLAN.suite.path)] == list(others)
    assert [result for _, result in store.case_results(PLAN.suite.path, "c2", 9)] == [RESULTS[5]]
    store.begin_index()
    while not store.update_index().is_complete:
        pass
    (notice,) = store.notices
    assert f"One result of run {PLAN.run_id} cannot be read" in notice
    assert str(history) in notice
    assert f"`assay run --resume {PLAN.run_id}`" in notice
    store.close()
    store = SqliteStore(history)
    assert len(store.notices) == 1
    assert "Recovered runs: 1, with 11 results." in store.notices[0]
    (record,) = store.list_runs()
    assert (record.state, record.passed, record.trials) == ("interrupted", 5, 12)
    assert [each.trial for each in store.read_outcomes(PLAN.run_id)] == [result.trial for result in others]
    assert store.read_run(PLAN.run_id).results == others
    assert len(store.notices) == 1
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    store.close()


def test_a_damaged_result_that_was_run_again_needs_no_recovery(history: Path) -> None:
    finish(history)
    damage(history, "a key")
    store = SqliteStore(history)
    assert len(store.read_run(PLAN.run_id).results) == 11
    store.begin_run(replace(PLAN, trials=(LOST,), continues=True), STARTED)
    store.save_trials(PLAN.run_id, [RESULTS[4]])
    store.finish_run(PLAN.run_id, "finished", FINISHED)
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    assert store.read_run(PLAN.run_id).results == RESULTS
    store.close()


def test_a_result_that_cannot_be_decoded_is_dropped_by_a_recovery(history: Path) -> None:
    finish(history)
    for how, case in zip(DAMAGES, (0, 1, 3, 4, 2, 5), strict=True):
        damage(history, how, PLAN.trials[2 * case])
    overwrite_index(history)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 6 results." in store.notices[0]
    kept = store.read_run(PLAN.run_id)
    assert kept.results == RESULTS[1::2]
    assert (kept.record.state, kept.record.passed) == ("interrupted", 0)
    assert len(store.notices) == 1
    store.close()


def lose(history: Path, *, trials: str = "", results: str = "") -> None:
    """Lose rows as a damaged page does, which no trigger or foreign key follows."""
    for table, numbers in (("trial", trials), ("result", results)):
        if numbers:
            change(history, f"DELETE FROM {table} WHERE {numbers}")
    overwrite_index(history)


def resume(store: SqliteStore, run_id: str) -> None:
    """Run the trials without a result, as the end of a resumed run is stored."""
    done = {outcome.trial for outcome in store.read_outcomes(run_id)}
    plan = store.read_plan(run_id)
    missing = tuple(key for key in plan.trials if key not in done)
    store.begin_run(replace(plan, trials=missing, continues=True), STARTED)
    store.save_trials(run_id, [result for result in RESULTS if result.trial in missing])
    store.finish_run(run_id, "finished" if store.is_complete(run_id) else "interrupted", FINISHED)


def test_lost_trials_are_planned_again_and_keep_the_results_that_are_left(history: Path) -> None:
    finish(history)
    lose(history, trials="number BETWEEN 3 AND 8", results="trial BETWEEN 3 AND 5")
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 9 results." in store.notices[0]
    (record,) = store.list_runs()
    assert (record.state, record.trials) == ("interrupted", 12)
    kept = store.read_run(PLAN.run_id)
    assert kept.plan.trials == PLAN.trials
    assert kept.results == RESULTS[:2] + RESULTS[5:]
    resume(store, PLAN.run_id)
    assert store.list_runs()[0].state == "finished"
    assert store.read_run(PLAN.run_id).results == RESULTS
    store.close()


def test_a_run_that_lost_all_its_trials_is_planned_again(history: Path) -> None:
    finish(history)
    lose(history, trials="1", results="1")
    store = SqliteStore(history)
    (record,) = store.list_runs()
    assert (record.state, record.trials) == ("interrupted", 12)
    assert set(store.read_plan(PLAN.run_id).trials) == set(PLAN.trials)
    resume(store, PLAN.run_id)
    assert store.list_runs()[0].state == "finished"
    store.close()


def test_a_trial_with_a_damaged_name_gets_its_name_and_its_result_back(history: Path) -> None:
    finish(history)
    change(history, "UPDATE trial SET case_id = 'c\x7f' WHERE number = 5")
    overwrite_index(history)
    store = SqliteStore(history)
    assert store.list_runs()[0].state == "finished"
    assert store.read_run(PLAN.run_id).results == RESULTS
    assert store.read_plan(PLAN.run_id).trials == PLAN.trials
    store.close()


def test_a_trial_with_a_damaged_name_loses_its_result_where_its_number_is_unknown(history: Path) -> None:
    finish(history)
    change(history, "UPDATE trial SET case_id = 'c\x7f' WHERE number = 5")
    change(history, "UPDATE trial SET number = 40 WHERE number = 1")
    overwrite_index(history)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 10 results." in store.notices[0]
    assert store.list_runs()[0].state == "interrupted"
    kept = store.read_run(PLAN.run_id)
    assert set(kept.plan.trials) == set(PLAN.trials)
    assert {*kept.results} == {*RESULTS} - {RESULTS[0], RESULTS[4]}
    store.close()


def test_results_are_not_given_to_the_trials_of_another_run(history: Path) -> None:
    finish(history)
    finish(history, replace(PLAN, run_id="f" * 32))
    lose(history, trials="1")
    store = SqliteStore(history)
    assert "Recovered runs: 2, with 0 results." in store.notices[0]
    assert {(record.state, record.trials, record.passed) for record in store.list_runs()} == {("interrupted", 12, 0)}
    store.close()


def test_a_run_whose_lost_trials_are_unknown_is_never_finished(history: Path) -> None:
    irregular = replace(PLAN, trials=PLAN.trials[:11])
    finish(history, irregular, RESULTS[:11])
    lose(history, trials="number = 4")
    store = SqliteStore(history)
    resume(store, PLAN.run_id)
    (record,) = store.list_runs()
    assert (record.state, record.trials) == ("interrupted", 11)
    kept = store.read_run(PLAN.run_id)
    assert len(kept.results) == 10
    summary = summarize(kept)
    assert (summary.planned, summary.not_run, summary.interim) == (11, 1, True)
    more = tuple(key._replace(repeat=2) for key in PLAN.trials[:2])
    store.begin_run(replace(irregular, trials=more, continues=True), STARTED)
    store.save_trials(PLAN.run_id, [make_result(key) for key in more])
    assert not store.is_complete(PLAN.run_id), "other trials do not take the place of the lost one"
    # The same run from elsewhere has the lost trial.
    store.begin_run(irregular, STARTED)
    store.save_trials(PLAN.run_id, RESULTS[3:4])
    assert store.is_complete(PLAN.run_id)
    store.close()


@pytest.mark.parametrize("how", ["lost", "not JSON", "not UTF-8"])
def test_a_suite_that_cannot_be_read_is_rebuilt_from_the_results_of_its_runs(history: Path, how: str) -> None:
    finish(history)
    broken = replace(PLAN, run_id="f" * 32, trials=PLAN.trials[2:])
    store = SqliteStore(history)
    store.begin_run(broken, STARTED)
    store.save_trials(broken.run_id, [make_result(broken.trials[0], "error", error="No answer.")])
    store.close()
    store = SqliteStore(history)
    before = store.list_runs()
    store.close()
    if how == "lost":
        change(history, "DELETE FROM suite")
        overwrite_index(history)
    else:
        content = b"{" if how == "not JSON" else b'{"name": "\xff"}'
        with closing(sqlite3.connect(history)) as file, file:
            file.execute("UPDATE suite SET content = CAST(? AS TEXT)", (content,))
        store = SqliteStore(history)
        with pytest.raises(StoreError, match="cannot read"):
            store.read_run(PLAN.run_id)
        store.close()
    store = SqliteStore(history)
    assert "Recovered runs: 2, with 13 results." in store.notices[0]
    assert store.list_runs() == before
    kept = store.read_run(PLAN.run_id)
    assert (kept.results, kept.plan.trials, kept.plan.subjects) == (RESULTS, PLAN.trials, PLAN.subjects)
    suite, real = kept.plan.suite, PLAN.suite
    assert (suite.name, suite.path, suite.sha256) == (real.name, real.path, real.sha256)
    assert [case.id for case in suite.cases] == [case.id for case in real.cases]
    assert suite.cases[0].steps == (Step("Write code.", real.cases[0].steps[0].checks),)
    assert summarize(kept).total.passed == 6
    with pytest.raises(StoreError, match="cannot be continued: its suite was lost"):
        store.begin_run(replace(broken, suite=suite, trials=broken.trials[1:], continues=True), STARTED)
    # A new run of the real suite has the real one.
    store.begin_run(replace(PLAN, run_id="e" * 32), STARTED)
    assert store.read_suite("e" * 32) == real
    assert store.read_suite(PLAN.run_id) == suite
    store.close()


@pytest.mark.parametrize("column", ["subjects", "options", "versions"])
@pytest.mark.parametrize("how", ["not JSON", "not UTF-8"])
def test_a_run_whose_setup_cannot_be_read_keeps_its_results(history: Path, column: str, how: str) -> None:
    finish(history, replace(PLAN, options=replace(PLAN.options, attempts=2)))
    damaged = "CAST(x'5bff' AS TEXT)" if how == "not UTF-8" else f"'{{' || substr({column}, 3)"
    change(history, f"UPDATE run SET {column} = {damaged}")
    store = SqliteStore(history)
    if how == "not JSON":
        with pytest.raises(StoreError, match="cannot read"):
            store.read_run(PLAN.run_id)
    else:
        with contextlib.suppress(StoreError):
            store.read_run(PLAN.run_id)
    store.close()
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    kept = store.read_run(PLAN.run_id)
    assert (kept.record.state, kept.record.models, kept.results) == ("finished", ("m", "n"), RESULTS)
    assert [subject.name for subject in kept.plan.subjects] == ["m", "n"]
    assert {subject.definition for subject in kept.plan.subjects if column == "subjects"} <= {""}
    assert kept.plan.options.attempts == (1 if column == "options" else 2)
    (lost,) = (version for name, version in kept.versions.items() if name == "damage of the history")
    assert lost == f"what it said about the {column.replace('subjects', 'models')} is lost"
    with pytest.raises(StoreError, match="cannot be continued: its models, options or versions were lost"):
        store.begin_run(replace(kept.plan, continues=True), STARTED)
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    assert store.read_setup(PLAN.run_id).subjects == kept.plan.subjects
    store.close()


OTHER = replace(PLAN, run_id="f" * 32)


def overwrite_rows(history: Path, table: str) -> None:
    """Overwrite the page with the rows of a table."""
    page = int(str(ask(history, f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'")))
    overwrite(history, (page - 1) * 4096, b"\xff" * 4096)


def test_runs_are_rebuilt_from_their_indexes_and_results(history: Path) -> None:
    finish(history)
    finish(history, OTHER)
    change(history, "DELETE FROM result WHERE trial > 12")
    overwrite_rows(history, "run")
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    (record,) = store.list_runs()
    assert (record.id, record.suite_name, record.suite_path) == (PLAN.run_id, PLAN.suite.name, PLAN.suite.path)
    assert (record.state, record.models, record.passed, record.trials) == ("interrupted", ("m", "n"), 6, 12)
    assert record.started_at.startswith("20")
    kept = store.read_run(PLAN.run_id)
    assert (kept.plan.suite, kept.results) == (PLAN.suite, RESULTS)
    assert [result for _, result in store.latest_results(PLAN.suite.path)] == [*RESULTS]
    (lost,) = (version for name, version in kept.versions.items() if name == "damage of the history")
    assert lost == "what it said about the models and options and versions is lost"
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    store.close()


@pytest.mark.parametrize("index", ["sqlite_autoindex_run_1", "run_by_suite", "run_by_place"])
def test_a_run_is_rebuilt_without_what_one_of_its_indexes_says(history: Path, index: str) -> None:
    finish(history)
    overwrite_rows(history, "run")
    overwrite_rows(history, index)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    (record,) = store.list_runs()
    assert (record.id == PLAN.run_id) == (index != "sqlite_autoindex_run_1")
    kept = store.read_run(record.id)
    assert {(result.trial, result.verdict) for result in kept.results} == {
        (result.trial, result.verdict) for result in RESULTS
    }
    assert (kept.plan.suite == PLAN.suite) == (index != "run_by_suite")
    store.close()


@pytest.mark.parametrize("table", ["result", "trial", "run", "suite"])
def test_rows_are_found_without_the_pages_that_lead_to_them(history: Path, table: str) -> None:
    plan = make_plan([make_case(f"c{number}") for number in range(60)], ["m", "n"])
    results = tuple(make_result(key, "passed" if key.model == "m" else "failed") for key in plan.trials)
    long = replace(results[7].attempts[0].steps[0], response="long " * 20_000)
    results = (
        *results[:7],
        replace(results[7], attempts=(replace(results[7].attempts[0], steps=(long,)),)),
        *results[8:],
    )
    store = SqliteStore(history)
    ids = [f"{number:032x}" for number in range(30)]
    for number, run_id in enumerate(ids):
        suite = replace(plan.suite, name=f"Suite {number}")
        store.begin_run(replace(plan, run_id=run_id, suite=suite), STARTED)
        store.save_trials(run_id, results if number == 0 else results[:1])
        store.finish_run(run_id, "interrupted", FINISHED)
    store.delete_run(ids[3])
    store.close()
    before = {table: ask(history, f"SELECT count(*) FROM {table}") for table in ("suite", "run", "trial", "result")}
    overwrite_rows(history, table)
    store = SqliteStore(history)
    assert "Recovered runs: 29, with 148 results." in store.notices[0]
    assert {table: ask(history, f"SELECT count(*) FROM {table}") for table in before} == before
    assert {record.id for record in store.list_runs()} == {*ids} - {ids[3]}
    kept = store.read_run(ids[0])
    assert (kept.plan.suite.name, kept.plan.trials, kept.results) == ("Suite 0", plan.trials, results)
    assert {record.state for record in store.list_runs()} == {"interrupted"}
    store.close()


KILLED = """
import os, sys
from pathlib import Path
from tests.store.test_damaged_rows import OTHER, PLAN, RESULTS, STARTED, SqliteStore, finish
history = Path(sys.argv[1])
if sys.argv[2] == "checkpointed":
    finish(history)
store = SqliteStore(history)
store.begin_run(OTHER, STARTED)
store.save_trials(OTHER.run_id, RESULTS[:7])
os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("lost", ["empty", "missing"])
@pytest.mark.parametrize("before", ["new", "checkpointed"])
def test_the_log_of_a_history_whose_file_was_lost_is_read(history: Path, lost: str, before: str) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(history), before], check=False)
    os.truncate(history, 0)
    if lost == "missing":
        history.unlink()
    store = SqliteStore(history)
    assert store.read_run(OTHER.run_id).results == RESULTS[:7]
    assert bool(store.notices) is (before == "checkpointed")
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    assert store.read_run(OTHER.run_id).results == RESULTS[:7]
    store.close()


def test_the_damaged_log_of_a_linked_history_is_recovered(history: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(history), "checkpointed"], check=False)
    log = history.with_name(f"{history.name}-wal")
    content = bytearray(log.read_bytes())
    content[32 + 24 + 4096 + 24 + 100] ^= 1  # in the second page of the log
    log.write_bytes(content)
    (link := tmp_path / "elsewhere.sqlite").symlink_to(history)
    with closing(SqliteStore(link)) as store:
        assert "was damaged" in store.notices[0]
        assert store.read_run(PLAN.run_id).results == RESULTS
        assert len(store.list_runs()) == 2
    assert link.is_symlink()
    assert [*history.parent.glob("runs.damaged-*")], "the file is renamed, and so is its log"


HEADER_DAMAGES = {
    "application": "PRAGMA application_id = 7",
    "a lower format": f"PRAGMA user_version = {len(STEPS) - 1}",
    "no format": "PRAGMA user_version = 0",
    "a far format": f"PRAGMA user_version = {1 << 24}",
}


@pytest.mark.parametrize("how", HEADER_DAMAGES)
def test_a_history_whose_header_says_that_it_is_another_file_is_recovered(history: Path, how: str) -> None:
    finish(history)
    change(history, HEADER_DAMAGES[how])
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    assert store.read_run(PLAN.run_id).results == RESULTS
    store.close()


@pytest.mark.parametrize(
    "letters", [("cost_usd REAL", "cost_usd REEL"), ("started_at", "startEd_at"), ("NULL", "NuLl")]
)
def test_a_history_with_a_damaged_letter_in_its_schema_is_recovered(history: Path, letters: tuple[str, str]) -> None:
    finish(history)
    with closing(sqlite3.connect(history)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = history.read_bytes()
    before, after = (each.encode() for each in letters)
    assert before in content[:4096]
    overwrite(history, 0, content[:4096].replace(before, after, 1))
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    assert store.read_run(PLAN.run_id).results == RESULTS
    store.close()


def test_a_result_of_a_trial_that_names_no_run_makes_no_run(history: Path) -> None:
    finish(history)
    change(history, "PRAGMA foreign_keys = OFF", "UPDATE trial SET run = 77 WHERE number = 3")
    overwrite_index(history)
    store = SqliteStore(history)
    assert [record.id for record in store.list_runs()] == [PLAN.run_id]
    assert store.list_runs()[0].trials == 12
    store.close()


def test_lost_trials_of_an_unknown_plan_are_rebuilt_from_their_index(history: Path) -> None:
    irregular = replace(PLAN, trials=PLAN.trials[:11])
    finish(history, irregular, RESULTS[:11])
    overwrite_rows(history, "trial")
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 11 results." in store.notices[0]
    (record,) = store.list_runs()
    assert (record.state, record.trials, record.passed) == ("finished", 11, 6)
    kept = store.read_run(PLAN.run_id)
    assert (kept.plan.trials, kept.results) == (irregular.trials, RESULTS[:11])
    store.close()


def test_a_run_without_suite_and_results_is_dropped(history: Path) -> None:
    finish(history)
    change(history, "DELETE FROM suite", "DELETE FROM result")
    overwrite_index(history)
    store = SqliteStore(history)
    assert "No run could be recovered." in store.notices[0]
    assert store.list_runs() == ()
    store.close()


def test_a_suite_that_damage_has_changed_is_not_that_of_new_runs(history: Path) -> None:
    finish(history)
    change(history, "UPDATE suite SET content = replace(content, 'Write', 'Wsite')")
    overwrite_index(history)
    store = SqliteStore(history)
    store.begin_run(replace(PLAN, run_id="e" * 32), STARTED)
    assert store.read_suite("e" * 32) == PLAN.suite
    assert store.read_run(PLAN.run_id).results == RESULTS
    store.close()


@pytest.mark.parametrize(
    ("table", "column"),
    [("run", "suite_name"), ("run", "suite_place"), ("run", "models"), ("run", "id"), ("trial", "error")],
)
def test_a_text_that_cannot_be_decoded_hides_no_other_run(history: Path, table: str, column: str) -> None:
    other = replace(PLAN, run_id="f" * 32)
    finish(history)
    finish(history, other)
    change(history, f"UPDATE {table} SET {column} = CAST(x'41D542' AS TEXT) WHERE number = 1")
    store = SqliteStore(history)
    runs = store.list_runs()
    assert (len(runs), runs[0].id) == (2, other.run_id)
    first = store.read_outcomes(PLAN.run_id) if column != "id" else ()
    assert len(first) in (0, 12)
    assert store.read_run(other.run_id).results == RESULTS
    (notice,) = store.notices
    assert "characters of names cannot be read" in notice
    store.close()
    store = SqliteStore(history)
    assert "was damaged" in store.notices[0]
    assert store.read_run(other.run_id).results == RESULTS
    assert len(store.list_runs()) == 2
    store.close()


@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("column", ["verdict", "first_verdict"])
def test_a_word_that_is_no_verdict_is_in_no_figure_and_derived_again(
    history: Path, size: str, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(history)
    change(history, f"UPDATE trial SET {column} = 'qassed' WHERE case_id = 'c2' AND model = 'm'")
    if size == "large":
        monkeypatch.setattr("tui.store.database._ALWAYS_CHECKED", 0)
        store = SqliteStore(history)
        assert len(store.read_outcomes(PLAN.run_id)) == 11
        assert len(store.latest_outcomes(PLAN.suite.path)) == 11
        store.close()
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    assert {(each.verdict, each.first_verdict) for each in store.read_outcomes(PLAN.run_id)} == {
        ("passed", "passed"), ("failed", "failed"),
    }  # fmt: skip
    store.close()


@pytest.mark.parametrize(("at", "size"), [(0, 4_096), (0, 16), (16, 2), (56, 4), (100, 1), (108, 20)])
def test_a_damaged_first_page_loses_no_result(history: Path, at: int, size: int) -> None:
    finish(history)
    with closing(sqlite3.connect(history)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.execute("PRAGMA journal_mode = DELETE")
    content = bytearray(history.read_bytes())
    content[at : at + size] = bytes(each ^ 0xFF for each in content[at : at + size])
    history.write_bytes(content)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with 12 results." in store.notices[0]
    kept = store.read_run(PLAN.run_id)
    assert (kept.results, kept.plan) == (RESULTS, PLAN)
    assert not list(history.parent.glob("*.copy"))
    store.close()


# --- a page whose last write was lost: each page of the file is sound, but not the file

SECOND = replace(make_plan([make_case(f"d{number}") for number in range(3)], ["m"]), run_id="0193f2a4-2")
SECOND_RESULTS = tuple(make_result(key) for key in SECOND.trials)
ALL = {PLAN.run_id: RESULTS, SECOND.run_id: SECOND_RESULTS}


def lose_write(history: Path, name: str) -> None:
    """Make a history of two runs, in which one page is as it was before the second one."""
    finish(history)
    root = int(str(ask(history, f"SELECT rootpage FROM sqlite_schema WHERE name = '{name}'")))
    start, end = (root - 1) * 4096, root * 4096
    before = history.read_bytes()[start:end]
    finish(history, SECOND, SECOND_RESULTS)
    assert history.read_bytes()[start:end] != before, "it is the only page of its table or index"
    overwrite(history, start, before)
    assert ask(history, "PRAGMA quick_check") == "ok"


def read_all(history: Path) -> dict[str, tuple[TrialResult, ...]]:
    with closing(SqliteStore(history)) as store:
        return {record.id: store.read_run(record.id).results for record in store.list_runs()}


PAGES = ["run", "sqlite_autoindex_run_1", "sqlite_autoindex_trial_1", "sqlite_autoindex_result_1"]


@pytest.mark.parametrize("name", PAGES)
def test_a_history_in_which_a_page_was_not_written_is_recovered(history: Path, name: str) -> None:
    lose_write(history, name)
    assert read_all(history) == ALL


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_was_not_written_is_noticed_in_a_large_history(
    history: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("tui.store.database._ALWAYS_CHECKED", 0)
    lose_write(history, name)
    with closing(SqliteStore(history)) as store:
        if name == "sqlite_autoindex_result_1":
            found = store.read_run(SECOND.run_id)
            assert (found.record.state, found.results) == ("interrupted", ())
            assert "3 results of run" in store.notices[0]
        elif name == "sqlite_autoindex_trial_1":
            with pytest.raises(StoreError, match=r"trials of run .* cannot be found, because .* is damaged"):
                store.read_outcomes(SECOND.run_id)
        else:
            assert "was damaged" in store.notices[0], "noticed when it is opened"
    assert read_all(history) == ALL


def test_an_index_with_a_number_for_a_case_is_noticed_and_rebuilt(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.store.database._ALWAYS_CHECKED", 0)
    finish(history)
    root = int(str(ask(history, "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_trial_1'")))
    page = history.read_bytes()[(root - 1) * 4096 : root * 4096]
    kind = page.index(b"c3m") - 4  # The types of case, model, repeat and number are before their values.
    assert page[kind] == 13 + 2 * len("c3"), "a text of two characters"
    overwrite(history, (root - 1) * 4096 + kind, b"\x02")  # a number of two bytes
    with closing(SqliteStore(history)) as store:
        assert len(store.read_outcomes(PLAN.run_id)) == len(RESULTS) - 1
        with pytest.raises(StoreError, match="contains a run that Assay cannot read"):
            store.read_plan(PLAN.run_id)
    assert read_all(history) == {PLAN.run_id: RESULTS}


def test_a_new_run_does_not_get_the_trials_of_a_lost_one(history: Path) -> None:
    finish(history)
    finish(history, SECOND, SECOND_RESULTS)
    new = replace(make_plan([make_case("e")], ["m"]), run_id="0193f2a4-3")
    store = SqliteStore(history)
    with closing(sqlite3.connect(history)) as file, file:
        file.execute("DELETE FROM run WHERE id = ?", (SECOND.run_id,))
    with pytest.raises(StoreError, match="a run is missing, of which it has trials"):
        store.begin_run(new, STARTED)
    store.close()
    with closing(SqliteStore(history)) as store:
        store.begin_run(new, STARTED)
        assert store.read_run(new.run_id).results == ()
        assert store.read_run(PLAN.run_id).results == RESULTS
