"""A frame around a list of cases, with a filter input below it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.css.query import DOMQuery
from textual.message import Message
from textual.widget import Widget

from tui.app.keymap import key_of
from tui.model.filter import CASE_FILTER, Completion, Filter, parse_filter
from tui.session.saved_filters import SavedFilters

if TYPE_CHECKING:
    from tui.app.widgets.filter_line import FilterLine
    from tui.app.widgets.prompt_input import PromptInput

_EXAMPLE = "status:fail tag:… sev:crit model:… differs:yes !word"


class FilteredPanel(Vertical):
    """A panel with a list of cases and a filter.

    A subclass defines the list as `rows`, which gets the focus when the filter is closed, and the values of the keys of
    the filter that occur in the list as `filter_values`, and the columns of data sets as `filter_columns`.
    """

    DEFAULT_CSS = """
    FilteredPanel {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim;
        background: $background; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    """

    def __init__(self, filters: SavedFilters, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._filters = filters

    class FilterChanged(Message):
        """Posted when the filter changes."""

        def __init__(self, case_filter: Filter) -> None:
            super().__init__()
            self.case_filter = case_filter

    @property
    def rows(self) -> Widget:
        """Return the widget that lists the cases."""
        raise NotImplementedError

    def filter_values(self, key: str) -> Iterable[str]:
        """Return the values of a key of the filter that occur in the cases."""
        raise NotImplementedError

    def filter_columns(self) -> Iterable[str]:
        """Return the columns of the data sets of the cases, which are keys of the filter."""
        raise NotImplementedError

    @property
    def filtering(self) -> bool:
        """Return whether the filter is open; one that the user has left counts as closed."""
        return self._line is not None

    @property
    def hint(self) -> str:
        """Return what is wrong with the filter, as displayed; empty if nothing is."""
        return self._line.hint if self._line is not None else ""

    @property
    def typing(self) -> bool:
        """Return whether the filter has the focus."""
        return self._line is not None and self.screen.focused is self._line.line

    async def open_filter(self) -> None:
        """Open the filter input and focus it."""
        line = self._line
        if line is None:
            from tui.app.widgets.filter_line import FilterLine
            from tui.app.widgets.prompt_input import PromptInput

            line = FilterLine(PromptInput(_EXAMPLE, self.rows), self._complete, self._filters)
            await self.mount(line)
        line.start()

    def _complete(self, text: str, cursor: int) -> list[Completion]:
        language = CASE_FILTER.with_columns(self.filter_columns())
        return language.complete(text, cursor, self.filter_values, self._filters.texts)

    def _parse(self, text: str) -> Filter:
        return parse_filter(text, self._filters.texts, self.filter_columns())

    def close_filter(self) -> bool:
        """Close the filter, move the focus to the list, and return whether the filter was open."""
        line = self._line
        if line is not None:
            line.line.action_leave()
        return line is not None

    def show_filter(self, case_filter: Filter, count: int, *, chosen: bool = False) -> None:
        """Show in the frame the number of cases that the filter selects, and below the input what is wrong with it.

        The number is also shown if the cases were `chosen` in another way.
        """
        if self._line is not None:
            self._line.show_hint(case_filter.hint)
        if case_filter.hint:
            self.border_subtitle = Content.styled("invalid filter", "$failed")
        elif case_filter or chosen:
            self.border_subtitle = Content.styled(f"{count} {'case' if count == 1 else 'cases'}", "$accent")
        else:
            self.border_subtitle = Content(f"{key_of(self.screen, 'look.filter')} filter")

    @property
    def _line(self) -> "FilterLine | None":
        return next((line for line in self._lines if not line.line.left), None)

    @property
    def _lines(self) -> "DOMQuery[FilterLine]":
        return self.query("FilterLine")  # type: ignore[return-value]

    def on_prompt_input_typed(self, message: "PromptInput.Typed") -> None:
        """Apply the filter while it is typed."""
        message.stop()
        self.post_message(self.FilterChanged(self._parse(message.text)))

    def on_prompt_input_entered(self, message: "PromptInput.Entered") -> None:
        """Focus the list of cases; close an empty filter."""
        message.stop()
        if message.text.strip():
            self.rows.focus()
        else:
            self.close_filter()

    async def on_prompt_input_left(self, message: "PromptInput.Left") -> None:
        """Remove a filter that was left; another one may be open already."""
        message.stop()
        line = self._line
        self.post_message(self.FilterChanged(self._parse(line.line.value if line else "")))
        for each in self._lines:
            if each.line.left:
                await each.remove()
