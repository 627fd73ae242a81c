"""The dialogs of the settings: the list of all settings, and the choice of a theme."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from tui.app.find.search_panel import SearchPanel, SearchResult
from tui.app.keymap import key_of
from tui.app.presentation.pieces import Line
from tui.app.screens import Dialog
from tui.app.settings.lines import (
    ThemeEntry,
    find_settings,
    find_themes,
    setting_details,
    setting_line,
    theme_line,
)
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.session.settings import Setting, SettingList

_POLL_SECONDS = 2.0


class SettingsDialog(Dialog[None]):
    """All settings of the config file, with search. The files are read again while the dialog is open.

    `read` returns the settings, and blocks. `on_edit` is called with the setting that is chosen, `on_add` with a
    section, and `on_reset` with a setting to remove from the file.
    """

    DEFAULT_CSS = """
    SettingsDialog > Vertical { width: 130; height: 90%; padding: 1 1; }
    SettingsDialog #details { height: 5; padding: 1 1 0 1; color: $foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="config.leave", tooltip="Close the settings"),
        Binding("enter", "accept", "Edit", id="config.edit", tooltip="Edit the setting", show=False),
        Binding("ctrl+r", "reset", "Reset", id="config.reset", tooltip="Remove the setting from the config file"),
        Binding("ctrl+n", "add", "New", id="config.add", tooltip="Add an entry to the section"),
    ]

    def __init__(
        self,
        read: "Callable[[], SettingList]",
        on_edit: "Callable[[Setting], object]",
        on_add: Callable[[str], object],
        on_reset: "Callable[[Setting], object]",
    ) -> None:
        super().__init__()
        self._read, self._on_edit, self._on_add, self._on_reset = read, on_edit, on_add, on_reset
        self._frame = Vertical()
        self._found: SettingList | None = None
        self._details = Static(Content(), markup=False, id="details")
        self.panel = SearchPanel("name, value or description of a setting", self._search, self._line, on_edit)

    def compose(self) -> ComposeResult:
        """Compose the frame, the search and the details of a setting."""
        with self._frame as box:
            box.border_title = Content("Settings")
            reset, add = key_of(self, "config.reset"), key_of(self, "config.add")
            box.border_subtitle = Content(f"↑ ↓ select · Enter edit · {reset} reset · {add} new entry · Esc close")
            yield self.panel
            yield self._details

    def on_mount(self) -> None:
        """Read the files again from time to time: another program may change them."""
        self.set_interval(_POLL_SECONDS, self.read_again)

    def on_screen_resume(self) -> None:
        """Read the files again: a form above has changed them."""
        super().on_screen_resume()
        if self._found is not None:
            self.read_again()

    def read_again(self) -> None:
        """Read the files again, and search in what they have now."""
        self._found = None
        self.panel.search_again()

    def _search(self, text: str) -> "SearchResult[Setting]":
        """Return the settings that match a text. Called in a thread."""
        found = self._found = self._found or self._read()
        settings = find_settings(text, found.settings)
        if found.fault:
            return SearchResult(settings, sanitize_line(found.fault, 300))
        note = f"{len(settings)} of {len(found.settings)} settings" if settings else "No setting matches."
        return SearchResult(settings, note)

    def _line(self, setting: "Setting", width: int) -> Line:
        return setting_line(setting, self.panel.shown_text, width)

    @on(LineListView.Reached)
    @on(SearchPanel.Searched)
    def show_details(self) -> None:
        """Show the details of the setting under the cursor."""
        setting = self.panel.entry
        if self._found is not None:
            self._frame.border_title = Content(f"Settings · {sanitize_line(self._found.file, 100)}")
        self._details.update(Content(setting_details(setting) if setting is not None else ""))

    @on(PromptInput.Left)
    def leave(self) -> None:
        """Close the settings."""
        self.action_leave()

    def on_key(self, event: Key) -> None:
        """Type keys that were pressed before the dialog was displayed."""
        self.panel.type_key(event)

    def action_accept(self) -> None:
        """Edit the setting under the cursor."""
        self.panel.accept()

    def action_reset(self) -> None:
        """Remove the setting under the cursor from the config file."""
        if (setting := self.panel.entry) is not None:
            self._on_reset(setting)

    def action_add(self) -> None:
        """Add an entry to the section under the cursor."""
        if (setting := self.panel.entry) is not None:
            self._on_add(setting.path[0])


class ThemeDialog(Dialog[str | None]):
    """A list of themes: the app shows the theme under the cursor. The result is the chosen name.

    `faults` are the problems of theme files, which are listed and cannot be chosen. Without a choice, the theme of
    before is restored.
    """

    DEFAULT_CSS = """
    ThemeDialog > Vertical { width: 80; height: 22; max-height: 90%; padding: 1 1; }
    ThemeDialog #fault { height: auto; max-height: 4; padding: 0 1; color: $error-mark; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", id="theme.leave", tooltip="Restore the theme, and close"),
        Binding("enter", "accept", "Save", id="theme.save", tooltip="Save the theme in the config file", show=False),
    ]

    def __init__(self, names: Iterable[str], current: str, faults: Iterable[str]) -> None:
        super().__init__()
        self._before = current
        self._themes = (*map(ThemeEntry, sorted(names)), *(ThemeEntry("", fault) for fault in faults))
        self._panel = SearchPanel("name of a theme", self._search, self._line, self._choose)
        self._fault = Static(Content(), markup=False, id="fault")

    def compose(self) -> ComposeResult:
        """Compose the frame and the search."""
        with Vertical() as box:
            box.border_title = Content("Theme")
            box.border_subtitle = Content("↑ ↓ preview · Enter save · Esc restore")
            yield self._panel
            yield self._fault

    def _search(self, text: str) -> SearchResult[ThemeEntry]:
        """Return the themes that match a text. Called in a thread."""
        found = find_themes(text, self._themes)
        cursor = next((at for at, each in enumerate(found) if each.name == self._before), 0)
        return SearchResult(found, "" if found else "No theme matches.", 0 if text.strip() else cursor)

    def _line(self, theme: ThemeEntry, width: int) -> Line:
        return theme_line(theme, self._panel.shown_text, width)

    @on(LineListView.Reached)
    @on(SearchPanel.Searched)
    def preview(self) -> None:
        """Show the theme under the cursor; for a faulty file its problem, and the theme of before."""
        entry = self._panel.entry
        self._fault.update(Content(sanitize_line(entry.fault, 300) if entry is not None else ""))
        name = entry.name if entry is not None and entry.name else self._before
        if self.app.theme != name and name in self.app.available_themes:
            self.app.theme = name

    def _choose(self, theme: ThemeEntry) -> None:
        if theme.name:
            self.app.theme = theme.name
            self.dismiss(theme.name)

    @on(PromptInput.Left)
    def action_leave(self) -> None:
        """Restore the theme of before, and close."""
        self.app.theme = self._before
        super().action_leave()

    def on_key(self, event: Key) -> None:
        """Type keys that were pressed before the dialog was displayed."""
        self._panel.type_key(event)

    def action_accept(self) -> None:
        """Choose the theme under the cursor."""
        self._panel.accept()
