"""The saved runs of a store, with the settings of an empty config."""

from pathlib import Path

from tui.model.subjects import Config
from tui.session.reviews import Reviews
from tui.session.run_history import Resolve, RunHistory
from tui.store.protocol import Store


def run_history(store: Store, folder: Path, resolve: Resolve) -> RunHistory:
    """Return the saved runs of a store; `folder` is the data folder."""
    return RunHistory(store, folder, resolve, Reviews(store, folder, Config()))
