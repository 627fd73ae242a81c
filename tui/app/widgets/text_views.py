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
    """Shows lines; long ones wrap."""

    DEFAULT_CSS = """
    TextPanel { background: $background; color: $foreground; scrollbar-size-vertical: 1; height: 1fr; }
    TextPanel > Static { height: auto; width: 1fr; }
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


_LEAST = 20


class FittedTextPanel(TextPanel):
    """Another width, other lines."""

    _made: Callable[[int], Sequence[Line]] | None = None

    def show_fitted(self, made: Callable[[int], Sequence[Line]]) -> None:
        """Show what `made` gives for so many cells."""
        self._made = made
        self.fit()

    def fit(self) -> None:
        """Make them anew."""
        width = self.scrollable_content_region.width - 1
        if self._made is not None and width > 0:
            self.show_lines(self._made(max(_LEAST, width)))

    def on_resize(self) -> None:
        """Another width."""
        self.fit()


class PieceLine(Widget):
    """Override `line_for`, and call `draw` when what it shows has changed; the same text is not painted again."""

    DEFAULT_CSS = """
    PieceLine { height: 1; background: $raised; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._line: Line = ()

    def line_for(self, width: int) -> Line:
        """The line in at most so many cells."""
        raise NotImplementedError

    def draw(self) -> None:
        """Compute the line again, and paint it where it is another."""
        line = self.line_for(self.size.width)
        if line != self._line:
            self._line = line
            self.refresh()

    def on_resize(self, event: Resize) -> None:
        """Another width, another line."""
        self._line = self.line_for(event.size.width)
        self.refresh()

    def render(self) -> Content:
        """The line as it was computed last."""
        return content_of(self._line)
