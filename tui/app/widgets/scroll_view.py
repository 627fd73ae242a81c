"""Scroll views with a position mark, which is cheaper than Textual's scroll bar."""

from time import monotonic
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import MouseDown, MouseMove, MouseUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.widget import Widget

THUMB = "▐"


class FastScrollView(ScrollView):
    """A scroll view without border and padding, whose position mark can be dragged.

    A subclass draws the mark where `position_mark` says.
    """

    DEFAULT_CSS = "FastScrollView { overflow: hidden hidden; }"
    dragged = False
    """Whether the last mouse-down was on the position mark: the following click is ignored."""

    @property
    def allow_vertical_scroll(self) -> bool:
        """Return whether there is anything to scroll: Textual decides this by the scroll bar, which is absent."""
        return self.max_scroll_y > 0

    @property
    def top_row(self) -> int:
        """Return the index of the row at the top of the view."""
        return self.scroll_offset.y

    @property
    def view_rows(self) -> int:
        """Return the number of rows that fit.

        There are no borders, so the outer size equals the size, and is much cheaper to compute.
        """
        return max(1, self.outer_size.height)

    def scroll_now(self, y: float) -> None:
        """Scroll to a row without animation."""
        y = max(0, min(round(y), self.max_scroll_y))
        if y != self.scroll_y:
            self.scroll_target_y = y
            self.scroll_y = y

    def scroll_by_hand(self, y: float) -> None:
        """Scroll to a row at the request of the user; a subclass may post that."""
        self.scroll_now(y)

    def position_mark(self) -> tuple[int, int]:
        """Return the rows of the view that contain the position mark, half-open; empty if all rows fit."""
        rows, fitting = self.virtual_size.height, self.view_rows
        if rows <= fitting:
            return 0, 0
        length = max(1, fitting * fitting // rows)
        start = round((fitting - length) * self.top_row / (rows - fitting))
        return start, start + length

    def is_on_mark(self, x: int) -> bool:
        """Return whether a column is that of the position mark, and the mark is displayed."""
        return x == self.outer_size.width - 1 and self.max_scroll_y > 0

    def on_mouse_down(self, event: MouseDown) -> None:
        """Start to drag the position mark."""
        self.dragged = self.is_on_mark(event.x)
        if self.dragged:
            event.stop()
            self.capture_mouse()
            self._drag_to(event.y)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Scroll while the position mark is dragged."""
        if self.app.mouse_captured is self:
            self._drag_to(event.y)

    def on_mouse_up(self, event: MouseUp) -> None:
        """Stop to drag the position mark."""
        if self.app.mouse_captured is self:
            event.stop()
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        self.scroll_by_hand(self.max_scroll_y * y / max(1, self.view_rows - 1))


# While rows stream in, the view scrolls by several rows at once, and all views at the same time: a moved row costs as
# much to draw as a new one, and text that does not move is easier to read.
_LEAPS_PER_SECOND = 4
_LEAP_ROWS = 4
_LEAST_ROWS_TO_LEAP = 20


class TailView(FastScrollView):
    """A view of rows that may grow. It follows the end until the user scrolls up; End follows again.

    A subclass implements `count_rows` and `forget_rows_from`, and calls `rows_changed`. The last column is for the
    position mark.
    """

    DEFAULT_CSS = """
    TailView { background: $background; color: $foreground; width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_by(-1)", "Up", id="text.up", tooltip="Scroll up", show=False),
        Binding("down,j", "scroll_by(1)", "Down", id="text.down", tooltip="Scroll down", show=False),
        Binding("pageup", "page(-1)", "Page up", id="text.page-up", tooltip="Scroll up a page", show=False),
        Binding(
            "pagedown,space", "page(1)", "Page down", id="text.page-down", tooltip="Scroll down a page", show=False
        ),
        Binding("home", "top", "Top", id="text.top", tooltip="Go to the top", show=False),
        Binding("end", "follow", "End", id="text.end", tooltip="Go to the end and follow it", show=False),
    ]

    class ScrolledByHand(Message):
        """Posted when the user has scrolled with keys or the mouse."""

    def __init__(self) -> None:
        super().__init__()
        self._following = True
        self._leaping = False
        self._rows = self._end = self._beat = 0

    def count_rows(self) -> int:
        """Return the number of rows."""
        raise NotImplementedError

    def forget_rows_from(self, row: int) -> None:
        """Discard what is cached of the rows from `row` on."""
        raise NotImplementedError

    @property
    def following(self) -> bool:
        """Return whether the view follows the end as rows are added."""
        return self._following

    def follow(self, following: bool, *, leaping: bool = False) -> None:
        """Follow the end from now on, or stop following; `leaping` while rows stream in."""
        self._following, self._leaping, self._end = following, leaping, 0

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the end after scrolling to it, and stop following after scrolling away from it."""
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y

    def rows_changed(self, row: int) -> None:
        """Redraw the rows from `row` on, after their content or number has changed."""
        self.forget_rows_from(row)
        before, rows = self.position_mark(), self._rows
        self.measure()
        if not self.outer_size:
            return
        if self._following or self.scroll_y > self.max_scroll_y:
            top = self.scroll_y
            self.scroll_now(self.max_scroll_y)
            if top != self.scroll_y:
                return  # scrolling repaints everything
        if before != self.position_mark():
            self.refresh()
            return
        top = self.top_row
        first, end = max(row - top, 0), min(max(rows, self._rows) - top, self.view_rows)
        if first < end:
            self.refresh(Region(0, first, self.outer_size.width, end - first))

    def measure(self) -> None:
        """Update the number of rows. Setting the reactive would lay out the whole screen."""
        rows, fitting = self.count_rows(), self.view_rows
        self._rows = rows
        if self._leaping and self._following and rows > fitting >= _LEAST_ROWS_TO_LEAP:
            beat, self._beat = self._beat, int(monotonic() * _LEAPS_PER_SECOND)
            if rows > self._end or (rows + _LEAP_ROWS > self._end and beat != self._beat):
                self._end = rows + _LEAP_ROWS
        self.set_reactive(Widget.virtual_size, Size(self.outer_size.width, max(rows, self._end)))

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by a number of rows."""
        self.scroll_by_hand(self.top_row + rows)

    def action_page(self, direction: int) -> None:
        """Scroll by a page; one row of the current page stays visible."""
        self.scroll_by_hand(self.top_row + direction * max(1, self.view_rows - 1))

    def action_top(self) -> None:
        """Scroll to the beginning."""
        self.scroll_by_hand(0)

    def action_follow(self) -> None:
        """Scroll to the end, and follow it while rows are added."""
        self._following = True
        self.scroll_now(self.max_scroll_y)

    def on_mouse_scroll_up(self) -> None:
        """Post that the user scrolls; Textual does the scrolling."""
        self.post_message(self.ScrolledByHand())

    def scroll_by_hand(self, y: float) -> None:
        """Scroll to a row at the request of the user, and post that."""
        self.scroll_now(y)
        self.post_message(self.ScrolledByHand())
