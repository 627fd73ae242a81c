"""Kills, full disks and neighbours: what was kept stays kept."""

import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.full_disk import no_larger_files
from tests.support.kept_runs import FINISHED, STARTED, large_run, make_case, make_plan, make_result, small_run
from tui.model.errors import StoreError
from tui.model.results import TrialKey, Verdict
from tui.store.ownership import owners_folder
from tui.store.sqlite import SqliteStore

PLAN = make_plan([make_case(f"case-{number:04}") for number in range(3000)], ["m"])

WRITER = """
import pathlib, sys
from tests.store.test_durability import PLAN
from tests.support.kept_runs import STARTED, make_result
from tui.store.sqlite import SqliteStore
store = SqliteStore(pathlib.Path(sys.argv[1]))
done = {outcome.trial for outcome in (store.read_outcomes(PLAN.run_id) if store.list_runs() else ())}
store.begin_run(PLAN, STARTED)
print("begun", flush=True)
left = [key for key in PLAN.trials if key not in done]
for at in range(0, len(left), 3):
    if at >= int(sys.argv[2]):
        sys.stdin.read()  # until it is killed
    store.save_trials(PLAN.run_id, [make_result(key) for key in left[at:at + 3]])
    print(*(key.case for key in left[at:at + 3]), flush=True)
"""


