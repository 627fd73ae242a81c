"""Look-up of one run's record in the list of runs."""

from tui.model.run import RunRecord
from tui.store.protocol import Store


def find_record(store: Store, run_id: str) -> RunRecord | None:
    """Return the record of a run, or None if no such run is stored. Raises StoreError."""
    return next((record for record in store.list_runs() if record.id == run_id), None)


def is_finished(store: Store, run_id: str) -> bool:
    """Return whether the run is stored and finished. Raises StoreError."""
    record = find_record(store, run_id)
    return record is not None and record.state == "finished"
