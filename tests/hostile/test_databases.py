"""Damaged histories: bytes flipped anywhere, the write-ahead log cut anywhere; what was saved is kept or set aside."""

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.kept_runs import FINISHED, STARTED, make_case, make_plan, make_result
from tui.model.errors import AssayError, StoreError
from tui.model.results import TrialResult
from tui.store.sqlite import SqliteStore

PLAN = make_plan([make_case(f"case-{number:02}") for number in range(24)], ["m"])
RESULTS = {result.trial: result for result in map(make_result, PLAN.trials)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A history whose log was written back."""
    path = tmp_path_factory.mktemp("whole") / "runs.sqlite"
    store = SqliteStore(path)
    store.begin_run(PLAN, STARTED)
    store.save_trials(PLAN.run_id, [*RESULTS.values()])
    store.finish_run(PLAN.run_id, "finished", FINISHED)
    store.close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """A history as a power cut leaves it: the file, and a log with a commit for each result."""
    path = tmp_path_factory.mktemp("logged") / "runs.sqlite"
    store = SqliteStore(path)
    store.begin_run(PLAN, STARTED)
    for result in RESULTS.values():
        store.save_trials(PLAN.run_id, [result])
    found = path.read_bytes(), Path(f"{path}-wal").read_bytes()
    store.close()
    return found


def read_everything(path: Path) -> tuple[TrialResult, ...]:
    """Return all results that can be read; every method that reads either works or raises an error of Assay."""
    store = SqliteStore(path)
    try:
        found: list[TrialResult] = []
        for record in store.list_runs():
            try:
                store.read_outcomes(record.id)
                found += store.read_run(record.id).results
            except AssayError:
                continue
        return tuple(found)
    finally:
        store.close()


def check_flipped(folder: Path, whole: bytes, number: int) -> None:
    chance = random.Random(number)
    data = bytearray(whole)
    for _ in range(chance.choice((1, 1, 3, 50))):
        start = chance.randrange(len(data))
        match chance.randrange(4):
            case 0:
                data[start] ^= 1 << chance.randrange(8)
            case 1:
                data[start : start + 512] = bytes(len(data[start : start + 512]))
            case 2:
                data[start : start + 64] = chance.randbytes(len(data[start : start + 64]))
            case _:
                del data[start + chance.randrange(4096) :]
                data = data or bytearray(b"x")
    path = folder / "runs.sqlite"
    path.write_bytes(data)
    original = bytes(data)
    try:
        read_everything(path)
        read_everything(path)
    except StoreError:
        assert path.read_bytes() == original, f"file {number}: what is refused is left as it is"
        return
    except Exception as error:
        error.add_note(f"file {number}")
        raise
    moved = [*folder.glob("runs.damaged-*.sqlite")]
    if moved:
        assert moved[0].read_bytes() == original, f"file {number}: the damaged file is kept"
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA quick_check").fetchone()[0] == "ok", f"file {number}"


def test_a_history_with_flipped_bytes_opens_or_is_set_aside(whole: bytes, tmp_path: Path) -> None:
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_flipped(folder, whole, number)
        shutil.rmtree(folder)


@pytest.mark.long
def test_a_thousand_histories_with_flipped_bytes_open_or_are_set_aside(whole: bytes, tmp_path: Path) -> None:
    for number in range(20, 1060):
        folder = tmp_path / str(number)
        folder.mkdir()
        check_flipped(folder, whole, number)
        shutil.rmtree(folder)


def check_cut(folder: Path, logged: tuple[bytes, bytes], cut: int) -> int:
    """Return how many results are left of a log that was cut after so many bytes: a prefix of what was saved."""
    path = folder / "runs.sqlite"
    path.write_bytes(logged[0])
    Path(f"{path}-wal").write_bytes(logged[1][:cut])
    store = SqliteStore(path)
    try:
        assert store.notices == (), f"cut after {cut} bytes"
        records = store.list_runs()
        if not records:
            return 0
        back = store.read_run(PLAN.run_id).results
    finally:
        store.close()
    assert back == tuple(RESULTS[trial] for trial in PLAN.trials[: len(back)]), f"cut after {cut} bytes"
    return len(back)


def cuts(length: int, count: int) -> list[int]:
    return sorted({*range(0, length, max(1, length // count)), length})


def check_cuts(folder: Path, logged: tuple[bytes, bytes], count: int) -> None:
    left = []
    for cut in cuts(len(logged[1]), count):
        place = folder / str(cut)
        place.mkdir()
        left.append(check_cut(place, logged, cut))
        shutil.rmtree(place)
    assert left == sorted(left), "a longer log never holds less"
    assert (left[0], left[-1]) == (0, len(PLAN.trials))


def test_a_log_that_is_cut_anywhere_leaves_a_prefix(logged: tuple[bytes, bytes], tmp_path: Path) -> None:
    check_cuts(tmp_path, logged, 60)


@pytest.mark.long
def test_a_log_that_is_cut_at_a_thousand_places_leaves_a_prefix(logged: tuple[bytes, bytes], tmp_path: Path) -> None:
    check_cuts(tmp_path, logged, 1000)


def test_a_stored_suite_that_is_nested_too_deeply_is_one_sentence(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE suite SET content = ?", ("[" * 200_000,))
    with closing(SqliteStore(path)) as store, pytest.raises(StoreError, match="cannot read"):
        store.read_run(PLAN.run_id)
