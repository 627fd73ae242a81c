"""The files of a diff in rows of a given width: sections, hunks, matches, and anchors that survive a new layout."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from rich.cells import cell_len

from tui.app.diff.pairs import FilePair, ShownFile, list_pair, sides_of
from tui.app.diff.rows import (
    Entry,
    LineEntry,
    Listed,
    NoteEntry,
    PairEntry,
    SayEntry,
    hides_returns,
    ignore_spacing,
    is_on_both_sides,
    list_entries,
    list_refused,
    show_code,
)
from tui.app.text.wrap import PLAIN, kind_of, row_starts
from tui.model.diffs import DiffLine, FileDiff
from tui.model.results import NotApplied, Span

SAY_MARGIN = 2


@dataclass(frozen=True, slots=True)
class Look:
    """The options of the display of diffs.

    `digits` is the width of a line number. In `prose` a line is a paragraph, in which many words may have changed.
    """

    width: int = 80
    beside: bool = False
    wrap: bool = True
    ignore_space: bool = False
    numbers: bool = True
    digits: int = 3
    prose: bool = False

    @property
    def gutter(self) -> int:
        """Return the width of the line numbers and the sign in cells."""
        if self.beside:
            return self.digits + 4 if self.numbers else 3
        return 2 * self.digits + 5 if self.numbers else 3

    @property
    def halves(self) -> tuple[int, int]:
        """Return the widths of the two sides in a split view; the cell between them is a vertical line."""
        left = max(1, (self.width - 1) // 2)
        return left, max(1, self.width - 1 - left)

    @property
    def rooms(self) -> tuple[int, int]:
        """Return the widths of the text on the left (or only) side and the right side."""
        if not self.beside:
            return (max(1, self.width - self.gutter),) * 2
        left, right = self.halves
        return max(1, left - self.gutter), max(1, right - self.gutter)


class Texts(NamedTuple):
    """The displayed text of a line on both sides; identical for context."""

    old: str
    new: str


class Place(NamedTuple):
    """The position of a row: its entry, and its index among the rows of the entry."""

    entry: int
    sub: int


class Section:
    """The entries of a file, or of the blocks that were not applied (no `changes`), in rows.

    `hidden_returns` is true if every line ends with CR, which is then not displayed.
    """

    def __init__(self, listed: Listed, look: Look, changes: Sequence[FileDiff] = ()) -> None:
        self.look = look
        self.hidden_returns = bool(changes) and all(map(hides_returns, changes))
        self.entries: list[Entry] = listed.entries
        self.hunk_entries = listed.hunks
        self.texts = [self._texts(entry) for entry in self.entries]
        self._breaks: dict[tuple[int, int], list[int]] = {}
        self._rows = [0, *accumulate(self._measure(number) for number in range(len(self.entries)))]

    @property
    def row_count(self) -> int:
        """Return the number of rows in the section."""
        return self._rows[-1]

    def place(self, row: int) -> Place:
        """Return the position of a row of this section."""
        entry = bisect_right(self._rows, row) - 1
        return Place(entry, row - self._rows[entry])

    def row_of(self, entry: int) -> int:
        """Return the first row of an entry."""
        return self._rows[entry]

    def entry_rows(self, entry: int) -> int:
        """Return the number of rows of an entry."""
        return self._rows[entry + 1] - self._rows[entry]

    def part(self, entry: int, side: int, sub: int) -> tuple[int, int] | None:
        """Return the range of a text (side 0: old, 1: new) in a row of its entry; None below its last row."""
        length = len(self.texts[entry][side])
        if not self.look.wrap and not isinstance(self.entries[entry], SayEntry):
            return (0, length) if sub == 0 else None
        starts = self._breaks.get((entry, side), [])
        if sub > len(starts):
            return None
        return (starts[sub - 1] if sub else 0), (starts[sub] if sub < len(starts) else length)

    def entry_of(self, old: int | None, new: int | None) -> int:
        """Return the entry with a line of these numbers, or the nearest one before it."""
        found = 0
        for number, entry in enumerate(self.entries):
            if not isinstance(entry, LineEntry | PairEntry):
                continue
            here_old, here_new = _numbers(entry)
            if (new is not None and here_new is not None and here_new > new) or (
                old is not None and here_old is not None and here_old > old
            ):
                return found
            if here_old is not None or here_new is not None:
                found = number
            if (new is not None and here_new == new) or (new is None and old is not None and here_old == old):
                return number
        return found

    def _texts(self, entry: Entry) -> Texts:
        if isinstance(entry, LineEntry):
            old = self._shown(entry.old)
            return Texts(old, old) if entry.old is entry.new else Texts(old, self._shown(entry.new))
        if isinstance(entry, PairEntry):
            return Texts(*map(self._shown, entry.lines))
        if isinstance(entry, NoteEntry):
            return Texts(entry.old, entry.new)
        if isinstance(entry, SayEntry):
            text = f"{entry.subject}: {entry.text}" if entry.subject else entry.text
            return Texts(text, "")
        return Texts("", "")

    def partner_text(self, line: DiffLine) -> str:
        """Return the displayed text of a line."""
        return self._shown(line)

    def _shown(self, line: DiffLine | None) -> str:
        return "" if line is None else show_code(line.text, without_return=self.hidden_returns)

    def _measure(self, number: int) -> int:
        """Wrap an entry, and return the number of its rows."""
        entry = self.entries[number]
        is_text = isinstance(entry, SayEntry)
        if not is_text and not (self.look.wrap and isinstance(entry, LineEntry | PairEntry | NoteEntry)):
            return 1
        rows = 1
        for side, text in enumerate(self.texts[number]):
            room = max(1, self.look.width - 2 * SAY_MARGIN) if is_text else self.look.rooms[side]
            if len(text) <= room and text.isascii() and "\t" not in text:
                continue
            kind = kind_of(text)
            if len(text) <= room and kind == PLAIN:
                continue
            starts = row_starts(text, 0, room, kind)
            if starts:
                self._breaks[number, side] = starts
                rows = max(rows, len(starts) + 1)
        return rows


def _numbers(entry: LineEntry | PairEntry) -> tuple[int | None, int | None]:
    """Return the line numbers by which an entry is found in another layout: in the old file, and in the new one."""
    if isinstance(entry, PairEntry):
        return entry.base, entry.lines[0].new if entry.lines[0] else None
    line = entry.new or entry.old
    return (line.old, line.new) if line else (None, None)


_ONLY_SPACE = ("Only whitespace changed.",)


def file_section(file: ShownFile, look: Look, *, head: bool = True) -> Section:
    """Return the section of a file with these options; `head` adds a row with its name."""
    before = [each for each in sides_of(file) if each is not None]
    if isinstance(file, FilePair):
        left, right = (each and _shown_change(each, look) for each in file.sides)
        shown = FilePair(left, right, file.names)
        notes = _ONLY_SPACE if _has_hunks(before) and not _has_hunks(each for each in shown.sides if each) else ()
        return Section(list_pair(shown, head=head, notes=notes), look, before)
    change = _shown_change(file, look)
    notes = _ONLY_SPACE if file.hunks and not change.hunks else ()
    return Section(list_entries(change, beside=look.beside, head=head, notes=notes), look, before)


def _shown_change(file: FileDiff, look: Look) -> FileDiff:
    return ignore_spacing(file) if look.ignore_space else file


def _has_hunks(changes: Iterable[FileDiff]) -> bool:
    return any(change.hunks for change in changes)


MOST_FOUND = 10_000
"""The most matches of a search; further ones are not looked for."""


class Anchor(NamedTuple):
    """A position that survives a new layout: a line by its file and numbers.

    `above` is the number of entries between the position and that line; `row` is the row in the section if there is no
    line.
    """

    section: int
    old: int | None
    new: int | None
    row: int
    above: int = 0


class Match(NamedTuple):
    """A search match; `side` 0 is the old text."""

    section: int
    entry: int
    side: int
    span: Span


class Document:
    """The sections of a diff, one below the other; the last one has the blocks that were not applied.

    With pairs of files, both answers are side by side. Rows count from 0. The constructor takes time in proportion to
    the length: build large ones in a thread.
    """

    def __init__(self, files: Sequence[ShownFile], refused: Sequence[NotApplied], look: Look) -> None:
        self.files, self.refused = tuple(files), tuple(refused)
        self.look = replace(look, digits=_digits(files), beside=look.beside or self.has_pairs)
        self.sections = [self._section(number) for number in range(len(self.files))]
        if self.refused:
            self.sections.append(Section(list_refused(self.refused, first=not self.files), self.look))
        self._add_up()

    def _section(self, number: int) -> Section:
        # The name of the current file is displayed above the view, so the first file needs no head.
        return file_section(self.files[number], self.look, head=number > 0)

    def _add_up(self) -> None:
        self._starts = [0, *accumulate(section.row_count for section in self.sections)]
        self._hunks = [
            (self._starts[at] + section.row_of(entry), at, number)
            for at, section in enumerate(self.sections)
            for number, entry in enumerate(section.hunk_entries)
        ]

    @property
    def has_pairs(self) -> bool:
        """Return whether the changes of two answers are side by side."""
        return any(isinstance(file, FilePair) for file in self.files)

    def with_file(self, number: int, file: ShownFile) -> "Document":
        """Return this document with another diff of one file, for example with more context."""
        other: Document = object.__new__(Document)
        other.files = (*self.files[:number], file, *self.files[number + 1 :])
        other.refused, other.look = self.refused, replace(self.look, digits=_digits(other.files))
        if other.look != self.look:
            return Document(other.files, other.refused, other.look)
        other.sections = [*self.sections]
        other.sections[number] = other._section(number)
        other._add_up()
        return other

    @property
    def row_count(self) -> int:
        """Return the number of rows in the document."""
        return self._starts[-1]

    @property
    def hunk_count(self) -> int:
        """Return the number of hunks in all files."""
        return len(self._hunks)

    def find_row(self, row: int) -> tuple[int, int]:
        """Return the section of a row, and the row's index in that section."""
        at = min(bisect_right(self._starts, row), len(self.sections)) - 1
        return at, row - self._starts[at]

    def row_of_section(self, number: int) -> int:
        """Return the first row of a section, without the blank row above it."""
        return self._starts[number] + (1 if number else 0)

    def row_of_hunk(self, number: int) -> int:
        """Return the first row of a hunk."""
        return self._hunks[number][0]

    def hunk_of_row(self, row: int) -> int:
        """Return the hunk of a row, or the last one before it; -1 above the first."""
        return bisect_right(self._hunks, row, key=lambda hunk: hunk[0]) - 1

    def section_of_hunk(self, number: int) -> int:
        """Return the number of the file that a hunk belongs to."""
        return self._hunks[number][1]

    def rows_of_hunk(self, number: int) -> range:
        """Return the range of the rows of a hunk."""
        start, section, _ = self._hunks[number]
        end = self._starts[section + 1]
        if number + 1 < len(self._hunks):
            end = min(end, self._hunks[number + 1][0])
        return range(start, end)

    def anchor_at(self, row: int) -> Anchor | None:
        """Return an anchor for a row, which `row_at` finds in another layout."""
        if not self.sections:
            return None
        at, below = self.find_row(min(row, self.row_count - 1))
        section = self.sections[at]
        entry = section.place(below).entry
        for above, each in enumerate(section.entries[entry : entry + 4]):
            if isinstance(each, LineEntry):
                return Anchor(at, each.old.old if each.old else None, each.new.new if each.new else None, below, above)
            if isinstance(each, PairEntry):
                return Anchor(at, *_numbers(each), below, above)
        return Anchor(at, None, None, below)

    def row_at(self, anchor: Anchor | None) -> int:
        """Return the current row of an anchor."""
        if anchor is None or not self.sections:
            return 0
        at = min(anchor.section, len(self.sections) - 1)
        section = self.sections[at]
        if anchor.old is None and anchor.new is None:
            return self._starts[at] + min(anchor.row, max(0, section.row_count - 1))
        entry = section.entry_of(anchor.old, anchor.new)
        return self._starts[at] + section.row_of(max(0, entry - anchor.above))

    def search(self, text: str) -> list[Match]:
        """Return the matches of a text in order; a lower-case text ignores case."""
        if not text:
            return []
        pattern = re.compile(re.escape(text), 0 if text != text.lower() else re.IGNORECASE)
        found: list[Match] = []
        for match in self._search(pattern):
            found.append(match)
            if len(found) >= MOST_FOUND:
                break
        return found

    def _search(self, pattern: re.Pattern[str]) -> Iterator[Match]:
        for at, section in enumerate(self.sections):
            for number, (entry, texts) in enumerate(zip(section.entries, section.texts, strict=True)):
                if not isinstance(entry, LineEntry | PairEntry):
                    continue
                if is_on_both_sides(entry):
                    sides = ((1, texts.new),)
                else:
                    sides = tuple((side, each) for side, each in enumerate(texts) if each)  # type: ignore[assignment]
                for side, each in sides:
                    yield from (Match(at, number, side, found.span()) for found in pattern.finditer(each))

    def row_of_match(self, match: Match) -> int:
        """Return the row in which a match begins."""
        section = self.sections[match.section]
        row = section.row_of(match.entry)
        for sub in range(section.entry_rows(match.entry)):
            part = section.part(match.entry, match.side, sub)
            if part is None or match.span[0] < part[1]:
                return self._starts[match.section] + row + sub
        return self._starts[match.section] + row

    def shift_to(self, match: Match, shift: int, most: int) -> int:
        """Return by how many cells to shift unwrapped lines to show a match; `shift` if it is visible already."""
        room = self.look.rooms[match.side]
        text = self.sections[match.section].texts[match.entry][match.side]
        at = cell_len(text[: min(match.span[0], most)])
        if shift <= at < shift + room - 1:
            return shift
        return 0 if at < room - 1 else min(most, at - room // 2)


class DiffSearch:
    """The matches of a text in a document. `current` is the index of the current match; -1 for none."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Clear the search text and its matches."""
        self.text, self.current = "", -1
        self.matches: list[Match] = []
        self._by_entry: dict[tuple[int, int], list[int]] = {}

    def search(self, document: Document, text: str) -> None:
        """Find all matches of a text; none of them is current."""
        self.clear()
        self.text, self.matches = text, document.search(text)
        for number, match in enumerate(self.matches):
            self._by_entry.setdefault((match.section, match.entry), []).append(number)

    def first_from(self, document: Document, row: int) -> int:
        """Return the index of the first match in or after a row; 0 if there is none."""
        rows = (document.row_of_match(match) for match in self.matches)
        return next((number for number, found in enumerate(rows) if found >= row), 0)

    def go_to(self, number: int) -> Match:
        """Make a match the current one, and return it."""
        self.current = number
        return self.matches[number]

    def marks(self, document: Document, section: int, entry: int, side: int) -> Sequence[tuple[Span, bool]]:
        """Return the matches in a line of an entry, each with whether it is the current one."""
        numbers = self._by_entry.get((section, entry))
        if not numbers:
            return ()
        both = is_on_both_sides(document.sections[section].entries[entry])
        found = ((number, self.matches[number]) for number in numbers)
        return [(match.span, number == self.current) for number, match in found if both or match.side == side]


def _digits(files: Sequence[ShownFile]) -> int:
    ends = (
        max(hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count)
        for file in files
        for change in sides_of(file)
        if change is not None
        for hunk in change.hunks[-1:]
    )
    return max(2, len(str(max(ends, default=0))))
