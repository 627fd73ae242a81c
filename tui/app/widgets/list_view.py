"""A list with a cursor, drawn line by line: its cost depends on the visible lines only."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal, Self

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.binding import Binding, BindingType
from textual.events import Click, MouseMove
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.presentation.pieces import Line, Role
from tui.app.theme.styles import grounded_styles, segments_of
from tui.app.widgets.scroll_view import THUMB, FastScrollView

_FAR = 1_000_000_000

Ground = Literal["", "selected", "raised"]


class LineListView(FastScrollView, can_focus=True):
    """A list of lines with a cursor.

    The lines are given to `show_lines`, or only the visible ones are computed: `line_of` returns the line of a place
    in at most so many cells, and `show_count` sets the number of lines. A subclass may override `line_at` instead.
    """

    DEFAULT_CSS = "LineListView { background: $background; color: $foreground; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", tooltip="Previous row", show=False),
        Binding("down,j", "move(1)", "Down", id="list.down", tooltip="Next row", show=False),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", tooltip="Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", tooltip="Page down", show=False),
        Binding("home", f"move({-_FAR})", "Top row", id="list.first", tooltip="Go to the top row", show=False),
        Binding("end", f"move({_FAR})", "Last row", id="list.last", tooltip="Go to the last row", show=False),
        Binding("enter", "choose", "Show", id="list.choose", tooltip="Open the row", show=False),
    ]

    class Reached(Message):
        """Posted when the cursor moves to another line; `place` counts from 0."""

        def __init__(self, lines: "LineListView", place: int) -> None:
            super().__init__()
            self.lines, self.place = lines, place

        @property
        def control(self) -> "LineListView":
            """Return the list that posted the message."""
            return self.lines

    class Chosen(Reached):
        """Posted when a line is chosen with Enter or a click."""

    def __init__(
        self,
        *,
        line_of: Callable[[int, int], Line] | None = None,
        on_chosen: Callable[[int], object] | None = None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._line_of, self._on_chosen = line_of, on_chosen
        self._lines: Sequence[Line] = ()
        self._count = 0
        self._cursor = self._hover = -1
        self._looks: dict[Ground, Mapping[Role, RichStyle]] = {}

    @property
    def cursor(self) -> int:
        """Return the index of the line under the cursor; -1 if the list is empty."""
        return self._cursor

    @property
    def line_count(self) -> int:
        """Return the number of lines."""
        return self._count

    def line_at(self, place: int, width: int) -> Line:
        """Return a line in at most `width` cells."""
        return self._line_of(place, width) if self._line_of else self._lines[place]

    def show_lines(self, lines: Sequence[Line]) -> Self:
        """Show other lines; the cursor keeps its position."""
        if lines != self._lines:
            self._lines, self._count = lines, len(lines)
            self.lines_changed(self._cursor)
        return self

    def show_count(self, count: int, cursor: int) -> None:
        """Show so many new lines of `line_of`."""
        self._count = count
        self.lines_changed(cursor)
        self.go_to(cursor)

    def lines_changed(self, cursor: int) -> None:
        """Redraw the changed lines, with the cursor on the line `cursor`."""
        self._cursor = max(min(cursor, self.line_count - 1), min(0, self.line_count - 1))
        size = Size(0, self.line_count)
        if size != self.virtual_size:
            self._measure(size)
        self.refresh()

    def _measure(self, size: Size) -> None:
        height = self.styles.height
        if height is None or height.is_auto:
            self.virtual_size = size
        else:  # setting the reactive would lay out the whole screen
            self.set_reactive(Widget.virtual_size, size)
            self.scroll_now(self.scroll_y)

    def go_to(self, place: int) -> None:
        """Move the cursor to a line and scroll it into view, without posting a message."""
        place = max(0, min(place, self.line_count - 1))
        if not self.line_count:
            return
        self.scroll_to_region(Region(0, place, 1, 1), animate=False, x_axis=False)
        if place != self._cursor:
            self._cursor = place
            self.refresh()

    def notify_style_update(self) -> None:
        """Make the styles again at the next paint: colors have changed."""
        self._looks = {}
        super().notify_style_update()

    def ground_of(self, place: int) -> Ground:
        """Return the background of a line: the line under the cursor and the one under the mouse are highlighted."""
        if place == self._cursor:
            return "selected" if self.has_focus else "raised"
        return "raised" if place == self._hover else ""

    def render_line(self, y: int) -> Strip:
        """Return a row of the view with its piece of the position mark."""
        begin, end = self.position_mark()
        place = y + self.top_row
        return self.draw_line(place, self.ground_of(place), begin <= y < end if end else None)

    @property
    def line_width(self) -> int:
        """Return the width of a line in cells: one less if the list has a position mark."""
        return self.outer_size.width - (self.virtual_size.height > self.view_rows)

    def draw_line(self, place: int, ground: Ground, thumb: bool | None) -> Strip:
        """Return a line on its background.

        `thumb` is whether the position mark is in this row; None if the list has no mark.
        """
        looks = self._looks.get(ground)
        if looks is None:
            looks = self._looks[ground] = grounded_styles(self.app, self.rich_style, ground)
        width, blank = self.line_width, looks["plain"]
        line = self.line_at(place, width) if place < self.line_count else ()
        strip = Strip(segments_of(line, looks)).adjust_cell_length(width, blank)
        if thumb is None:
            return strip
        return Strip([*strip, Segment(THUMB, looks["dim"]) if thumb else Segment(" ", blank)], width + 1)

    def post_reached(self, place: int) -> None:
        """Post that the cursor has moved to a line."""
        self.post_message(self.Reached(self, place))

    def post_chosen(self, place: int) -> None:
        """Post that a line was chosen, or call `on_chosen` in its place: a later key cannot overtake a call."""
        if self._on_chosen:
            self._on_chosen(place)
        else:
            self.post_message(self.Chosen(self, place))

    def action_move(self, by: int) -> None:
        """Move the cursor by a number of lines."""
        before = self._cursor
        self.go_to(before + by)
        if self._cursor != before:
            self.post_reached(self._cursor)

    def action_page(self, direction: int) -> None:
        """Move the cursor by a page."""
        self.action_move(direction * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        """Choose the line under the cursor."""
        if 0 <= self._cursor < self.line_count:
            self.post_chosen(self._cursor)

    def on_click(self, event: Click) -> None:
        """Move the cursor to the clicked line, and choose it."""
        place = event.y + self.scroll_offset.y
        if 0 <= place < self.line_count and not self.dragged:
            self.go_to(place)
            self.clicked(place, event.x)

    def clicked(self, place: int, column: int) -> None:
        """Handle a click on a line: choose the line."""
        del column
        self.post_chosen(place)

    def on_mouse_move(self, event: MouseMove) -> None:
        """Highlight the line under the mouse."""
        self._set_hover(event.y + self.scroll_offset.y)

    def on_leave(self) -> None:
        """Remove the highlight of the line under the mouse."""
        self._set_hover(-1)

    def _set_hover(self, place: int) -> None:
        if place != self._hover:
            self._hover = place
            self.refresh()


class FoundList(LineListView, can_focus=False):
    """A list below an input, which has the focus and moves the cursor."""

    DEFAULT_CSS = "FoundList { background: $raised; }"

    def ground_of(self, place: int) -> Ground:
        """Return the background of a line: the cursor is highlighted although the input has the focus."""
        return "selected" if place == self.cursor else super().ground_of(place)
