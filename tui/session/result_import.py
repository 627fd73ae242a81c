"""Results of other tools on their way into the history."""

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
    """A file's results as a run, without any key that is known here. Raises SuiteError with every problem found, and
    ConfigError."""
    config = load_config(find_folders(environ).config, environ)
    return read_promptfoo(path, name, Secrets(config.secrets.values()))


def keep_results(imported: Imported, store: Store) -> bool:
    """Whether the run is new to the history, where it is now; what is there already stays as it is. Raises
    StoreError."""
    run_id = imported.plan.run_id
    # One that was cut short while it was written is written again.
    if is_finished(store, run_id):
        return False
    store.begin_run(imported.plan, imported.started_at)
    for start in range(0, len(imported.results), _AT_ONCE):
        store.save_trials(run_id, imported.results[start : start + _AT_ONCE])
    store.finish_run(run_id, "finished", imported.finished_at)
    return True
