"""A view of rendered Markdown."""

import asyncio

from textual import work
from textual.events import Resize
from textual.strip import Strip

from tui.app.text.markdown import markdown_rows
from tui.app.text.page import Run
from tui.app.theme.styles import TextStyles
from tui.app.widgets.answer_view import RowPainter
from tui.app.widgets.scroll_view import TailView


class RenderedView(TailView, can_focus=True):
    """A text rendered as Markdown, which scrolls. It is rendered in a thread."""

    def __init__(self) -> None:
        super().__init__()
        self._raw = ""
        self._runs: list[list[Run]] = []
        self._painter = RowPainter()
        self._has_styles = False

    def show(self, raw: str) -> None:
        """Display another text, from its beginning; the same text does not move."""
        if raw != self._raw:
            self._raw = raw
            self.follow(False)
            self.scroll_now(0)
            self._render_rows()

    def on_resize(self, event: Resize) -> None:
        """Render the text for the new width."""
        del event
        self._render_rows()

    @work(group="markdown", exclusive=True)
    async def _render_rows(self) -> None:
        width = self.outer_size.width - 1  # the last cell is for the position mark
        if width > 0:
            self._runs = await asyncio.to_thread(markdown_rows, self._raw, width)
            self.rows_changed(0)

    def count_rows(self) -> int:
        """Return the number of rows."""
        return len(self._runs)

    def forget_rows_from(self, row: int) -> None:
        """Discard the cached strips of the rows from `row` on."""
        self._painter.forget(row)

    def notify_style_update(self) -> None:
        """Make the styles again at the next paint: Textual calls this when colors may have changed."""
        super().notify_style_update()
        self._has_styles = False

    def render_line(self, y: int) -> Strip:
        """Return one row of the view."""
        if not self._has_styles:
            self._painter.set_styles(TextStyles(self.app.theme_variables, self.background_colors[1].hex6))
            self._has_styles = True
        row, (begin, end) = y + self.top_row, self.position_mark()
        runs = self._runs[row] if row < len(self._runs) else []
        return self._painter.paint(runs, self.outer_size.width, begin <= y < end, cursor=False)
