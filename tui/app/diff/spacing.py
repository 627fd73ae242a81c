"""A diff in which lines that differ in white space alone are no change."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby

from tui.model.diffs import DiffLine, FileDiff, Hunk

_MOST_COMPARED = 40_000


def ignore_spacing(file: FileDiff) -> FileDiff:
    """The same file without such changes: their new text becomes context, hunks without a change are left out."""
    hunks = tuple(hunk for hunk in map(_ignore, file.hunks) if any(line.kind != "context" for line in hunk.lines))
    kinds = [line.kind for hunk in hunks for line in hunk.lines]
    return replace(file, hunks=hunks, added=kinds.count("added"), removed=kinds.count("removed"))


def _ignore(hunk: Hunk) -> Hunk:
    lines: list[DiffLine] = []
    for is_context, run in groupby(hunk.lines, lambda line: line.kind == "context"):
        together = [*run]
        lines += together if is_context else _unchanged_apart(together)
    return replace(hunk, lines=tuple(lines))


def _unchanged_apart(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    removed = [line for line in lines if line.kind == "removed"]
    added = [line for line in lines if line.kind == "added"]
    i = j = 0
    for at, other, size in [*_alike(_keys(removed), _keys(added)), (len(removed), len(added), 0)]:
        yield from removed[i:at]
        yield from added[j:other]
        for old, new in zip(removed[at : at + size], added[other : other + size], strict=True):
            yield new._replace(kind="context", old=old.old)
        i, j = at + size, other + size


def _keys(lines: Iterable[DiffLine]) -> list[str]:
    return ["".join(line.text.split()) for line in lines]


def _alike(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int]]:
    """Where lines are equal: place in the one, in the other, how many."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield 0, 0, start
    a, b = old[start : len(old) - end], new[start : len(new) - end]
    if a and b and len(a) * len(b) <= _MOST_COMPARED:
        for at, other, size in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]:
            yield at + start, other + start, size
    yield len(old) - end, len(new) - end, end
