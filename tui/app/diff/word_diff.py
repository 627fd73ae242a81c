"""Pair removed with added lines, and find the changed words in each pair."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from tui.model.diffs import DiffLine
from tui.model.results import Span
from tui.session.changes import changed_words

_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_COMPARED = 64
_LONGEST_LINE = 2_000
_LONGEST_PARAGRAPH = 100_000
_LEAST_SIMILARITY = 0.5
_MOST_MARKED = 0.65

Pair = tuple[DiffLine | None, DiffLine | None]


def pair_lines(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    """Pair the removed and the added lines of one change; both keep their order.

    Equal numbers of lines are paired one by one. Otherwise the most similar lines are paired, if there are few.
    """
    if not removed or not added:
        return [*((line, None) for line in removed), *((None, line) for line in added)]
    if len(removed) == len(added) or len(removed) * len(added) > _MOST_COMPARED:
        return _in_order(removed, added)
    return _by_similarity(removed, added)


def _in_order(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    both = min(len(removed), len(added))
    pairs: list[Pair] = list(zip(removed, added, strict=False))
    return [*pairs, *((line, None) for line in removed[both:]), *((None, line) for line in added[both:])]


def _by_similarity(removed: Sequence[DiffLine], added: Sequence[DiffLine]) -> list[Pair]:
    """Return the alignment with the greatest total similarity."""
    similarity = [[_similarity(old.text, new.text) for new in added] for old in removed]
    # best[i][j] is the total for the lines from i and j on.
    best = [[0.0] * (len(added) + 1) for _ in range(len(removed) + 1)]
    for i in reversed(range(len(removed))):
        for j in reversed(range(len(added))):
            paired = similarity[i][j] + best[i + 1][j + 1] if similarity[i][j] >= _LEAST_SIMILARITY else 0.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], paired)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(removed) and j < len(added):
        if similarity[i][j] >= _LEAST_SIMILARITY and best[i][j] == similarity[i][j] + best[i + 1][j + 1]:
            pairs.append((removed[i], added[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            pairs.append((removed[i], None))
            i += 1
        else:
            pairs.append((None, added[j]))
            j += 1
    return [*pairs, *((line, None) for line in removed[i:]), *((None, line) for line in added[j:])]


def _similarity(old: str, new: str) -> float:
    """Return the share of words that both have, 0 to 1."""
    one, other = (Counter(_WORD.findall(text[:_LONGEST_LINE])) for text in (old, new))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


@lru_cache(4_000)
def changed_spans(old: str, new: str, *, prose: bool = False) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans of changed words in both lines; none if most of either line changed.

    A line of prose is a whole paragraph, in which more words can differ than in a line of code.
    """
    spans = changed_words(old, new, longest=_LONGEST_PARAGRAPH, most_edits=400) if prose else changed_words(old, new)
    for text, marked in zip((old, new), spans, strict=True):
        whole = len(text.strip())
        if whole and sum(end - start for start, end in marked) > _MOST_MARKED * whole:
            return (), ()
    return spans
