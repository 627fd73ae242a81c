"""The header of the matrix, and the heads of its columns; a click on one of those sorts by it."""

from collections.abc import Sequence
from typing import ClassVar

from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.matrix.header_lines import MatrixHeading, matrix_header
from tui.app.presentation.pieces import Line
from tui.app.theme.styles import grounded_styles, segments_of
from tui.app.widgets.line import PieceLine


class MatrixHeader(PieceLine):
    """Shows a MatrixHeading."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading = MatrixHeading()

    def show(self, heading: MatrixHeading) -> None:
        """Show another state."""
        self._heading = heading
        self.draw()

    def line_for(self, width: int) -> Line:
        """The line in at most so many cells."""
        return matrix_header(self._heading, width)


class MatrixHead(Widget):
    """Shows lines that are as wide as the table."""

    DEFAULT_CSS = """
    MatrixHead { height: auto; background: $background; color: $foreground; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class HeadClicked(Message):
        """A click on a head, so many cells from the left."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._strips: list[Strip] = []

    def show(self, lines: Sequence[Line]) -> None:
        """Show these."""
        if lines != self._lines:
            grown = len(lines) != len(self._lines)
            self._lines, self._strips = lines, []
            self.refresh(layout=grown)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A row for each line."""
        del container, viewport, width
        return len(self._lines)

    def notify_style_update(self) -> None:
        self._strips = []
        super().notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """Lines of another width."""
        if self._strips and event.size.width != self._strips[0].cell_length:
            self._strips = []

    def render_line(self, y: int) -> Strip:
        if not self._strips:
            looks, width = grounded_styles(self.app, self.rich_style), self.size.width
            lines = [Strip(segments_of(line, looks)) for line in self._lines]
            self._strips = [line.adjust_cell_length(width, looks["plain"]) for line in lines]
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Past Textual's cache of borders and padding, of which there are none: it costs more than the lines do."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return strips if (start, end) == (0, self.size.width) else [strip.crop(start, end) for strip in strips]

    def on_click(self, event: Click) -> None:
        """Say where."""
        self.post_message(self.HeadClicked(event.x))
