"""The header of Explore: name of the app, suite, and progress of the run."""

from tui.app.explore.header_lines import Heading, header_line
from tui.app.presentation.pieces import Line
from tui.app.widgets.text_views import PieceLine


class HeaderBar(PieceLine):
    """A line with a Heading."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._heading = Heading()

    def show(self, heading: Heading) -> None:
        """Display another heading."""
        self._heading = heading
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the header in at most `width` cells."""
        return header_line(self._heading, width)
