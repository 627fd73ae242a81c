"""Import of other tools' results into the history."""

from collections.abc import Mapping
from pathlib import Path

from tui.config.folders import find_folders
from tui.config.load import load_config
from tui.imports.promptfoo import Imported, read_promptfoo
from tui.model.secrets import Secrets
from tui.session.records import is_finished
from tui.store.protocol import Store

_AT_ONCE = 500


def read_results(path: Path, name: str | None, environ: Mapping[str, str]) -> Imported:
    """Read a file of results as a run, with known keys removed.

    Raises SuiteError with all problems, and ConfigError.
    """
    config = load_config(find_folders(environ).config, environ)
    return read_promptfoo(path, name, Secrets(config.secrets.values()))


def store_results(imported: Imported, store: Store) -> bool:
    """Store an imported run and return whether it is new; a run that is already stored stays as it is.

    Raises StoreError.
    """
    run_id = imported.plan.run_id
    # An earlier import that was interrupted is written again.
    if is_finished(store, run_id):
        return False
    store.begin_run(imported.plan, imported.started_at)
    for start in range(0, len(imported.results), _AT_ONCE):
        store.save_trials(run_id, imported.results[start : start + _AT_ONCE])
    store.finish_run(run_id, "finished", imported.finished_at)
    return True
