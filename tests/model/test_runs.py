"""Ids of runs sort by the time at which they were made."""

from uuid import UUID

import pytest

from tui.model.run import distinct_length, new_run_id


def test_ids_are_uuids_of_version_7_and_differ() -> None:
    ids = [new_run_id() for _ in range(100)]
    assert {UUID(run_id).version for run_id in ids} == {7}
    assert len(set(ids)) == 100
    assert [run_id[:12] for run_id in ids] == sorted(run_id[:12] for run_id in ids)


def test_a_clock_before_1970_gives_an_ordinary_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.model.run.time.time_ns", lambda: -(10**18))
    assert new_run_id().startswith("0" * 12)


def test_an_id_sorts_after_the_newest_one_although_the_clock_was_set_back() -> None:
    ahead = "ffffffffff00" + new_run_id()[12:]
    later = new_run_id(ahead)
    assert later > ahead
    assert UUID(later).version == 7
    assert new_run_id(later) > later


@pytest.mark.parametrize("newest", ["", "last", "f" * 32, "f" * 31, "F" * 32, "x" * 32])
def test_an_id_follows_the_clock_if_no_later_one_is_possible(newest: str) -> None:
    assert new_run_id()[:12] <= new_run_id(newest)[:12] < "f" * 12


def test_ids_are_cut_where_all_differ() -> None:
    assert distinct_length(()) == distinct_length(["a" * 32]) == 13
    assert distinct_length([f"{'0' * 12}7{'1' * 19}", f"{'0' * 11}17{'1' * 19}"]) == 13
    assert distinct_length(["b" * 32, "a" * 31 + "c", "a" * 20 + "d" * 12, "b" * 32]) == 21
