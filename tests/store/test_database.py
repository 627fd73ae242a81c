"""Whatever state the file is in, opening it ends well or with a sentence."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.full_disk import no_larger_files
from tests.support.kept_runs import FINISHED, STARTED, large_run, make_case, make_plan, make_result, small_run
from tests.support.processes import wait_until
from tui.model.errors import StoreError
from tui.model.results import TrialResult, Verdict
from tui.model.scores import answer_hash, current_answer_hash
from tui.model.suite import Step
from tui.processes.file_lock import locked
from tui.reports.summary import summarize
from tui.store import database, recovery, schema
from tui.store.sqlite import SqliteStore

KEPT = small_run()


def fill(history: Path) -> None:
    store = SqliteStore(history)
    store.begin_run(KEPT.plan, STARTED)
    store.save_trials(KEPT.plan.run_id, KEPT.results)
    store.finish_run(KEPT.plan.run_id, "finished", FINISHED)
    store.close()


def change(history: Path, *statements: str) -> None:
    connection = sqlite3.connect(history)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def ask(history: Path, question: str) -> object:
    connection = sqlite3.connect(history)
    answer = connection.execute(question).fetchone()[0]
    connection.close()
    return answer


def test_only_its_owner_may_read_the_file(history: Path) -> None:
    before = os.umask(0)
    try:
        store = SqliteStore(history)
        store.begin_run(KEPT.plan, STARTED)
    finally:
        os.umask(before)
    assert history.parent.stat().st_mode & 0o777 == 0o700
    files = [path for path in history.parent.rglob("*") if path.is_file()]
    assert len(files) == 4  # the file, its log, its shared memory, the owner's lock
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    store.close()


def test_the_file_says_whose_it_is_and_how_it_is_written(history: Path) -> None:
    fill(history)
    assert ask(history, "PRAGMA application_id") == schema.APPLICATION_ID
    assert ask(history, "PRAGMA user_version") == len(schema.STEPS)
    assert ask(history, "PRAGMA journal_mode") == "wal"


def test_every_commit_reaches_the_disk(history: Path) -> None:
    opened = database.open_history(history)
    assert opened.connection.execute("PRAGMA synchronous").fetchone()[0] == 2
    opened.connection.close()


def test_a_newer_history_is_refused(history: Path) -> None:
    fill(history)
    change(history, "PRAGMA user_version = 99")
    with pytest.raises(StoreError, match=r"newer version of Assay \(format 99; .*Update Assay"):
        SqliteStore(history)
    assert ask(history, "SELECT count(*) FROM run") == 1


@pytest.mark.parametrize("mark", ["CREATE TABLE other (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"])
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, mark: str) -> None:
    other = tmp_path / "other.db"
    change(other, "CREATE TABLE t (a)", "DROP TABLE t", mark)
    before = other.read_bytes()
    with pytest.raises(StoreError, match="database of another program"):
        SqliteStore(other)
    assert other.read_bytes() == before


def test_a_folder_is_no_history(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        SqliteStore(tmp_path)


def test_a_file_where_the_folder_should_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreError, match="cannot open"):
        SqliteStore(tmp_path / "data" / "runs.sqlite")


def test_an_empty_file_becomes_a_history(history: Path) -> None:
    history.parent.mkdir()
    history.touch()
    fill(history)
    assert SqliteStore(history).notices == ()


NEW_KEYS = ("asking", "price", "cost_usd", "served_by", "cached_tokens", "cache_writing_tokens")


def without_new_keys(value: object) -> object:
    if isinstance(value, dict):
        older = {key: without_new_keys(inner) for key, inner in value.items() if key not in NEW_KEYS}
        return {**older, "asked_again": value["asking"] > 0} if "asking" in value else older
    return [without_new_keys(each) for each in value] if isinstance(value, list) else value


WITHOUT_LEAST = tuple(
    f"ALTER TABLE trial DROP COLUMN least_{name}" for name in ("input_tokens", "output_tokens", "cost_usd")
)


def make_older(history: Path) -> None:
    """As it was written before there were costs and versions."""
    change(
        history,
        *WITHOUT_LEAST,
        "ALTER TABLE trial DROP COLUMN first_verdict",
        "ALTER TABLE trial DROP COLUMN reruns",
        "ALTER TABLE run DROP COLUMN unchecked",
        "ALTER TABLE trial DROP COLUMN cost_usd",
        "ALTER TABLE run DROP COLUMN versions",
        "ALTER TABLE trial DROP COLUMN answer",
        "PRAGMA user_version = 1",
    )
    connection = sqlite3.connect(history)
    for table, column in (("result", "content"), ("run", "subjects")):
        for number, text in connection.execute(f"SELECT number, {column} FROM {table}").fetchall():
            older = json.dumps(without_new_keys(json.loads(text)))
            assert older != json.dumps(json.loads(text))
            connection.execute(f"UPDATE {table} SET {column} = ? WHERE number = ?", (older, number))
    connection.commit()
    connection.close()


def test_a_history_without_costs_is_read_and_they_are_unknown(history: Path) -> None:
    fill(history)
    make_older(history)
    store = SqliteStore(history)
    kept = store.read_run(KEPT.plan.run_id)
    assert (kept.results, kept.plan.subjects, kept.versions) == (KEPT.results, KEPT.plan.subjects, {})
    assert {outcome.cost_usd for outcome in store.read_outcomes(KEPT.plan.run_id)} == {None}
    costs = store.read_costs(KEPT.plan.run_id)
    assert {spent.usd for spent in costs.values()} == {None}
    hashes = {result.trial: current_answer_hash(result) for result in KEPT.results}
    assert store.read_answer_hashes(KEPT.plan.run_id) == hashes, "scores name answers that were kept before, too"
    assert sum(spent.trials for spent in costs.values()) == len(KEPT.results)
    store.close()


def test_sums_of_a_history_without_lower_bounds_stay(history: Path) -> None:
    fill(history)
    store = SqliteStore(history)
    outcomes, costs = store.read_outcomes(KEPT.plan.run_id), store.read_costs(KEPT.plan.run_id)
    assert any(outcome.least_output_tokens for outcome in outcomes)
    store.close()
    change(history, *WITHOUT_LEAST, "PRAGMA user_version = 4")
    store = SqliteStore(history)
    assert (store.read_outcomes(KEPT.plan.run_id), store.read_costs(KEPT.plan.run_id)) == (outcomes, costs)
    store.close()


def test_a_damaged_history_of_an_older_format_is_read_as_far_as_that_goes(history: Path) -> None:
    fill(history)
    make_older(history)
    page = int(str(ask(history, "SELECT rootpage FROM sqlite_schema WHERE name = 'run_by_suite'")))
    with history.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    store = SqliteStore(history)
    assert "was damaged" in store.notices[-1]
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()


def test_an_older_history_is_backed_up_and_brought_forward(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(history)
    now = len(schema.STEPS)
    newer = (*schema.STEPS, ("CREATE TABLE remark (text TEXT)",))
    monkeypatch.setattr(database, "STEPS", newer)
    store = SqliteStore(history)
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()
    (copy,) = history.parent.glob(f"runs.format-{now}-*.sqlite")
    assert store.notices == (f"The run history was migrated to a newer format; the old file was saved as {copy}.",)
    assert ask(history, "PRAGMA user_version") == now + 1
    assert ask(copy, "PRAGMA user_version") == now
    assert ask(copy, "SELECT count(*) FROM result") == len(KEPT.results)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert SqliteStore(history).notices == ()


def test_a_migration_that_fails_changes_nothing(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(history)
    newer = (*schema.STEPS, ("CREATE TABLE remark (text TEXT)", "CREATE TABLE run (again)"))
    monkeypatch.setattr(database, "STEPS", newer)
    with pytest.raises(StoreError, match="already exists"):
        SqliteStore(history)
    monkeypatch.undo()
    assert not [*history.parent.glob("runs.format-*")]
    store = SqliteStore(history)
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()


@pytest.mark.parametrize("room", [8192, "copy"], ids=["not for the copy", "for the copy only"])
def test_a_migration_on_a_full_disk_says_so_and_leaves_no_copy(
    history: Path, monkeypatch: pytest.MonkeyPatch, room: int | str
) -> None:
    fill(history)
    newer = (*schema.STEPS, ("CREATE TABLE remark AS SELECT * FROM result, result AS other",))
    monkeypatch.setattr(database, "STEPS", newer)
    size = history.stat().st_size + 4096 if room == "copy" else room
    with (
        no_larger_files(int(size)),
        pytest.raises(StoreError, match="has an older format and cannot be migrated: the disk is full") as failed,
    ):
        SqliteStore(history)
    assert failed.value.fix == "Free disk space, then restart Assay."
    assert not [*history.parent.glob("runs.format-*")]
    store = SqliteStore(history)
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()
    assert len([*history.parent.glob("runs.format-*")]) == 1


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "no database at all": lambda data: b"not a database\n" * (len(data) // 15),
    "zeros": lambda data: bytes(len(data)),
    "header overwritten": lambda data: b"\xff" * 100 + data[100:],
    "first page overwritten": lambda data: data[:100] + b"\xff" * 3996 + data[4096:],
    "cut to half": lambda data: data[: len(data) // 2],
    "noise in every page": lambda data: b"".join(
        data[at : at + 2000] + b"\xa5" * 2096 if at else data[:4096] for at in range(0, len(data), 4096)
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_history_is_moved_aside(history: Path, damage: str) -> None:
    fill(history)
    damaged = DAMAGES[damage](history.read_bytes())
    history.write_bytes(damaged)
    store = SqliteStore(history)
    (moved,) = history.parent.glob("runs.damaged-*.sqlite")
    assert moved.read_bytes() == damaged
    (notice,) = store.notices
    assert f"renamed to {moved} and a new one was created" in notice
    store.begin_run(KEPT.plan, STARTED)
    store.save_trials(KEPT.plan.run_id, KEPT.results)
    assert set(store.read_run(KEPT.plan.run_id).results) == set(KEPT.results)
    store.close()
    assert SqliteStore(history).notices == ()


def test_what_can_be_read_of_a_damaged_history_is_kept(history: Path) -> None:
    kept = large_run(400)
    store = SqliteStore(history)
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.plan.run_id, kept.results)
    store.close()
    data = bytearray(history.read_bytes())
    pages = len(data) // 4096
    for page in (pages // 2, pages // 2 + 1, pages - 20):
        data[page * 4096 : (page + 1) * 4096] = b"\xff" * 4096
    history.write_bytes(data)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with " in store.notices[0]
    back = store.read_run(kept.plan.run_id)
    assert 700 < len(back.results) < 800
    assert set(back.results) <= set(kept.results)
    assert back.record.passed == sum(result.verdict == "passed" for result in back.results)
    store.close()


@pytest.mark.parametrize("pages", [1, 20])
def test_a_history_that_lost_its_end_is_recovered_up_to_there(history: Path, pages: int) -> None:
    kept = large_run(400)
    store = SqliteStore(history)
    store.begin_run(kept.plan, STARTED)
    store.save_trials(kept.plan.run_id, kept.results)
    store.close()
    os.truncate(history, history.stat().st_size - pages * 4096)
    store = SqliteStore(history)
    assert "Recovered runs: 1, with " in store.notices[0]
    back = store.read_run(kept.plan.run_id).results
    store.close()
    assert len(kept.results) - 10 * pages < len(back) < len(kept.results)
    assert set(back) <= set(kept.results)


def table_pages(history: Path, table: str) -> tuple[list[int], list[int]]:
    """Return the interior pages of a table directly below its root, and the leaves of the first of them, in order."""
    data = history.read_bytes()
    size = int(str(ask(history, "PRAGMA page_size")))

    def children(page: int) -> list[int]:
        start = (page - 1) * size
        assert data[start] == 5, "an interior page of a table"
        cells = int.from_bytes(data[start + 3 : start + 5])
        places = (int.from_bytes(data[at : at + 2]) for at in range(start + 12, start + 12 + 2 * cells, 2))
        last = int.from_bytes(data[start + 8 : start + 12])
        return [*(int.from_bytes(data[start + place :][:4]) for place in places), last]

    inner = children(int(str(ask(history, f"SELECT rootpage FROM sqlite_schema WHERE name = '{table}'"))))
    return inner, children(inner[0])


@pytest.mark.parametrize("damaged", ["leaf before a deleted run", "interior page"])
def test_rows_after_a_large_gap_are_recovered(history: Path, monkeypatch: pytest.MonkeyPatch, damaged: str) -> None:
    monkeypatch.setattr(recovery, "_TRIED_EACH", 20)
    each = large_run(150)
    runs = [replace(each, plan=replace(each.plan, run_id=digit * 32)) for digit in "123"]
    store = SqliteStore(history)
    for kept in runs:
        store.begin_run(kept.plan, STARTED)
        store.save_trials(kept.plan.run_id, kept.results)
        store.finish_run(kept.plan.run_id, "finished", FINISHED)
    if damaged.startswith("leaf"):
        store.delete_run("2" * 32)
    store.close()
    change(history, "PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM")
    inner, leaves = table_pages(history, "trial")
    page = leaves[3] if damaged.startswith("leaf") else inner[1]
    data = bytearray(history.read_bytes())
    data[(page - 1) * 512 : page * 512] = b"\xff" * 512
    history.write_bytes(data)
    store = SqliteStore(history)
    assert "was damaged" in store.notices[0]
    first, last = (store.read_run(runs[number].plan.run_id).results for number in (0, 2))
    store.close()
    assert last == each.results
    assert len(first) > 100
    assert set(first) <= set(each.results)


def overwrite_index(history: Path) -> None:
    """Overwrite an index, so that every row can be read."""
    page = int(str(ask(history, "SELECT rootpage FROM sqlite_schema WHERE name = 'run_by_suite'")))
    overwrite(history, (page - 1) * 4096, b"\xa5" * 4096)


def overwrite(history: Path, start: int, data: bytes) -> None:
    """Overwrite a part of a history in another process: this one would lose its locks when it closes the file."""
    program = "import os, sys; os.pwrite(os.open(sys.argv[1], os.O_WRONLY), sys.stdin.buffer.read(), int(sys.argv[2]))"
    subprocess.run([sys.executable, "-c", program, str(history), str(start)], input=data, check=True)


@pytest.mark.parametrize("lost", [None, "result", "trial"])
def test_a_run_that_lost_results_is_interrupted_and_its_other_results_are_counted(
    history: Path, lost: str | None
) -> None:
    cases = [make_case("a"), make_case("b"), replace(make_case("free"), steps=(Step("Ask."),))]
    plan = make_plan(cases, ["m", "n"])
    verdicts: Sequence[Verdict] = ("passed", "passed", "failed", "passed", "error", "unchecked")
    results = [make_result(key, verdict) for key, verdict in zip(plan.trials, verdicts, strict=True)]
    store = SqliteStore(history)
    store.begin_run(plan, STARTED)
    store.save_trials(plan.run_id, results)
    store.finish_run(plan.run_id, "finished", FINISHED)
    before = store.list_runs()
    store.close()
    if lost is not None:
        # A trial with its result: a result without its trial would be found again.
        change(history, "DELETE FROM result WHERE trial = 2", f"DELETE FROM {lost} WHERE number = 2")
    overwrite_index(history)
    store = SqliteStore(history)
    assert "was damaged" in store.notices[0]
    if lost is None:
        assert store.list_runs() == before
    else:
        (record,) = store.list_runs()
        assert (record.state, record.passed, record.unchecked) == ("interrupted", 2, 2)
        assert record.checked == 4, "a lost trial is planned as before"
        assert summarize(store.read_run(plan.run_id)).total.checked == 3, "the lost result is in no rate"
        store.begin_run(replace(plan, trials=plan.trials[1:2], continues=True), STARTED)
        store.save_trials(plan.run_id, results[1:2])
        store.finish_run(plan.run_id, "finished", FINISHED)
        assert store.is_complete(plan.run_id)
        assert store.list_runs() == before
    store.close()


def test_a_damaged_history_is_recovered_once_when_two_open_it(history: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(history)
    overwrite_index(history)
    damaged = history.read_bytes()
    second = threading.Thread(target=lambda: found.append(open_and_read()))
    second_waits = threading.Event()
    found: list[tuple[TrialResult, ...]] = []

    def open_and_read() -> tuple[TrialResult, ...]:
        store = SqliteStore(history)
        try:
            return store.read_run(KEPT.plan.run_id).results
        finally:
            store.close()

    def lock(*arguments: Any) -> AbstractContextManager[None]:
        if threading.current_thread() is second:
            second_waits.set()
        return locked(*arguments)

    def salvage_late(*files: Any) -> None:
        second.start()
        wait_until(lambda: second_waits.is_set() or not second.is_alive())
        salvage(*files)

    salvage = recovery.salvage
    monkeypatch.setattr(database, "locked", lock)
    monkeypatch.setattr(recovery, "salvage", salvage_late)
    assert open_and_read() == KEPT.results
    second.join()
    assert found == [KEPT.results]
    (moved,) = history.parent.glob("runs.damaged-*.sqlite")
    assert moved.read_bytes() == damaged


def test_what_another_program_saves_during_a_recovery_is_recovered_or_refused_and_saved_afterwards(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(history)
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.0)
    other = SqliteStore(history)
    again = replace(KEPT.plan, run_id="1" * 32)
    other.begin_run(again, STARTED)
    change(history, "PRAGMA wal_checkpoint(TRUNCATE)")
    overwrite_index(history)
    saved: list[TrialResult] = []

    def save(results: Sequence[TrialResult]) -> None:
        for result in results:
            with contextlib.suppress(StoreError):
                other.save_trials(again.run_id, [result])
                saved.append(result)

    def salvage_late(*files: Any) -> None:
        save(KEPT.results[2:4])
        salvage(*files)
        save(KEPT.results[4:6])

    salvage = recovery.salvage
    monkeypatch.setattr(recovery, "salvage", salvage_late)
    save(KEPT.results[:2])
    store = SqliteStore(history)
    assert "a new one was created" in store.notices[0]
    assert tuple(saved) == KEPT.results[:2]
    assert store.read_run(again.run_id).results == tuple(saved)
    save(KEPT.results[2:])
    other.finish_run(again.run_id, "finished", FINISHED)
    assert tuple(saved) == KEPT.results
    assert store.read_run(again.run_id) == other.read_run(again.run_id)
    assert store.read_run(again.run_id).results == KEPT.results
    store.close()
    other.close()
    assert SqliteStore(history).notices == ()


def test_a_program_that_waits_for_a_recovery_to_save_does_not_save_to_the_renamed_file(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(history)
    waits = threading.Event()

    def traced(*arguments: Any, **settings: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **settings)
        connection.set_trace_callback(note)
        return connection

    def note(sql: str) -> None:
        if sql == "BEGIN IMMEDIATE":
            waits.set()

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", traced)
    other = SqliteStore(history)
    monkeypatch.undo()
    overwrite_index(history)
    refused: list[StoreError] = []

    def save() -> None:
        try:
            other.save_trials(KEPT.plan.run_id, KEPT.results)
        except StoreError as error:
            refused.append(error)

    def salvage_late(*files: Any) -> None:
        waits.clear()
        saving.start()
        assert waits.wait(30)
        salvage(*files)

    saving, salvage = threading.Thread(target=save), recovery.salvage
    monkeypatch.setattr(recovery, "salvage", salvage_late)
    SqliteStore(history).close()
    saving.join()
    assert "was removed or replaced" in str(refused)
    other.close()


def test_a_program_that_opens_the_file_during_a_recovery_saves_to_the_new_one(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(history)
    version, recovered = schema.read_version, list[Path]()

    def read_version_late(connection: sqlite3.Connection) -> int:
        if not recovered:
            recovered.append(recovery.recover(history))
        return version(connection)

    monkeypatch.setattr(database, "read_version", read_version_late)
    late = SqliteStore(history)
    again = replace(KEPT.plan, run_id="1" * 32)
    late.begin_run(again, STARTED)
    late.save_trials(again.run_id, KEPT.results)
    late.close()
    store = SqliteStore(history)
    assert store.read_run(again.run_id).results == KEPT.results
    store.close()


def test_a_file_that_cannot_be_locked_is_not_replaced_while_another_program_writes(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(history)
    other = SqliteStore(history)
    again = replace(KEPT.plan, run_id="1" * 32)
    other.begin_run(again, STARTED)
    change(history, "PRAGMA wal_checkpoint(TRUNCATE)")
    other.read_run(again.run_id)
    overwrite(history, 0, bytes(100))

    def salvage_late(*files: Any) -> None:
        salvage(*files)
        other.save_trials(again.run_id, KEPT.results)

    salvage = recovery.salvage
    with monkeypatch.context() as patched:
        patched.setattr(recovery, "salvage", salvage_late)
        store = SqliteStore(history)
    assert "cannot be recovered now (another program has written to it meanwhile)" in store.notices[0]
    assert not [*history.parent.glob("runs.damaged-*"), *history.parent.glob("*.recovering")]
    assert other.read_run(again.run_id).results == KEPT.results
    store.close()
    other.close()


KILLED = """
import os, pathlib, signal, sys
from tui.store import recovery
from tui.store.sqlite import SqliteStore
replace, left = os.replace, int(sys.argv[2])
def step(*names):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
def replace_counted(*names):
    step()
    replace(*names)
