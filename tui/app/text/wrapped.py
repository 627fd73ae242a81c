"""Text in lines, wrapped into rows; appending costs what is appended, however much there is already."""

from bisect import bisect_right
from typing import NamedTuple

from tui.app.text.wrap import PLAIN, Kind, kind_of, row_starts


class Row(NamedTuple):
    """A row: its line, and which part of that line's code points it shows."""

    line: int
    start: int
    end: int


class WrappedText:
    """Shown text (its only controls are TAB and LF). Offsets count its code points; lines and rows count from 0.

    There is always at least one line and one row; the last line is the one that still grows.
    """

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self._lines: list[str] = [""]
        self._offsets: list[int] = [0]  # where each line begins
        self._rows: list[int] = [0]  # the first row of each line
        self._breaks: dict[int, list[int]] = {}  # where the further rows of a line begin
        self._kinds: dict[int, Kind] = {}

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._width

    @property
    def row_count(self) -> int:
        """All rows."""
        return self._rows[-1] + 1 + len(self._breaks.get(len(self._lines) - 1, ()))

    @property
    def lines(self) -> list[str]:
        """All lines; not to be changed."""
        return self._lines

    @property
    def length(self) -> int:
        """Code points."""
        return self._offsets[-1] + len(self._lines[-1])

    def append(self, text: str) -> None:
        """Add to the end. Rows before the last one stay as they are."""
        first, *others = text.split("\n")
        if first:
            self._grow(first)
        for line in others:
            last = len(self._lines) - 1
            self._offsets.append(self._offsets[last] + len(self._lines[last]) + 1)
            self._rows.append(self.row_count)
            self._lines.append(line)
            self._wrap(last + 1)

    def set_width(self, width: int) -> None:
        """Wrap everything anew."""
        width = max(1, width)
        if width == self._width:
            return
        self._width = width
        self._breaks.clear()
        row = 0
        for number, line in enumerate(self._lines):
            self._rows[number] = row
            row += 1
            if len(line) > width or number in self._kinds:
                starts = row_starts(line, 0, width, self._kinds.get(number, PLAIN))
                if starts:
                    self._breaks[number] = starts
                    row += len(starts)

    def row(self, number: int) -> Row:
        """What a row shows."""
        line = bisect_right(self._rows, number) - 1
        breaks = self._breaks.get(line)
        if breaks is None:
            return Row(line, 0, len(self._lines[line]))
        at = number - self._rows[line]
        start = breaks[at - 1] if at else 0
        return Row(line, start, breaks[at] if at < len(breaks) else len(self._lines[line]))

    def text_of(self, row: Row) -> str:
        """The text of a row, blanks that hang over its edge included."""
        return self._lines[row.line][row.start : row.end]

    def kind_of(self, line: int) -> Kind:
        """How the cells of a line are counted."""
        return self._kinds.get(line, PLAIN)

    def row_at(self, offset: int) -> int:
        """The row that shows a code point; the line's last row for its line break."""
        line = bisect_right(self._offsets, max(0, offset)) - 1
        breaks = self._breaks.get(line)
        return self._rows[line] + (bisect_right(breaks, offset - self._offsets[line]) if breaks else 0)

    def first_row_of(self, line: int) -> int:
        """The row with which a line begins."""
        return self._rows[line]

    def offset_of(self, line: int) -> int:
        """The offset at which a line begins."""
        return self._offsets[line]

    def slice(self, start: int, end: int) -> str:
        """The text between two offsets."""
        if end <= start:
            return ""
        first = bisect_right(self._offsets, start) - 1
        last = bisect_right(self._offsets, end) - 1
        text = "\n".join(self._lines[first : last + 1])
        return text[start - self._offsets[first] : end - self._offsets[first]]

    def _grow(self, text: str) -> None:
        last = len(self._lines) - 1
        self._lines[last] += text
        kind = kind_of(text)
        if kind > self._kinds.get(last, PLAIN):
            self._kinds[last] = kind
        breaks = self._breaks.get(last, [])
        breaks += row_starts(self._lines[last], breaks[-1] if breaks else 0, self._width, self.kind_of(last))
        if breaks:
            self._breaks[last] = breaks

    def _wrap(self, line: int) -> None:
        text = self._lines[line]
        kind = kind_of(text)
        if kind != PLAIN:
            self._kinds[line] = kind
        if len(text) > self._width or kind != PLAIN:
            starts = row_starts(text, 0, self._width, kind)
            if starts:
                self._breaks[line] = starts
