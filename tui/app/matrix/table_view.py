"""The table of the matrix, its column heads and the header line, drawn line by line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseDown, MouseScrollLeft, MouseScrollRight, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.keymap import key_of
from tui.app.matrix.columns import Layout, column_at, lay_out
from tui.app.matrix.header_lines import MatrixHeading, matrix_header
from tui.app.matrix.matrix import Matrix
from tui.app.presentation.pieces import Line
from tui.app.run_controls import current_pace
from tui.app.theme.styles import grounded_styles, segments_of
from tui.app.widgets.list_view import Ground, LineListView
from tui.app.widgets.text_views import PieceLine
from tui.model.results import TrialKey
from tui.model.risk import Band


class MatrixTable(LineListView):
    """The rows of a matrix. The cursor is on a cell: `matrix.column` in the row of a case; headings are skipped."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="matrix.open", tooltip="Open the case in Explore", key_display="Enter"),
        Binding("right,l", "move_column(1)", "Right", id="list.right", tooltip="Next model", show=False),
        Binding("left,h", "move_column(-1)", "Left", id="list.left", tooltip="Previous model", show=False),
    ]

    class LayoutChanged(Message):
        """Posted when the widths of the columns, the visible models or the model under the cursor have changed."""

    class CellReached(Message):
        """Posted when the cursor is on another cell."""

    def __init__(self, matrix: Matrix, *, on_chosen: Callable[[int], object], id: str | None = None) -> None:
        self._strip_cache: dict[tuple[int, Ground, bool | None], Strip] = {}
        super().__init__(on_chosen=on_chosen, id=id)
        self._matrix = matrix
        self._beat = self._height = 0
        self._case_id: str | None = None
        self.columns = Layout(1, 1, 0, 0, 1, 1)

    @property
    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._matrix.rows)

    def line_at(self, place: int, width: int) -> Line:
        """Return the text of a row with the current state of its trials."""
        del width
        return self._matrix.row_line(place, self.columns, self._beat)

    def lay_out(self, width: int, first: int | None = None) -> None:
        """Compute the columns for `width` cells; `first` is the index of the first visible model.

        By default the model under the cursor stays visible.
        """
        matrix = self._matrix
        start = self.columns.first if first is None else first
        baseline = matrix.baseline is not None
        columns = lay_out(max(1, width - 1), len(matrix.models), matrix.longest_name, start, baseline=baseline)
        self._show_columns(columns.showing(matrix.column) if first is None else columns)

    def _show_columns(self, columns: Layout) -> None:
        if columns != self.columns:
            self.columns = columns
            self.post_message(self.LayoutChanged())
            self.refresh()

    def go_to_model(self, column: int) -> None:
        """Move the cursor to a model of the same case, and turn to its page."""
        matrix = self._matrix
        column = max(0, min(column, len(matrix.models) - 1))
        if column != matrix.column:
            matrix.column = column
            if self._cursor >= 0:
                self.refresh_rows((self._cursor,))
            self._show_columns(self.columns.showing(column))
            self.post_message(self.LayoutChanged())
            self.post_message(self.CellReached())

    def show_bands(self, bands: Mapping[TrialKey, Band]) -> None:
        """Replace the risk bands of all trials."""
        self._matrix.set_bands(bands)
        self.refresh()

    def rows_changed(self, case: str | None) -> None:
        """Redraw after the rows have changed, with the cursor on a case if it is among them."""
        place = self._matrix.first_row_of(case) if case is not None else None
        self.lines_changed(-1)
        self._cursor = -1
        self.go_to(place or 0)

    @property
    def case_id(self) -> str | None:
        """Return the case that the cursor was put on, even if the filter hides it now."""
        return self._case_id

    def refresh_rows(self, places: Iterable[int]) -> None:
        """Redraw the given rows if they are visible."""
        top = self.scroll_offset.y
        bottom = top + self.size.height
        for place in places:
            if top <= place < bottom:
                self.refresh_line(place)

    def beat(self, places: Iterable[int]) -> None:
        """Advance the animation of the given rows by one frame."""
        self._beat += 1
        self.refresh_rows(places)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> "MatrixTable":
        """Discard the cached strips of the regions to repaint.

        The other visible rows stay cached, because Textual renders all of them for every paint.
        """
        moved = {self.top_row + y for region in regions for y in region.line_range}
        if len(moved) not in range(1, self.view_rows):
            self._strip_cache.clear()
        for key in [key for key in self._strip_cache if key[0] in moved]:
            del self._strip_cache[key]
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def notify_style_update(self) -> None:
        """Discard all cached strips: colors have changed."""
        self._strip_cache.clear()
        super().notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """Keep the cursor visible when the text below the table takes rows away."""
        before, self._height = self._height, event.size.height
        if 0 <= self._cursor - self.top_row < before and self.line_count:
            self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, x_axis=False)
            if self._height > 1:
                self._show_heading()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render without Textual's cache of borders and padding, which costs more than the lines: there are none."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return strips if (start, end) == (0, self.outer_size.width) else [strip.crop(start, end) for strip in strips]

    def draw_line(self, place: int, ground: Ground, thumb: bool | None) -> Strip:
        """Return the strip of a row from the cache, unless its width has changed."""
        strip = self._strip_cache.get((place, ground, thumb))
        if strip is None or strip.cell_length != self.outer_size.width:
            strip = self._draw_cursor(place, thumb) if ground == "selected" else super().draw_line(place, ground, thumb)
            self._strip_cache[place, ground, thumb] = strip
        return strip

    def _draw_cursor(self, place: int, thumb: bool | None) -> Strip:
        """Return the strip of the row under the cursor: only its cell has the background of the selection."""
        row, selected = (super(MatrixTable, self).draw_line(place, ground, thumb) for ground in ("raised", "selected"))
        start, end = self.columns.span(self._matrix.column)
        return Strip.join([row.crop(0, start), selected.crop(start, end), row.crop(end)])

    def go_to(self, place: int) -> None:
        """Put the cursor on a case; from a heading move on in the same direction, else back."""
        rows = self._matrix.rows
        if not rows:
            return
        place = max(0, min(place, len(rows) - 1))
        step = 1 if place >= self._cursor else -1
        found = self._case_from(place, step)
        super().go_to(self._case_from(place, -step) if found is None else found)  # type: ignore[arg-type]
        case, before = self._matrix.case_at(self._cursor), self._case_id
        self._case_id = case.id if case else None
        if self._case_id != before:
            self.post_message(self.CellReached())
        self._show_heading()

    def _show_heading(self) -> None:
        """Scroll back by a row if the case under the cursor is the top row and below its heading."""
        if self._cursor > 0 and self._matrix.case_at(self._cursor - 1) is None and self.top_row == self._cursor:
            self.scroll_to(y=self._cursor - 1, animate=False)

    def _case_from(self, place: int, step: int) -> int | None:
        """Return the index of the first row with a case from `place` on in the direction of `step`."""
        while 0 <= place < self.line_count:
            if self._matrix.case_at(place) is not None:
                return place
            place += step
        return None

    def clicked(self, place: int, column: int) -> None:
        """Open the case if the cursor was on the cell before the click; otherwise the click only moves the cursor."""
        model, before = column_at(self.columns, column), self._matrix.column
        if model is not None and model in self.columns.visible:
            self.go_to_model(model)
        if self._cursor_before_click == place and self._matrix.column == before:
            self.post_chosen(place)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Remember the position of the cursor before the click."""
        del event
        self._cursor_before_click = self._cursor

    _cursor_before_click = -1

    def action_move_column(self, by: int) -> None:
        """Move the cursor by a number of models."""
        self.go_to_model(self._matrix.column + by)

    def _scroll_models(self, by: int) -> None:
        """Scroll the models by `by` columns; the cursor stays among the visible ones."""
        first = max(0, min(self.columns.first + by, self.columns.last_first))
        if first != self.columns.first:
            self.lay_out(self.container_size.width, first)
            self.go_to_model(max(first, min(self._matrix.column, self.columns.visible[-1])))

    def on_mouse_scroll_right(self, event: MouseScrollRight) -> None:
        """Scroll to the next model."""
        event.stop()
        self._scroll_models(1)

    def on_mouse_scroll_left(self, event: MouseScrollLeft) -> None:
        """Scroll to the previous model."""
        event.stop()
        self._scroll_models(-1)


class MatrixHeader(PieceLine):
    """The header line: the suite, its run with progress, time left and concurrency, the totals and the order.

    `elapsed` returns the seconds that the run has taken so far.
    """

    def __init__(
        self, matrix: Matrix, elapsed: Callable[[], float | None] = lambda: None, *, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._matrix, self._elapsed, self._heading = matrix, elapsed, MatrixHeading()

    def update(self) -> None:
        """Redraw the header from the current matrix."""
        state, heading = self._matrix.state, self._matrix.heading
        if state.running:
            heading = replace(heading, pace=current_pace(state), paused=state.paused, elapsed=self._elapsed())
        if state.running and state.paused:
            key, unsaved = key_of(self.screen, "run.pause"), state.stalled is not None
            heading = replace(heading, answering=state.answering, pause_key=key, unsaved=unsaved)
        self._heading = heading
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the header in at most `width` cells."""
        return matrix_header(self._heading, width)