def kill_while_it_writes(history: Path, times: int) -> None:
    seen: set[str] = set()
    command = [sys.executable, "-c", WRITER, str(history)]
    for turn in range(times):
        writer = subprocess.Popen([*command, str(len(PLAN.trials))], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        number = random.Random(turn).randrange(1, 25)
        for _ in range(number):
            seen.update(writer.stdout.readline().replace("begun", "").split())
        writer.send_signal(signal.SIGKILL)
        seen.update(writer.stdout.read().replace("begun", "").split())
        writer.wait()
        writer.stdout.close()
        store = SqliteStore(history)
        back = store.read_run(PLAN.run_id)
        assert store.notices == ()
        assert back.record.state == ("interrupted" if len(back.results) < len(PLAN.trials) else "finished")
        assert back.record.finished_at is not None
        kept = {result.trial.case for result in back.results}
        assert seen <= kept
        assert len(kept) % 3 == 0, "a batch is whole"
        assert back.record.passed == len(back.results)
        assert all(result == make_result(result.trial) for result in back.results)
        store.close()
    assert len(seen) > times


def test_a_kill_loses_nothing_that_was_finished(history: Path) -> None:
    kill_while_it_writes(history, 2)


@pytest.mark.long
def test_a_hundred_kills_lose_nothing_that_was_finished(history: Path) -> None:
    kill_while_it_writes(history, 100)


def test_a_run_whose_process_is_gone_was_interrupted(history: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(history), "300"]  # never all: a run with all results is finished
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "begun\n"
    neighbour = SqliteStore(history)
    assert neighbour.list_runs()[0].state == "running"
    with pytest.raises(StoreError, match="still running"):
        neighbour.begin_run(PLAN, STARTED)
    with pytest.raises(StoreError, match="still running"):
        neighbour.delete_run(PLAN.run_id)
    writer.kill()
    writer.wait()
    writer.stdin.close()
    writer.stdout.close()
    # Seen by those who had it open, and written down by whoever opens it next.
    assert neighbour.list_runs()[0].state == "interrupted"
    assert neighbour.read_run(PLAN.run_id).record.state == "interrupted"
    neighbour.close()
    again = SqliteStore(history)
    assert again.list_runs()[0].state == "interrupted"
    assert list(owners_folder(history).iterdir()) == []
    again.begin_run(PLAN, STARTED)
    assert again.list_runs()[0].state == "running"
    again.finish_run(PLAN.run_id, "finished", FINISHED)
    assert again.list_runs()[0].state == "finished"
    again.close()


def test_a_store_that_is_closed_in_the_middle_leaves_an_interrupted_run(history: Path) -> None:
    store = SqliteStore(history)
    store.begin_run(PLAN, "2020-01-01T00:00:00+00:00")
    store.save_trials(PLAN.run_id, [make_result(PLAN.trials[0])])
    store.close()
    store = SqliteStore(history)
    (record,) = store.list_runs()
    assert record.state == "interrupted"
    assert record.finished_at is not None
    assert record.finished_at > record.started_at
    store.close()


@pytest.mark.parametrize("verdict", ["failed", "cancelled"])
def test_a_rerun_whose_process_is_gone_leaves_a_finished_run_finished(history: Path, verdict: Verdict) -> None:
    store, plan = SqliteStore(history), make_plan([make_case("one"), make_case("two")], ["m"])
    store.begin_run(plan, STARTED)
    results = [make_result(key, verdict) for key in plan.trials]
    store.save_trials(plan.run_id, results)
    store.finish_run(plan.run_id, "finished", FINISHED)
    rerun = replace(plan, continues=True, earlier=dict(zip(plan.trials, results, strict=True)))
    store.begin_run(rerun, STARTED)
    assert store.list_runs()[0].state == "running"
    store.close()
    again = SqliteStore(history)
    assert again.list_runs()[0].state == ("finished" if verdict == "failed" else "interrupted")
    again.close()


def test_a_second_store_leaves_the_first_ones_run_alone(history: Path) -> None:
    first = SqliteStore(history)
    first.begin_run(PLAN, STARTED)
    second = SqliteStore(history)
    assert second.list_runs()[0].state == "running"
    second.close()
    third = SqliteStore(history)
    assert third.list_runs()[0].state == "running"
    first.save_trials(PLAN.run_id, [make_result(PLAN.trials[0])])
    assert third.list_runs()[0].passed == 1
    third.close()
    first.close()


NEIGHBOUR = """
import pathlib, sys
from dataclasses import replace
from tests.support.kept_runs import STARTED, FINISHED, large_run
from tui.store.sqlite import SqliteStore
kept = large_run(40)
plan = replace(kept.plan, run_id=sys.argv[2])
sys.stdin.readline()
store = SqliteStore(pathlib.Path(sys.argv[1]))
store.begin_run(plan, STARTED)
for result in kept.results:
    store.save_trials(plan.run_id, [result])
store.finish_run(plan.run_id, "finished", FINISHED)
store.close()
"""


def test_several_processes_share_a_new_file(history: Path) -> None:
    ids = [f"{number:032x}" for number in range(4)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", NEIGHBOUR, str(history), run_id],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for run_id in ids
    ]
    with ThreadPoolExecutor(4) as threads:
        errors = list(threads.map(lambda writer: writer.communicate("go\n")[1], writers))
    assert errors == ["", "", "", ""]
    store = SqliteStore(history)
    assert [record.id for record in store.list_runs()] == ids[::-1]
    assert {record.state for record in store.list_runs()} == {"finished"}
    for run_id in ids:
        assert store.read_run(run_id).results == large_run(40).results
    store.close()


def test_a_full_disk_is_a_sentence_and_can_be_tried_again(history: Path) -> None:
    kept = large_run(300)
    store = SqliteStore(history)
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.plan.run_id, kept.results[:5])
    with no_larger_files(history.with_name("runs.sqlite-wal").stat().st_size + 50_000):
        for _ in range(2):
            with pytest.raises(StoreError, match="Results saved earlier are safe"):
                store.save_trials(kept.plan.run_id, kept.results)
        assert len(store.read_outcomes(kept.plan.run_id)) == 5
    store.save_trials(kept.plan.run_id, kept.results)
    store.close()
    store = SqliteStore(history)
    assert store.notices == ()
    assert store.read_run(kept.plan.run_id).results == kept.results
    store.close()


def test_saved_runs_are_read_on_a_full_disk(history: Path) -> None:
    kept = small_run()
    store = SqliteStore(history)
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.plan.run_id, kept.results)
    store.close()
    with no_larger_files(1_000):  # too small for the index of the write-ahead log
        full = SqliteStore(history)
    (notice,) = full.notices
    assert "is full: new results are not saved" in notice
    assert full.read_run(kept.plan.run_id).results == kept.results
    full.check_stored(kept.plan.run_id)  # scores can be saved
    with pytest.raises(StoreError, match="the disk of the run history was full"):
        full.save_trials(kept.plan.run_id, kept.results)
    full.close()


def test_a_file_that_is_taken_away_is_noticed(history: Path) -> None:
    kept = small_run()
    store = SqliteStore(history)
    store.begin_run(kept.plan, STARTED)
    away = history.rename(history.with_name("elsewhere"))
    with pytest.raises(StoreError, match="removed or replaced while Assay was using it"):
        store.save_trials(kept.plan.run_id, kept.results)
    away.rename(history)
    store.save_trials(kept.plan.run_id, kept.results)
    assert store.read_trial(kept.plan.run_id, TrialKey("sec-001", "openai/mock-a")) == kept.results[0]
    store.close()
