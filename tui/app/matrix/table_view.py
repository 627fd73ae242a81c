"""The table of the matrix and the heads of its columns, drawn line by line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseDown, MouseScrollLeft, MouseScrollRight, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.app.matrix.columns import Layout, lay_out
from tui.app.matrix.header_lines import MatrixHeading, matrix_header
from tui.app.matrix.matrix import Matrix
from tui.app.presentation.pieces import Line
from tui.app.run_controls import current_pace, key_of
from tui.app.theme.styles import grounded_styles, segments_of
from tui.app.widgets.list_view import Ground, LineListView
from tui.app.widgets.text_views import PieceLine
from tui.model.results import TrialKey
from tui.model.risk import Band


class MatrixTable(LineListView):
    """Shows a Matrix; the cursor stays on cases and passes headings over."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "open", id="matrix.open", tooltip="Open the case in Explore", key_display="Enter"),
        Binding("right,l", "scroll_models(1)", "Right", id="list.right", tooltip="Next models", show=False),
        Binding("left,h", "scroll_models(-1)", "Left", id="list.left", tooltip="Previous models", show=False),
    ]

    class LayoutChanged(Message):
        """The columns are others now."""

    def __init__(self, matrix: Matrix, *, id: str | None = None) -> None:
        self._kept: dict[tuple[int, Ground, bool | None], Strip] = {}
        super().__init__(id=id)
        self._matrix = matrix
        self._beat = self._height = 0
        self._case_id: str | None = None
        self.columns = Layout(1, 1, 0, 0, 1, 1)

    @property
    def line_count(self) -> int:
        """How many rows there are."""
        return len(self._matrix.rows)

    def line_at(self, place: int, width: int) -> Line:
        """A row as its trials stand now."""
        del width
        return self._matrix.row_line(place, self.columns, self._beat)

    # --- what is shown

    def lay_out(self, width: int, first: int | None = None) -> None:
        """Columns for so many cells, from a model on."""
        matrix = self._matrix
        first = self.columns.first if first is None else first
        baseline = matrix.baseline is not None
        columns = lay_out(max(1, width - 1), len(matrix.models), matrix.longest_name, first, baseline=baseline)
        if columns != self.columns:
            self.columns = columns
            self.post_message(self.LayoutChanged())
            self.refresh()

    def show_bands(self, bands: Mapping[TrialKey, Band]) -> None:
        """These trials have been scored, each with its worst band; what was shown before goes."""
        self._matrix.take_bands(bands)
        self.refresh()

    def rows_changed(self, case: str | None) -> None:
        """There are other rows now; the cursor goes to a case, if it is among them."""
        place = self._matrix.canonical_path(case) if case is not None else None
        self.lines_changed(-1)
        self._cursor = -1
        self.go_to(place or 0)

    @property
    def case_id(self) -> str | None:
        """The case that the cursor was put on, also while it is not among the rows."""
        return self._case_id

    def refresh_rows(self, places: Iterable[int]) -> None:
        """Draw these rows anew, where they are in sight."""
        top = self.scroll_offset.y
        bottom = top + self.size.height
        for place in places:
            if top <= place < bottom:
                self.refresh_line(place)

    def beat(self, places: Iterable[int]) -> None:
        """The marks of what runs move on."""
        self._beat += 1
        self.refresh_rows(places)

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> "MatrixTable":
        """Rows that are to be painted anew are drawn anew; the others in sight are kept, since Textual asks for all
        of them whatever it paints."""
        moved = {self.top_row + y for region in regions for y in region.line_range}
        if len(moved) not in range(1, self.view_rows):
            self._kept.clear()
        for key in [key for key in self._kept if key[0] in moved]:
            del self._kept[key]
        super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        return self

    def notify_style_update(self) -> None:
        self._kept.clear()
        super().notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """A cursor that was in sight stays there, though what is said below takes rows away."""
        before, self._height = self._height, event.size.height
        if 0 <= self._cursor - self.top_row < before and self.line_count:
            self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, x_axis=False)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Past Textual's cache of borders and padding, of which there are none: it costs more than the lines do."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return strips if (start, end) == (0, self.outer_size.width) else [strip.crop(start, end) for strip in strips]

    def draw_line(self, place: int, ground: Ground, thumb: bool | None) -> Strip:
        """A row that is known, and as wide, is not drawn again."""
        strip = self._kept.get((place, ground, thumb))
        if strip is None or strip.cell_length != self.outer_size.width:
            strip = self._kept[place, ground, thumb] = super().draw_line(place, ground, thumb)
        return strip

    # --- moving

    def go_to(self, place: int) -> None:
        """Put the cursor on a case: from a heading on in the direction of the move, else back."""
        rows = self._matrix.rows
        if not rows:
            return
        place = max(0, min(place, len(rows) - 1))
        step = 1 if place >= self._cursor else -1
        found = self._case_from(place, step)
        super().go_to(self._case_from(place, -step) if found is None else found)  # type: ignore[arg-type]
        case = self._matrix.case_at(self._cursor)
        self._case_id = case.id if case else None
        if self._cursor and self._matrix.case_at(self._cursor - 1) is None and self.top_row == self._cursor:
            self.scroll_to(y=self._cursor - 1, animate=False)

    def _case_from(self, place: int, step: int) -> int | None:
        while 0 <= place < self.line_count:
            if self._matrix.case_at(place) is not None:
                return place
            place += step
        return None

    def clicked(self, place: int, column: int) -> None:
        """A click on the case under the cursor opens it; on another only goes there."""
        del column
        if self._was_at == place:
            self.post_chosen(place)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Remember where the cursor was: the first click chooses, the second opens."""
        del event
        self._was_at = self._cursor

    _was_at = -1

    def action_scroll_models(self, by: int) -> None:
        """Other models in sight."""
        first = max(0, min(self.columns.first + by, self.columns.last_first))
        if first != self.columns.first:
            self.lay_out(self.container_size.width, first)

    def on_mouse_scroll_right(self, event: MouseScrollRight) -> None:
        """The wheel, sideways."""
        event.stop()
        self.action_scroll_models(1)

    def on_mouse_scroll_left(self, event: MouseScrollLeft) -> None:
        """The wheel, sideways."""
        event.stop()
        self.action_scroll_models(-1)


class MatrixHeader(PieceLine):
    """Display the suite of a matrix, its run with the progress and the concurrency, the totals and the order."""

    def __init__(self, matrix: Matrix, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._matrix, self._heading = matrix, MatrixHeading()

    def update(self) -> None:
        """Draw the header again, as the matrix is now."""
        state, heading = self._matrix.state, self._matrix.heading
        if state.running:
            heading = replace(heading, pace=current_pace(state), paused=state.paused)
        if state.running and state.paused:
            heading = replace(heading, answering=state.answering, pause_key=key_of(self.screen, "matrix.pause"))
        self._heading = heading
        self.draw()

    def line_for(self, width: int) -> Line:
        """Return the header in at most `width` cells."""
        return matrix_header(self._heading, width)


class MatrixHead(Widget):
    """Shows lines that are as wide as the table."""

    DEFAULT_CSS = """
    MatrixHead { height: auto; background: $background; color: $foreground; }
    """
    ALLOW_SELECT: ClassVar[bool] = False

    class HeadClicked(Message):
        """A click on a head, so many cells from the left."""

        def __init__(self, x: int) -> None:
            super().__init__()
            self.x = x

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._strips: list[Strip] = []

    def show(self, lines: Sequence[Line]) -> None:
        """Show these."""
        if lines != self._lines:
            grown = len(lines) != len(self._lines)
            self._lines, self._strips = lines, []
            self.refresh(layout=grown)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A row for each line."""
        del container, viewport, width
        return len(self._lines)

    def notify_style_update(self) -> None:
        self._strips = []
        super().notify_style_update()

    def on_resize(self, event: Resize) -> None:
        """Lines of another width."""
        if self._strips and event.size.width != self._strips[0].cell_length:
            self._strips = []

    def render_line(self, y: int) -> Strip:
        if not self._strips:
            looks, width = grounded_styles(self.app, self.rich_style), self.size.width
            lines = [Strip(segments_of(line, looks)) for line in self._lines]
            self._strips = [line.adjust_cell_length(width, looks["plain"]) for line in lines]
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width, self.rich_style)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Past Textual's cache of borders and padding, of which there are none: it costs more than the lines do."""
        start, end = crop.column_span
        strips = [self.render_line(y) for y in crop.line_range]
        return strips if (start, end) == (0, self.size.width) else [strip.crop(start, end) for strip in strips]

    def on_click(self, event: Click) -> None:
        """Say where."""
        self.post_message(self.HeadClicked(event.x))
