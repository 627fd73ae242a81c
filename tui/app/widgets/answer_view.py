"""The pane's text: an answer that streams in, with its matches, drawn line by line and only what has changed."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import MouseDown, MouseMove, MouseUp, Resize
from textual.filter import ANSIToTruecolor
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.app.text.colouring import CodeLexer, load_lexer
from tui.app.text.marks import Mark
from tui.app.text.page import with_selection
from tui.app.text.sheet import Sheet
from tui.app.widgets.ink_styles import InkStyles
from tui.app.widgets.row_painter import RowPainter

__all__ = ["AnswerView", "Mark"]

_MARGIN = 2  # columns right of the text: one for the cursor, one for the position mark


class AnswerView(ScrollView, can_focus=True):
    """An answer, as it arrives. It follows the end until the person scrolls up; End follows again.

    It has no border, padding or scrollbar of its own: those cost more than the text. Give them to its parent.
    """

    DEFAULT_CSS = """
    AnswerView { background: $background; color: $foreground; overflow: hidden hidden; width: 1fr; height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_by(-1)", "Up", id="answer.up", tooltip="Scroll up a line", show=False),
        Binding("down,j", "scroll_by(1)", "Down", id="answer.down", tooltip="Scroll down a line", show=False),
        Binding("pageup", "page(-1)", "Page up", id="answer.page-up", tooltip="Scroll up a page", show=False),
        Binding("pagedown,space", "page(1)", "Page down", id="answer.page-down", tooltip="Scroll down", show=False),
        Binding("home", "top", "Top", id="answer.top", tooltip="Go to the beginning", show=False),
        Binding("end", "follow", "End", id="answer.end", tooltip="Go to the end and follow it", show=False),
        Binding("t", "fold", "Thinking", id="answer.fold", tooltip="Fold what the model thought aloud", show=False),
    ]

    class MatchShown(Message):
        """A match was jumped to; `index` counts from 1, `of` is how many there are."""

        def __init__(self, view: "AnswerView", index: int, of: int) -> None:
            super().__init__()
            self.view, self.index, self.of = view, index, of

        @property
        def control(self) -> "AnswerView":
            """The view in which it is."""
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._sheet = Sheet(80)
        self._painter = RowPainter()
        self._dressed = False
        self._following = True
        self._streaming = False
        self._fold_chosen = False
        self._lexers: dict[str, CodeLexer] = {}
        self._loading: set[str] = set()

    # --- what is shown

    @property
    def streaming(self) -> bool:
        """Whether text may still come; a block cursor stands at the end then."""
        return self._streaming

    @streaming.setter
    def streaming(self, streaming: bool) -> None:
        if streaming == self._streaming:
            return
        self._streaming = streaming
        changed = self._end_row()
        if streaming:
            self._sheet.keeps_foot = True
        else:
            self._sheet.answer.finish()
        self._redraw_from(changed)

    def append(self, text: str) -> None:
        """Add a piece of the answer, raw, as it arrived."""
        if not text:
            return
        sheet = self._sheet
        if sheet.reasoning is not None and sheet.answer.is_empty and not self._fold_chosen and not sheet.folded:
            sheet.folded = True
            self._redraw_from(0)
        changed = self._end_row()
        sheet.answer.append(text)
        self._redraw_from(changed)

    def append_reasoning(self, text: str) -> None:
        """Add a piece of what the model thought aloud; it stands dim above the answer, and folds when that begins."""
        if not text:
            return
        self._sheet.think(text)
        self._redraw_from(0)

    def show(self, text: str, reasoning: str = "") -> None:
        """Show this text from its beginning, and nothing of what was there. `streaming` stays as it is."""
        self.clear()
        if reasoning:
            self._sheet.think(reasoning)
            self._sheet.folded = bool(text)
        self._sheet.answer.append(text)
        if self._streaming:
            self._sheet.keeps_foot = True
        else:
            self._sheet.answer.finish()
            self._following = False
        self._redraw_from(0)

    def clear(self) -> None:
        """Show nothing, and follow the end of what comes."""
        self._sheet = Sheet(self._sheet.width)
        self._sheet.keeps_foot = self._streaming
        self._fold_chosen = False
        self._following = True
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
        self._give_lexers()
        self._redraw_from(0)

    def note(self, text: str) -> None:
        """Say something in a dim line under the text, "" for nothing more; the text stays where it is."""
        self._sheet.set_note(text)
        self._redraw_from(self._sheet.foot_row)

    # --- matches

    @property
    def matches(self) -> int:
        """How many marks there are."""
        return len(self._sheet.answer.marks)

    def mark(self, spans: Sequence[Mark]) -> None:
        """Mark these places and no others. They may name text that has not been appended yet."""
        changed = self._sheet.answer.mark(spans)
        if changed is not None:
            self._redraw_from(self._sheet.head_rows + changed)

    def next_match(self) -> None:
        """Go to the next match, after the last one to the first."""
        self._step_match(1)

    def previous_match(self) -> None:
        """Go to the match before, from the first one to the last."""
        self._step_match(-1)

    def _step_match(self, by: int) -> None:
        sheet, marks = self._sheet, self._sheet.answer.marks
        before = marks.current
        number = sheet.answer.step_mark(by, max(0, self._top - sheet.head_rows))
        if number is None:
            return
        for touched in {number if before is None else before, number}:
            first, last = sheet.answer.rows_of_mark(touched)
            self._painter.forget_rows(sheet.head_rows + first, sheet.head_rows + last)
        self.refresh()
        first, last = (sheet.head_rows + row for row in sheet.answer.rows_of_mark(number))
        height = self._height
        if first < self._top or last >= self._top + height:
            self._following = False
            self._scroll_now(first - height // 3)
        self.post_message(self.MatchShown(self, number + 1, len(marks)))

    # --- scrolling

    @property
    def following(self) -> bool:
        """Whether the end is followed as text arrives."""
        return self._following

    @property
    def allow_vertical_scroll(self) -> bool:
        """There is no scrollbar that could say so."""
        return self.max_scroll_y > 0

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    @property
    def _height(self) -> int:
        return max(1, self.size.height)

    def _scroll_now(self, y: float) -> None:
        y = max(0, min(round(y), self.max_scroll_y))
        self.scroll_target_y = y
        self.scroll_y = y

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Whoever scrolls to the end follows it, and who leaves it does not."""
        super().watch_scroll_y(old_value, new_value)
        if round(new_value) < round(old_value) and new_value < self.max_scroll_y:
            self._following = False
        elif new_value >= self.max_scroll_y:
            self._following = True

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by rows."""
        self._scroll_now(self._top + rows)

    def action_page(self, direction: int) -> None:
        """Scroll by what fits, less a row to read on from."""
        self._scroll_now(self._top + direction * max(1, self._height - 1))

    def action_top(self) -> None:
        """Go to the beginning."""
        self._scroll_now(0)

    def action_follow(self) -> None:
        """Go to the end and stay there while text arrives."""
        self._following = True
        self._scroll_now(self.max_scroll_y)

    def action_fold(self) -> None:
        """Fold or unfold what the model thought aloud."""
        if self._sheet.reasoning is not None:
            self._fold_chosen = True
            self._sheet.folded = not self._sheet.folded
            self.screen.clear_selection()
            self._redraw_from(0)

    def on_mouse_down(self, event: MouseDown) -> None:
        """The position mark can be dragged; the line above what was thought aloud folds it."""
        if event.x == self.size.width - 1 and self.max_scroll_y:
            event.stop()
            self.capture_mouse()
            self._drag_to(event.y)
        elif event.y + self._top == 0 and self._sheet.reasoning is not None:
            self.action_fold()

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
        self._scroll_now(self.max_scroll_y * y / max(1, self._height - 1))

    # --- keeping up

    def _end_row(self) -> int:
        return self._sheet.foot_row - 1

    def _redraw_from(self, row: int) -> None:
        """Rows from this one on have changed, and perhaps how many there are."""
        self._painter.forget(row)
        thumb, rows = self._thumb(), self.virtual_size.height
        # The reactive's own setter would lay the whole screen out.
        self.set_reactive(Widget.virtual_size, Size(self.size.width, self._sheet.row_count))
        if not self.size:
            return
        if (self._following and self.scroll_y != self.max_scroll_y) or self.scroll_y > self.max_scroll_y:
            self._scroll_now(self.max_scroll_y)
        elif thumb != self._thumb():
            self.refresh()
        else:
            first = max(0, row - self._top)
            end = min(self._height, max(rows, self.virtual_size.height) - self._top)
            if first < end:
                self.refresh(Region(0, first, self.size.width, end - first))

    def on_resize(self, event: Resize) -> None:
        """Wrap anew; the text at the top stays at the top."""
        sheet = self._sheet
        width = max(1, event.size.width - _MARGIN)
        if width != sheet.width:
            if self.text_selection is not None:
                self.screen.clear_selection()  # it names rows, and those are others now
            found = sheet.page_at(min(self._top, sheet.row_count - 1))
            top = found[0].offset_at(found[1], 0) if found else 0
            sheet.set_width(width)
            self.set_reactive(Widget.virtual_size, Size(event.size.width, sheet.row_count))
            if found and not self._following:
                head = sheet.head_rows if found[0] is sheet.answer else 1
                following = self._following
                self._scroll_now(head + found[0].row_at(top) if top or found[1] else self._top)
                self._following = following
        self._redraw_from(0)

    def notify_style_update(self) -> None:
        """Called by Textual when the styles may be others."""
        super().notify_style_update()
        self._dressed = False

    # --- drawing

    def _thumb(self) -> tuple[int, int]:
        """The rows of the view in which the position mark stands, half-open; none when everything fits."""
        rows, height = self.virtual_size.height, self._height
        if rows <= height:
            return 0, 0
        length = max(1, height * height // rows)
        start = round((height - length) * self._top / (rows - height))
        return start, start + length

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible rows. Overridden whole: Textual's own way costs more for each line than the text itself."""
        self._dress()
        rows = range(crop.y + self._top, crop.bottom + self._top)
        selection = self.text_selection
        begin, end = self._thumb()
        begin, end = begin + self._top, end + self._top
        strips: list[Strip] = []
        for row in rows:
            thumb = begin <= row < end
            strip = self._painter.kept(row, thumb)
            if strip is None or selection is not None:
                if not strips:
                    self._colour(rows)
                strip = self._paint(row, thumb, selection)
            strips.append(strip)
        width = self.size.width
        if crop.column_span != (0, width):
            strips = [strip.crop(crop.x, crop.right) for strip in strips]
        return self._filtered(strips)

    def render_line(self, y: int) -> Strip:
        """One row of the view with the places of its characters: asked for by the mouse alone."""
        self._dress()
        row = self._top + y
        return self._paint(row, False, None).apply_offsets(0, row)

    def _paint(self, row: int, thumb: bool, selection: Selection | None) -> Strip:
        sheet, width = self._sheet, self.size.width
        runs = sheet.runs(row) if row < sheet.row_count else []
        chosen = selection.get_span(row) if selection is not None else None
        cursor = self._streaming and row == sheet.foot_row - 1
        if chosen is not None and runs:
            return self._painter.paint(with_selection(runs, *chosen), width, thumb, cursor)
        return self._painter.keep(row, thumb, self._painter.paint(runs, width, thumb, cursor))

    def _dress(self) -> None:
        if not self._dressed:
            self._painter.wear(InkStyles(self.app.theme_variables, self.background_colors[1].hex6))
            self._dressed = True

    def _filtered(self, strips: list[Strip]) -> list[Strip]:
        """What Textual does to every line, such as leaving out colours; ours have none of the terminal's own."""
        for line_filter in self.get_line_filters():
            if not isinstance(line_filter, ANSIToTruecolor):
                background = self.background_colors[1]
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips

    def _colour(self, rows: range) -> None:
        """Have the code in these rows coloured, if its language is loaded."""
        changed = self._sheet.prepare(rows[0], rows[-1])
        if changed is not None:
            self._painter.forget_rows(changed, rows[-1])
            if changed < rows[0]:
                self.refresh()
        missing = self._sheet.answer.missing_languages - self._loading
        if missing:
            self._loading |= missing
            self.run_worker(self._load(missing), group="lexers")

    async def _load(self, languages: set[str]) -> None:
        """Get lexers, in a thread: importing one takes longer than a key should wait."""
        for language in languages:
            self._lexers[language] = await asyncio.to_thread(load_lexer, language)
        self._loading -= languages
        self._give_lexers()
        self._painter.forget()
        self.refresh()

    def _give_lexers(self) -> None:
        for language, lexer in self._lexers.items():
            self._sheet.answer.add_lexer(language, lexer)

    # --- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it was written: rows of one line are joined again."""
        start, end = (None if place is None else (place.y, place.x) for place in selection)
        return self._sheet.text_between(start, end), "\n"
