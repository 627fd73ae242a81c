"""Syntax highlighting of a diff: lexed slice by slice, the visible lines first."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

from tui.app.diff.layout import Document
from tui.app.diff.pairs import sides_of
from tui.app.diff.rows import Entry, LineEntry, PairEntry, Sides, hides_returns, shown_lines
from tui.app.text.highlight import (
    CodeLexer,
    LineColours,
    SlowCode,
    knows_language,
    lexing_deadline,
    load_lexer,
    slice_end,
)
from tui.model.diffs import DiffLine, FileDiff

_SLICE = 60  # lines lexed at once, which takes milliseconds
_NEAR = 240  # lines: up to this distance, the lines in between are lexed instead of a guess
_MOST_WALKED = 40_000  # lines after this one are always guessed
_LONGEST_SLICE, _MOST_SPANS = 8_000, 4_000
_MOST_KEPT = 4_000


class SideColours:
    """The colors of the lines of one side of a file.

    A line far down is guessed first, as if the code began there, and corrected when everything above it has been lexed:
    only then it is known whether it is inside a long string or comment.
    """

    def __init__(self, lexer: CodeLexer, lines: Sequence[str]) -> None:
        self._lexer, self._lines = lexer, lines
        self._begins: list[int] = [0]
        self._states: list[tuple[str, ...]] = [()]
        self._walked = 0
        self._exact: dict[int, LineColours] = {}
        self._guessed: dict[int, LineColours] = {}

    def at(self, line: int) -> LineColours:
        """Return the colors of a line, counted from 0; none while they are unknown."""
        found = self._exact.get(line)
        return found if found is not None else self._guessed.get(line, ())

    def work(self, first: int, last: int) -> range | None:
        """Lex one more slice for the lines `first` to `last` (inclusive).

        Returns the lines whose colors have changed; None if nothing is left to do for them. Raises SlowCode if the
        slice takes too long.
        """
        last = min(last, len(self._lines) - 1)
        first = max(0, min(first, last))
        missing = next((line for line in range(first, last + 1) if line not in self._exact), None)
        if missing is None:
            return None
        if missing < self._walked:
            return self._lex_again(missing)
        if missing - self._walked > _NEAR:
            guess = next((line for line in range(missing, last + 1) if line not in self._guessed), None)
            if guess is not None:
                return self._guess(guess)
            if last > _MOST_WALKED:
                return None
        return self._walk(keep_from=first - _SLICE)

    def _walk(self, keep_from: int) -> range:
        start = self._walked
        state = self._states[-1]
        end, colours, after = self._lex(start, state)
        self._walked = end
        self._begins.append(end)
        self._states.append(after or ())
        return self._keep(self._exact, start, colours) if end > keep_from else range(0)

    def _lex_again(self, line: int) -> range:
        at = bisect_right(self._begins, line) - 1
        again = self._lines[self._begins[at] : self._begins[at + 1]]
        colours, _ = self._lexer.colours(again, self._states[at], lexing_deadline())
        return self._keep(self._exact, self._begins[at], colours)

    def _guess(self, line: int) -> range:
        start, end = max(0, line - _SLICE // 4), slice_end(self._lines, line, _SLICE)
        colours, _ = self._lexer.colours(self._lines[start:end], (), lexing_deadline())
        return self._keep(self._guessed, line, colours[line - start :])

    def _lex(self, start: int, state: tuple[str, ...]) -> tuple[int, list[LineColours], tuple[str, ...] | None]:
        """Lex a slice, extended to the end of an open construct if that is near; return its end, colors and state."""
        size, deadline = _SLICE, lexing_deadline()
        while True:
            end = slice_end(self._lines, start, size)
            colours, after = self._lexer.colours(self._lines[start:end], state, deadline)
            if after is not None or end == len(self._lines) or size >= _LONGEST_SLICE:
                return end, colours, after
            if sum(map(len, colours)) > _MOST_SPANS:
                return end, colours, after
            size *= 2

    @staticmethod
    def _keep(known: dict[int, LineColours], start: int, colours: list[LineColours]) -> range:
        if len(known) > _MOST_KEPT:
            known.clear()
        known.update(enumerate(colours, start))
        return range(start, start + len(colours))


def language_of(path: str) -> str | None:
    """Return the language of a file for highlighting, by its name, or None."""
    name = path.rpartition("/")[2].lower()
    stem, _, extension = name.rpartition(".")
    for each in (extension if stem else "", name, name.partition(".")[0]):
        if each and knows_language(each):
            return each
    return None


class FileColours:
    """The colors of one file. If its full text is unknown, each hunk is lexed as if the code began there."""

    def __init__(self, file: FileDiff, sides: Sides | None, lexer: CodeLexer) -> None:
        without = hides_returns(file)
        self._firsts: tuple[list[int], list[int]] = ([], [])
        self._parts: tuple[list[SideColours], list[SideColours]] = ([], [])
        if sides is not None:
            for side, lines in enumerate((sides.old, sides.new)):
                self._add(side, 1, shown_lines(lines, without_return=without), lexer)
            return
        for hunk in file.hunks:
            for side, first in enumerate((hunk.old_start, hunk.new_start)):
                texts = [line.text for line in hunk.lines if (line.new if side else line.old) is not None]
                self._add(side, first, shown_lines(texts, without_return=without), lexer)

    def _add(self, side: int, first: int, lines: Sequence[str], lexer: CodeLexer) -> None:
        self._firsts[side].append(first)
        self._parts[side].append(SideColours(lexer, lines))

    def at(self, line: DiffLine, side: int) -> LineColours:
        """Return the colors of a line on one side; none while they are unknown."""
        number = line.new if side else line.old
        part = -1 if number is None else bisect_right(self._firsts[side], number) - 1
        if number is None or part < 0:
            return ()
        return self._parts[side][part].at(number - self._firsts[side][part])

    def work(self, side: int, first: int, last: int) -> bool | None:
        """Lex one more slice for the lines with these numbers (inclusive).

        Returns whether the colors of one of them may have changed; None if nothing is left to do.
        """
        at = max(0, bisect_right(self._firsts[side], first) - 1)
        while at < len(self._parts[side]) and self._firsts[side][at] <= last:
            start = self._firsts[side][at]
            changed = self._parts[side][at].work(first - start, last - start)
            if changed is not None:
                return changed.start <= last - start and changed.stop > first - start
            at += 1
        return None


FindSides = Callable[[FileDiff], Sides | None]
_PAUSE = 0.004


def no_sides(_file: FileDiff) -> None:
    """Return that the full text of a file is not known."""
    return


class Shades:
    """The colors of a document, computed while it is displayed.

    `find_sides` returns the full text of a file, if it is known, and `find_other` that of the right file of a pair;
    they are called in a thread.
    """

    def __init__(self, find_sides: FindSides = no_sides, find_other: FindSides = no_sides) -> None:
        self._find_sides = (find_sides, find_other)
        self._files: dict[tuple[int, int], FileColours | None] = {}
        self._request: tuple[Document, int, int, int] | None = None

    def at(self, section: int, line: DiffLine, side: int) -> LineColours:
        """Return the colors of a line of a file; none while they are unknown."""
        return self._at((section, 0), line, side)

    def at_pair(self, section: int, line: DiffLine, side: int) -> LineColours:
        """Return the colors of a line on one side of a pair of files; none while they are unknown."""
        column, version = _version_of(line, side)
        return self._at((section, column), line, version)

    def _at(self, file: tuple[int, int], line: DiffLine, side: int) -> LineColours:
        colours = self._files.get(file)
        return colours.at(line, side) if colours is not None else ()

    def wants(self, document: Document, first: int, end: int, around: int) -> bool:
        """Set the rows to highlight, with `around` rows before and after them; return whether they have changed."""
        request = (document, first, end, around)
        if self._request is not None and self._request[0] is document and self._request[1:] == request[1:]:
            return False
        self._request = request
        return True

    async def work(self) -> AsyncIterator[bool]:
        """Lex until the requested rows have their colors, then the rows around them.

        Yields after each slice whether the visible rows may have changed.
        """
        if self._request is None:
            return
        document, first, end, around = self._request
        for begin, stop, seen in ((first, end, True), (end, end + around, False), (first - around, first, False)):
            for file, side, low, high in _ranges(document, begin, stop):
                colours = await self._load(document, file)
                try:
                    while colours is not None and (changed := colours.work(side, low, high)) is not None:
                        yield seen and changed
                        await asyncio.sleep(0 if seen else _PAUSE)
                except SlowCode:
                    self._files[file] = None
                    yield True

    async def _load(self, document: Document, place: tuple[int, int]) -> FileColours | None:
        if place not in self._files:
            section, column = place
            file = sides_of(document.files[section])[column]
            language = language_of(file.path) if file else None
            opened = await asyncio.to_thread(self._open, file, column, language) if file and language else None
            self._files[place] = opened
        return self._files[place]

    def _open(self, file: FileDiff, column: int, language: str) -> FileColours:
        lexer: CodeLexer = load_lexer(language)
        return FileColours(file, self._find_sides[column](file), lexer)


def _version_of(line: DiffLine, side: int) -> tuple[int, int]:
    """Return which file of a pair has the colors of a line on a side, and in which version (0: old, 1: new).

    Context without a new number is only in the diff of the other answer.
    """
    if line.kind == "context" and line.new is None:
        return 1 - side, 0
    return side, 0 if line.kind == "removed" else 1


def _ranges(document: Document, begin: int, stop: int) -> Iterator[tuple[tuple[int, int], int, int, int]]:
    """Yield the range of line numbers in some rows: the file by section and column, its side, the first and the last.

    Context has the new side.
    """
    found: dict[tuple[tuple[int, int], int], tuple[int, int]] = {}
    for row in range(max(0, begin), min(stop, document.row_count)):
        section, below = document.find_row(row)
        here = document.sections[section]
        entry = here.entries[here.place(below).entry]
        for column, side, line in _lines_of(entry, beside=here.look.beside):
            number = line.new if side else line.old
            if number is not None:
                key = (section, column), side
                low, high = found.get(key, (number, number))
                found[key] = min(low, number), max(high, number)
    for (file, side), (low, high) in found.items():
        yield file, side, low, high


def _lines_of(entry: Entry, *, beside: bool) -> Iterator[tuple[int, int, DiffLine]]:
    """Yield the lines of a row, each with the column of its file and the side that has its colors."""
    if isinstance(entry, PairEntry):
        yield from ((*_version_of(line, side), line) for side, line in enumerate(entry.lines) if line is not None)
    elif isinstance(entry, LineEntry):
        if entry.new is not None:
            yield 0, 1, entry.new
        if entry.old is not None and (entry.old is not entry.new or beside):
            yield 0, 0, entry.old
