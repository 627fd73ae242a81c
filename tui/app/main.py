"""The way in from the command line: the app over the real workbench, which is opened after the first paint."""

import asyncio
import gc
import os
import re
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui.app.app import AssayApp
from tui.app.driver import detach_closed_terminal
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.config.folders import Folders, find_folders
from tui.model.shipped import shipped_folder

if TYPE_CHECKING:
    from tui.app.session_protocol import Session

_THEME_LINE = re.compile(r"""^theme:[ \t]*["']?([a-z][a-z0-9-]*)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)


def run_app(paths: Sequence[Path]) -> int:
    """Run the app until it is left: 0; 143 and 129 after SIGTERM and SIGHUP; 1 after a fault of its own."""
    theme, folders = _themes()
    app = AssayApp(open_workbench, paths, theme=theme, theme_folders=folders)
    return asyncio.run(run_to_the_end(app))


async def pick_models(names: Sequence[str], selected: Collection[str]) -> list[str] | None:
    """Let the person choose models in a list below the prompt; None where they cancel. Draws on stderr, so that stdout
    stays free for a report."""
    from tui.app.model_picker import ModelPicker

    theme, folders = _themes()
    picker = ModelPicker(names, selected, theme=theme, theme_folders=folders)
    # Textual draws inline everywhere but on Windows.
    return await picker.run_async(inline=sys.platform != "win32")


async def run_to_the_end(app: AssayApp) -> int:
    """Run it, then let go of everything it had opened."""
    try:
        await app.run_async()
    finally:
        await app.close_session()
        detach_closed_terminal()
    return app.return_code or 0


def open_workbench() -> "Session":
    """The real thing. Raises ConfigError and StoreError."""
    from tui.session.session import Session

    session = Session(os.environ)
    gc.freeze()  # modules live until the end: without this a collection traverses them again and again
    return session


def _themes() -> tuple[str, tuple[Path, ...]]:
    """The name of the person's theme, and the folders that themes are in."""
    folders = find_folders(os.environ)
    return _theme_of(folders) or DEFAULT_PALETTE.name, (shipped_folder("themes"), folders.themes)


def _theme_of(folders: Folders) -> str | None:
    """Found without reading the config as YAML, which would cost more than the first paint may."""
    try:
        found = _THEME_LINE.search(folders.config_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found[1] if found else None
