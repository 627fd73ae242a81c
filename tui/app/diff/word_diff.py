"""Pair removed with added lines, and find the changed words in each pair."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from tui.model.diffs import DiffLine
from tui.model.results import Span
from tui.session.changes import changed_words

_WORD = re.compile(r"\w+|[^\w\s]")
_MOST_COMPARED = 64
_LONGEST_LINE = 2_000
_LONGEST_PARAGRAPH = 100_000
_LEAST_SIMILARITY = 0.5
_MOST_MARKED = 0.65

_MOST_WORK = 40_000  # characters compared in one paint: about 4 ms
_MOST_EDITS_WORK = 200_000
_MOST_KEPT = 4_000

Pair = tuple[DiffLine | None, DiffLine | None]
Spans = tuple[tuple[Span, ...], tuple[Span, ...]]
FindWords = Callable[[str, str, bool], Spans]


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
    words = [[_word_counts(line.text) for line in lines] for lines in (removed, added)]
    similarity = [[_similarity(old, new) for new in words[1]] for old in words[0]]
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


def _word_counts(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text[:_LONGEST_LINE]))


def _similarity(old: Counter[str], new: Counter[str]) -> float:
    """Return the share of words that both have, 0 to 1."""
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 1.0


def changed_spans(old: str, new: str, *, prose: bool = False) -> Spans:
    """Return the spans of changed words in both lines; none if most of either line changed.

    A line of prose is a whole paragraph, in which more words can differ than in a line of code.
    """
    spans = changed_words(old, new, longest=_LONGEST_PARAGRAPH, most_edits=400) if prose else changed_words(old, new)
    for text, marked in zip((old, new), spans, strict=True):
        whole = len(text.strip())
        if whole and sum(end - start for start, end in marked) > _MOST_MARKED * whole:
            return (), ()
    return spans


class ChangedWords:
    """The changed words of the lines that are painted, with a limit on the work of one paint.

    Lines beyond the limit are marked as a whole: they are compared by `compare_rest`, in a thread.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bool], Spans] = {}
        self._rest: dict[tuple[str, str, bool], None] = {}
        self._left = _MOST_WORK

    def begin_paint(self) -> None:
        """Allow the work of one more paint."""
        self._left = _MOST_WORK

    def find(self, old: str, new: str, prose: bool) -> Spans:
        """Return the spans of changed words in both lines; none while they are beyond the limit."""
        key = (old, new, prose)
        found = self._known.get(key)
        if found is not None:
            return found
        work = _work(old, new, prose=prose)
        if work > self._left:
            self._rest[key] = None
            return (), ()
        self._left -= work
        return self._keep(key)

    @property
    def has_rest(self) -> bool:
        """Return whether painted lines are not compared yet."""
        return bool(self._rest)

    def compare_rest(self) -> None:
        """Compare the lines beyond the limit. Call it in a thread."""
        for key in list(self._rest):
            self._keep(key)
            self._rest.pop(key, None)

    def _keep(self, key: tuple[str, str, bool]) -> Spans:
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        old, new, prose = key
        spans = self._known[key] = changed_spans(old, new, prose=prose)
        return spans


def _work(old: str, new: str, *, prose: bool) -> int:
    """Return what a comparison costs at most, in characters that are split into words."""
    length = len(old) + len(new)
    return length + min(length * length // 20, _MOST_EDITS_WORK) if prose else length
