"""All files of a diff below each other: rows, hunks, files, and places that stay when it is laid out anew."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from tui.app.diff.rows import LineEntry, list_refused
from tui.app.diff.section import Look, Section, file_section
from tui.model.diffs import FileDiff
from tui.model.results import NotApplied, Span

_MOST_FOUND = 10_000


class Anchor(NamedTuple):
    """A line by its file and numbers, which stay when other rows are around it, and how many entries above it are
    meant; `row` is the row of its section where there is no line."""

    section: int
    old: int | None
    new: int | None
    row: int
    above: int = 0


class Match(NamedTuple):
    """A place that was searched for: `side` 0 is the old text."""

    section: int
    entry: int
    side: int
    span: Span


class Document:
    """Sections below each other; the last one tells what was not applied. Rows count from 0. Costs what it is long:
    make large ones in a thread."""

    def __init__(self, files: Sequence[FileDiff], refused: Sequence[NotApplied], look: Look) -> None:
        self.files, self.refused = tuple(files), tuple(refused)
        self.look = replace(look, digits=_digits(files))
        self.sections = [self._section(number) for number in range(len(self.files))]
        if self.refused:
            self.sections.append(Section(list_refused(self.refused, first=not self.files), self.look))
        self._add_up()

    def _section(self, number: int) -> Section:
        # The first one's name stands above the view, as does that of whichever is read.
        return file_section(self.files[number], self.look, head=number > 0)

    def _add_up(self) -> None:
        self._starts = [0, *accumulate(section.row_count for section in self.sections)]
        self._hunks = [
            (self._starts[at] + section.row_of(entry), at, number)
            for at, section in enumerate(self.sections)
            for number, entry in enumerate(section.hunk_entries)
        ]

    def with_file(self, number: int, file: FileDiff) -> "Document":
        """The same with another diff of one file, for example with more context."""
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
        """All rows."""
        return self._starts[-1]

    @property
    def hunk_count(self) -> int:
        """The hunks of all files."""
        return len(self._hunks)

    def find_row(self, row: int) -> tuple[int, int]:
        """The section of a row, and its row in there."""
        at = min(bisect_right(self._starts, row), len(self.sections)) - 1
        return at, row - self._starts[at]

    def row_of_section(self, number: int) -> int:
        """Where a section begins, without the blank row above it."""
        return self._starts[number] + (1 if number else 0)

    def row_of_hunk(self, number: int) -> int:
        """Where a hunk begins."""
        return self._hunks[number][0]

    def hunk_of_row(self, row: int) -> int:
        """The hunk in which a row is, or the last before it; -1 above the first."""
        return bisect_right(self._hunks, row, key=lambda hunk: hunk[0]) - 1

    def section_of_hunk(self, number: int) -> int:
        """The file of a hunk."""
        return self._hunks[number][1]

    def is_hunk_head(self, row: int, hunk: int) -> bool:
        """Whether the hunk begins in this row."""
        return 0 <= hunk < len(self._hunks) and self._hunks[hunk][0] == row

    def rows_of_hunk(self, number: int) -> range:
        """All rows of a hunk."""
        start, section, _ = self._hunks[number]
        end = self._starts[section + 1]
        if number + 1 < len(self._hunks):
            end = min(end, self._hunks[number + 1][0])
        return range(start, end)

    # --- places

    def anchor_at(self, row: int) -> Anchor | None:
        """What stands in a row, as something that can be found again."""
        if not self.sections:
            return None
        at, below = self.find_row(min(row, self.row_count - 1))
        section = self.sections[at]
        entry = section.place(below).entry
        for above, each in enumerate(section.entries[entry : entry + 4]):
            if isinstance(each, LineEntry):
                return Anchor(at, each.old.old if each.old else None, each.new.new if each.new else None, below, above)
        return Anchor(at, None, None, below)

    def row_at(self, anchor: Anchor | None) -> int:
        """Where that is now."""
        if anchor is None or not self.sections:
            return 0
        at = min(anchor.section, len(self.sections) - 1)
        section = self.sections[at]
        if anchor.old is None and anchor.new is None:
            return self._starts[at] + min(anchor.row, max(0, section.row_count - 1))
        entry = section.entry_of(anchor.old, anchor.new)
        return self._starts[at] + section.row_of(max(0, entry - anchor.above))

    # --- searching

    def search(self, text: str) -> list[Match]:
        """Where the text stands, in order: small letters find capitals too."""
        if not text:
            return []
        pattern = re.compile(re.escape(text), 0 if text != text.lower() else re.IGNORECASE)
        found: list[Match] = []
        for match in self._search(pattern):
            found.append(match)
            if len(found) >= _MOST_FOUND:
                break
        return found

    def _search(self, pattern: re.Pattern[str]) -> Iterator[Match]:
        for at, section in enumerate(self.sections):
            for number, (entry, texts) in enumerate(zip(section.entries, section.texts, strict=True)):
                if not isinstance(entry, LineEntry):
                    continue
                if entry.old is entry.new:
                    sides = ((1, texts.new),)
                else:
                    sides = tuple((side, each) for side, each in enumerate(texts) if each)  # type: ignore[assignment]
                for side, each in sides:
                    yield from (Match(at, number, side, found.span()) for found in pattern.finditer(each))

    def row_of_match(self, match: Match) -> int:
        """The row in which a match begins."""
        section = self.sections[match.section]
        row = section.row_of(match.entry)
        for sub in range(section.entry_rows(match.entry)):
            part = section.part(match.entry, match.side, sub)
            if part is None or match.span[0] < part[1]:
                return self._starts[match.section] + row + sub
        return self._starts[match.section] + row


def _digits(files: Sequence[FileDiff]) -> int:
    ends = (
        max(hunk.old_start + hunk.old_count, hunk.new_start + hunk.new_count)
        for file in files
        for hunk in file.hunks[-1:]
    )
    return max(2, len(str(max(ends, default=0))))