class MatrixHead(Widget):
    """The column heads, as wide as the table."""

    DEFAULT_CSS = """
    MatrixHead { height: auto; background: $background; color: $foreground; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class HeadClicked(Message):
        """Posted when a head is clicked; `x` is the offset in cells from the left."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._strips: list[Strip] = []

    def show(self, lines: Sequence[Line]) -> None:
        """Display lines."""
        if lines != self._lines:
            grown = len(lines) != len(self._lines)
            self._lines, self._strips = lines, []
            self.refresh(layout=grown)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines."""
        del container, viewport, width
        return len(self._lines)

    def notify_style_update(self) -> None:
        """Discard the cached strips: colors have changed."""
        self._strips = []
        super().notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """Discard the cached strips if the width has changed."""
        if self._strips and event.size.width != self._strips[0].cell_length:
            self._strips = []

    def render_line(self, y: int) -> Strip:
        """Return the strip of a line."""
        if not self._strips:
            looks, width = grounded_styles(self.app, self.rich_style), self.size.width
            lines = [Strip(segments_of(line, looks)) for line in self._lines]
            self._strips = [line.adjust_cell_length(width, looks["plain"]) for line in lines]
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render without Textual's cache of borders and padding, which costs more than the lines: there are none."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return strips if (start, end) == (0, self.size.width) else [strip.crop(start, end) for strip in strips]

    def on_click(self, event: Click) -> None:
        """Post the position of the click."""
        self.post_message(self.HeadClicked(event.x))
