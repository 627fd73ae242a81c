"""One file of a diff, laid out in rows for a width."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from tui.app.diff.rows import Entry, LineEntry, Listed, NoteEntry, SayEntry, list_entries
from tui.app.diff.sides import hides_returns, show_code
from tui.app.diff.spacing import ignore_spacing
from tui.app.text.wrap import PLAIN, kind_of, row_starts
from tui.model.diffs import DiffLine, FileDiff

SAY_MARGIN = 2


@dataclass(frozen=True, slots=True)
class Look:
    """How diffs are shown; `digits` is the room for a line's number; in `prose` a line is a paragraph, in which many
    words may have changed."""

    width: int = 80
    beside: bool = False
    wrap: bool = True
    ignore_space: bool = False
    numbers: bool = True
    digits: int = 3
    prose: bool = False

    @property
    def gutter(self) -> int:
        """Cells left of the text: numbers and a sign."""
        if self.beside:
            return self.digits + 4 if self.numbers else 3
        return 2 * self.digits + 5 if self.numbers else 3

    @property
    def halves(self) -> tuple[int, int]:
        """Cells of both sides where they stand beside each other: one between them is a line."""
        left = max(1, (self.width - 1) // 2)
        return left, max(1, self.width - 1 - left)

    @property
    def rooms(self) -> tuple[int, int]:
        """Cells for the text, on the left (or only) and the right side."""
        if not self.beside:
            return (max(1, self.width - self.gutter),) * 2
        left, right = self.halves
        return max(1, left - self.gutter), max(1, right - self.gutter)


class Texts(NamedTuple):
    """What is shown of a line on its sides; the same where it is context."""

    old: str
    new: str


class Place(NamedTuple):
    """A row: its entry, and the how manieth row of that it is."""

    entry: int
    sub: int


class Section:
    """Entries in rows. `file` is None where they are of none; `hidden_returns`: every line of it ends in CR, and none
    shows it."""

    def __init__(self, listed: Listed, look: Look, file: FileDiff | None = None) -> None:
        self.file, self.look = file, look
        self.hidden_returns = file is not None and hides_returns(file)
        self.entries: list[Entry] = listed.entries
        self.hunk_entries = listed.hunks
        self.texts = [self._texts(entry) for entry in self.entries]
        self._breaks: dict[tuple[int, int], list[int]] = {}
        self._rows = [0, *accumulate(self._measure(number) for number in range(len(self.entries)))]

    @property
    def row_count(self) -> int:
        """All rows."""
        return self._rows[-1]

    def place(self, row: int) -> Place:
        """What stands in a row."""
        entry = bisect_right(self._rows, row) - 1
        return Place(entry, row - self._rows[entry])

    def row_of(self, entry: int) -> int:
        """The first row of an entry."""
        return self._rows[entry]

    def entry_rows(self, entry: int) -> int:
        """How many rows an entry has."""
        return self._rows[entry + 1] - self._rows[entry]

    def part(self, entry: int, side: int, sub: int) -> tuple[int, int] | None:
        """Which code points of a text (0: old, 1: new) stand in a row of its entry; None below its last row."""
        length = len(self.texts[entry][side])
        if not self.look.wrap and not isinstance(self.entries[entry], SayEntry):
            return (0, length) if sub == 0 else None
        starts = self._breaks.get((entry, side), [])
        if sub > len(starts):
            return None
        return (starts[sub - 1] if sub else 0), (starts[sub] if sub < len(starts) else length)

    def hunk_at(self, entry: int) -> int:
        """The hunk to which an entry belongs, counted from 0; -1 above the first."""
        return bisect_right(self.hunk_entries, entry) - 1

    def entry_of(self, old: int | None, new: int | None) -> int:
        """The entry with such a line, or the nearest one before it."""
        found = 0
        for number, entry in enumerate(self.entries):
            if isinstance(entry, LineEntry):
                line = entry.new or entry.old
                if line is None:
                    continue
                if (new is not None and line.new is not None and line.new > new) or (
                    old is not None and line.old is not None and line.old > old
                ):
                    return found
                found = number
                if (new is not None and line.new == new) or (new is None and line.old == old):
                    return number
        return found

    def _texts(self, entry: Entry) -> Texts:
        if isinstance(entry, LineEntry):
            old = self._shown(entry.old)
            return Texts(old, old) if entry.old is entry.new else Texts(old, self._shown(entry.new))
        if isinstance(entry, NoteEntry):
            return Texts(entry.old, entry.new)
        if isinstance(entry, SayEntry):
            said = f"{entry.subject}: {entry.text}" if entry.subject else entry.text
            return Texts(said, "")
        return Texts("", "")

    def partner_text(self, line: DiffLine) -> str:
        """A line as it is shown."""
        return self._shown(line)

    def _shown(self, line: DiffLine | None) -> str:
        return "" if line is None else show_code(line.text, without_return=self.hidden_returns)

    def _measure(self, number: int) -> int:
        """The rows of an entry, where it is wrapped."""
        entry = self.entries[number]
        is_said = isinstance(entry, SayEntry)
        if not is_said and not (self.look.wrap and isinstance(entry, LineEntry | NoteEntry)):
            return 1
        rows = 1
        for side, text in enumerate(self.texts[number]):
            room = max(1, self.look.width - 2 * SAY_MARGIN) if is_said else self.look.rooms[side]
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


def file_section(file: FileDiff, look: Look, *, head: bool = True) -> Section:
    """The section of a file, as the look wants it, with its name above or without."""
    shown = ignore_spacing(file) if look.ignore_space else file
    notes = ("Only white space changed.",) if file.hunks and not shown.hunks else ()
    return Section(list_entries(shown, beside=look.beside, head=head, notes=notes), look, file)
