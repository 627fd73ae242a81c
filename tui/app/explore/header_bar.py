"""The header: product, suite, and how far the run is."""

from tui.app.explore.header_lines import Heading, header_line
from tui.app.presentation.pieces import Line
from tui.app.widgets.text_views import PieceLine


class HeaderBar(PieceLine):
    """Shows a Heading."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading = Heading()

    def show(self, heading: Heading) -> None:
        """Show another state."""
        self._heading = heading
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the header, at most `width` cells wide."""
        return header_line(self._heading, width)