os.replace, repair = replace_counted, recovery.repair
recovery.repair = lambda *given: (repair(*given), step())
SqliteStore(pathlib.Path(sys.argv[1]))
"""


@pytest.mark.parametrize("steps", [2, *(pytest.param(steps, marks=pytest.mark.long) for steps in (0, 1, 3, 4, 5))])
def test_a_kill_during_the_recovery_loses_nothing(history: Path, steps: int) -> None:
    fill(history)
    overwrite_index(history)
    other = sqlite3.connect(history)
    other.execute("UPDATE run SET suite_name = 'in the log'")
    other.commit()
    killed = subprocess.run([sys.executable, "-c", KILLED, str(history), str(steps)], check=False)
    assert killed.returncode == -signal.SIGKILL
    store = SqliteStore(history)
    other.close()
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    (moved,) = history.parent.glob("runs.damaged-*.sqlite")
    assert f"renamed to {moved} and a new one was created. Recovered runs: 1, with " in store.notices[0]
    assert store.list_runs()[0].suite_name == "in the log"
    assert ask(moved, "SELECT suite_name FROM run NOT INDEXED") == "in the log"
    assert not [path for path in history.parent.iterdir() if "recover" in path.name]
    store.close()
    assert SqliteStore(history).notices == ()


def test_a_recovery_without_space_is_tried_again(history: Path) -> None:
    fill(history)
    overwrite_index(history)
    damaged = history.read_bytes()
    with no_larger_files(40_000):
        store = SqliteStore(history)
    assert store.is_readonly
    assert "is damaged and cannot be recovered now" in store.notices[0]
    assert "The file is unchanged" in store.notices[0]
    assert store.list_runs() == ()
    store.close()
    assert history.read_bytes() == damaged
    assert not [*history.parent.glob("runs.damaged-*"), *history.parent.glob("*.recovering")]
    store = SqliteStore(history)
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()


ENDLESS = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT r.* FROM r, x WHERE x.n < 0"


@pytest.mark.parametrize(
    "statements",
    [
        ("ALTER TABLE run RENAME TO r", f"CREATE VIEW run AS {ENDLESS}"),
        ("ALTER TABLE suite DROP COLUMN content", "ALTER TABLE suite ADD COLUMN content AS (printf('%.*c', 9e8, 'x'))"),
        ("CREATE TRIGGER t AFTER UPDATE ON run BEGIN UPDATE trial SET verdict = 'passed'; END",),
        ("CREATE INDEX i ON run (printf('%.*c', 9, id))",),
    ],
)
def test_a_file_with_other_objects_than_ours_is_no_history(history: Path, statements: tuple[str, ...]) -> None:
    fill(history)
    change(history, *statements)
    with pytest.raises(StoreError, match="is not a run history of Assay"):
        SqliteStore(history)


def test_an_answer_hash_that_is_no_text_is_computed_again(history: Path) -> None:
    fill(history)
    change(history, "UPDATE trial SET answer = x'ff'")
    store = SqliteStore(history)
    hashes = {result.trial: current_answer_hash(result) for result in KEPT.results}
    assert store.read_answer_hashes(KEPT.plan.run_id) == hashes
    store.close()


def test_the_answer_hash_that_an_earlier_version_wrote_of_a_rerun_in_vain_is_computed_again(history: Path) -> None:
    fill(history)
    answered, in_vain = KEPT.results[0], replace(KEPT.results[0].attempts[0], number=9, asking=1, verdict="error")
    in_vain = replace(in_vain, steps=())
    store = SqliteStore(history)
    store.save_trials(KEPT.plan.run_id, [replace(answered, verdict="error", attempts=(*answered.attempts, in_vain))])
    store.close()
    change(history, f"UPDATE trial SET answer = '{answer_hash(())}' WHERE reruns = 1")
    store = SqliteStore(history)
    hashes = store.read_answer_hashes(KEPT.plan.run_id)
    assert hashes[answered.trial] == current_answer_hash(answered)
    store.close()


@pytest.mark.parametrize("offset", [20, 40, 9_000])
def test_a_damaged_log_of_a_killed_program_loses_no_result(history: Path, tmp_path: Path, offset: int) -> None:
    store = SqliteStore(history)
    store.begin_run(KEPT.plan, STARTED)
    store.save_trials(KEPT.plan.run_id, [make_result(KEPT.results[0].trial, "error", error="before the log")])
    with closing(sqlite3.connect(history)) as other:
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for result in KEPT.results:
        store.save_trials(KEPT.plan.run_id, [result])
    killed = tmp_path / "killed" / history.name
    shutil.copytree(history.parent, killed.parent)
    store.close()
    log = killed.with_name(f"{killed.name}-wal")
    data = bytearray(log.read_bytes())
    data[offset] ^= 4
    log.write_bytes(data)
    store = SqliteStore(killed)
    assert "The run history was damaged. It was renamed" in store.notices[0]
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    (record,) = store.list_runs()
    assert (record.state, record.passed) == ("interrupted", KEPT.record.passed)
    store.close()
    assert [file.read_bytes() for file in killed.parent.glob("*.damaged-*-wal")] == [bytes(data)]


def test_damage_that_is_met_later_is_looked_into_at_the_next_opening(
    history: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_ALWAYS_CHECKED", 0)
    fill(history)
    data = bytearray(history.read_bytes())
    root = int(str(ask(history, "SELECT rootpage FROM sqlite_schema WHERE name = 'result'")))
    data[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    history.write_bytes(data)
    store = SqliteStore(history)
    with pytest.raises(StoreError, match=r"is damaged .*renames the damaged file"):
        store.read_run(KEPT.plan.run_id)
    store.close()
    store = SqliteStore(history)
    assert "was damaged" in store.notices[0]
    store.close()
    assert SqliteStore(history).notices == ()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every account may walk into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        folder = Path(name) / "data"
        folder.mkdir()
        yield folder
        folder.chmod(0o700)


READER = """
import os, pathlib, sys
from tests.support.kept_runs import STARTED, small_run
from tui.model.errors import StoreError
from tui.store.sqlite import SqliteStore
import pydantic.root_model, pydantic.type_adapter
warm = SqliteStore(pathlib.Path(sys.argv[2])); kept = small_run()
warm.begin_run(kept.plan, STARTED); warm.save_trials(kept.plan.run_id, kept.results); warm.read_run(kept.plan.run_id)
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
store = SqliteStore(pathlib.Path(sys.argv[1]))
print(store.is_readonly, len(store.list_runs()), *store.notices, sep="|")
for run in store.list_runs():
    store.check_stored(run.id)
    print(run.state, len(store.read_run(run.id).results))
