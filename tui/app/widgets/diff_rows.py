"""A diff, drawn row by row: it costs what is seen of it, however long it is."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.segment import Segment
from textual.events import Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.strip import Strip

from tui.app.diff.layout import Document
from tui.app.diff.render import Pen, draw_row
from tui.app.diff.section import Look
from tui.app.diff.shades import FindSides, Shades
from tui.app.text.highlight import LineColours
from tui.app.widgets.diff_styles import DiffStyles
from tui.app.widgets.follow_view import FollowView
from tui.model.diffs import DiffLine, FileDiff
from tui.model.results import NotApplied, Span

_MOST_KEPT = 1_000
_LARGE = 3_000  # lines from which on rows are laid out in a thread


class DiffRows(FollowView, can_focus=True):
    """The files of a diff below each other, from `show_files` on. A subclass says where the person is in it."""

    ALLOW_SELECT: ClassVar[bool] = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.look = Look()
        self.document = Document((), (), self.look)
        self.marked = range(0)
        self.shift = 0
        self._shades = Shades()
        self._styles: DiffStyles | None = None
        self._strips: dict[tuple[int, bool], Strip] = {}

    # --- what is shown

    def show_files(
        self,
        files: Sequence[FileDiff],
        refused: Sequence[NotApplied],
        find_sides: FindSides = lambda _: None,
        *,
        stay: bool = False,
    ) -> None:
        """Show these from the beginning, or where the person is (`stay`). `find_sides` is called in a thread."""
        self._shades = Shades(find_sides)
        if not stay:
            self.shift = 0
            self.begun()
        self._lay_out(lambda: Document(files, refused, self.look), sum(_length(file) for file in files), stay)

    def replace_file(self, number: int, file: FileDiff) -> None:
        """Show another diff of one file in place of its own, for example with more context."""
        document = self.document
        self._lay_out(lambda: document.with_file(number, file), _length(file), True)

    def _lay_out(self, make: Callable[[], Document], length: int, stay: bool) -> None:
        if length < _LARGE:
            self._take(make(), stay)
        else:
            self.run_worker(self._lay_out_large(make, stay), group="layout", exclusive=True)

    async def _lay_out_large(self, make: Callable[[], Document], stay: bool) -> None:
        self._take(await asyncio.to_thread(make), stay)

    def _take(self, document: Document, stay: bool) -> None:
        anchor = self.document.anchor_at(self.top_row) if stay else None
        self.document = document
        self.follow(False)
        self.taken()
        self.measure()
        self.scroll_now(document.row_at(anchor))
        self.follow(False)
        self.repaint()
        self.tell_place()

    def begun(self) -> None:
        """For a subclass: another diff will be shown."""

    def taken(self) -> None:
        """For a subclass: what is shown is laid out anew."""

    def tell_place(self) -> None:
        """For a subclass: other rows may be seen."""

    def found(self, section: int, entry: int, side: int) -> Sequence[tuple[Span, bool]]:
        """For a subclass: places in a line to be marked, and whether each is the current one."""
        del section, entry, side
        return ()

    def mark_rows(self, rows: range) -> None:
        """Mark these rows at their edge, and no others."""
        if rows != self.marked:
            self.marked = rows
            self.repaint()

    def repaint(self) -> None:
        """All rows look otherwise."""
        self._strips.clear()
        self.refresh()

    def on_resize(self, event: Resize) -> None:
        """Lay everything out for another width; the line at the top stays there."""
        self.set_look(width=max(1, event.size.width - 1))
        self.rows_changed(0)

    def set_look(self, **changed: bool | int) -> None:
        """Show it in another way."""
        look = replace(self.look, **changed)  # type: ignore[arg-type]
        if look == self.look:
            return
        self.look, self.shift = look, 0
        files, refused = self.document.files, self.document.refused
        self._lay_out(lambda: Document(files, refused, look), sum(_length(file) for file in files), True)

    # --- drawing

    def count_rows(self) -> int:
        """All rows."""
        return self.document.row_count

    def forget_rows_from(self, row: int) -> None:
        """Rows from this one on have to be painted anew."""
        if row == 0:
            self._strips.clear()
        else:
            self._strips = {key: strip for key, strip in self._strips.items() if key[0] < row}

    def notify_style_update(self) -> None:
        """Called by Textual when the styles may be others."""
        super().notify_style_update()
        self._styles = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible rows. Overridden whole: Textual's own way costs more for each line than the text itself."""
        styles = self._dress()
        top = self.top_row
        begin, end = (top + row for row in self.position_mark())
        rows = range(crop.y + top, crop.bottom + top)
        strips = [self._strip(row, begin <= row < end, styles) for row in rows]
        self._colour_soon()
        if crop.column_span != (0, self.outer_size.width):
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        for line_filter in self.get_line_filters():
            if not isinstance(line_filter, ANSIToTruecolor):
                strips = [strip.apply_filter(line_filter, self.background_colors[1]) for strip in strips]
        return strips

    def _dress(self) -> DiffStyles:
        if self._styles is None:
            self._styles = DiffStyles(self.app.theme_variables)
            self._strips.clear()
        return self._styles

    def _strip(self, row: int, thumb: bool, styles: DiffStyles) -> Strip:
        strip = self._strips.get((row, thumb))
        if strip is None:
            if len(self._strips) >= _MOST_KEPT:
                self._strips.clear()
            strip = self._strips[row, thumb] = self._draw(row, thumb, styles)
        return strip

    def _draw(self, row: int, thumb: bool, styles: DiffStyles) -> Strip:
        width, document = self.outer_size.width, self.document
        end = Segment("▐", styles.thumb) if thumb else Segment(" ", styles.blank)
        if row >= document.row_count or document.look.width != width - 1:
            return Strip([Segment(" " * (width - 1), styles.blank), end], width)
        number, below = document.find_row(row)

        def colours(line: DiffLine, side: int) -> LineColours:
            return self._shades.at(number, line, side)

        pen = Pen(colours, lambda entry, side: self.found(number, entry, side), self.shift)
        runs = draw_row(document.sections[number], below, pen, current=row in self.marked)
        return Strip([*(Segment(text, styles.style(ink)) for text, ink in runs), end], width)

    # --- colours

    def _colour_soon(self) -> None:
        """Have what is seen coloured, a page before and after it too, slice by slice: no paint waits for it."""
        rows = self.view_rows
        wanted = self.document, self.top_row, self.top_row + rows, rows
        if wanted[0].sections and self._shades.wants(*wanted):
            self.run_worker(self._colour(), group="colours", exclusive=True)

    async def _colour(self) -> None:
        async for changed in self._shades.work():
            if changed:
                self.repaint()


def _length(file: FileDiff) -> int:
    return sum(len(hunk.lines) for hunk in file.hunks)
