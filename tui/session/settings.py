"""The settings of the config file, to display and to change."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tui.config.folders import MOST_CONFIG_BYTES
from tui.config.load import parse_config, secrets_in
from tui.config.settings import Kind, Setting, entry_fields, kind_of_entry, list_settings
from tui.documents.files import read_whole
from tui.model.errors import ConfigError, FieldsRefused
from tui.model.sanitize import sanitize_line
from tui.model.secrets import Secrets
from tui.model.subjects import Config
from tui.model.values import JsonValue
from tui.session.config_file import ConfigFile

if TYPE_CHECKING:
    from tui.documents.source_edits import EditableText

__all__ = ["ADDABLE", "ConfigSettings", "Setting", "SettingList", "entry_fields"]
ADDABLE = ("models", "rules", "keys", "prices")
"""The sections that `add` accepts."""


@dataclass(frozen=True, slots=True)
class SettingList:
    """The settings, the path of the config file, and a sentence about a config file that cannot be read."""

    settings: tuple[Setting, ...]
    file: str
    fault: str = ""


class ConfigSettings:
    """The settings, which are read from the files at each call. `use_config` gets the config after each change.

    All methods block: call them in a thread.
    """

    def __init__(self, file: ConfigFile, environ: Mapping[str, str], use_config: Callable[[Config], object]) -> None:
        self._file, self._environ, self._use_config = file, environ, use_config

    def read(self) -> SettingList:
        """Return the settings as the files are now. Raises nothing."""
        data, fault = None, ""
        try:
            data = self._file.read()
            parse_config(self._file.path, data or b"", self._environ)
        except ConfigError as error:
            fault = str(error)
        secrets = self._secrets_in(data)
        return SettingList(self._list(data, secrets), str(self._file.path), secrets.hide(fault))

    def _secrets_in(self, data: bytes | None) -> Secrets:
        return Secrets(secrets_in(self._file.path, data or b"", self._environ))

    def _list(self, data: bytes | None, secrets: Secrets) -> tuple[Setting, ...]:
        """Return the settings; one with a key is displayed without it, and cannot be edited from what is displayed."""
        project, project_data = self._file.project, None
        if project is not None and not project.is_symlink():
            try:
                project_data = read_whole(project, MOST_CONFIG_BYTES)
            except OSError:
                project_data = None
        settings = list_settings(self._file.path, data, project, project_data, self._environ)
        return tuple(
            each if (text := secrets.hide(each.text)) == each.text else replace(each, text=text, kind="read-only")
            for each in settings
        )

    def save(self, setting: Setting, text: str) -> None:
        """Write another value into the config file, and use it. Raises FieldsRefused.

        The setting is refused if its value is no longer the displayed one.
        """
        value = _value(setting.kind, text)
        self._edit(setting, lambda document: document.put(setting.path, value))

    def remove(self, setting: Setting) -> None:
        """Remove a setting from the config file, so that its default applies. Raises FieldsRefused."""
        self._edit(setting, lambda document: document.remove(setting.path))

    def add(self, section: str, name: str, texts: Mapping[str, str]) -> None:
        """Add an entry with these fields to a section; an entry that is a single value has a field with an empty name.

        Raises FieldsRefused with the faults by field; that of the name is under `name`.
        """
        if section not in ADDABLE:
            raise FieldsRefused({"": f"{section} cannot be added here."})
        if not name:
            raise FieldsRefused({"name": "is missing"})
        missing = [key for key, _, is_required in entry_fields(section) if is_required and not texts.get(key)]
        if missing:
            raise FieldsRefused(dict.fromkeys(missing, "is missing"))
        values = {key: _value(kind_of_entry(section, key), text) for key, text in texts.items() if text}

        def change(document: "EditableText") -> str:
            held = document.value.get(section) if isinstance(document.value, dict) else None
            if isinstance(held, dict) and name in held:
                raise FieldsRefused({"name": "is in the config file already"})
            return document.put((section, name), values.get("", values))

        self._write((section, name), change)

    def _edit(self, setting: Setting, change: Callable[["EditableText"], str]) -> None:
        if setting.origin == "project file":
            raise FieldsRefused({"": f"It is set by the project file, {setting.place}; edit that file."})
        if setting.kind in ("read-only", "section"):
            raise FieldsRefused({"": "It cannot be changed here; edit the config file."})

        def change_unless_changed(document: "EditableText") -> str:
            data = document.text.encode()
            settings = self._list(data, self._secrets_in(data))
            now = next((each for each in settings if each.path == setting.path), None)
            if now is None or (now.text, now.origin) != (setting.text, setting.origin):
                shown = sanitize_line(now.text, 60) if now is not None and now.text else "not set"
                raise FieldsRefused({"": f"Another program has changed it: it is {shown} now."})
            return change(document)

        self._write(setting.path, change_unless_changed)

    def _write(self, path: tuple[str, ...], change: Callable[["EditableText"], str]) -> None:
        try:
            config = self._file.edit(change)
        except FieldsRefused:
            raise
        except ConfigError as error:
            raise FieldsRefused(_faults(error, ".".join(path))) from error
        self._use_config(config)


def _faults(error: ConfigError, path: str) -> dict[str, str]:
    """Return the errors of a config at or below a path by the rest of their path; others under an empty name."""
    faults: dict[str, str] = {}
    for problem in error.problems:
        if problem.level == "error":
            inside = problem.where == path or problem.where.startswith((f"{path}.", f"{path}["))
            field = problem.where.removeprefix(path).lstrip(".").partition("[")[0] if inside else ""
            faults.setdefault(field, problem.what if inside else str(problem))
    return faults or {"": str(error)}


def _value(kind: Kind, text: str) -> JsonValue:
    """Return the value of a text that was typed. Raises FieldsRefused."""
    text = text.strip()
    if kind == "list":
        return _list(text)
    if kind == "number":
        for number in (int, float):
            try:
                return number(text)
            except ValueError:
                continue
    return text


def _list(text: str) -> JsonValue:
    from tui.documents.source_edits import NotEditable, read_editable

    try:
        value = read_editable(text if text.startswith("[") else f"[{text}]", "YAML").value
    except NotEditable:
        value = None
    if not isinstance(value, list) or not value:
        raise FieldsRefused({"": "expected a list, for example [one, 'two, with a comma']"})
    return value