for write in (
    lambda: store.begin_run(kept.plan, STARTED), lambda: store.save_trials(kept.plan.run_id, kept.results),
    lambda: store.finish_run(kept.plan.run_id, "finished", STARTED), lambda: store.delete_run(kept.plan.run_id),
):
    try:
        write()
    except StoreError as error:
        print("refused:", error)
"""


def read_as_a_stranger(history: Path, spare: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", READER, str(history), str(spare)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("folder", "file", "live"),
    [
        (0o555, 0o444, False),
        (0o755, 0o444, True),
        (0o555, 0o644, False),
        *(pytest.param(*each, marks=pytest.mark.long) for each in ((0o555, 0o444, True), (0o755, 0o444, False))),
    ],
)
def test_what_cannot_be_written_is_read(open_folder: Path, tmp_path: Path, folder: int, file: int, live: bool) -> None:
    history = open_folder / "runs.sqlite"
    fill(history)
    writer = SqliteStore(history) if live else None
    if writer:
        writer.begin_run(KEPT.plan, STARTED)
    for path in open_folder.iterdir():
        path.chmod(0o555 if path.is_dir() else file)
    if os.getuid() == 0 and folder == 0o755:
        os.chown(open_folder, 65534, 65534)
    open_folder.chmod(folder)
    if os.getuid() == 0 and file == 0o644:
        os.chown(history, 65534, 65534)
    lines = read_as_a_stranger(history, tmp_path / "spare.sqlite")
    assert lines[0] == f"True|1|The run history {history} is read-only: new results are not saved."
    assert lines[1].split() == ["running" if live else "finished", str(len(KEPT.results))]
    refused = [line for line in lines if "is read-only. Make the file and its folder writable" in line]
    assert len(refused) == 4
    if writer:
        writer.close()


@pytest.fixture
def unclosed(history: Path) -> Path:
    """A history whose second run is in the log only, and beside which SQLite cannot create its shared memory."""
    fill(history)
    store = SqliteStore(history)
    store.begin_run(replace(KEPT.plan, run_id="in-the-log"), STARTED)
    copy = history.parent.with_name("copy") / history.name
    shutil.copytree(history.parent, copy.parent)
    store.close()
    shared_memory = copy.with_name(f"{copy.name}-shm")
    shared_memory.unlink()
    shared_memory.symlink_to(shared_memory.name)  # which denies it to root, too
    return copy


def test_the_log_of_a_history_that_cannot_be_written_is_read(unclosed: Path) -> None:
    before = {path: path.read_bytes() for path in unclosed.parent.iterdir() if path.is_file()}
    store = SqliteStore(unclosed)
    assert store.is_readonly
    assert store.notices == (f"The run history {unclosed} is read-only: new results are not saved.",)
    assert store.find_run("last") == "in-the-log"
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.check_stored("in-the-log")
    with pytest.raises(StoreError, match="is read-only"):
        store.delete_run("in-the-log")
    store.close()
    assert {path: path.read_bytes() for path in unclosed.parent.iterdir() if path.is_file()} == before
    unclosed.with_name(f"{unclosed.name}-wal").write_bytes(b"")
    store = SqliteStore(unclosed)
    assert [run.id for run in store.list_runs()] == [KEPT.plan.run_id]
    store.close()


@pytest.mark.parametrize("column", ["type", "name", "tbl_name"])
def test_a_history_whose_objects_have_names_that_are_no_text_is_recovered(history: Path, column: str) -> None:
    fill(history)
    with closing(sqlite3.connect(history)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"UPDATE sqlite_schema SET {column} = CAST({column} AS BLOB) WHERE name = 'trial'")
        connection.commit()
    store = SqliteStore(history)
    assert any("The run history was damaged" in notice for notice in store.notices)
    assert store.read_run(KEPT.plan.run_id).results == KEPT.results
    store.close()


def test_a_damaged_log_of_a_history_that_cannot_be_written_is_refused(unclosed: Path) -> None:
    lock = recovery.lock_path(unclosed)
    lock.symlink_to(lock.name)  # which denies it to root, too
    log = unclosed.with_name(f"{unclosed.name}-wal")
    data = bytearray(log.read_bytes())
    data[32 + 24 + 99] ^= 1
    log.write_bytes(data)
    with pytest.raises(StoreError, match=r"is damaged and cannot be renamed: .+\. Make its folder writable or move"):
        SqliteStore(unclosed)
    assert log.read_bytes() == data


def test_the_log_of_a_linked_history_is_read(unclosed: Path, tmp_path: Path) -> None:
    (link := tmp_path / "linked.sqlite").symlink_to(unclosed)
    store = SqliteStore(link)
    assert store.is_readonly
    assert store.find_run("last") == "in-the-log"
    store.close()


def test_a_log_that_cannot_be_read_is_not_ignored(
    unclosed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = unclosed.with_name(f"{unclosed.name}-wal")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StoreError, match="cannot be copied with its log to be read: No such file or directory"):
        SqliteStore(unclosed)
    monkeypatch.setattr(database, "_LARGEST_COPY", 1)
    with pytest.raises(StoreError, match="cannot be copied with its log to be read: they have more than 0 MiB"):
        SqliteStore(unclosed)
    monkeypatch.undo()
    copied = shutil.copyfile

    def copy_while_it_is_written(source: Path, target: Path) -> None:
        copied(source, target)
        if source == log:
            log.write_bytes(log.read_bytes() + b"x")

    monkeypatch.setattr(shutil, "copyfile", copy_while_it_is_written)
    with pytest.raises(StoreError, match="another program has written to them meanwhile"):
        SqliteStore(unclosed)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
def test_a_history_that_may_not_be_read_is_one_sentence(open_folder: Path, tmp_path: Path) -> None:
    history = open_folder / "runs.sqlite"
    fill(history)
    open_folder.chmod(0o755)
    os.chown(open_folder, 65534, 65534)
    history.chmod(0o600)
    done = subprocess.run(
        [sys.executable, "-c", READER, str(history), str(tmp_path / "spare.sqlite")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "StoreError" in done.stderr.splitlines()[-1]
    assert "cannot open the run history" in done.stderr.splitlines()[-1]


def test_where_nothing_can_be_kept_there_is_an_empty_history(open_folder: Path, tmp_path: Path) -> None:
    open_folder.chmod(0o555)
    lines = read_as_a_stranger(open_folder / "runs.sqlite", tmp_path / "spare.sqlite")
    assert lines[0].startswith("True|0|The run history ")
    assert sum(line.startswith("refused:") for line in lines) == 4
