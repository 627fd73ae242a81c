"""A diff drawn row by row, with movement by change, file and search match."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.events import MouseScrollLeft, MouseScrollRight, Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from tui.app.diff.highlight import FindSides, Shades
from tui.app.diff.layout import Document, Look, Match
from tui.app.diff.render import MOST_SHIFTED, DiffInk, Front, Ground, Pen, draw_row, grounds
from tui.app.text.highlight import LineColours
from tui.app.theme.palette import COLOURS, contrast
from tui.app.theme.styles import MadeStyles
from tui.app.widgets.scroll_view import FollowView
from tui.model.diffs import DiffLine, FileDiff
from tui.model.results import NotApplied, Span

_FRONTS: Mapping[Front, str] = {
    "text": "foreground",
    "strong": "foreground",
    "dim": "dim",
    "quiet": "quiet-border",
    "accent": "accent",
    "added": "passed",
    "removed": "failed",
    "keyword": "code-keyword",
    "function": "code-function",
    "type": "code-type",
    "string": "code-string",
    "number": "code-number",
    "comment": "code-comment",
    "operator": "code-operator",
}
_READABLE = 4.5
# Bold and underline tell these apart where there are no colours.
_BOLD: frozenset[Ground] = frozenset(("added-word", "removed-word"))
_FOUND: Mapping[Ground, str] = {"match": "match-expected", "current": "match-current"}


class DiffStyles(MadeStyles[DiffInk]):
    """Rich styles for a diff; `variables` are those of the theme."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__({name: variables[name] for name in COLOURS}, variables["background"])
        self._grounds = grounds(self.colours)

    def make(self, ink: DiffInk) -> Style:
        """Its colour on its ground, in bold where colours alone would not tell."""
        ground = self._grounds[ink.ground]
        if ink.ground in _FOUND:
            return Style(color=self.colours[_FOUND[ink.ground]], bgcolor=ground, bold=True, underline=True)
        front = self.colours[_FRONTS[ink.front]]
        if ink.ground in _BOLD and contrast(front, ground) < _READABLE:
            front = self.colours["foreground"]
        bold = ink.ground in _BOLD or ink.front == "strong"
        return Style(color=front, bgcolor=ground, bold=bold or None)


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


_STEP = 8


def _key(key: str, action: str, name: str, tooltip: str, says: str = "", shown_as: str | None = None) -> Binding:
    return Binding(
        key, action, says or tooltip, id=f"diff.{name}", tooltip=tooltip, show=bool(says), key_display=shown_as
    )


