"""A dialog to save, choose, rename and delete filters."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Static

from tui.app.bindings import bind
from tui.app.dialogs import ConfirmScreen
from tui.app.presentation.pieces import Line, cut, fill, width_of
from tui.app.screens import Dialog
from tui.app.widgets.list_view import LineListView
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.errors import StoreError
from tui.model.sanitize import sanitize_line
from tui.session.saved_filters import FilterExists, SavedFilters

_WIDEST_NAME = 24
_NOTHING = "No saved filters. Type a filter, then press its key for saved filters again."


class _FilterList(LineListView):
    """The saved filters: name and text."""

    def __init__(self, saved: SavedFilters, on_chosen: Callable[[int], object]) -> None:
        super().__init__(on_chosen=on_chosen)
        self._saved = saved

    @property
    def names(self) -> list[str]:
        """Return the names in the order of the list."""
        return list(self._saved.texts)

    @property
    def name_at_cursor(self) -> str | None:
        """Return the name of the highlighted filter; None without filters."""
        return self.names[self.cursor] if 0 <= self.cursor < len(self.names) else None

    @property
    def line_count(self) -> int:
        return len(self._saved.texts)

    def line_at(self, place: int, width: int) -> Line:
        name, text = list(self._saved.texts.items())[place]
        del width
        room = min(_WIDEST_NAME, max(map(width_of, self.names)) + 1)
        return ((f" {fill(cut(f'@{name}', room), room)}", "strong"), (f"  {sanitize_line(text, 400)}", "dim"))


class SavedFiltersDialog(Dialog[str | None]):
    """The saved filters, and an input for a name. The result is the name of the chosen filter.

    With a `text`, the dialog starts with the input of a name to save it under.
    """

    DEFAULT_CSS = """
    SavedFiltersDialog > Vertical { width: 86; max-width: 94%; max-height: 80%; padding: 1 1; }
    SavedFiltersDialog LineListView { height: auto; max-height: 16; background: $raised; }
    SavedFiltersDialog PromptInput { display: none; margin-top: 1; background: $background; }
    SavedFiltersDialog Static { height: auto; color: $dim; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the letters of the name may follow quickly, and would still go to the list.
        bind("s", "name('save')", "saved-filters.save", "Save the current filter under a name", priority=True),
        bind("r", "name('rename')", "saved-filters.rename", "Rename the highlighted filter", priority=True),
        bind("D,delete", "delete", "saved-filters.delete", "Delete the highlighted filter", shown="D", priority=True),
        bind("escape", "leave", "saved-filters.leave", "Close without a choice"),
    ]

    def __init__(self, saved: SavedFilters, text: str) -> None:
        super().__init__()
        self._saved, self._text = saved, text.strip()
        self._list = _FilterList(saved, self._choose)
        self._input = PromptInput("name of the filter", self._list, max_length=41)
        self._message = Static(markup=False)
        self._purpose: Literal["save", "rename"] = "save"
        self._replaced = ("", "")  # the name and the text of the filter that the user may replace
        is_saved = self._text.startswith("@") and self._text[1:].casefold() in saved.texts
        self._naming = bool(self._text) and not is_saved

    def compose(self) -> ComposeResult:
        """Compose the list, the input of a name and a message."""
        with Vertical() as box:
            box.border_title = Content("Saved filters")
            box.border_subtitle = Content("Enter use · s save · r rename · D delete · Esc close")
            yield self._list
            yield self._input
            yield self._message

    def on_mount(self) -> None:
        """Ask for a name if there is a filter to save, else focus the list."""
        self._show_list()
        if self._naming:
            self._ask_name("save")
        else:
            self.set_focus(self._list)

    def _show_list(self, name: str | None = None) -> None:
        names = self._list.names
        self._list.lines_changed(names.index(name) if name in names else self._list.cursor)
        self._list.go_to(names.index(name) if name in names else max(0, self._list.cursor))
        self._list.display = bool(names)
        if not names:
            self._show(_NOTHING)

    def _show(self, message: str) -> None:
        self._message.update(Content(sanitize_line(message, 600)))

    def _choose(self, place: int) -> None:
        self.dismiss(self._list.names[place])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: while a name is typed, keys are letters of it."""
        del parameters
        return action not in ("name", "delete") or not self._naming

    def on_key(self, event: Key) -> None:
        """Type keys of the name that were pressed before the input had the focus."""
        if self._naming and event.is_printable and event.character and not self._input.has_focus:
            event.stop()
            self._input.insert_text_at_cursor(event.character)

    def action_name(self, purpose: Literal["save", "rename"]) -> None:
        """Ask for a name: of the filter to save, or for the highlighted one."""
        here = self._list.name_at_cursor
        if purpose == "save" and not self._text:
            self._show(_NOTHING)
        elif purpose == "save" or here is not None:
            self._input.value = (here or "") if purpose == "rename" else ""
            self._input.cursor_position = len(self._input.value)
            self._ask_name(purpose)

    def _ask_name(self, purpose: Literal["save", "rename"]) -> None:
        here = self._list.name_at_cursor
        self._purpose, self._replaced, self._naming = purpose, ("", ""), True
        self._input.display = True
        self._input.start()
        what = f"Save {self._text}" if purpose == "save" else f"Rename @{here}"
        self._show(f"{what}: type a name (letters, digits, _ . -), Enter saves.")

    @on(PromptInput.Entered)
    def accept_name(self, message: PromptInput.Entered) -> None:
        """Save or rename the filter; a name that is in use has to be entered twice."""
        message.stop()
        name, here = message.text.strip().removeprefix("@").casefold(), self._list.name_at_cursor
        if self._purpose == "rename" and here is not None:
            self._change(partial(self._saved.rename, here, name), name, f"Renamed to @{name}.")
        else:
            confirmed, replaced = self._replaced
            save = partial(self._saved.save, name, self._text, replaces=replaced if name == confirmed else "")
            self._change(save, name, f"Saved as @{name}. Enter uses it.")

    @on(PromptInput.Left)
    def leave_name(self, message: PromptInput.Left) -> None:
        """Go back to the list; close the dialog if there is none."""
        message.stop()
        self._input.display = self._naming = False
        self._show("")
        if not self._saved.texts:
            self.action_leave()

    def action_delete(self) -> None:
        """Delete the highlighted filter after a question."""
        name = self._list.name_at_cursor
        if name is None:
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._change(partial(self._saved.delete, name), None, f"Deleted @{name}.")

        question = f"{sanitize_line(self._saved.texts[name], 400)}\n\nFilters that use @{name} no longer work."
        self.app.push_screen(ConfirmScreen(f"Delete @{name}?", question, yes="delete", no="keep"), answered)

    def _change(self, change: Callable[[], None], name: str | None, done: str) -> None:
        async def work() -> None:
            try:
                await asyncio.to_thread(change)
            except FilterExists as found:
                self._replaced = (name or "", found.text)
                self._show(f"@{name} is {found.text}. Enter again replaces it.")
                return
            except StoreError as error:
                self._show(str(error))
                return
            self._input.display = self._naming = False
            self._show_list(name)
            self._show(done)
            self.set_focus(self._list)

        start_worker(self, work, group="change", exclusive=True)
