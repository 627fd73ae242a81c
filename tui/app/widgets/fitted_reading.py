"""Lines to read that are made for the width that there is."""

from collections.abc import Callable, Sequence

from tui.app.presentation.pieces import Line
from tui.app.widgets.text_views import Reading

_LEAST = 20


class FittedReading(Reading):
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
