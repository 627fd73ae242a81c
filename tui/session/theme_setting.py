"""The theme of the config and the folders of themes, found before anything else is loaded."""

import re
from collections.abc import Mapping
from pathlib import Path

from tui.config.folders import MOST_CONFIG_BYTES, Folders, find_folders
from tui.documents.files import read_whole
from tui.model.shipped import shipped_folder

_THEME_LINE = re.compile(r"""^theme:[ \t]*["']?([a-z][a-z0-9-]*)["']?[ \t]*(?:#.*)?\r?$""", re.MULTILINE)


def find_theme(environ: Mapping[str, str]) -> tuple[str | None, tuple[Path, ...]]:
    """Return the name of the theme that the config sets, if any, and the folders that themes are in."""
    folders = find_folders(environ)
    return theme_of(folders), (shipped_folder("themes"), folders.themes)


def theme_of(folders: Folders) -> str | None:
    """Return the theme that config.yaml sets. The file is not parsed as YAML, which would delay the first paint."""
    try:
        found = _THEME_LINE.search(read_whole(folders.config_file, MOST_CONFIG_BYTES).decode())
    except (OSError, ValueError):
        return None
    return found[1] if found else None
