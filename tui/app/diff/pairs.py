"""The changes that two answers make to the same files, row by row: both sides have a line of the base on one row."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import NamedTuple

from tui.app.diff.rows import (
    BlankEntry,
    Entry,
    GapEntry,
    Listed,
    NoteEntry,
    PairEntry,
    PairHeadEntry,
    SayEntry,
    file_notes,
    newline_note,
)
from tui.app.diff.word_diff import pair_lines
from tui.model.diffs import DiffLine, FileDiff
from tui.model.sanitize import sanitize_line


@dataclass(frozen=True, slots=True)
class FilePair:
    """The changes of two answers to the same file of the base; None for an answer that did not change it.

    `names` are the displayed names of the two models.
    """

    left: FileDiff | None
    right: FileDiff | None
    names: tuple[str, str]

    @property
    def sides(self) -> tuple[FileDiff | None, FileDiff | None]:
        """Return both changes."""
        return self.left, self.right

    @property
    def shown(self) -> FileDiff:
        """Return the change whose name is displayed: the left one, if there is one."""
        file = self.left or self.right
        assert file is not None, "a pair has at least one change"
        return file


ShownFile = FileDiff | FilePair


def sides_of(file: ShownFile) -> tuple[FileDiff | None, ...]:
    """Return the changes that are displayed for a file: one, or those of two answers."""
    return file.sides if isinstance(file, FilePair) else (file,)


def shown_file(file: ShownFile) -> FileDiff:
    """Return the change whose name is displayed."""
    return file.shown if isinstance(file, FilePair) else file


def have_other_originals(left: Sequence[FileDiff], right: Sequence[FileDiff]) -> bool:
    """Return whether a file that both answers change had another content when the other answer was applied."""
    known = {_base_path(file): file.old_id for file in left}
    pairs = ((known.get(_base_path(file), ""), file.old_id) for file in right)
    # How long an abbreviated id is depends on the repository.
    return any(one and other and not (one.startswith(other) or other.startswith(one)) for one, other in pairs)


def pair_files(left: Sequence[FileDiff], right: Sequence[FileDiff], names: tuple[str, str]) -> tuple[FilePair, ...]:
    """Pair the changes of two answers by the name of the file in the base: first those of the left answer."""
    rest = {_base_path(file): file for file in right}
    pairs = [FilePair(file, rest.pop(_base_path(file), None), names) for file in left]
    return (*pairs, *(FilePair(None, file, names) for file in rest.values()))


def _base_path(file: FileDiff) -> str:
    return file.old_path or file.path


def list_pair(pair: FilePair, *, head: bool, notes: Sequence[str] = ()) -> Listed:
    """Return the entries of a file that two answers may have changed. Overlapping hunks of both become one."""
    entries: list[Entry] = [BlankEntry(), PairHeadEntry(pair.shown, *map(counts_of, pair.sides))] if head else []
    entries += (SayEntry("", note) for note in (*_pair_notes(pair), *notes))
    left, right = (_SideLines(file) for file in pair.sides)
    ranges = _merged_ranges(left, right)
    hunks: list[int] = []
    shown = 0
    for part in ranges:
        hunks.append(len(entries))
        if part.first - 1 > shown or part.heading or len(ranges) > 1:
            entries.append(GapEntry(max(0, part.first - 1 - shown), part.heading))
        shown = max(shown, part.end - 1)
        entries += _rows(left, right, part)
    return Listed(entries, hunks)


def counts_of(file: FileDiff | None) -> tuple[int, int] | None:
    """Return the numbers of added and removed lines; None for an answer that did not change the file."""
    return None if file is None else (file.added, file.removed)


def _pair_notes(pair: FilePair) -> Iterator[str]:
    found = [[*file_notes(file)] if file else ["Not changed."] for file in pair.sides]
    for name, notes in zip(pair.names, found, strict=True):
        shown = sanitize_line(name, 60)
        yield from (f"Not changed by {shown}." if note == "Not changed." else f"{shown}: {note}" for note in notes)


class _Range(NamedTuple):
    """Lines of the base from `first` to before `end`; lines inserted before `first` belong to it."""

    first: int
    end: int
    heading: str


def _merged_ranges(left: "_SideLines", right: "_SideLines") -> list[_Range]:
    merged: list[_Range] = []
    for part in sorted([*left.ranges, *right.ranges]):
        last = merged[-1] if merged else None
        if last is None or part.first > last.end:
            merged.append(part)
        else:
            merged[-1] = _Range(last.first, max(last.end, part.end), last.heading or part.heading)
    return merged


class _SideLines:
    """The lines of one answer's change: by their number in the base, and those inserted after a line of the base."""

    def __init__(self, file: FileDiff | None) -> None:
        self.ranges: list[_Range] = []
        self.base: dict[int, DiffLine] = {}
        self.inserted: dict[int, list[DiffLine]] = {}
        self._partners: dict[int, DiffLine] = {}
        for hunk in file.hunks if file else ():
            first = hunk.old_start if hunk.old_count else hunk.old_start + 1
            self.ranges.append(_Range(first, first + hunk.old_count, hunk.heading))
            self._add(hunk.lines, first - 1)

    def _add(self, lines: Sequence[DiffLine], above: int) -> None:
        for line in lines:
            if line.old is not None:
                above = line.old
                self.base[above] = line
            else:
                self.inserted.setdefault(above, []).append(line)
        for is_context, run in groupby(lines, lambda line: line.kind == "context"):
            if not is_context:
                together = [*run]
                removed = [line for line in together if line.kind == "removed"]
                added = [line for line in together if line.kind == "added"]
                for old, new in pair_lines(removed, added):
                    if old is not None and new is not None:
                        self._partners[id(old)], self._partners[id(new)] = new, old

    def partner(self, line: DiffLine | None) -> DiffLine | None:
        """Return the line that replaced a removed line, or that an added line replaced."""
        return None if line is None else self._partners.get(id(line))

    def line(self, number: int, other: "_SideLines") -> DiffLine | None:
        """Return a line of the base. Only the other answer's diff may show it: then this answer did not touch it."""
        known, untouched = self.base.get(number), other.base.get(number)
        if known is None and untouched is not None:
            return DiffLine("context", untouched.text, number, None, untouched.newline)
        return known


def _rows(left: _SideLines, right: _SideLines, part: _Range) -> Iterator[Entry]:
    yield from _inserted(left, right, part.first - 1)
    for number in range(part.first, part.end):
        yield from _row(left, right, left.line(number, right), right.line(number, left))
        yield from _inserted(left, right, number)


def _inserted(left: _SideLines, right: _SideLines, number: int) -> Iterator[Entry]:
    for one, other in zip_longest(left.inserted.get(number, ()), right.inserted.get(number, ())):
        yield from _row(left, right, one, other)


def _row(left: _SideLines, right: _SideLines, one: DiffLine | None, other: DiffLine | None) -> Iterator[Entry]:
    yield PairEntry((one, other), (left.partner(one), right.partner(other)))
    if (one and not one.newline) or (other and not other.newline):
        yield NoteEntry(newline_note(one), newline_note(other))
