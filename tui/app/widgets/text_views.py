"""Lines to read: a scrolling text that wraps and can be selected."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tui.app.presentation.pieces import Line
from tui.app.theme.styles import content_of_lines


class Reading(VerticalScroll):
    """Shows lines; long ones wrap."""

    DEFAULT_CSS = """
    Reading { background: $background; color: $foreground; scrollbar-size-vertical: 1; height: 1fr; }
    Reading > Static { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] | None = None
        self._text = Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """One text."""
        yield self._text

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show other lines; the same again costs nothing."""
        if lines != self._lines:
            self._lines = lines
            self._text.update(content_of_lines(lines))
