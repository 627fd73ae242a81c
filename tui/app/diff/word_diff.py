"""Which removed line became which added line, and which words of it changed."""

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from tui.model.diffs import DiffLine
from tui.model.results import Span
from tui.session.changes import changed_words

_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_COMPARED = 64
_LONGEST_LINE = 2_000
_LEAST_ALIKE = 0.5
_MOST_MARKED = 0.65

Pair = tuple[DiffLine | None, DiffLine | None]


def pair_lines(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    """The lines of one change beside each other, both in their order. As many as there were are paired one by one;
    of different counts the likeliest pairs are found, where there are few."""
    if not removed or not added:
        return [*((line, None) for line in removed), *((None, line) for line in added)]
    if len(removed) == len(added) or len(removed) * len(added) > _MOST_COMPARED:
        return _in_order(removed, added)
    return _by_likeness(removed, added)


def _in_order(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    both = min(len(removed), len(added))
    pairs: list[Pair] = list(zip(removed, added, strict=False))
    return [*pairs, *((line, None) for line in removed[both:]), *((None, line) for line in added[both:])]


def _by_likeness(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    """An alignment of the greatest likeness in all; best[i][j] is that of the lines from i and j on."""
    alike = [[_likeness(old.text, new.text) for new in added] for old in removed]
    best = [[0.0] * (len(added) + 1) for _ in range(len(removed) + 1)]
    for i in reversed(range(len(removed))):
        for j in reversed(range(len(added))):
            paired = alike[i][j] + best[i + 1][j + 1] if alike[i][j] >= _LEAST_ALIKE else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(removed) and j < len(added):
        if alike[i][j] >= _LEAST_ALIKE and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((removed[i], added[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((removed[i], None))
            i += 1
        else:
            pairs.append((None, added[j]))
            j += 1
    return [*pairs, *((line, None) for line in removed[i:]), *((None, line) for line in added[j:])]


def _likeness(old: str, new: str) -> float:
    """0 to 1: the share of words that both have."""
    one, other = (Counter(_WORD.findall(text[:_LONGEST_LINE])) for text in (old, new))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def emphasis(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans of changed words in both texts; none where most of either is another: then the lines say it alone."""
    spans = changed_words(old, new)
    for text, marked in zip((old, new), spans, strict=True):
        whole = len(text.strip())
        if whole and sum(end - start for start, end in marked) > _MOST_MARKED * whole:
            return (), ()
    return spans


_PROSE_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_PROSE_MOST_COMPARED = 250_000
_PROSE_LEAST_ALIKE = 0.35
Spans = tuple[Span, ...]


@lru_cache(2_000)
def prose_emphasis(old: str, new: str) -> tuple[Spans, Spans]:
    """The spans of changed words in both lines; none where they have too little in common to be one line changed."""
    a, b = _PROSE_WORD.findall(old), _PROSE_WORD.findall(new)
    if len(a) * len(b) > _PROSE_MOST_COMPARED:
        return emphasis(old, new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    words = sum(len(word) for word in (*a, *b) if not word.isspace())
    kept = sum(
        len(word) for at, _, size in matcher.get_matching_blocks() for word in a[at : at + size] if not word.isspace()
    )
    if not words or 2 * kept / words < _PROSE_LEAST_ALIKE:
        return (), ()
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return _spans(a, [(code[1], code[2]) for code in changed]), _spans(b, [(code[3], code[4]) for code in changed])


def _spans(words: list[str], ranges: list[tuple[int, int]]) -> Spans:
    """Places of ranges of words; two with nothing but white space between them are one."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    joined: list[tuple[int, int]] = []
    for low, high in ranges:
        if joined and low < high and "".join(words[joined[-1][1] : low]).isspace():
            joined[-1] = (joined[-1][0], high)
        elif low < high:
            joined.append((low, high))
    assert all(before[1] <= after[0] for before, after in pairwise(joined)), "ranges are in order"
    return tuple((starts[low], starts[high]) for low, high in joined)
