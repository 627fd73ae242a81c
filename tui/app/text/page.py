"""A text laid out in rows of styled pieces, with code colors and marks; the cost depends on the visible rows."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple, overload

from rich.cells import cell_len

from tui.app.text.highlight import BlockColours, CodeLexer, CodeRole, SlowCode, knows_language, lexing_deadline
from tui.app.text.sanitize import Sanitizer
from tui.app.text.wrap import CLUSTERS, PLAIN, Row, WrappedText, drawn_at, offset_at, row_cells, whole_characters
from tui.model.code_fences import FencedBlock, FenceParser

MarkKind = Literal["expected", "forbidden"]


class Mark(NamedTuple):
    """A match of a pattern: a half-open range of code points of the raw text."""

    start: int
    end: int
    kind: MarkKind


class Marks:
    """Marks sorted by position, of which one may be the current one."""

    def __init__(self) -> None:
        self._given: list[Mark] = []
        self._marks: list[Mark] = []
        self._starts: list[int] = []
        self._reach: list[int] = []  # the greatest end of the marks up to each one: they may overlap
        self.current: int | None = None

    def __len__(self) -> int:
        return len(self._marks)

    def __getitem__(self, number: int) -> Mark:
        return self._marks[number]

    def replace(self, marks: Sequence[Mark]) -> int | None:
        """Replace all marks; the current one stays current if it is among them.

        Returns the raw offset from which on marks have changed, or None.
        """
        before, self._given = self._given, list(marks)
        if self._given[: len(before)] == before:  # usually, new marks are at the end
            further = sorted(set(self._given[len(before) :]))
            if not further:
                return None
            if not self._marks or further[0] > self._marks[-1]:
                return self._extend(further)
        fresh = list(dict.fromkeys(sorted(marks)))
        if fresh == self._marks:
            return None
        same = _common(fresh, self._marks)
        first = min(found[same].start for found in (fresh, self._marks) if same < len(found))
        kept = self._marks[self.current] if self.current is not None else None
        del self._starts[same:], self._reach[same:], self._marks[same:]
        self._extend(fresh[same:])
        self.current = fresh.index(kept) if kept in fresh else None
        return first

    def _extend(self, further: list[Mark]) -> int | None:
        farthest = self._reach[-1] if self._reach else 0
        self._reach += list(accumulate((mark.end for mark in further), max, initial=farthest))[1:]
        self._starts += [mark.start for mark in further]
        self._marks += further
        return further[0].start if further else None

    def step(self, by: int, start: int) -> int | None:
        """Make the next (`by` 1) or previous (-1) mark the current one, and return its number, or None without marks.

        It wraps around the ends. If no mark is current, it is the first one at or after the raw offset `start`, or the
        last one before it.
        """
        if not self._marks:
            return None
        at = bisect_left(self._starts, start)
        found = self.current + by if self.current is not None else at if by > 0 else at - 1
        self.current = found % len(self._marks)
        return self.current

    def touching(self, start: int, end: int) -> Iterator[int]:
        """Yield the numbers of the marks that overlap a range of the raw text."""
        for number in range(bisect_right(self._reach, start), len(self._marks)):
            mark = self._marks[number]
            if mark.start >= end:
                break
            if mark.end > start:
                yield number


def _common(one: list[Mark], other: list[Mark]) -> int:
    """Return the number of equal marks at the beginning of both lists."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


Base = CodeRole | Literal["text", "dim", "strong", "emphasis", "link"]
MarkLook = MarkKind | Literal["current"]


class TextStyle(NamedTuple):
    """The style of a piece of text: base color, mark, selection."""

    base: Base
    mark: MarkLook | None = None
    selected: bool = False


class _BlockLines(Sequence[str]):
    """The lines of a code block in the lines of a text, without the quotes (`> `) before them; nothing is copied."""

    def __init__(self, lines: Sequence[str], block: FencedBlock, end: int) -> None:
        self._lines, self._block, self._end = lines, block, end

    def __len__(self) -> int:
        return self._end - self._block.first

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        found = range(self._block.first, self._end)[at]
        if isinstance(found, int):
            return self._code(self._lines[found])
        return [self._code(self._lines[number]) for number in found]

    def _code(self, line: str) -> str:
        return self._block.fence.blank_quotes(line) if self._block.fence.quotes else line


