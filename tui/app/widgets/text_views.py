"""Widgets that display lines of text: scrolling panels, and a single line."""

from collections.abc import Callable, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.app.presentation.pieces import Line
from tui.app.theme.styles import content_of, content_of_lines


class TextPanel(VerticalScroll):
    """A scrolling panel with lines of text; long lines wrap."""

    DEFAULT_CSS = """
    TextPanel { background: $background; color: $foreground; scrollbar-size-vertical: 1; height: 1fr; }
    TextPanel > Static { height: auto; width: 1fr; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] | None = None
        self._text = Static(Content(), markup=False)

    def compose(self) -> ComposeResult:
        """Compose the text widget."""
        yield self._text

    def show_lines(self, lines: Sequence[Line]) -> None:
        """Display lines; equal lines are not drawn again."""
        if lines != self._lines:
            self._lines = lines
            self._text.update(content_of_lines(lines))


_LEAST = 20


class FittedTextPanel(TextPanel):
    """A text panel whose lines are computed for its width."""

    _made: Callable[[int], Sequence[Line]] | None = None

    def show_fitted(self, made: Callable[[int], Sequence[Line]]) -> None:
        """Display the lines that `made` returns for the width of the panel in cells."""
        self._made = made
        self.fit()

    def fit(self) -> None:
        """Compute the lines again for the current width."""
        width = self.scrollable_content_region.width - 1
        if self._made is not None and width > 0:
            self.show_lines(self._made(max(_LEAST, width)))

    def on_resize(self) -> None:
        """Compute the lines again for the new width."""
        self.fit()


class PieceLine(Widget):
    """A widget of one line.

    A subclass overrides `line_for`, and `draw` is called after its content has changed; an unchanged line is not
    painted again.
    """

    DEFAULT_CSS = """
    PieceLine { height: 1; background: $raised; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._line: Line = ()

    def line_for(self, width: int) -> Line:
        """Return the line in at most `width` cells."""
        raise NotImplementedError

    def draw(self) -> None:
        """Compute the line again, and repaint it if it has changed."""
        line = self.line_for(self.size.width)
        if line != self._line:
            self._line = line
            self.refresh()

    def on_resize(self) -> None:
        """Compute the line for the new width, without the padding, which the size of the event includes."""
        self.draw()

    def render(self) -> Content:
        """Return the last computed line."""
        return content_of(self._line)
