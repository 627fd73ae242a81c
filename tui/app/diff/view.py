"""A view of a diff, drawn row by row, with movement by change, file and search match."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import MouseScrollLeft, MouseScrollRight, Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.app.bindings import bind
from tui.app.diff.highlight import FindSides, Shades, no_sides
from tui.app.diff.layout import DiffSearch, Document, Look
from tui.app.diff.pairs import ShownFile, sides_of
from tui.app.diff.render import MOST_SHIFTED, DiffStyle, Ground, Pen, draw_row, grounds
from tui.app.diff.word_diff import ChangedWords
from tui.app.keymap import shared
from tui.app.text.highlight import LineColours
from tui.app.theme.palette import COLOURS, contrast
from tui.app.theme.styles import CODE_COLOURS, MadeStyles
from tui.app.widgets.scroll_view import TailView
from tui.app.workers import start_worker
from tui.model.diffs import DiffLine
from tui.model.results import NotApplied, Span

_FRONTS: Mapping[str, str] = {
    "text": "foreground",
    "strong": "foreground",
    "dim": "dim",
    "quiet": "quiet-border",
    "accent": "accent",
    "added": "passed",
    "removed": "failed",
    **CODE_COLOURS,
}
_READABLE = 4.5
# Bold and underline distinguish these in terminals without colors.
_BOLD: frozenset[Ground] = frozenset(("added-word", "removed-word"))
_FOUND: Mapping[Ground, str] = {"match": "match-expected", "current": "match-current"}


class DiffStyles(MadeStyles[DiffStyle]):
    """Rich styles for a diff; `variables` are those of the theme."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__({name: variables[name] for name in COLOURS}, variables["background"])
        self._grounds = grounds(self.colours)

    def make(self, key: DiffStyle) -> Style:
        """Return the style of a piece; changed words are bold, so that they are visible without colors."""
        ground = self._grounds[key.ground]
        if key.ground in _FOUND:
            return Style(color=self.colours[_FOUND[key.ground]], bgcolor=ground, bold=True, underline=True)
        front = self.colours[_FRONTS[key.front]]
        if key.ground in _BOLD and contrast(front, ground) < _READABLE:
            front = self.colours["foreground"]
        bold = key.ground in _BOLD or key.front == "strong"
        return Style(color=front, bgcolor=ground, bold=bold or None)


_MOST_STRIPS = 1_000
_LARGE = 1_000  # lines of 100 characters; a longer diff is laid out in a thread
_STEP = 8  # cells


class _Layout(NamedTuple):
    """What a layout displays; `stay` keeps the line at the top of the view."""

    files: tuple[ShownFile, ...]
    refused: tuple[NotApplied, ...]
    stay: bool