Run = tuple[str, TextStyle]
_Part = tuple[int, int]

_MOST_WORK = 500_000  # laid out at once, in characters of plain text: at most about 20 ms
_PIECE = 16_384  # characters
_MOST_REREAD_LINES = 10_000  # in the event loop, at once


def _work(text: str) -> int:
    """Return how much work it is to lay out a text, in characters of plain text."""
    return len(text) * (1 if text.isascii() and "\t" not in text else 16) + 100 * text.count("\n")


class Page:
    """One text laid out in rows.

    Rows count from 0; there is always at least one. `base` is the style of plain text.

    A call does a limited amount of work, whatever the length of the text: while the page `is_behind`, `lay_out_more`
    continues. Until then the page has the beginning of the text, or the rows of the previous width.
    """

    def __init__(self, width: int, base: Base = "text") -> None:
        self._base = base
        self._sanitizer = Sanitizer()
        self._text = WrappedText(width)
        self._rewrapped: WrappedText | None = None  # for another width; it still misses the end of the text
        self._waiting: deque[str] = deque()  # raw text that is not laid out yet
        self._taken = 0  # of the first waiting text
        self._fences = FenceParser(_MOST_REREAD_LINES)
        self._finished = self._ends = False
        self._colours: dict[int, BlockColours] = {}
        self._whole: set[int] = set()  # blocks that were highlighted when they were complete
        self._lexers: dict[str, CodeLexer] = {}
        self._is_slow = False  # to highlight; the rest remains plain
        self.marks = Marks()
        self.missing_languages: set[str] = set()

    def append(self, raw: str) -> None:
        """Append external text as it arrives; it is sanitized here."""
        if not self._misses_text() and len(raw) <= _PIECE:
            self._add(self._sanitizer.feed(raw))
            return
        idle = not self._misses_text()
        self._waiting.append(raw)
        if idle:
            self._take_waiting()

    def _misses_text(self) -> bool:
        return bool(self._waiting) or self._fences.line_count < self.line_count - 1

    @property
    def is_behind(self) -> bool:
        """Return whether `lay_out_more` has anything to do."""
        return self._rewrapped is not None or self._misses_text()

    def has_laid_out(self, raw: int) -> bool:
        """Return whether `row_of` knows the row of an offset of the raw text."""
        return not self._waiting or raw <= self._sanitizer.raw_length

    def lay_out_more(self) -> int | None:
        """Lay out the next part of the text, and return the first row that may have changed, or None."""
        if not self._misses_text():
            return 0 if self._wrap_more() else None
        changed = self.last_line_row
        if self._waiting:
            self._take_waiting()
        else:
            self._read_fences()
        return 0 if self._ends and not self._misses_text() and self.finish() else changed

    def _take_waiting(self) -> None:
        parts: list[str] = []
        work = 0
        while self._waiting and work < _MOST_WORK:
            raw = self._waiting[0][self._taken : self._taken + _PIECE]
            self._taken += len(raw)
            if self._taken >= len(self._waiting[0]):
                self._waiting.popleft()
                self._taken = 0
            parts.append(self._sanitizer.feed(raw))
            work += max(_work(raw), _work(parts[-1]))
        self._add("".join(parts))

    def _wrap_more(self) -> bool:
        """Wrap the next part of the text to the new width; if that was the last part, use the new rows, and return
        True."""
        text = self._rewrapped
        if text is None:
            return False
        parts: list[str] = []
        at, work = text.length, 0
        while at < self._text.length and work < _MOST_WORK:
            parts.append(self._text.slice(at, at + _PIECE))
            at += len(parts[-1])
            work += _work(parts[-1])
        text.append("".join(parts))
        if text.length < self._text.length:
            return False
        self._text, self._rewrapped = text, None
        return True

    def finish(self) -> bool:
        """End the text, and append a last character that was held back.

        Returns whether earlier lines may have changed. While text waits to be laid out, this is done after it.
        """
        self._ends = self._misses_text()
        if self._ends:
            return False
        self._add(self._sanitizer.finish())
        self._fences.add_line(self._text.lines[-1])
        self._finished = True
        again = self._fences.finish()
        if again:
            self._colours.clear()
            self._whole.clear()
        return again

    def _add(self, shown: str) -> None:
        if not shown:
            return
        if self._finished:  # text after the end: the last line was not complete
            self._fences, self._finished = FenceParser(_MOST_REREAD_LINES), False
        self._text.append(shown)
        self._read_fences()

    def _read_fences(self) -> None:
        lines, done = self._text.lines, self._fences.line_count
        for line in range(done, min(len(lines) - 1, done + _PIECE)):
            self._fences.add_line(lines[line])

    @property
    def is_empty(self) -> bool:
        """Return whether there is no text yet."""
        return self._text.length == 0

    @property
    def width(self) -> int:
        """Return the width of a row in cells."""
        return self._text.width

    def set_width(self, width: int) -> None:
        """Wrap the whole text to another width; a long one is shown at that width once all of it is wrapped."""
        width, self._rewrapped = max(1, width), None
        if self._text.length <= _PIECE:
            self._text.set_width(width)
        elif width != self._text.width:
            self._rewrapped = WrappedText(width)
            self._wrap_more()

    @property
    def row_count(self) -> int:
        """Return the number of rows after wrapping."""
        return self._text.row_count

    @property
    def last_line_row(self) -> int:
        """Return the first row of the last line."""
        return self._text.first_row_of(self.line_count - 1)

    @property
    def line_count(self) -> int:
        """Return the number of lines before wrapping."""
        return len(self._text.lines)

    def offset_at(self, row: int, drawn: int | None = None) -> int:
        """Return the offset in the sanitized text of an index in a drawn row, by default of the end of the row."""
        place = self._text.row(row)
        start = self._text.offset_of(place.line)
        if drawn is None:
            return start + place.end
        return start + place.start + offset_at(self._text.text_of(place), drawn)

    def row_at(self, offset: int) -> int:
        """Return the row that contains an offset of the sanitized text."""
        return self._text.row_at(offset)

    def row_of(self, raw: int) -> int:
        """Return the row that contains an offset of the raw text."""
        return self._text.row_at(self._sanitizer.shown_at(raw))

    def slice(self, start: int, end: int) -> str:
        """Return the sanitized text between two offsets, unwrapped."""
        return self._text.slice(start, end)

    def mark(self, marks: Sequence[Mark]) -> int | None:
        """Replace all marks, and return the first row that has changed, or None."""
        first = self.marks.replace(marks)
        return None if first is None else self._text.row_at(self._sanitizer.shown_at(first))

    def rows_of_mark(self, number: int) -> tuple[int, int]:
        """Return the first and the last row of a mark."""
        start, end, _ = self.marks[number]
        shown_at = self._sanitizer.shown_at
        return self._text.row_at(shown_at(start)), self._text.row_at(max(shown_at(start), shown_at(end) - 1))

    def step_mark(self, by: int, from_row: int) -> int | None:
        """Make the next or previous mark the current one; if there is none, start at row `from_row`."""
        if self.marks.current is not None:
            return self.marks.step(by, 0)
        seen = next((n for n in range(len(self.marks)) if self.rows_of_mark(n)[0] >= from_row), len(self.marks))
        start = self.marks[seen].start if seen < len(self.marks) else self._sanitizer.raw_length + 1
        return self.marks.step(by, start)

    def add_lexer(self, language: str, lexer: CodeLexer) -> None:
        """Use a lexer for code of a language from now on."""
        self._lexers[language] = lexer
        self.missing_languages.discard(language)

    def prepare(self, first: int, last: int) -> int | None:
        """Compute the colors of the code in some rows, and return the first row that may have changed, or None.

        Languages without a lexer are added to `missing_languages`.
        """
        if self._is_slow:
            return None
        changed: int | None = None
        deadline = lexing_deadline()
        line, end = self._text.row(first).line, self._text.row(last).line
        while line <= end:
            block = self._fences.block_at(line)
            if block is None:
                line += 1
                continue
            stop = end if block.end is None else min(end, block.end - 1)
            try:
                fresh = self._colour(block, line, stop, deadline)
            except SlowCode:
                self._is_slow = True
                return first
            if fresh is not None:
                row = self._text.first_row_of(fresh)
                changed = row if changed is None else min(changed, row)
            line = stop + 1
        return changed

    def _colour(self, block: FencedBlock, first: int, last: int, deadline: float) -> int | None:
        lexer = self._lexers.get(block.language)
        if lexer is None:
            if knows_language(block.language):
                self.missing_languages.add(block.language)
            return None
        colours = self._colours.get(block.first)
        if colours is None:
            colours = self._colours[block.first] = BlockColours(lexer)
        if block.end is not None and block.first not in self._whole:
            colours.restart()
            self._whole.add(block.first)
        end = self._fences.line_count if block.end is None else block.end
        code = _BlockLines(self._text.lines, block, end)
        changed = colours.prepare(code, first - block.first, last - block.first, deadline)
        return None if changed is None else block.first + changed

    def runs(self, number: int) -> list[Run]:
        """Return the styled pieces of a row, with tabs expanded, in at most `width` cells."""
        row = self._text.row(number)
        text = self._visible(row)
        bases = list(self._bases(row, len(text)))
        looks = self._looks(row, text)
        if len(bases) == 1 and not looks:
            return [(row_cells(text), TextStyle(bases[0][1]))] if text else []
        edges = sorted({0, len(text), *(start for (start, _), _ in bases), *(at for part, _ in looks for at in part)})
        drawn = row_cells(text)
        return [
            (
                drawn[drawn_at(text, start) : drawn_at(text, end)],
                TextStyle(_covering(bases, start), _strongest(looks, start)),
            )
            for start, end in pairwise(edges)
        ]

    def _visible(self, row: Row) -> str:
        """Return the text of a row without trailing blanks beyond its width."""
        text = self._text.text_of(row)
        if self._text.kind_of(row.line) == PLAIN:
            return text[: self.width]
        return text if cell_len(row_cells(text)) <= self.width else text.rstrip(" \t")

    def _bases(self, row: Row, length: int) -> Iterator[tuple[_Part, Base]]:
        """Yield the parts of a row with their base styles, without gaps."""
        if self._is_fence(row.line):
            yield (0, length), "dim"
            return
        block = self._fences.block_at(row.line)
        colours = self._colours.get(block.first) if block else None
        done = 0
        if block and colours:
            for start, end, role in colours.at(row.line - block.first):
                start, end = max(start - row.start, done), min(end - row.start, length)
                if start < end:
                    if done < start:
                        yield (done, start), self._base
                    yield (start, end), role
                    done = end
        if done < length or not length:
            yield (done, length), self._base

    def _is_fence(self, line: int) -> bool:
        if line < self._fences.line_count:
            return self._fences.is_fence(line)
        return self._fences.would_be_fence(self._text.lines[line])

    def _looks(self, row: Row, text: str) -> list[tuple[_Part, MarkLook]]:
        """Return the marked parts of a row; they may overlap."""
        if not self.marks or not text:
            return []
        offset = self._text.offset_of(row.line) + row.start
        looks: list[tuple[_Part, MarkLook]] = []
        raw_at, shown_at = self._sanitizer.raw_at, self._sanitizer.shown_at
        for number in self.marks.touching(raw_at(offset), raw_at(offset + len(text) - 1) + 1):
            mark = self.marks[number]
            part = max(shown_at(mark.start) - offset, 0), min(shown_at(mark.end) - offset, len(text))
            if self._text.kind_of(row.line) == CLUSTERS:
                part = whole_characters(text, *part)
            if part[0] < part[1]:
                looks.append((part, "current" if number == self.marks.current else mark.kind))
        return looks


def _covering(bases: Iterable[tuple[_Part, Base]], at: int) -> Base:
    return next(base for (start, end), base in bases if start <= at < end)


def _strongest(looks: Iterable[tuple[_Part, MarkLook]], at: int) -> MarkLook | None:
    found = {look for (start, end), look in looks if start <= at < end}
    order: tuple[MarkLook, ...] = ("current", "forbidden", "expected")
    return next((look for look in order if look in found), None)


def with_selection(runs: Sequence[Run], start: int, end: int) -> list[Run]:
    """Return the runs of a row with a range selected, extended to whole characters.

    `start` and `end` are indexes of the drawn text; `end` -1 is the end of the row.
    """
    text = "".join(text for text, _ in runs)
    start, end = whole_characters(text, start, len(text) if end < 0 else end)
    selected: list[Run] = []
    at = 0
    for text, style in runs:
        cuts = sorted({0, len(text), *(min(max(edge - at, 0), len(text)) for edge in (start, end))})
        for begin, finish in pairwise(cuts):
            chosen = start <= at + begin < end
            selected.append((text[begin:finish], style._replace(selected=chosen)))
        at += len(text)
    return selected
