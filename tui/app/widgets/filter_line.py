"""The input of a filter, imported on first use, with its completion and what is wrong with it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import DescendantBlur, DescendantFocus
from textual.widgets import Static

from tui.app.presentation.pieces import Line, fill, spread, width_of
from tui.app.widgets.list_view import FoundList
from tui.app.widgets.prompt_input import PromptInput
from tui.app.workers import start_worker
from tui.model.filter import Completion
from tui.model.sanitize import sanitize_line
from tui.session.saved_filters import SavedFilters

Complete = Callable[[str, int], Sequence[Completion]]
_LONGEST_LABEL = 60


class FilterLine(Vertical):
    """An input of a filter with its completion below it. The messages of the input bubble to the panel around it.

    `complete` returns what the term at the cursor can become. Tab accepts the highlighted entry, the arrows move it.
    `saved` are the saved filters, which a dialog changes; they are read again when the input is opened.
    """

    DEFAULT_CSS = """
    FilterLine { height: auto; }
    FilterLine > FoundList { height: auto; max-height: 6; display: none; }
    FilterLine > Static { height: auto; max-height: 4; color: $failed; display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "accept", "Accept", id="filter.accept", tooltip="Accept the completion", show=False),
        Binding("up", "move(-1)", "Up", id="filter.up", tooltip="Previous completion", show=False),
        Binding("down", "move(1)", "Down", id="filter.down", tooltip="Next completion", show=False),
        Binding("ctrl+s", "saved", "saved filters", id="filter.saved", tooltip="Save, use, rename or delete filters"),
    ]

    def __init__(self, line: PromptInput, complete: Complete, saved: SavedFilters) -> None:
        super().__init__()
        self.line, self._complete, self._saved = line, complete, saved
        line.handle_in_order("filter.accept", "filter.up", "filter.down", "filter.saved")
        self._list = FoundList(line_of=self._line_of, on_chosen=self._accept)
        self._hint = Static(markup=False, id="filter-hint")
        self._known: tuple[tuple[str, int], Sequence[Completion]] = ("", 0), ()
        self._shown: Sequence[Completion] = ()

    def compose(self) -> ComposeResult:
        """Compose the input, the completions and the hint."""
        yield self.line
        yield self._list
        yield self._hint

    def start(self) -> None:
        """Focus the input immediately, and display its completions."""
        self.line.start()
        self._show_completions()
        start_worker(self, self._read_saved, group="saved-filters", exclusive=True)

    async def _read_saved(self) -> None:
        """Read the saved filters again: another program may have changed them."""
        before = self._saved.texts
        await asyncio.to_thread(self._saved.read)
        for notice in self._saved.notices:
            self.app.notify(sanitize_line(notice, 600), severity="warning", markup=False, timeout=12)
        if self._saved.texts != before:
            self._apply_again()

    def _apply_again(self) -> None:
        """Complete and apply the same text with the saved filters as they are now."""
        self._known = ("", 0), ()
        self._show_completions()
        self.line.post_message(PromptInput.Typed(self.line.value))

    def action_saved(self) -> None:
        """Open the saved filters; the chosen one is added, or replaces the text that is saved under its name."""
        from tui.app.widgets.saved_filters_dialog import SavedFiltersDialog

        text = self.line.value.strip()

        def use(name: str | None) -> None:
            if name is not None:
                same = not text or self._saved.texts.get(name) == text
                self.line.value = f"@{name} " if same else f"{text} @{name} "
                self.line.cursor_position = len(self.line.value)
            self.line.start()
            self._apply_again()

        self.app.push_screen(SavedFiltersDialog(self._saved, text), use)

    def show_hint(self, hint: str) -> None:
        """Display what is wrong with the filter."""
        self._hint.update(Content(sanitize_line(hint, 600)))
        self._hint.display = bool(hint)

    @property
    def hint(self) -> str:
        """Return what is wrong with the filter, as displayed; empty if nothing is."""
        return str(self._hint.render()) if self._hint.display else ""

    @on(PromptInput.Typed)
    def complete_typed(self, message: PromptInput.Typed) -> None:
        """Complete the text while it is typed."""
        if not isinstance(message, PromptInput.Entered):
            self._show_completions()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Display the completions when the input gets the focus."""
        del event
        self._show_completions()

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        """Hide the completions when the input loses the focus."""
        del event
        self._show_completions()

    @property
    def completions(self) -> Sequence[Completion]:
        """Return what the term at the cursor can become now; nothing while the input does not have the focus.

        They are those of the current text: a key must not accept a completion of the text before the last key.
        """
        line = self.line
        if self.screen.focused is not line:
            return ()
        place = line.value, line.cursor_position
        if place != self._known[0] or not line.value:
            self._known = place, self._complete(*place)
        return self._known[1]

    def _show_completions(self) -> None:
        if self._shown != self.completions:
            self._shown = self.completions
            self._list.display = bool(self._shown)
            self._list.show_count(len(self._shown), 0)

    def _line_of(self, place: int, width: int) -> Line:
        completion = self._shown[place]
        label = sanitize_line(completion.label, _LONGEST_LABEL)
        widest = max(width_of(sanitize_line(each.label, _LONGEST_LABEL)) for each in self._shown)
        help_text = f"  {sanitize_line(completion.description)}" if completion.description else ""
        return spread(((f" {fill(label, min(widest, width - 2))}", "plain"), (help_text, "dim")), (), width)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: without a completion, Tab moves the focus."""
        del parameters
        return action not in ("accept", "move") or bool(self.completions)

    def action_move(self, by: int) -> None:
        """Highlight the next or previous completion."""
        self._list.action_move(by)

    def action_accept(self) -> None:
        """Accept the highlighted completion."""
        self._show_completions()
        self._accept(self._list.cursor)

    def _accept(self, place: int) -> None:
        if 0 <= place < len(self._shown):
            completion = self._shown[place]
            self.line.value = completion.text
            self.line.cursor_position = completion.cursor
            self.line.start()
