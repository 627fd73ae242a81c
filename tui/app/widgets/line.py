"""A widget of one line that is computed from pieces for the width there is."""

from textual.content import Content
from textual.events import Resize
from textual.widget import Widget

from tui.app.presentation.pieces import Line
from tui.app.theme.styles import content_of


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
