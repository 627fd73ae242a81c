"""The config file of the user, edited in place: its layout and comments, and the edits of other programs, stay."""

import codecs
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tui.config.folders import MOST_CONFIG_BYTES, Folders
from tui.config.load import parse_config, with_project
from tui.documents.files import read_whole
from tui.model.errors import ConfigError
from tui.model.subjects import Config
from tui.processes.file_lock import locked
from tui.session.files import write_safely

if TYPE_CHECKING:
    from tui.documents.source_edits import EditableText


class ConfigFile:
    """The config file, and the project file whose settings replace its own. All methods block."""

    def __init__(self, folders: Folders, environ: Mapping[str, str], project: Path | None) -> None:
        self.path, self.project = folders.config_file, project
        self._lock, self._environ = folders.cache / "config.lock", environ

    def read(self) -> bytes | None:
        """Return the content of the file, or None if it does not exist. Raises ConfigError."""
        try:
            return read_whole(self.path, MOST_CONFIG_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be read ({error.strerror}).") from error

    def edit(self, change: Callable[["EditableText"], str]) -> Config:
        """Replace the content by what `change` makes of it, and return the new config.

        The file is read again for each edit. The new text has to be a valid config before it replaces the file.
        Raises ConfigError.
        """
        try:
            self._lock.parent.mkdir(parents=True, exist_ok=True)
            with locked(self._lock):
                return self._edit(change)
        except OSError as error:
            raise ConfigError(f"{self.path} cannot be written ({error.strerror or error}).") from error

    def _edit(self, change: Callable[["EditableText"], str]) -> Config:
        from tui.documents.source_edits import NotEditable, read_editable

        before = self.read()
        content = before or b""
        bom = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
        try:
            text = bom.decode() + change(read_editable(content.removeprefix(bom).decode(), "YAML"))
        except NotEditable as error:
            raise ConfigError(str(error)) from error
        except UnicodeDecodeError as error:
            raise ConfigError("The config file is not UTF-8.") from error
        config = parse_config(self.path, text.encode(), self._environ)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.read() != before:
            raise ConfigError(f"{self.path} has just been changed by another program; try again.")
        write_safely(self.path, text, mode=0o600 if before is None else None)
        return with_project(config, self.project) if self.project is not None else config
