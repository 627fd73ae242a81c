"""The text of an answer as it streams in: only changed rows are drawn."""

import asyncio
from collections.abc import Sequence
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
from tui.app.text.page import Mark, Run, with_selection
from tui.app.text.sheet import Sheet
from tui.app.theme.styles import TextStyles
from tui.app.widgets.scroll_view import TailView

_CURSOR, _THUMB = "▌", "▐"
_MOST = 2_000


class RowPainter:
    """Paints rows and keeps their strips by number, with and without a piece of the position mark at their end."""

    def __init__(self) -> None:
        self._styles: TextStyles | None = None
        self._kept: tuple[dict[int, Strip], dict[int, Strip]] = {}, {}
        self._ends: tuple[Segment, Segment] = Segment(" "), Segment(_THUMB)

    def wear(self, styles: TextStyles) -> None:
        """Paint in these styles from now on."""
        if styles != self._styles:
            self._styles = styles
            self._ends = Segment(" ", styles.blank), Segment(_THUMB, styles.thumb)
            self.forget()

    def forget(self, first: int = 0) -> None:
        """Rows from this one on have changed."""
        for kept in self._kept:
            if first == 0:
                kept.clear()
            else:
                for row in [row for row in kept if row >= first]:
                    del kept[row]

    def forget_rows(self, first: int, last: int) -> None:
        """These rows have changed."""
        for kept in self._kept:
            for row in range(first, last + 1):
                kept.pop(row, None)

    def kept(self, row: int, thumb: bool) -> Strip | None:
        """The strip of a row, if it is known."""
        return self._kept[thumb].get(row)

    def keep(self, row: int, thumb: bool, strip: Strip) -> Strip:
        """Keep a row's strip."""
        if len(self._kept[thumb]) >= _MOST:
            self._kept[thumb].clear()
        self._kept[thumb][row] = strip
        return strip

    def paint(self, runs: list[Run], width: int, thumb: bool, cursor: bool) -> Strip:
        """A row of so many cells: its runs, perhaps the cursor, and in the last cell a piece of the position mark."""
        styles = self._styles
        assert styles is not None, "paint only what wears something"
        segments = [Segment(text, styles.style(style)) for text, style in runs if text]
        used = sum(len(text) if text.isascii() else cell_len(text) for text, _ in runs)
        if cursor:
            segments.append(Segment(_CURSOR, styles.cursor))
            used += 1
        room = width - 1
        if used < room:
            segments.append(Segment(" " * (room - used), styles.blank))
        elif used > room:  # one character wider than the pane
            segments = [*Strip(segments, used).crop(0, room)]
        segments.append(self._ends[thumb])
        return Strip(segments, width)


__all__ = ["AnswerView", "Mark"]

_MARGIN = 2  # columns right of the text: one for the cursor, one for the position mark


