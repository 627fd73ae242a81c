"""The text of an answer while it streams in: only changed rows are drawn."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import MouseDown, Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from tui.app.text.highlight import CodeLexer, load_lexer
from tui.app.text.page import Mark, Page, Run, with_selection
from tui.app.text.sheet import Sheet
from tui.app.theme.styles import TextStyles
from tui.app.widgets.scroll_view import TailView
from tui.app.workers import start_worker

_CURSOR, _THUMB = "▌", "▐"
_MOST = 2_000


class RowPainter:
    """Paint rows, and cache their strips by row number, with and without a piece of the position mark."""

    def __init__(self) -> None:
        self._styles: TextStyles | None = None
        self._strips: tuple[dict[int, Strip], dict[int, Strip]] = {}, {}
        self._ends: tuple[Segment, Segment] = Segment(" "), Segment(_THUMB)

    def set_styles(self, styles: TextStyles) -> None:
        """Use these styles from now on."""
        if styles != self._styles:
            self._styles = styles
            self._ends = Segment(" ", styles.blank), Segment(_THUMB, styles.thumb)
            self.forget()

    def forget(self, first: int = 0) -> None:
        """Discard the cached strips of the rows from `first` on."""
        for cached in self._strips:
            if first == 0:
                cached.clear()
            else:
                for row in [row for row in cached if row >= first]:
                    del cached[row]

    def forget_rows(self, first: int, last: int) -> None:
        """Discard the cached strips of a range of rows."""
        for cached in self._strips:
            for row in range(first, last + 1):
                cached.pop(row, None)

    def cached(self, row: int, thumb: bool) -> Strip | None:
        """Return the cached strip of a row, or None."""
        return self._strips[thumb].get(row)

    def cache(self, row: int, thumb: bool, strip: Strip) -> Strip:
        """Cache the strip of a row, and return it."""
        if len(self._strips[thumb]) >= _MOST:
            self._strips[thumb].clear()
        self._strips[thumb][row] = strip
        return strip

    def paint(self, runs: list[Run], width: int, thumb: bool, cursor: bool) -> Strip:
        """Return a row of `width` cells: its runs, an optional cursor, and the position mark or a blank in the last
        cell."""
        styles = self._styles
        assert styles is not None, "set styles before painting"
        segments = [Segment(text, styles.style(style)) for text, style in runs if text]
        used = sum(len(text) if text.isascii() else cell_len(text) for text, _ in runs)
        if cursor:
            segments.append(Segment(_CURSOR, styles.cursor))
            used += 1
        room = width - 1
        if used < room:
            segments.append(Segment(" " * (room - used), styles.blank))
        elif used > room:  # a character is wider than the pane
            segments = [*Strip(segments, used).crop(0, room)]
        segments.append(self._ends[thumb])
        return Strip(segments, width)


__all__ = ["AnswerView", "Mark"]

_PAUSE_S = 0.001  # between two parts of a long text
_MARGIN = 2  # cells right of the text: one for the cursor, one for the position mark


class AnswerView(TailView, can_focus=True):
    """The text of an answer, which may still be streaming.

    It follows the end until the user scrolls up; End follows again. It has no border, padding or scroll bar, because
    those cost more than the text: give them to its parent.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "fold", "Thinking", id="answer.fold", tooltip="Fold or show the model's reasoning", show=False),
    ]

    class MatchShown(Message):
        """Posted when the view goes to a match; `index` counts from 1, `of` is the number of matches."""

        def __init__(self, view: "AnswerView", index: int, of: int) -> None:
            super().__init__()
            self.view, self.index, self.of = view, index, of

        @property
        def control(self) -> "AnswerView":
            """Return the view that contains the match."""
            return self.view

    def __init__(self) -> None:
        super().__init__()
        self._sheet = Sheet(80)
        self._painter = RowPainter()
        self._has_styles = False
        self._streaming = False
        self._fold_chosen = False
        self._lays_out = False
        self._awaited: int | None = None  # an offset of the raw answer to scroll to, once it is laid out
        self._lexers: dict[str, CodeLexer] = {}
        self._loading: set[str] = set()

    @property
    def streaming(self) -> bool:
        """Return whether text may still arrive; a block cursor is displayed at the end then."""
        return self._streaming

    @streaming.setter
    def streaming(self, streaming: bool) -> None:
        if streaming == self._streaming:
            return
        self._streaming = streaming
        changed = self._sheet.foot_row - 1
        if streaming:
            self._sheet.keeps_foot = True
            self.follow(self.following, leaping=True)
        elif self._sheet.answer.finish():
            changed = 0
        self._text_changed(changed)

    def append(self, text: str) -> None:
        """Append a raw piece of the answer."""
        if not text:
            return
        sheet = self._sheet
        if sheet.answer.is_empty and sheet.reasoning is not None and not self._fold_chosen:
            sheet.folded = True
            self._text_changed(0)
        # A line of code is highlighted when it is complete, so all its rows change then.
        changed = sheet.last_line_row if "\n" in text else sheet.foot_row - 1
        sheet.answer.append(text)
        self._text_changed(changed)

    def append_reasoning(self, text: str) -> None:
        """Append a raw piece of the reasoning; it is dim above the answer, and folds when the answer begins."""
        if not text:
            return
        changed = self._sheet.reasoning_end
        self._sheet.append_reasoning(text)
        self._text_changed(changed)

    def show(self, text: str, reasoning: str = "", above: Sequence[tuple[str, str]] = ()) -> None:
        """Replace the text, and show its beginning, or its end while streaming.

        `above` are headings and texts to show above the answer.
        """
        self._clear(Sheet(self._sheet.width, above))
        if reasoning:
            self._sheet.append_reasoning(reasoning)
            self._sheet.folded = bool(text)
        self._sheet.answer.append(text)
        if not self._streaming:
            self._sheet.answer.finish()
            self.follow(False)
        self._text_changed(0)

    def clear(self) -> None:
        """Remove all text, and follow the end of the text that arrives."""
        self._clear(Sheet(self._sheet.width))

    def _clear(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._sheet.keeps_foot = self._streaming
        self._set_lexers()
        self._fold_chosen = False
        self._awaited = None
        self._drop_selection()
        self.follow(True, leaping=self._streaming)
        self.rows_changed(0)

    def _text_changed(self, row: int) -> None:
        """Redraw the rows from `row` on, and lay out the rest of a long text piece by piece, with keys in between."""
        self.rows_changed(row)
        if self._sheet.is_behind and not self._lays_out:
            self._lays_out = True
            self.set_timer(_PAUSE_S, self._lay_out_more)

    def _lay_out_more(self) -> None:
        """Lay out the next part of the text; the text at the top of the view stays there."""
        sheet, following, self._lays_out = self._sheet, self.following, False
        place = sheet.position_at(self.top_row)
        changed = sheet.lay_out_more()
        if changed == 0:
            self._drop_selection()  # the selection refers to other rows
            if not following:
                self._return_to(place)
        self._text_changed(sheet.row_count if changed is None else changed)
        if self._awaited is not None and sheet.answer.has_laid_out(self._awaited):
            self.go_to(self._awaited)

    def _return_to(self, place: tuple[Page | None, int]) -> None:
        """Scroll to a text position after the rows have changed."""
        self.forget_rows_from(0)
        self.measure()
        self.scroll_now(self._sheet.row_of(place))
        self.follow(False, leaping=self._streaming)

    def note(self, text: str) -> None:
        """Show a note in dim text below the answer, or remove it (""); the answer does not move."""
        if self._sheet.set_note(text):
            self._text_changed(self._sheet.foot_row)

    @property
    def head_rows(self) -> int:
        """Return the number of rows above the answer."""
        return self._sheet.head_rows

    def scroll_by_hand(self, y: float) -> None:
        """Scroll to a row at the request of the user, who does not wait for another one any more."""
        self._awaited = None
        super().scroll_by_hand(y)

    def go_to(self, offset: int) -> None:
        """Scroll so that a code point of the answer is at the top, if there is enough text below it.

        In a long text, it scrolls as far as possible, and again when that code point is laid out.
        """
        self._awaited = None if self._sheet.answer.has_laid_out(offset) else offset
        self.scroll_now(self._sheet.head_rows + self._sheet.answer.row_of(offset))

    @property
    def matches(self) -> int:
        """Return the number of marks."""
        return len(self._sheet.answer.marks)

    def mark(self, spans: Sequence[Mark]) -> None:
        """Replace all marks; they may be in text that has not been appended yet."""
        changed = self._sheet.answer.mark(spans)
        if changed is not None:
            self.rows_changed(self._sheet.head_rows + changed)

    def next_match(self) -> None:
        """Go to the next match; from the last one to the first."""
        self._go_to_match(1)

    def previous_match(self) -> None:
        """Go to the previous match; from the first one to the last."""
        self._go_to_match(-1)

    def _go_to_match(self, by: int) -> None:
        answer, head, top = self._sheet.answer, self._sheet.head_rows, self.top_row
        before = answer.marks.current
        number = answer.step_mark(by, max(0, top - head))
        if number is None:
            return
        for touched in {number if before is None else before, number}:
            first, last = answer.rows_of_mark(touched)
            self._painter.forget_rows(head + first, head + last)
        self.refresh()
        first, last = answer.rows_of_mark(number)
        self._awaited = None
        if not answer.has_laid_out(answer.marks[number].end):
            self.go_to(answer.marks[number].start)
            self._awaited = answer.marks[number].end
        elif head + first < top or head + last >= top + self.view_rows:
            self.scroll_now(head + first - self.view_rows // 3)
        self.post_message(self.MatchShown(self, number + 1, len(answer.marks)))

    def count_rows(self) -> int:
        """Return the number of rows of the reasoning, the answer and the note."""
        return self._sheet.row_count

    def forget_rows_from(self, row: int) -> None:
        """Discard the cached strips of the rows from `row` on."""
        self._painter.forget(row)

    def action_fold(self) -> None:
        """Fold or unfold the reasoning."""
        if self._sheet.reasoning is not None:
            self._fold_chosen = True
            self._sheet.folded = not self._sheet.folded
            self._drop_selection()
            self.rows_changed(0)

    def on_mouse_down(self, event: MouseDown) -> None:
        """Fold or unfold the reasoning after a click on its heading."""
        if event.y + self.top_row == 0 and self._sheet.reasoning is not None:
            self.action_fold()

    def on_resize(self, event: Resize) -> None:
        """Wrap the text to the new width; the text at the top of the view stays there."""
        sheet, width = self._sheet, max(1, event.size.width - _MARGIN)
        following = self.following
        self.follow(following, leaping=self._streaming)
        if width != sheet.width:
            self._drop_selection()  # the selection refers to rows of the old width
            place = sheet.position_at(self.top_row)
            sheet.set_width(width)
            if following:
                self.forget_rows_from(0)
                self.measure()
            else:
                self._return_to(place)
        self._text_changed(0)

    def _drop_selection(self) -> None:
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()

    def notify_style_update(self) -> None:
        """Make the styles again at the next paint: Textual calls this when colors may have changed."""
        super().notify_style_update()
        self._has_styles = False

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the visible rows. Overridden because Textual's own rendering of a line costs more than the text."""
        self._update_styles()
        top, selection = self.top_row, self.text_selection
        rows = range(crop.y + top, crop.bottom + top)
        begin, end = (top + row for row in self.position_mark())
        strips: list[Strip] = []
        coloured = False
        for row in rows:
            thumb = begin <= row < end
            strip = None if selection is not None else self._painter.cached(row, thumb)
            if strip is None:
                if not coloured:
                    self._colour(row, rows[-1])
                    coloured = True
                strip = self._paint(row, thumb, selection)
            strips.append(strip)
        if crop.column_span != (0, self.outer_size.width):
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return self._filtered(strips)

    def render_line(self, y: int) -> Strip:
        """Return one row of the view with the offsets of its characters, which Textual needs for the mouse."""
        self._update_styles()
        row = self.top_row + y
        return self._paint(row, False, None).apply_offsets(0, row)

    def _paint(self, row: int, thumb: bool, selection: Selection | None) -> Strip:
        sheet, width = self._sheet, self.outer_size.width
        runs = sheet.runs(row) if row < sheet.row_count else []
        chosen = selection.get_span(row) if selection is not None else None
        cursor = self._streaming and row == sheet.foot_row - 1
        if chosen is not None and runs:
            return self._painter.paint(with_selection(runs, *chosen), width, thumb, cursor)
        return self._painter.cache(row, thumb, self._painter.paint(runs, width, thumb, cursor))

    def _update_styles(self) -> None:
        if not self._has_styles:
            self._painter.set_styles(TextStyles(self.app.theme_variables, self.background_colors[1].hex6))
            self._has_styles = True

    def _filtered(self, strips: list[Strip]) -> list[Strip]:
        """Apply Textual's line filters, such as the one for monochrome; no row contains ANSI colors."""
        for line_filter in self.get_line_filters():
            if not isinstance(line_filter, ANSIToTruecolor):
                background = self.background_colors[1]
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips

    def _colour(self, first: int, last: int) -> None:
        """Highlight the code in these rows, if the lexer of its language is loaded."""
        changed = self._sheet.prepare(first, last)
        if changed is not None:
            self._painter.forget_rows(changed, last)
            if changed < first:
                self.refresh(Region(0, max(0, changed - self.top_row), self.outer_size.width, first - changed))
        missing = set().union(*(page.missing_languages for page in self._sheet.pages)) - self._loading
        if missing:
            self._loading |= missing
            start_worker(self, partial(self._load, missing), group="lexers")

    async def _load(self, languages: set[str]) -> None:
        """Load lexers in a thread: importing one takes long enough to delay keys."""
        for language in languages:
            self._lexers[language] = await asyncio.to_thread(load_lexer, language)
        self._loading -= languages
        self._set_lexers()
        self.forget_rows_from(0)
        self.refresh()

    def _set_lexers(self) -> None:
        for language, lexer in self._lexers.items():
            for page in self._sheet.pages:
                page.add_lexer(language, lexer)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without wrapping."""
        start, end = (None if place is None else (place.y, place.x) for place in selection)
        return self._sheet.text_between(start, end), "\n"