class DiffView(DiffRows):
    """Says by `PlaceChanged` where the person is in the diff."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _key("J", "hunk_beside(1)", "next-hunk", "Go to the next change", "next change"),
        _key("K", "hunk_beside(-1)", "hunk-before", "Go to the change before"),
        _key("right_curly_bracket", "file_beside(1)", "next-file", "Go to the next file", shown_as="}"),
        _key("left_curly_bracket", "file_beside(-1)", "file-before", "Go to the file before", shown_as="{"),
        _key("v", "turn('beside')", "split", "Both sides beside each other, or below", "split"),
        _key("w", "turn('wrap')", "wrap", "Wrap long lines, or cut them", "wrap"),
        _key("i", "turn('ignore_space')", "white-space", "Leave out what differs in white space alone", "white space"),
        _key("number_sign", "turn('numbers')", "numbers", "Show or hide the line numbers", shown_as="#"),
        _key("n", "match_beside(1)", "next-match", "Go to the next place that was searched for"),
        _key("N", "match_beside(-1)", "match-before", "Go to the place before"),
        _key("left,h", "shift(-1)", "left", "To the left, where lines are cut"),
        _key("right,l", "shift(1)", "right", "To the right, where lines are cut"),
    ]

    class PlaceChanged(Message):
        """The person has come to another place; `file` and `hunk` count from 0, `hunk` over all files (-1: none)."""

        def __init__(self, file: int, hunk: int, hunks: int) -> None:
            super().__init__()
            self.file, self.hunk, self.hunks = file, hunk, hunks

    class LookChanged(Message):
        """It is shown in another way."""

        def __init__(self, look: Look) -> None:
            super().__init__()
            self.look = look

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.matches: list[Match] = []
        self._searched = ""
        self._current = -1
        self._by_entry: dict[tuple[int, int], list[int]] = {}
        self._hunk: int | None = None
        self._told: tuple[int, int, int] | None = None

    def begun(self) -> None:
        """Another diff: nothing is searched for in it."""
        self._hunk, self._searched = None, ""

    def taken(self) -> None:
        """Hunks and matches are in other rows."""
        if self._told is not None and self.document.hunk_count != self._told[2]:
            self._hunk = None
        self._mark_hunk()
        self.search(self._searched, go=False)

    def action_turn(self, name: str) -> None:
        """Turn a way of showing on or off."""
        self.set_look(**{name: not getattr(self.look, name)})
        self.post_message(self.LookChanged(self.look))

    # --- where the person is

    @property
    def current_hunk(self) -> int:
        """The hunk that was jumped to, else the one in the upper part of the view; -1 where there is none."""
        if self._hunk is not None:
            return self._hunk
        return self.document.hunk_of_row(self.top_row + min(self.view_rows // 4, 3))

    @property
    def current_file(self) -> int:
        """The section in which that is."""
        if self._hunk is not None and self._hunk < self.document.hunk_count:
            return self.document.section_of_hunk(self._hunk)
        return self.document.find_row(self.top_row)[0] if self.document.sections else -1

    def go_to_file(self, number: int) -> None:
        """Show a file from its head on."""
        if 0 <= number < len(self.document.sections):
            self._set_hunk(None)
            self.scroll_now(self.document.row_of_section(number))
            hunk = self.document.hunk_of_row(self.top_row)
            if self.current_file != number and number < len(self.document.files):
                # The end of the diff: it cannot be scrolled to the top.
                hunks = range(hunk + 1, self.document.hunk_count)
                self._set_hunk(next((each for each in hunks if self.document.section_of_hunk(each) == number), None))
            self.tell_place()

    def action_file_beside(self, by: int) -> None:
        """Go to the file after or before; first to the head of this one."""
        here = self.current_file
        above = self.top_row > self.document.row_of_section(here) if here >= 0 else False
        self.go_to_file(here + by + (1 if by < 0 and above else 0))

    def action_hunk_beside(self, by: int) -> None:
        """Go to the next hunk or the one before."""
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
        self.tell_place()

    def _set_hunk(self, hunk: int | None) -> None:
        self._hunk = hunk
        self._mark_hunk()

    def _mark_hunk(self) -> None:
        self.mark_rows(range(0) if self._hunk is None else self.document.rows_of_hunk(self._hunk))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Scrolling leaves the hunk that was jumped to."""
        super().watch_scroll_y(old_value, new_value)
        if self._hunk is not None and self._hunk < self.document.hunk_count:
            rows = self.document.rows_of_hunk(self._hunk)
            if rows.stop <= new_value or rows.start >= new_value + self.view_rows:
                self._set_hunk(None)
        self.tell_place()

    def tell_place(self) -> None:
        """Say it once."""
        told = (self.current_file, self.current_hunk, self.document.hunk_count)
        if told != self._told:
            self._told = told
            self.post_message(self.PlaceChanged(*told))

    def action_follow(self) -> None:
        """To the end; nothing is added there."""
        self.scroll_now(self.max_scroll_y)

    def action_shift(self, by: int) -> None:
        """Scroll to the side, where lines are cut."""
        if not self.look.wrap:
            shift = max(0, min(self.shift + by * _STEP, MOST_SHIFTED))
            if shift != self.shift:
                self.shift = shift
                self.repaint()

    def on_mouse_scroll_right(self, event: MouseScrollRight) -> None:
        """The same with the mouse."""
        event.stop()
        self.action_shift(1)

    def on_mouse_scroll_left(self, event: MouseScrollLeft) -> None:
        """The same with the mouse."""
        event.stop()
        self.action_shift(-1)

    # --- searching

    def search(self, text: str, *, go: bool = True) -> int:
        """Mark where the text stands, and go to the first place from here on. Returns how many there are."""
        self._searched = text
        self.matches = self.document.search(text)
        self._by_entry = {}
        for number, match in enumerate(self.matches):
            self._by_entry.setdefault((match.section, match.entry), []).append(number)
        self._current = -1
        self.repaint()
        if go and self.matches:
            top = self.top_row
            rows = (self.document.row_of_match(match) for match in self.matches)
            self._go_to_match(next((number for number, row in enumerate(rows) if row >= top), 0))
        return len(self.matches)

    @property
    def searched(self) -> str:
        """What was searched for."""
        return self._searched

    @property
    def current_line(self) -> int:
        """The number that the line at the top, or the first change of the hunk that was jumped to, has now."""
        document = self.document
        rows = document.rows_of_hunk(self._hunk) if self._hunk is not None else range(self.top_row, self.top_row + 1)
        anchors = (document.anchor_at(row) for row in rows)
        return next((anchor.new for anchor in anchors if anchor and anchor.new), 1)

    @property
    def current_match(self) -> int:
        """The match that was jumped to, counted from 0; -1 for none."""
        return self._current

    def action_match_beside(self, by: int) -> None:
        """Go to the next match, after the last one to the first."""
        if self.matches:
            self._go_to_match((self._current + by) % len(self.matches))

    def _go_to_match(self, number: int) -> None:
        self._current = number
        match = self.matches[number]
        row = self.document.row_of_match(match)
        self._set_hunk(None)
        if not self.top_row <= row < self.top_row + self.view_rows:
            self.scroll_now(row - self.view_rows // 3)
        if not self.look.wrap:
            room = self.look.rooms[match.side]
            text = self.document.sections[match.section].texts[match.entry][match.side]
            at = cell_len(text[: min(match.span[0], MOST_SHIFTED)])
            if not self.shift <= at < self.shift + room - 1:
                self.shift = 0 if at < room - 1 else min(MOST_SHIFTED, at - room // 2)
        self.repaint()
        self.post_message(self.PlaceChanged(self.current_file, self.current_hunk, self.document.hunk_count))

    def found(self, section: int, entry: int, side: int) -> list[tuple[Span, bool]]:
        numbers = self._by_entry.get((section, entry))
        if not numbers:
            return []
        line = self.document.sections[section].entries[entry]
        both = getattr(line, "old", None) is getattr(line, "new", None)
        found = ((number, self.matches[number]) for number in numbers)
        return [(match.span, number == self._current) for number, match in found if both or match.side == side]