class AnswerView(TailView, can_focus=True):
    """An answer, as it arrives. It follows the end until the person scrolls up; End follows again.

    It has no border, padding or scrollbar of its own: those cost more than the text. Give them to its parent.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "fold", "Thinking", id="answer.fold", tooltip="Fold or show the model's reasoning", show=False),
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
        changed = self._sheet.foot_row - 1
        if streaming:
            self._sheet.keeps_foot = True
            self.follow(self.following, leaping=True)
        elif self._sheet.answer.finish():
            changed = 0
        self.rows_changed(changed)

    def append(self, text: str) -> None:
        """Add a piece of the answer, raw, as it arrived."""
        if not text:
            return
        sheet = self._sheet
        if sheet.answer.is_empty and sheet.reasoning is not None and not self._fold_chosen:
            sheet.folded = True
            self.rows_changed(0)
        # A line of code gets its colours when it is complete, all its rows then.
        changed = sheet.last_line_row if "\n" in text else sheet.foot_row - 1
        sheet.answer.append(text)
        self.rows_changed(changed)

    def append_reasoning(self, text: str) -> None:
        """Add a piece of what the model thought aloud; it stands dim above the answer, and folds when that begins."""
        if not text:
            return
        changed = self._sheet.reasoning_end
        self._sheet.append_reasoning(text)
        self.rows_changed(changed)

    def show(self, text: str, reasoning: str = "", above: Sequence[tuple[str, str]] = ()) -> None:
        """Show this text from its beginning, while streaming from its end, and nothing of what was there. `above` are
        headings and texts to show above it."""
        self._clear(Sheet(self._sheet.width, above))
        if reasoning:
            self._sheet.append_reasoning(reasoning)
            self._sheet.folded = bool(text)
        self._sheet.answer.append(text)
        if not self._streaming:
            self._sheet.answer.finish()
            self.follow(False)
        self.rows_changed(0)

    def clear(self) -> None:
        """Show nothing, and follow the end of what arrives."""
        self._clear(Sheet(self._sheet.width))

    def _clear(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._sheet.keeps_foot = self._streaming
        self._give_lexers()
        self._fold_chosen = False
        self._drop_selection()
        self.follow(True, leaping=self._streaming)
        self.rows_changed(0)

    def note(self, text: str) -> None:
        """Say something in a dim line under the text, "" for nothing more; the text stays where it is."""
        if self._sheet.set_note(text):
            self.rows_changed(self._sheet.foot_row)

    @property
    def head_rows(self) -> int:
        """How many rows are above the answer."""
        return self._sheet.head_rows

    def go_to(self, offset: int) -> None:
        """Bring a code point of the answer to the top, as far as there is text below it."""
        self.scroll_now(self._sheet.head_rows + self._sheet.answer.row_of(offset))

    # --- matches

    @property
    def matches(self) -> int:
        """How many marks there are."""
        return len(self._sheet.answer.marks)

    def mark(self, spans: Sequence[Mark]) -> None:
        """Mark these places and no others; they may lie in text that has not been appended yet."""
        changed = self._sheet.answer.mark(spans)
        if changed is not None:
            self.rows_changed(self._sheet.head_rows + changed)

    def next_match(self) -> None:
        """Go to the next match, after the last one to the first."""
        self._go_to_match(1)

    def previous_match(self) -> None:
        """Go to the match before, from the first one to the last."""
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
        if head + first < top or head + last >= top + self.view_rows:
            self.scroll_now(head + first - self.view_rows // 3)
        self.post_message(self.MatchShown(self, number + 1, len(answer.marks)))

    # --- keeping up

    def count_rows(self) -> int:
        """All rows: what was thought, the answer, the note."""
        return self._sheet.row_count

    def forget_rows_from(self, row: int) -> None:
        """Rows from this one on have to be painted anew."""
        self._painter.forget(row)

    def action_fold(self) -> None:
        """Fold or unfold what the model thought aloud."""
        if self._sheet.reasoning is not None:
            self._fold_chosen = True
            self._sheet.folded = not self._sheet.folded
            self._drop_selection()
            self.rows_changed(0)

    def on_mouse_down(self, event: MouseDown) -> None:
        """The line above what was thought aloud folds it."""
        if event.y + self.top_row == 0 and self._sheet.reasoning is not None:
            self.action_fold()

    def on_resize(self, event: Resize) -> None:
        """Wrap anew; the text at the top stays at the top."""
        sheet, width = self._sheet, max(1, event.size.width - _MARGIN)
        following = self.following
        self.follow(following, leaping=self._streaming)
        if width != sheet.width:
            self._drop_selection()  # it names rows, and those are others now
            place = sheet.canonical_path(self.top_row)
            sheet.set_width(width)
            self.forget_rows_from(0)
            self.measure()
            if not following:
                self.scroll_now(sheet.row_of(place))
                self.follow(False, leaping=self._streaming)
        self.rows_changed(0)

    def _drop_selection(self) -> None:
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()

    def notify_style_update(self) -> None:
        """Called by Textual when the styles may be others."""
        super().notify_style_update()
        self._dressed = False

    # --- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible rows. Overridden whole: Textual's own way costs more for each line than the text itself."""
        self._dress()
        top, selection = self.top_row, self.text_selection
        rows = range(crop.y + top, crop.bottom + top)
        begin, end = (top + row for row in self.position_mark())
        strips: list[Strip] = []
        coloured = False
        for row in rows:
            thumb = begin <= row < end
            strip = None if selection is not None else self._painter.kept(row, thumb)
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
        """One row of the view with the places of its characters: only the mouse asks for it."""
        self._dress()
        row = self.top_row + y
        return self._paint(row, False, None).apply_offsets(0, row)

    def _paint(self, row: int, thumb: bool, selection: Selection | None) -> Strip:
        sheet, width = self._sheet, self.outer_size.width
        runs = sheet.runs(row) if row < sheet.row_count else []
        chosen = selection.get_span(row) if selection is not None else None
        cursor = self._streaming and row == sheet.foot_row - 1
        if chosen is not None and runs:
            return self._painter.paint(with_selection(runs, *chosen), width, thumb, cursor)
        return self._painter.keep(row, thumb, self._painter.paint(runs, width, thumb, cursor))

    def _dress(self) -> None:
        if not self._dressed:
            self._painter.wear(TextStyles(self.app.theme_variables, self.background_colors[1].hex6))
            self._dressed = True

    def _filtered(self, strips: list[Strip]) -> list[Strip]:
        """What Textual does to every line, such as leaving out colours; ours have none of the terminal's own."""
        for line_filter in self.get_line_filters():
            if not isinstance(line_filter, ANSIToTruecolor):
                background = self.background_colors[1]
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        return strips

    def _colour(self, first: int, last: int) -> None:
        """Have the code in these rows coloured, if its language is loaded."""
        changed = self._sheet.prepare(first, last)
        if changed is not None:
            self._painter.forget_rows(changed, last)
            if changed < first:
                self.refresh(Region(0, max(0, changed - self.top_row), self.outer_size.width, first - changed))
        missing = set().union(*(page.missing_languages for page in self._sheet.pages)) - self._loading
        if missing:
            self._loading |= missing
            self.run_worker(self._load(missing), group="lexers")

    async def _load(self, languages: set[str]) -> None:
        """Get lexers, in a thread: importing one takes longer than a key should wait."""
        for language in languages:
            self._lexers[language] = await asyncio.to_thread(load_lexer, language)
        self._loading -= languages
        self._give_lexers()
        self.forget_rows_from(0)
        self.refresh()

    def _give_lexers(self) -> None:
        for language, lexer in self._lexers.items():
            for page in self._sheet.pages:
                page.add_lexer(language, lexer)

    # --- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text as it was written: rows of one line are joined again."""
        start, end = (None if place is None else (place.y, place.x) for place in selection)
        return self._sheet.text_between(start, end), "\n"