class DiffView(TailView, can_focus=True):
    """The files of a diff, one below the other. It posts `PlaceChanged` when the current file or change is another."""

    ALLOW_SELECT: ClassVar[bool] = False
    BINDINGS: ClassVar[list[BindingType]] = [
        bind("J", "hunk_beside(1)", "diff.next-hunk", "Next change", "next change"),
        bind("K", "hunk_beside(-1)", "diff.hunk-before", "Previous change"),
        bind("right_curly_bracket", "file_beside(1)", "diff.next-file", "Next file", shown="}"),
        bind("left_curly_bracket", "file_beside(-1)", "diff.file-before", "Previous file", shown="{"),
        bind("V", "turn('beside')", "diff.split", "Toggle split and unified view", "split"),
        bind("w", "turn('wrap')", "diff.wrap", "Wrap or cut long lines", "wrap"),
        bind(
            "i",
            "turn('ignore_space')",
            "diff.white-space",
            "Ignore changes in whitespace",
            "whitespace",
        ),
        bind("number_sign", "turn('numbers')", "diff.numbers", "Show or hide line numbers", shown="#"),
        shared("answer.next-match", "match_beside(1)", "Next search result, or next change without a search"),
        shared("answer.previous-match", "match_beside(-1)", "Previous search result, or previous change"),
        bind("left,h", "shift(-1)", "diff.left", "Scroll left"),
        bind("right,l", "shift(1)", "diff.right", "Scroll right"),
    ]

    class PlaceChanged(Message):
        """Posted when the current file or change is another, and when another diff is displayed.

        `file` and `hunk` count from 0; `hunk` counts over all files (-1: none).
        """

        def __init__(self, file: int, hunk: int, hunks: int) -> None:
            super().__init__()
            self.file, self.hunk, self.hunks = file, hunk, hunks

    class LookChanged(Message):
        """Posted when an option of the view was changed."""

        def __init__(self, look: Look) -> None:
            super().__init__()
            self.look = look

    def __init__(self) -> None:
        super().__init__()
        self.look = Look()
        self.document = Document((), (), self.look)
        self._in_progress: _Layout | None = None
        self.search_matches = DiffSearch()
        self.shift = 0
        self._shades = Shades()
        self._words, self._marks_words = ChangedWords(), False
        self._styles: DiffStyles | None = None
        self._strips: dict[tuple[int, bool], Strip] = {}
        self._marked_rows = range(0)
        self._hunk: int | None = None
        self._posted_place: tuple[int, int, int] | None = None

    def show_files(
        self,
        files: Sequence[ShownFile],
        refused: Sequence[NotApplied],
        find_sides: FindSides = no_sides,
        *,
        find_other: FindSides = no_sides,
        stay: bool = False,
    ) -> None:
        """Display files from their beginning, or from the current line (`stay`).

        `find_sides` returns the full text of a file, `find_other` that of the right file of a pair; they are called in
        a thread.
        """
        self._shades = Shades(find_sides, find_other)
        if not stay:
            self.shift, self._hunk = 0, None
            self.search_matches.clear()
        self._lay_out_all(_Layout(tuple(files), tuple(refused), stay))

    def replace_file(self, number: int, file: ShownFile) -> None:
        """Display another diff of one file, for example with more context."""
        document, current = self.document, self._current
        layout = current._replace(files=(*current.files[:number], file, *current.files[number + 1 :]))
        if self._in_progress is None:
            self._lay_out(layout, lambda: document.with_file(number, file), _length(file))
        else:
            self._lay_out_all(layout)

    def set_look(self, **changed: bool | int) -> None:
        """Change options of the view, and lay out the diff again."""
        look = replace(self.look, **changed)  # type: ignore[arg-type]
        if look == self.look:
            return
        self.look, self.shift = look, 0
        self._lay_out_all(self._current)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether a key is active: two answers are always side by side."""
        return action != "turn" or parameters != ("beside",) or not self.document.has_pairs

    def action_turn(self, name: str) -> None:
        """Toggle an option of the view."""
        self.set_look(**{name: not getattr(self.look, name)})
        self.post_message(self.LookChanged(self.look))

    def on_resize(self, event: Resize) -> None:
        """Lay out the diff for the new width; the line at the top stays there."""
        self.set_look(width=max(1, event.size.width - 1))
        self.rows_changed(0)

    @property
    def _current(self) -> _Layout:
        """What is displayed, or will be when the layout in progress has ended."""
        return self._in_progress or _Layout(self.document.files, self.document.refused, True)

    def _lay_out_all(self, layout: _Layout) -> None:
        files, refused, look = layout.files, layout.refused, self.look
        self._lay_out(layout, lambda: Document(files, refused, look), sum(_length(file) for file in files))

    def _lay_out(self, layout: _Layout, make: Callable[[], Document], length: int) -> None:
        """Display a layout in place of the one in progress, which may be for another width."""
        self._in_progress = layout
        self.workers.cancel_group(self, "layout")
        if length < _LARGE:
            self._show_document(make(), layout.stay)
        else:
            start_worker(self, partial(self._lay_out_large, make, layout.stay), group="layout")

    async def _lay_out_large(self, make: Callable[[], Document], stay: bool) -> None:
        self._show_document(await asyncio.to_thread(make), stay)

    def _show_document(self, document: Document, stay: bool) -> None:
        self._in_progress = None
        anchor = self.document.anchor_at(self.top_row) if stay else None
        if document.hunk_count != self.document.hunk_count:
            self._hunk = None
        changed = document.has_pairs != self.document.has_pairs
        self.document = document
        if changed:
            self.refresh_bindings()
        self.follow(False)
        self._mark_hunk()
        self.search(self.search_matches.text, go=False)
        self.measure()
        self.scroll_now(document.row_at(anchor))
        self.follow(False)
        self._repaint()
        self._posted_place = None  # the same numbers are another place now
        self._post_place()

    @property
    def current_hunk(self) -> int:
        """Return the index of the current hunk, else of the one in the upper part of the view; -1 for none."""
        if self._hunk is not None:
            return self._hunk
        return self.document.hunk_of_row(self.top_row + min(self.view_rows // 4, 3))

    @property
    def current_file(self) -> int:
        """Return the index of the file with the current hunk, or at the top of the view; -1 for none."""
        if self._hunk is not None and self._hunk < self.document.hunk_count:
            return self.document.section_of_hunk(self._hunk)
        return self.document.find_row(self.top_row)[0] if self.document.sections else -1

    @property
    def current_line(self) -> int:
        """Return the line number, in the new file, of the first change of the current hunk, else of the top line."""
        document = self.document
        rows = document.rows_of_hunk(self._hunk) if self._hunk is not None else range(self.top_row, self.top_row + 1)
        anchors = (document.anchor_at(row) for row in rows)
        return next((anchor.new for anchor in anchors if anchor and anchor.new), 1)

    def go_to_file(self, number: int) -> None:
        """Scroll to the head of a file."""
        if 0 <= number < len(self.document.sections):
            self._set_hunk(None)
            self.scroll_now(self.document.row_of_section(number))
            hunk = self.document.hunk_of_row(self.top_row)
            if self.current_file != number and number < len(self.document.files):
                # A file at the end of the diff cannot be scrolled to the top: make its first hunk the current one.
                hunks = range(hunk + 1, self.document.hunk_count)
                self._set_hunk(next((each for each in hunks if self.document.section_of_hunk(each) == number), None))
            self._post_place()

    def action_file_beside(self, by: int) -> None:
        """Go to the next or previous file; backwards first to the head of the current file."""
        here = self.current_file
        above = self.top_row > self.document.row_of_section(here) if here >= 0 else False
        self.go_to_file(here + by + (1 if by < 0 and above else 0))

    def action_hunk_beside(self, by: int) -> None:
        """Go to the next or previous hunk."""
        document = self.document
        if not document.hunk_count:
            return
        here = self.current_hunk
        if self._hunk is None and by < 0 <= here and self.top_row > document.row_of_hunk(here):
            here += 1
        hunk = max(0, min(here + by, document.hunk_count - 1))
        self._set_hunk(hunk)
        rows = document.rows_of_hunk(hunk)
        top, fitting = self.top_row, self.view_rows
        if not (top <= rows.start and rows.stop <= top + fitting):
            file = document.row_of_section(document.section_of_hunk(hunk))
            start = file if rows.start - file <= 2 else rows.start
            self.scroll_now(start)
            self._hunk = hunk
        self._post_place()

    def _set_hunk(self, hunk: int | None) -> None:
        self._hunk = hunk
        self._mark_hunk()

    def _mark_hunk(self) -> None:
        rows = range(0) if self._hunk is None else self.document.rows_of_hunk(self._hunk)
        if rows != self._marked_rows:
            self._marked_rows = rows
            self._repaint()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Clear the current hunk when it is scrolled out of view."""
        super().watch_scroll_y(old_value, new_value)
        if self._hunk is not None and self._hunk < self.document.hunk_count:
            rows = self.document.rows_of_hunk(self._hunk)
            if rows.stop <= new_value or rows.start >= new_value + self.view_rows:
                self._set_hunk(None)
        self._post_place()

    def _post_place(self) -> None:
        place = (self.current_file, self.current_hunk, self.document.hunk_count)
        if place != self._posted_place:
            self._posted_place = place
            self.post_message(self.PlaceChanged(*place))

    def action_follow(self) -> None:
        """Scroll to the end; a diff does not grow, so there is nothing to follow."""
        self.scroll_now(self.max_scroll_y)

    def action_shift(self, by: int) -> None:
        """Scroll unwrapped lines horizontally."""
        if not self.look.wrap:
            shift = max(0, min(self.shift + by * _STEP, MOST_SHIFTED))
            if shift != self.shift:
                self.shift = shift
                self._repaint()

    def on_mouse_scroll_right(self, event: MouseScrollRight) -> None:
        """Scroll unwrapped lines to the right."""
        event.stop()
        self.action_shift(1)

    def on_mouse_scroll_left(self, event: MouseScrollLeft) -> None:
        """Scroll unwrapped lines to the left."""
        event.stop()
        self.action_shift(-1)

    def search(self, text: str, *, go: bool = True) -> int:
        """Mark all matches of a text, go to the first one from the top of the view on, and return their number."""
        found = self.search_matches
        found.search(self.document, text)
        self._repaint()
        if go and found.matches:
            self._go_to_match(found.first_from(self.document, self.top_row))
        return len(found.matches)

    def action_match_beside(self, by: int) -> None:
        """Go to the next or previous match, around the ends; to a change if nothing is searched."""
        if self.search_matches.matches:
            self._go_to_match((self.search_matches.current + by) % len(self.search_matches.matches))
        elif not self.search_matches.text:
            self.action_hunk_beside(by)

    def _go_to_match(self, number: int) -> None:
        match = self.search_matches.go_to(number)
        row = self.document.row_of_match(match)
        self._set_hunk(None)
        if not self.top_row <= row < self.top_row + self.view_rows:
            self.scroll_now(row - self.view_rows // 3)
        if not self.look.wrap:
            self.shift = self.document.shift_to(match, self.shift, MOST_SHIFTED)
        self._repaint()
        self.post_message(self.PlaceChanged(self.current_file, self.current_hunk, self.document.hunk_count))

    def _repaint(self) -> None:
        self._strips.clear()
        self.refresh()

    def count_rows(self) -> int:
        """Return the number of rows of all files."""
        return self.document.row_count

    def forget_rows_from(self, row: int) -> None:
        """Discard the cached strips of the rows from `row` on."""
        if row == 0:
            self._strips.clear()
        else:
            self._strips = {key: strip for key, strip in self._strips.items() if key[0] < row}

    def notify_style_update(self) -> None:
        """Make the styles again at the next paint: Textual calls this when colors may have changed."""
        super().notify_style_update()
        self._styles = None

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the visible rows. Overridden because Textual's own rendering of a line costs more than the text."""
        styles = self._dress()
        self._words.begin_paint()
        top = self.top_row
        begin, end = (top + row for row in self.position_mark())
        rows = range(crop.y + top, crop.bottom + top)
        strips = [self._strip(row, begin <= row < end, styles) for row in rows]
        self._colour_soon()
        self._mark_words_soon()
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
            if len(self._strips) >= _MOST_STRIPS:
                self._strips.clear()
            strip = self._strips[row, thumb] = self._draw(row, thumb, styles)
        return strip

    def _draw(self, row: int, thumb: bool, styles: DiffStyles) -> Strip:
        width, document = self.outer_size.width, self.document
        end = Segment("▐", styles.thumb) if thumb else Segment(" ", styles.blank)
        if row >= document.row_count or document.look.width != width - 1:
            return Strip([Segment(" " * (width - 1), styles.blank), end], width)
        number, below = document.find_row(row)

        shades = self._shades.at_pair if document.has_pairs else self._shades.at

        def colours(line: DiffLine, side: int) -> LineColours:
            return shades(number, line, side)

        def found(entry: int, side: int) -> Sequence[tuple[Span, bool]]:
            return self.search_matches.marks(document, number, entry, side)

        pen = Pen(colours, found, self.shift, self._words.find)
        runs = draw_row(document.sections[number], below, pen, current=row in self._marked_rows)
        return Strip([*(Segment(text, styles.style(style)) for text, style in runs), end], width)

    def _colour_soon(self) -> None:
        """Highlight the visible rows and a page before and after them in the background."""
        rows = self.view_rows
        request = self.document, self.top_row, self.top_row + rows, rows
        if request[0].sections and self._shades.wants(*request):
            start_worker(self, self._colour, group="colours", exclusive=True)

    def _mark_words_soon(self) -> None:
        """Compare the words of the lines that were too much work for this paint, in a thread."""
        if self._words.has_rest and not self._marks_words:
            self._marks_words = True
            start_worker(self, self._mark_words, group="words")

    async def _mark_words(self) -> None:
        try:
            await asyncio.to_thread(self._words.compare_rest)
        finally:
            self._marks_words = False
        self._repaint()

    async def _colour(self) -> None:
        async for changed in self._shades.work():
            if changed:
                self._repaint()


def _length(file: ShownFile) -> int:
    """Return how much there is to lay out, in lines of 100 characters."""
    lines = (line for each in sides_of(file) if each is not None for hunk in each.hunks for line in hunk.lines)
    return sum(1 + len(line.text) // 100 for line in lines)
