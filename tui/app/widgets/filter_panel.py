"""A frame around a list of cases, with a filter input below it."""

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from tui.model.filter import Filter, parse_filter

if TYPE_CHECKING:
    from tui.app.widgets.prompt_input import PromptInput

_EXAMPLE = "status:fail tag:… sev:crit model:… differs:yes !word"


class FilteredPanel(Vertical):
    """A panel with a list of cases and a filter.

    A subclass defines the list as `rows`, which gets the focus when the filter is closed.
    """

    DEFAULT_CSS = """
    FilteredPanel {
        border: round $quiet-border; border-title-color: $foreground; border-subtitle-color: $dim;
        background: $background; padding: 0 1;
        &:focus-within { border: round $focused-border; border-title-color: $accent; }
    }
    FilteredPanel > #filter-hint { height: auto; max-height: 4; color: $failed; }
    """

    class FilterChanged(Message):
        """Posted when the filter changes."""

        def __init__(self, case_filter: Filter) -> None:
            super().__init__()
            self.case_filter = case_filter

    @property
    def rows(self) -> Widget:
        """Return the widget that lists the cases."""
        raise NotImplementedError

    @property
    def filtering(self) -> bool:
        """Return whether the filter is open."""
        return self._line is not None

    @property
    def hint(self) -> str:
        """Return what is wrong with the filter, as displayed; empty if nothing is."""
        return "".join(str(line.render()) for line in self.query("#filter-hint").results(Static))

    @property
    def typing(self) -> bool:
        """Return whether the filter has the focus."""
        return self._line is not None and self.screen.focused is self._line

    async def open_filter(self) -> None:
        """Open the filter input and focus it."""
        line = self._line
        if line is None:
            from tui.app.widgets.prompt_input import PromptInput

            line = PromptInput(_EXAMPLE, id="filter")
            await self.mount(line, Static(markup=False, id="filter-hint"))
        line.start()

    async def close_filter(self) -> bool:
        """Close the filter, and return whether it was open."""
        line = self._line
        if line is not None:
            await self.query("#filter, #filter-hint").remove()
            self.post_message(self.FilterChanged(Filter()))
        self.rows.focus()
        return line is not None

    def show_filter(self, case_filter: Filter, count: int, *, chosen: bool = False) -> None:
        """Show in the frame the number of cases that the filter selects, and below the input what is wrong with it.

        The number is also shown if the cases were `chosen` in another way.
        """
        for line in self.query("#filter-hint").results(Static):
            line.update(Content(case_filter.hint))
            line.display = bool(case_filter.hint)
        if case_filter.hint:
            self.border_subtitle = Content.styled("invalid filter", "$failed")
        elif case_filter or chosen:
            self.border_subtitle = Content.styled(f"{count} {'case' if count == 1 else 'cases'}", "$accent")
        else:
            self.border_subtitle = Content("/ filter")

    @property
    def _line(self) -> "PromptInput | None":
        found: PromptInput | None = next(iter(self.query("#filter").results()), None)  # type: ignore[assignment]
        return found

    def on_prompt_input_typed(self, message: "PromptInput.Typed") -> None:
        """Apply the filter while it is typed."""
        message.stop()
        self.post_message(self.FilterChanged(parse_filter(message.text)))

    async def on_prompt_input_entered(self, message: "PromptInput.Entered") -> None:
        """Focus the list of cases; close an empty filter."""
        message.stop()
        if message.text.strip():
            self.rows.focus()
        else:
            await self.close_filter()

    async def on_prompt_input_left(self, message: "PromptInput.Left") -> None:
        """Close the filter."""
        message.stop()
        await self.close_filter()
