"""The lines above and below what is scored: how far one is, what was just given."""

from collections.abc import Callable

from tui.app.presentation.pieces import Line
from tui.app.review.lines import Title, title_line
from tui.app.widgets.text_views import PieceLine


class ReviewTitle(PieceLine):
    """Shows a Title."""

    title = Title()

    def show(self, title: Title) -> None:
        """Another state."""
        self.title = title
        self.draw()

    def line_for(self, width: int) -> Line:
        """The line in at most so many cells."""
        return title_line(self.title, width)


class LastLine(PieceLine):
    """What was done last, given as a function of the width there is."""

    DEFAULT_CSS = "LastLine { background: $background; }"

    said: Callable[[int], Line] | None = None

    def say(self, line: Callable[[int], Line] | None) -> None:
        """Another thing was done; None for nothing."""
        self.said = line
        self.draw()

    def line_for(self, width: int) -> Line:
        """The line in at most so many cells."""
        return self.said(width) if self.said else ()
