"""A list drawn line by line, with a cursor: it costs what is seen of it, however long it is."""

from collections.abc import Sequence
from typing import ClassVar, Self

from rich.style import Style as RichStyle
from textual.binding import Binding, BindingType
from textual.events import Click, MouseMove
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.app.painting import rich_styles, segments_of
from tui.app.presentation.pieces import Line, Role

_FAR = 1_000_000_000


class LineList(ScrollView, can_focus=True):
    """Lines with a cursor. `line_at` may be overridden by lists that compute what is seen."""

    DEFAULT_CSS = """
    LineList {
        background: $background; color: $foreground; overflow-x: hidden; scrollbar-size-vertical: 1;
        & > .list--cursor { background: $selected; }
        & > .list--quiet-cursor { background: $raised; }
        & > .list--hover { background: $raised; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"list--cursor", "list--quiet-cursor", "list--hover"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", id="list.up", tooltip="The row above", show=False),
        Binding("down,j", "move(1)", "Down", id="list.down", tooltip="The row below", show=False),
        Binding("pageup", "page(-1)", "Page up", id="list.page-up", tooltip="A page up", show=False),
        Binding("pagedown", "page(1)", "Page down", id="list.page-down", tooltip="A page down", show=False),
        Binding("home", f"move({-_FAR})", "First row", id="list.first", tooltip="The first row", show=False),
        Binding("end", f"move({_FAR})", "Last row", id="list.last", tooltip="The last row", show=False),
        Binding("enter", "choose", "Show", id="list.choose", tooltip="Take the row", show=False),
    ]

    class Reached(Message):
        """The cursor came to another line; `place` counts from 0."""

        def __init__(self, lines: "LineList", place: int) -> None:
            super().__init__()
            self.lines, self.place = lines, place

        @property
        def control(self) -> "LineList":
            """The list."""
            return self.lines

    class Chosen(Reached):
        """Enter or a click on a line."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] = ()
        self._cursor = self._hover = -1
        self._looks: dict[Role, RichStyle] = {}

    @property
    def cursor(self) -> int:
        """The line under the cursor, counted from 0; -1 where there is none."""
        return self._cursor

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def line_at(self, place: int, width: int) -> Line:
        """One line in at most so many cells."""
        del width
        return self._lines[place]

    def show_lines(self, lines: Sequence[Line]) -> Self:
        """Show these; the cursor stays where it is."""
        if lines != self._lines:
            self._lines = lines
            self.lines_changed(self._cursor)
        return self

    def lines_changed(self, cursor: int) -> None:
        """There are other lines now, the cursor goes to `cursor`."""
        self._cursor = max(min(cursor, self.line_count - 1), min(0, self.line_count - 1))
        size = Size(0, self.line_count)
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def go_to(self, place: int) -> None:
        """Put the cursor on a line, without a message."""
        place = max(0, min(place, self.line_count - 1))
        if place != self._cursor and self.line_count:
            self._cursor = place
            self.scroll_to_region(Region(0, place, 1, 1), animate=False, x_axis=False)
            self.refresh()

    # --- drawing

    def notify_style_update(self) -> None:
        self._looks = {}
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        place = y + self.scroll_offset.y
        base = self.rich_style
        if place >= self.line_count:
            return Strip.blank(width, base)
        if not self._looks:
            self._looks = rich_styles(self.app)
        if place == self._cursor:
            base += self.get_component_rich_style("list--cursor" if self.has_focus else "list--quiet-cursor")
        elif place == self._hover:
            base += self.get_component_rich_style("list--hover")
        line = self.line_at(place, width)
        return Strip(segments_of(line, self._looks, base)).adjust_cell_length(width, base)

    # --- moving

    def tell_reached(self, place: int) -> None:
        """Say that the cursor has moved."""
        self.post_message(self.Reached(self, place))

    def tell_chosen(self, place: int) -> None:
        """Say that a line was chosen."""
        self.post_message(self.Chosen(self, place))

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        before = self._cursor
        self.go_to(before + by)
        if self._cursor != before:
            self.tell_reached(self._cursor)

    def action_page(self, direction: int) -> None:
        """Move it by what fits."""
        self.action_move(direction * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        """Take the line under the cursor."""
        if 0 <= self._cursor < self.line_count:
            self.tell_chosen(self._cursor)

    # --- the mouse

    def on_click(self, event: Click) -> None:
        """A click takes a line."""
        place = event.y + self.scroll_offset.y
        if 0 <= place < self.line_count:
            self.go_to(place)
            self.clicked(place, event.x)

    def clicked(self, place: int, column: int) -> None:
        """What a click on a line does."""
        del column
        self.tell_chosen(place)

    def on_mouse_move(self, event: MouseMove) -> None:
        """The line under the mouse is lighter."""
        self._set_hover(event.y + self.scroll_offset.y)

    def on_leave(self) -> None:
        """No line is under the mouse."""
        self._set_hover(-1)

    def _set_hover(self, place: int) -> None:
        if place != self._hover:
            self._hover = place
            self.refresh()
