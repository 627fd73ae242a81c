"""Line breaks of a growing text, in rows of a given width in cells."""

import re
from bisect import bisect_right
from functools import cache, lru_cache
from typing import Literal, NamedTuple
from unicodedata import category, east_asian_width

from rich.cells import cell_len, split_graphemes

TAB = 4

Kind = Literal[0, 1, 2]
PLAIN: Kind = 0  # one cell for each code point
PADDED: Kind = 1  # code points of one or two cells, and tabs
CLUSTERS: Kind = 2  # combining marks, joiners and other text that needs grapheme tables

# Ranges of code points that are one or two cells wide in every context; a test compares them with the tables of rich.
_ONE = (
    " -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u1e00-\u200a\u2010-\u2027\u202f-\u205f\u2070-\u20cf"
    "\u2100-\u2319\u2320-\u2328\u232b-\u23e8\u2400-\u25fc\u2701-\u2704\u270c-\u2727\u2776-\u2794\u2798-\u27af"
    "\u27c0-\u2b1a"
)
_TWO = (
    "\u3001-\u3029\u3031-\u303e\u3041-\u3096\u309b-\u30ff\u3105-\u312f\u3131-\u3163\u3165-\u318e\u3190-\u31ba\u3220-\u3247"
    "\u3250-\ua48c\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001f320\U0001f337-\U0001f37c\U0001f3e0-\U0001f3f0\U0001f400-\U0001f43e\U0001f600-\U0001f64f"
    "\U0001f680-\U0001f6c5\U0001f90c-\U0001f93a\U0001f93c-\U0001f945\U0001f947-\U0001f9ff"
)

_SECOND, _STOP = "\0", "\x01"  # the second cell of a wide character, the further cells of a tab
_BLANKS = re.compile("[ \t]{0,1000}")  # so many blanks may exceed the width of a row, further ones are in the next row
_BLANK_CELLS = " \t" + _STOP


class _Ranges(NamedTuple):
    all_one: re.Pattern[str]
    one_or_two: re.Pattern[str]
    two: re.Pattern[str]


@cache
def _ranges() -> _Ranges:
    """Return the compiled ranges. Compiling takes milliseconds, and most text is ASCII, so this waits for the first
    use."""
    return _Ranges(re.compile(f"[{_ONE}]*"), re.compile(f"[\t{_ONE}{_TWO}]*"), re.compile(f"[{_TWO}]+"))


def kind_of(text: str) -> Kind:
    """Return how the cells of a text are counted; of two texts joined it is the greater kind."""
    if text.isascii():
        return PADDED if "\t" in text else PLAIN
    ranges = _ranges()
    if ranges.all_one.fullmatch(text):
        return PLAIN
    return PADDED if ranges.one_or_two.fullmatch(text) else CLUSTERS


