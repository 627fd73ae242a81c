"""The settings in the app: it opens their dialogs, writes what is chosen, and applies it."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from tui.app.context import AppContext
from tui.app.dialogs import without_ambiguous_answers
from tui.app.keymap import id_fault, keymap_problems
from tui.app.notifications import notify_error
from tui.app.presentation.field_text import text_refusal
from tui.app.run_scores import ScoresChanged
from tui.app.settings.dialogs import SettingsDialog, ThemeDialog
from tui.app.theme.palette import DEFAULT_PALETTE
from tui.app.theme.themed_app import ThemedApp
from tui.app.widgets.form import LONGEST_TEXT, Field, FormDialog
from tui.app.workers import start_worker
from tui.model.errors import ConfigError, FieldsRefused

if TYPE_CHECKING:
    from tui.session.settings import Setting, SettingList

_MOST_KEYMAP_NOTICES = 4
_PROVIDER = "A provider is changed in the config file; its keys are read from variables."
_WITH_KEY = "It contains what may be a key, which is not displayed: change it in the config file."


class SettingsEditor:
    """Open the dialogs of the settings, and apply the config to the app: theme and keys."""

    def __init__(self, app: ThemedApp[int], context: AppContext) -> None:
        self._app, self._context = app, context
        self._keymap: Mapping[str, str] = {}

    def apply(self) -> None:
        """Apply the theme and the keys of the config."""
        self.apply_keys()
        theme = self._context.session.config.theme or DEFAULT_PALETTE.name
        if theme != self._app.theme and theme in self._app.available_themes:
            self._app.theme = theme

    def apply_keys(self) -> None:
        """Apply the keys of the config, and notify of problems with them."""
        config = self._context.session.config
        if config.keymap != self._keymap:
            self._keymap = config.keymap
            self._app.set_keymap(without_ambiguous_answers(config.keymap))
            start_worker(self._app, partial(self._check_keymap, config.keymap), group="keymap")

    async def _check_keymap(self, keymap: Mapping[str, str]) -> None:
        """Notify of unknown ids and of conflicts in the keys of the config."""
        problems = await asyncio.to_thread(keymap_problems, keymap)
        for problem in problems[:_MOST_KEYMAP_NOTICES]:
            self._app.notify(problem, title="config.yaml", severity="warning", markup=False, timeout=12)

    def open(self) -> None:
        """Open the list of all settings."""
        if not isinstance(self._app.screen, SettingsDialog):
            self._app.push_screen(SettingsDialog(self._read, self._edit, self._add, self._start_to_reset))

    def _read(self) -> "SettingList":
        """Return the settings. Blocks: the first call imports what reads them."""
        return self._context.session.settings.read()

    def choose_theme(self) -> None:
        """Open the list of themes, and write the chosen one to the config file."""
        if isinstance(self._app.screen, ThemeDialog):
            return
        app = self._app
        self._app.push_screen(ThemeDialog(app.available_themes, app.theme, app.theme_faults), self._start_to_save_theme)

    def _start_to_save_theme(self, name: str | None) -> None:
        if name is not None:
            start_worker(self._app, partial(self._change, partial(self._save_theme, name)), group="settings")

    def _save_theme(self, name: str) -> None:
        """Write the theme to the config file. Blocks, and raises FieldsRefused."""
        settings = self._context.session.settings
        setting = next(each for each in settings.read().settings if each.path == ("theme",))
        if setting.text != name:
            settings.save(setting, name)

    def _start_to_reset(self, setting: "Setting") -> None:
        if setting.origin != "config file":
            self._app.notify("The config file does not set it.", markup=False)
            return
        start_worker(self._app, partial(self._change, partial(self._remove, setting)), group="settings")

    def _remove(self, setting: "Setting") -> None:
        self._context.session.settings.remove(setting)

    async def _change(self, change: Callable[[], object]) -> None:
        """Change the config file in a thread, and apply the new config; notify of an error."""
        try:
            await asyncio.to_thread(change)
        except ConfigError as error:
            notify_error(self._app, error)
            self.apply()  # a theme that could not be saved is displayed already
            return
        self._changed(True)

    def _changed(self, is_saved: bool | None) -> None:
        if is_saved:
            self.apply()
            self._context.post(ScoresChanged())  # the bands of scores depend on settings
            if isinstance(self._app.screen, SettingsDialog):
                self._app.screen.read_again()

    def _edit(self, setting: "Setting") -> None:
        """Open what edits a setting."""
        if setting.path == ("theme",):
            self.choose_theme()
        elif setting.kind == "section":
            self._add(setting.path[0])
        elif setting.kind == "read-only":
            is_provider = setting.path[0] == "providers"
            self._app.notify(_PROVIDER if is_provider else _WITH_KEY, markup=False)
        else:
            expected = ", ".join(setting.choices) or _EXPECTED[setting.kind]
            refusal = text_refusal(setting.text, LONGEST_TEXT, is_line=True)
            fields = (Field("value", "Value", expected, setting.text, refusal=refusal),)
            save = partial(self._save, setting)
            self._app.push_screen(FormDialog(setting.name, setting.description, fields, save), self._changed)

    def _save(self, setting: "Setting", texts: Mapping[str, str]) -> bool:
        try:
            self._context.session.settings.save(setting, texts["value"])
        except FieldsRefused as refused:
            raise FieldsRefused({"value": " ".join(refused.faults.values())}) from refused
        return True

    def _add(self, section: str) -> None:
        """Open the form for a new entry of a section."""
        from tui.app.explore.model_forms import provider_form
        from tui.session.settings import ADDABLE, entry_fields

        session = self._context.session
        if section == "providers":
            self._app.push_screen(provider_form(session.catalog), lambda name: self._changed(name is not None))
        elif section not in ADDABLE:
            self._app.notify("Only models, providers, rules, keys and prices have entries to add.", markup=False)
        else:
            names = [Field("name", "Name", _NAMES[section])]
            names += [
                Field(key or "value", _label(key or "value"), about if is_required else f"{about}, or empty")
                for key, about, is_required in entry_fields(section)
            ]
            form = FormDialog(f"New entry of {section}", "", names, partial(self._save_entry, section))
            self._app.push_screen(form, self._changed)

    def _save_entry(self, section: str, texts: Mapping[str, str]) -> bool:
        from tui.session.settings import entry_fields

        fields = {key: texts[key or "value"] for key, _, _ in entry_fields(section)}
        if section == "keys" and (fault := id_fault(texts["name"].strip())):
            raise FieldsRefused({"name": fault.removeprefix("keys: ")})
        try:
            self._context.session.settings.add(section, texts["name"], fields)
        except FieldsRefused as refused:
            known = {*texts, ""}
            faults = {("value" if key == "" and "" in fields else key): what for key, what in refused.faults.items()}
            raise FieldsRefused({key if key in known else "": what for key, what in faults.items()}) from refused
        return True


_EXPECTED = {"number": "a number", "list": "one, two", "text": "a text", "choice": ""}
_NAMES = {
    "models": "name of the model in Assay",
    "rules": "model ids, for example qwen*",
    "keys": "id of an action (docs/keys.md)",
    "prices": "name of a model",
}


def _label(key: str) -> str:
    return key.replace("_", " ").capitalize()
