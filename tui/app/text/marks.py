"""The places that patterns found in an answer, and which of them a part of the text touches."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

MarkKind = Literal["expected", "forbidden"]


class Mark(NamedTuple):
    """A place that a pattern found: a half-open range of code points of the raw text."""

    start: int
    end: int
    kind: MarkKind


class Marks:
    """Marks by their place. One of them may be the current one."""

    def __init__(self) -> None:
        self._given: list[Mark] = []
        self._marks: list[Mark] = []
        self._starts: list[int] = []
        self._reach: list[int] = []  # how far the marks up to each one reach: they may overlap
        self.current: int | None = None

    def __len__(self) -> int:
        return len(self._marks)

    def __getitem__(self, number: int) -> Mark:
        return self._marks[number]

    def replace(self, marks: Sequence[Mark]) -> int | None:
        """Take these instead; the current one stays current if it is among them. Returns the raw offset from which on
        something has changed, None where nothing has."""
        before, self._given = self._given, list(marks)
        if self._given[: len(before)] == before:  # as a rule, more is found at the end
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
        """Make the next (`by` 1) or previous (-1) mark the current one, around the end; without a current one the
        first at or after the raw offset `start`, or the last before it. None where there are no marks."""
        if not self._marks:
            return None
        at = bisect_left(self._starts, start)
        found = self.current + by if self.current is not None else at if by > 0 else at - 1
        self.current = found % len(self._marks)
        return self.current

    def touching(self, start: int, end: int) -> Iterator[int]:
        """The numbers of the marks that touch a range of the raw text."""
        for number in range(bisect_right(self._reach, start), len(self._marks)):
            mark = self._marks[number]
            if mark.start >= end:
                break
            if mark.end > start:
                yield number


def _common(one: list[Mark], other: list[Mark]) -> int:
    """How many marks at the beginning are the same in both."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
