"""Scroll views with a position mark of their own, which is cheaper than the scroll bar of Textual."""

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
    """Draws no mark itself: a subclass asks `position_mark` where it stands. The mark can be dragged. There is nothing
    around the rows: no border, no padding."""

    DEFAULT_CSS = "FastScrollView { overflow: hidden hidden; }"
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


# While rows stream in the view does not scroll for each one, but a few at once, and all views on the same beat: a row
# that moves costs as much as a new one, and lines that stand still are easier to read.
_BEATS_A_SECOND = 4
_LEAP = 4
_ROWS_FOR_A_LEAP = 20


class TailView(FastScrollView):
    """Rows that may grow. The end is followed until the person scrolls up; End follows again.

    A subclass says how many rows there are (`count_rows`), what to do when some have changed (`forget_rows_from`), and
    calls `rows_changed`. The last column is the position mark's.
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
        """The person has scrolled, with keys or the mouse."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._following = True
        self._leaping = False
        self._rows = self._end = self._beat = 0

    def count_rows(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def forget_rows_from(self, row: int) -> None:
        """Rows from this one on have to be painted anew."""
        raise NotImplementedError

    @property
    def following(self) -> bool:
        """Whether the end is followed as rows are added."""
        return self._following

    def follow(self, following: bool, *, leaping: bool = False) -> None:
        """Follow the end from now on, or do not; `leaping` while rows stream in."""
        self._following, self._leaping, self._end = following, leaping, 0

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whoever scrolls to the end follows it, and who leaves it does not."""
        super().watch_scroll_y(old_value, new_value)
        self._following = new_value >= self.max_scroll_y

    def rows_changed(self, row: int) -> None:
        """Rows from this one on have changed, and perhaps how many there are."""
        self.forget_rows_from(row)
        before, rows = self.position_mark(), self._rows
        self.measure()
        if not self.outer_size:
            return
        if self._following or self.scroll_y > self.max_scroll_y:
            top = self.scroll_y
            self.scroll_now(self.max_scroll_y)
            if top != self.scroll_y:
                return  # all of it is painted anew
        if before != self.position_mark():
            self.refresh()
            return
        top = self.top_row
        first, end = max(row - top, 0), min(max(rows, self._rows) - top, self.view_rows)
        if first < end:
            self.refresh(Region(0, first, self.outer_size.width, end - first))

    def measure(self) -> None:
        """Take over how many rows there are. The reactive's own setter would lay the whole screen out."""
        rows, fitting = self.count_rows(), self.view_rows
        self._rows = rows
        if self._leaping and self._following and rows > fitting >= _ROWS_FOR_A_LEAP:
            beat, self._beat = self._beat, int(monotonic() * _BEATS_A_SECOND)
            if rows > self._end or (rows + _LEAP > self._end and beat != self._beat):
                self._end = rows + _LEAP
        self.set_reactive(Widget.virtual_size, Size(self.outer_size.width, max(rows, self._end)))

    # --- keys and mouse

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by rows."""
        self.scroll_by_hand(self.top_row + rows)

    def action_page(self, direction: int) -> None:
        """Scroll by what fits, less a row to read on from."""
        self.scroll_by_hand(self.top_row + direction * max(1, self.view_rows - 1))

    def action_top(self) -> None:
        """Go to the beginning."""
        self.scroll_by_hand(0)

    def action_follow(self) -> None:
        """Go to the end and stay there while rows are added."""
        self._following = True
        self.scroll_now(self.max_scroll_y)

    def on_mouse_scroll_up(self) -> None:
        """The wheel turns; Textual scrolls."""
        self.post_message(self.ScrolledByHand())

    def scroll_by_hand(self, y: float) -> None:
        """Scroll there, and say so."""
        self.scroll_now(y)
        self.post_message(self.ScrolledByHand())
