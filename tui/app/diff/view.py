"""A diff to move about in: by change, by file, by what is searched for."""

from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.events import MouseScrollLeft, MouseScrollRight
from textual.message import Message

from tui.app.diff.layout import Match
from tui.app.diff.render import MOST_SHIFTED
from tui.app.diff.section import Look
from tui.app.widgets.diff_rows import DiffRows
from tui.model.results import Span

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
