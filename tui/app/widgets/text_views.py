"""Widgets that show lines of text: a scrolling panel, and a single line."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static

from tui.app.presentation.pieces import Line
from tui.app.theme.styles import content_of, content_of_lines


class TextPanel(VerticalScroll):
    """A scrolling text of lines that wrap and can be selected."""

    DEFAULT_CSS = """
    TextPanel { background: $background; color: $foreground; scrollbar-size-vertical: 1; height: 1fr; }
    TextPanel > Static { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] | None = None
        self._text = Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield self._text

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Show other lines; the same lines again cost nothing."""
        if lines != self._lines:
            self._lines = lines
            self._text.update(content_of_lines(lines))


_LEAST = 20


class FittedReading(TextPanel):
    """A text panel whose lines are made for its width."""

    _made: Callable[[int], Sequence[Line]] | None = None

    def show_fitted(self, made: Callable[[int], Sequence[Line]]) -> None:
        """Show the lines that `made` returns for a width."""
        self._made = made
        self.fit()

    def fit(self) -> None:
        """Make the lines again."""
        width = self.scrollable_content_region.width - 1
        if self._made is not None and width > 0:
            self.show_lines(self._made(max(_LEAST, width)))

    def on_resize(self) -> None:
        """Make the lines for the new width."""
        self.fit()


class PieceLine(Widget):
    """A widget of one line that is computed for its width: override `line_for`, and call `draw` when its data has
    changed."""

    DEFAULT_CSS = """
    PieceLine { height: 1; background: $raised; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._line: Line = ()

    def line_for(self, width: int) -> Line:
        """Return the line in at most `width` cells."""
        raise NotImplementedError

    def draw(self) -> None:
        """Compute the line again, and paint it where it has changed."""
        line = self.line_for(self.size.width)
        if line != self._line:
            self._line = line
            self.refresh()

    def on_resize(self, event: Resize) -> None:
        """Compute the line for the new width."""
        self._line = self.line_for(event.size.width)
        self.refresh()

    def render(self) -> Content:
        """Return the line that was computed last."""
        return content_of(self._line)
