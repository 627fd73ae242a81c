"""Access to the run history without a session, for commands that run nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tui.config.folders import Folders, find_folders, find_project_file, make_private
from tui.store.sqlite import SqliteStore

if TYPE_CHECKING:
    from tui.session.reviews import Reviews


def open_store(folders: Folders) -> SqliteStore:
    """Open the run history in the data folder, which only the user can read. Raises StoreError."""
    make_private(folders.data)
    return SqliteStore(folders.data / "runs.sqlite")


@contextmanager
def open_history(environ: Mapping[str, str], notify: Callable[[str], None]) -> Iterator[SqliteStore]:
    """Open the run history, pass its notices on, also those of what is read, and close it at the end.

    Raises StoreError.
    """
    store = open_store(find_folders(environ))
    try:
        for notice in (known := store.notices):
            notify(notice)
        yield store
    finally:
        store.close()
        for notice in store.notices:
            if notice not in known:
                notify(notice)


@contextmanager
def open_reviews(environ: Mapping[str, str], notify: Callable[[str], None]) -> Iterator[tuple[SqliteStore, "Reviews"]]:
    """Open the run history and its reviews, and close them at the end. Raises ConfigError and StoreError."""
    from tui.config.load import load_config
    from tui.session.reviews import Reviews

    folders = find_folders(environ)
    config = load_config(folders.config, environ, find_project_file())
    with open_history(environ, notify) as store:
        yield store, Reviews(store, folders.data, config)
