"""Ids of runs sort by the time at which they were made."""

from uuid import UUID

from tui.model.run import new_run_id


def test_ids_are_uuids_of_version_7_and_differ() -> None:
    ids = [new_run_id() for _ in range(100)]
    assert {UUID(run_id).version for run_id in ids} == {7}
    assert len(set(ids)) == 100
    assert [run_id[:12] for run_id in ids] == sorted(run_id[:12] for run_id in ids)
