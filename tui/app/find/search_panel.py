"""An input above a list of what was found: each change of the text is searched in a thread."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import Static

from tui.app.presentation.pieces import Line
from tui.app.widgets.list_view import FoundList
from tui.app.widgets.prompt_input import PromptInput
from tui.app.widgets.search_loop import SearchLoop
from tui.model.errors import AssayError
from tui.model.sanitize import sanitize_line

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchResult(Generic[T]):
    """The entries that a search found, the place of the first cursor, and a sentence about them."""

    entries: Sequence[T]
    note: str = ""
    cursor: int = 0


class SearchPanel(Vertical, Generic[T]):
    """Search while a text is typed, and call `on_chosen` with the entry that is chosen with Enter or a click.

    `search` runs in a thread, one call at a time: while it runs, only the last text is remembered. Enter waits for the
    entries of the text that is displayed. `shown_text` is the text whose entries are displayed, and `searching` is true
    while others are searched. `type_key` takes keys before the input has the focus.
    """

    DEFAULT_CSS = """
    SearchPanel { height: 1fr; }
    SearchPanel FoundList { height: 1fr; }
    SearchPanel PromptInput, SearchPanel PromptInput:focus { background: $background; margin-bottom: 1; padding: 0 1; }
    SearchPanel > Static { height: auto; max-height: 3; color: $dim; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", id="find.up", tooltip="Previous entry", show=False),
        Binding("down", "move(1)", "Down", id="find.down", tooltip="Next entry", show=False),
        Binding("pageup", "page(-1)", "Page up", id="find.page-up", tooltip="Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="find.page-down", tooltip="Page down", show=False),
    ]

    class Searched(Message):
        """Posted when the entries of a text are displayed."""

        def __init__(self, entries: Sequence[Any]) -> None:
            super().__init__()
            self.entries = entries

    def __init__(
        self,
        placeholder: str,
        search: Callable[[str], SearchResult[T]],
        line_of: Callable[[T, int], Line],
        on_chosen: Callable[[T], object],
    ) -> None:
        super().__init__()
        self._search, self._on_chosen = search, on_chosen
        self._loop = SearchLoop(self, self._search_in_thread, self._show, self._choose_entry)
        self._list = FoundList(
            line_of=lambda place, width: line_of(self.result.entries[place], width), on_chosen=lambda _: self.accept()
        )
        self._input = PromptInput(placeholder, self._list)
        self._note = Static(Content(), markup=False)
        self.result: SearchResult[T] = SearchResult(())

    def compose(self) -> ComposeResult:
        """Compose the input, the list and the sentence about the entries."""
        yield self._input
        yield self._list
        yield self._note

    def on_mount(self) -> None:
        """Focus the input, and search for the empty text."""
        self._input.start()
        self.search_again()

    @property
    def text(self) -> str:
        """Return the text that is searched for."""
        return self._input.value

    @property
    def shown_text(self) -> str:
        """Return the text whose entries are displayed."""
        return self._loop.shown_text

    @property
    def searching(self) -> bool:
        """Return whether other entries are searched."""
        return self._loop.is_running

    @property
    def entry(self) -> T | None:
        """Return the entry under the cursor."""
        place = self._list.cursor
        return self.result.entries[place] if 0 <= place < len(self.result.entries) else None

    def type_key(self, event: Key) -> None:
        """Type a key that arrives before the input has the focus."""
        if event.is_printable and event.character and not self._input.has_focus:
            event.stop()
            self._input.insert_text_at_cursor(event.character)

    def search_again(self) -> None:
        """Search for the displayed text, although it has not changed."""
        self._loop.start(self._input.value)

    async def _search_in_thread(self, text: str) -> SearchResult[T]:
        try:
            return await asyncio.to_thread(self._search, text)
        except AssayError as error:
            return SearchResult((), sanitize_line(str(error), 600))

    def _show(self, text: str, result: SearchResult[T]) -> None:
        cursor = self._list.cursor if text == self.shown_text and self.result.entries else result.cursor
        self.result = result
        self._list.show_count(len(result.entries), cursor)
        self._note.update(Content(result.note))
        self.post_message(self.Searched(result.entries))

    @on(PromptInput.Typed)
    def search_text(self, message: PromptInput.Typed) -> None:
        """Search for the text as it is typed."""
        message.stop()
        if not isinstance(message, PromptInput.Entered):
            self._loop.stop_accepting()
            self.search_again()

    @on(PromptInput.Entered)
    def accept(self) -> None:
        """Choose the entry under the cursor, as soon as the entries are those of the displayed text."""
        self._loop.accept(self._input.value)

    def _choose_entry(self) -> None:
        if (entry := self.entry) is not None:
            self._on_chosen(entry)

    def action_move(self, by: int) -> None:
        """Move the cursor by a number of entries."""
        self._list.action_move(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self._list.action_page(direction)
