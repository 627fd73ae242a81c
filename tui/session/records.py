"""One line of the list of runs, by its run's id."""

from tui.model.run import RunRecord
from tui.store.protocol import Store


def find_record(store: Store, run_id: str) -> RunRecord | None:
    """None where no such run is kept. Raises StoreError."""
    return next((record for record in store.list_runs() if record.id == run_id), None)


def is_finished(store: Store, run_id: str) -> bool:
    """Whether the run is kept, and was brought to its end. Raises StoreError."""
    record = find_record(store, run_id)
    return record is not None and record.state == "finished"