def row_starts(line: str, start: int, width: int, kind: Kind) -> list[int]:
    """Return where the rows after the one at `start` begin. Blanks at the end of a row may exceed its width."""
    length = len(line)
    if length - start <= width and kind == PLAIN:
        return []
    row_end = (_plain_end, _padded_end, _cluster_end)[kind]
    starts: list[int] = []
    while True:
        if kind == PADDED and width > 1:
            starts += _wide_starts(line, start, width // 2)
            start = starts[-1] if starts else start
        end = row_end(line, start, width)
        if end >= length:
            return starts
        starts.append(end)
        start = end


def _wide_starts(line: str, start: int, fitting: int) -> range:
    """Return where the rows begin that follow a row of wide characters only, of which `fitting` fit in a row.

    Scripts without spaces break anywhere, so these rows need no search for a break.
    """
    found = _ranges().two.match(line, start)
    return range(start + fitting, found.end() if found else start, fitting)


def row_cells(text: str) -> str:
    """Return the text of a row with tabs expanded to the next tab stop."""
    if "\t" not in text:
        return text
    parts, used = [], 0
    for number, part in enumerate(text.split("\t")):
        if number:
            parts.append(" " * (TAB - used % TAB))
            used += TAB - used % TAB
        parts.append(part)
        used += cell_len(part)
    return "".join(parts)


def drawn_at(text: str, offset: int) -> int:
    """Return the index in `row_cells` of a code point of a row's text."""
    return len(row_cells(text[:offset])) if "\t" in text else offset


def offset_at(text: str, drawn: int) -> int:
    """Return the code point of a row's text at an index of its `row_cells`; a blank of a tab belongs to the tab."""
    if "\t" not in text:
        return min(drawn, len(text))
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if drawn_at(text, middle) <= drawn:
            low = middle
        else:
            high = middle - 1
    return low


def whole_characters(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a range so that it splits no character of several code points."""
    if text.isascii():
        return start, end
    # Without the replacement, a tab would count as part of the previous character, as it has no width in the tables.
    spans, _ = split_graphemes(text.replace("\t", " "))
    touched = [span for span in spans if span[0] < end and span[1] > start]
    return (touched[0][0], touched[-1][1]) if touched else (start, end)


def _plain_end(line: str, start: int, width: int) -> int:
    limit = start + width
    if len(line) <= limit:
        return len(line)
    if line[limit] == " ":
        return _after_blanks(line, limit)
    space = line.rfind(" ", start, limit)
    if space <= start or line[start:space].isspace():  # do not break after leading blanks
        return limit
    return space + 1


def _after_blanks(line: str, at: int) -> int:
    blanks = _BLANKS.match(line, at)
    return blanks.end() if blanks else at


def _padded_end(line: str, start: int, width: int) -> int:
    cells = _cells_of(line[start : start + width + 1])
    if len(cells) <= width:
        return len(line)
    limit = width - 1 if cells[width] == _SECOND else width
    if cells[limit] in _BLANK_CELLS:
        return _after_blanks(line, start + _code_points(cells, limit))
    found = max(
        max(cells.rfind(blank, 0, limit) for blank in _BLANK_CELLS) + 1,
        cells.rfind(_SECOND, 0, limit) + 1,
        limit if cells[limit + 1 : limit + 2] == _SECOND or limit < width else 0,
    )
    if not cells[:found].strip(_BLANK_CELLS):
        found = limit
    if found == 0:  # a character that is wider than the row
        return _after_blanks(line, start + 1)
    return start + _code_points(cells, found)


def _cells_of(text: str) -> str:
    """Return a text with one character for each cell."""
    parts: list[str] = []
    used = 0
    for number, part in enumerate(text.split("\t")):
        if number:
            stop = TAB - used % TAB
            parts.append("\t" + _STOP * (stop - 1))
            used += stop
        part = part if part.isascii() else _ranges().two.sub(_with_second, part)
        parts.append(part)
        used += len(part)
    return "".join(parts)


def _with_second(found: re.Match[str]) -> str:
    return _SECOND.join(found[0]) + _SECOND


def _code_points(cells: str, end: int) -> int:
    return end - cells.count(_SECOND, 0, end) - cells.count(_STOP, 0, end)


def _cluster_end(line: str, start: int, width: int) -> int:
    # No text needs as many code points per cell: a row of marks without end would be drawn in one cell.
    most = 8 * width + 64
    for window in (4 * width + 16, most):
        piece = line[start : start + window]
        end = _cluster_break(piece, width)
        if end is not None:
            end = start + end
            return _after_blanks(line, end) if line[end : end + 1] in (" ", "\t") else end
        if start + window >= len(line):
            return len(line)
    spans, _ = split_graphemes(piece.replace("\t", " "))
    return start + (spans[-1][0] or most)


def _cluster_break(piece: str, width: int) -> int | None:
    """Return where the row ends in the piece; None if the whole piece fits."""
    used = broken = 0
    blanks_only = True
    last_wide = False
    spans, _ = split_graphemes(piece.replace("\t", " "))
    for begin, end, cells in spans:
        tab = piece[begin] == "\t"
        blank = tab or piece[begin] == " "
        if (last_wide or cells == 2) and not blank and not blanks_only:
            broken = begin
        most = TAB - used % TAB if tab else cells
        if end - begin > 1:
            most = max(cells, _separate_cells(piece[begin:end]))
        if used + most > width:
            return begin if blank else broken or max(begin, spans[0][1])
        used += most
        last_wide = cells == 2
        if blank and not blanks_only:
            broken = begin + 1
        blanks_only = blanks_only and blank
    return None


@lru_cache(maxsize=4_096)
def _separate_cells(cluster: str) -> int:
    """Return the cells that a terminal needs which draws the code points of a cluster side by side, as many do.

    They are vowel signs of Indic scripts, skin tones of emoji, and the people of a family.
    """
    return sum(2 if east_asian_width(sign) in "WF" else category(sign) not in ("Mn", "Me", "Cf") for sign in cluster)


class Row(NamedTuple):
    """A row: the number of its line, and the range of code points of the line that it contains."""

    line: int
    start: int
    end: int


class WrappedText:
    """A growing text that is wrapped to rows; its only control characters are TAB and LF.

    Offsets count its code points; lines and rows count from 0. There is always at least one line and one row; only the
    last line grows.
    """

    def __init__(self, width: int) -> None:
        self._width = max(1, width)
        self._lines: list[str] = [""]
        self._offsets: list[int] = [0]  # where each line begins
        self._rows: list[int] = [0]  # the first row of each line
        self._breaks: dict[int, list[int]] = {}  # where the second and further rows of a line begin
        self._kinds: dict[int, Kind] = {}

    @property
    def width(self) -> int:
        """Return the width of a row in cells."""
        return self._width

    @property
    def row_count(self) -> int:
        """Return the number of rows after wrapping."""
        return self._rows[-1] + 1 + len(self._breaks.get(len(self._lines) - 1, ()))

    @property
    def lines(self) -> list[str]:
        """Return all lines; do not modify the list."""
        return self._lines

    @property
    def length(self) -> int:
        """Return the length of the text in code points."""
        return self._offsets[-1] + len(self._lines[-1])

    def append(self, text: str) -> None:
        """Append text. Rows before the last one do not change."""
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
        """Wrap the whole text to another width."""
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
        """Return the line of a row, and the range of the line that the row contains."""
        line = bisect_right(self._rows, number) - 1
        breaks = self._breaks.get(line)
        if breaks is None:
            return Row(line, 0, len(self._lines[line]))
        at = number - self._rows[line]
        start = breaks[at - 1] if at else 0
        return Row(line, start, breaks[at] if at < len(breaks) else len(self._lines[line]))

    def text_of(self, row: Row) -> str:
        """Return the text of a row, including blanks beyond its width."""
        return self._lines[row.line][row.start : row.end]

    def kind_of(self, line: int) -> Kind:
        """Return how the cells of a line are counted."""
        return self._kinds.get(line, PLAIN)

    def row_at(self, offset: int) -> int:
        """Return the row that contains an offset; for a line break the last row of its line."""
        line = bisect_right(self._offsets, max(0, offset)) - 1
        breaks = self._breaks.get(line)
        return self._rows[line] + (bisect_right(breaks, offset - self._offsets[line]) if breaks else 0)

    def first_row_of(self, line: int) -> int:
        """Return the first row of a line."""
        return self._rows[line]

    def offset_of(self, line: int) -> int:
        """Return the offset at which a line begins."""
        return self._offsets[line]

    def slice(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        if end <= start:
            return ""
        first = bisect_right(self._offsets, start) - 1
        last = bisect_right(self._offsets, end) - 1
        text = self._lines[first] if first == last else "\n".join(self._lines[first : last + 1])
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
