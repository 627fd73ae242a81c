"""Colours for what is seen of a diff: lexers come in a thread, lines are lexed slice by slice in between."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from tui.app.diff.highlight import FileColours, language_of
from tui.app.diff.layout import Document
from tui.app.diff.rows import LineEntry
from tui.app.diff.sides import Sides
from tui.app.text.highlight import CodeLexer, LineColours, load_lexer
from tui.model.diffs import DiffLine, FileDiff

FindSides = Callable[[FileDiff], Sides | None]
_PAUSE = 0.004


def _no_sides(_file: FileDiff) -> None:
    return None


class Shades:
    """`find_sides` gives the whole text of a file, where it is known; it is called in a thread."""

    def __init__(self, find_sides: FindSides = _no_sides) -> None:
        self._find_sides = find_sides
        self._files: dict[int, FileColours | None] = {}
        self._wanted: tuple[Document, int, int, int] | None = None

    def at(self, section: int, line: DiffLine, side: int) -> LineColours:
        """The colours of a line of a file; none while they are not known."""
        colours = self._files.get(section)
        return colours.at(line, side) if colours is not None else ()

    def wants(self, document: Document, first: int, end: int, around: int) -> bool:
        """Look at these rows now. True where that is something else than before."""
        wanted = (document, first, end, around)
        if self._wanted is not None and self._wanted[0] is document and self._wanted[1:] == wanted[1:]:
            return False
        self._wanted = wanted
        return True

    async def work(self) -> AsyncIterator[bool]:
        """Lex until what is looked at has its colours, then what is around it. Yields after each slice whether what is
        seen may look otherwise now."""
        if self._wanted is None:
            return
        document, first, end, around = self._wanted
        for begin, stop, seen in ((first, end, True), (end, end + around, False), (first - around, first, False)):
            for section, side, low, high in _ranges(document, begin, stop):
                colours = await self._load(document, section)
                while colours is not None and (changed := colours.work(side, low, high)) is not None:
                    yield seen and changed
                    await asyncio.sleep(0 if seen else _PAUSE)

    async def _load(self, document: Document, section: int) -> FileColours | None:
        if section not in self._files:
            file = document.files[section]
            language = language_of(file.path)
            self._files[section] = await asyncio.to_thread(self._open, file, language) if language else None
        return self._files[section]

    def _open(self, file: FileDiff, language: str) -> FileColours:
        lexer: CodeLexer = load_lexer(language)
        return FileColours(file, self._find_sides(file), lexer)


def _ranges(document: Document, begin: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """The numbers of the lines in some rows: section, side, first, last. Context counts on the new side."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(max(0, begin), min(stop, document.row_count)):
        section, below = document.find_row(row)
        here = document.sections[section]
        entry = here.entries[here.place(below).entry]
        if isinstance(entry, LineEntry):
            sides = ((entry.new, 1), (entry.old if entry.old is not entry.new or here.look.beside else None, 0))
            for line, side in sides:
                number = None if line is None else line.new if side else line.old
                if number is not None:
                    low, high = found.get((section, side), (number, number))
                    found[section, side] = min(low, number), max(high, number)
    for (section, side), (low, high) in found.items():
        yield section, side, low, high
