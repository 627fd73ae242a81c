"""A view of rows with a position mark of its own in its last column: Textual's scrollbar costs more than the rows."""

from textual.events import MouseDown, MouseMove, MouseUp
from textual.scroll_view import ScrollView

THUMB = "▐"


class MarkedView(ScrollView):
    """Draws no mark itself: a subclass asks `position_mark` where it stands. The mark can be dragged. There is nothing
    around the rows: no border, no padding."""

    DEFAULT_CSS = "MarkedView { overflow: hidden hidden; }"
    dragged = False
    """Whether the mouse went down on the mark: the click that follows is none."""

    @property
    def allow_vertical_scroll(self) -> bool:
        """There is no scrollbar that could say so."""
        return self.max_scroll_y > 0

    @property
    def top_row(self) -> int:
        """The row at the top of the view."""
        return self.scroll_offset.y

    @property
    def view_rows(self) -> int:
        """How many rows fit. There are no borders, so the outer size is the size, and much cheaper to ask for."""
        return max(1, self.outer_size.height)

    def scroll_now(self, y: float) -> None:
        """Scroll there without a movement."""
        y = max(0, min(round(y), self.max_scroll_y))
        if y != self.scroll_y:
            self.scroll_target_y = y
            self.scroll_y = y

    def scroll_by_hand(self, y: float) -> None:
        """A person scrolls there; for a subclass that tells."""
        self.scroll_now(y)

    def position_mark(self) -> tuple[int, int]:
        """The rows of the view in which the position mark stands, half-open; none when everything fits."""
        rows, fitting = self.virtual_size.height, self.view_rows
        if rows <= fitting:
            return 0, 0
        length = max(1, fitting * fitting // rows)
        start = round((fitting - length) * self.top_row / (rows - fitting))
        return start, start + length

    def is_on_mark(self, x: int) -> bool:
        """Whether a cell of the view is in the column of the mark, and there is one."""
        return x == self.outer_size.width - 1 and self.max_scroll_y > 0

    def on_mouse_down(self, event: MouseDown) -> None:
        """The position mark can be dragged."""
        self.dragged = self.is_on_mark(event.x)
        if self.dragged:
            event.stop()
            self.capture_mouse()
            self._drag_to(event.y)

    def on_mouse_move(self, event: MouseMove) -> None:
        """The position mark follows the mouse."""
        if self.app.mouse_captured is self:
            self._drag_to(event.y)

    def on_mouse_up(self, event: MouseUp) -> None:
        """The position mark is let go."""
        if self.app.mouse_captured is self:
            event.stop()
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        self.scroll_by_hand(self.max_scroll_y * y / max(1, self.view_rows - 1))
