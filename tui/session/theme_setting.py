"""The theme of the config files and the folders of themes, found before anything else is loaded."""

import re
from collections.abc import Mapping
from pathlib import Path

from tui.config.folders import MOST_CONFIG_BYTES, Folders, find_folders, find_project_file
from tui.documents.files import read_whole
from tui.model.shipped import shipped_folder

_THEME_LINE = re.compile(r"""^theme:[ \t]*["']?([a-z][a-z0-9-]*)["']?[ \t]*(?:#.*)?\r?$""", re.MULTILINE)


def find_theme(environ: Mapping[str, str]) -> tuple[str | None, tuple[Path, ...]]:
    """Return the name of the theme that the config sets, if any, and the folders that themes are in."""
    folders = find_folders(environ)
    return theme_of(folders, find_project_file()), (shipped_folder("themes"), folders.themes)


def theme_of(folders: Folders, project: Path | None = None) -> str | None:
    """Return the theme that the project file sets, else that of config.yaml.

    The files are not parsed as YAML, which would delay the first paint.
    """
    for file in (project, folders.config_file):
        if file is not None and not (file == project and file.is_symlink()) and (theme := _theme_in(file)):
            return theme
    return None


def _theme_in(file: Path) -> str | None:
    try:
        found = _THEME_LINE.search(read_whole(file, MOST_CONFIG_BYTES).decode())
    except (OSError, ValueError):
        return None
    return found[1] if found else None
