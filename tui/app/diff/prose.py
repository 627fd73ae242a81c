"""Which words of a changed line changed, where the line is prose: a paragraph may be changed in many places."""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise

from tui.app.diff.word_diff import emphasis
from tui.model.results import Span

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_COMPARED = 250_000
_LEAST_ALIKE = 0.35
Spans = tuple[Span, ...]


@lru_cache(2_000)
def prose_emphasis(old: str, new: str) -> tuple[Spans, Spans]:
    """The spans of changed words in both lines; none where they have too little in common to be one line changed."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    if len(a) * len(b) > _MOST_COMPARED:
        return emphasis(old, new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    words = sum(len(word) for word in (*a, *b) if not word.isspace())
    kept = sum(
        len(word) for at, _, size in matcher.get_matching_blocks() for word in a[at : at + size] if not word.isspace()
    )
    if not words or 2 * kept / words < _LEAST_ALIKE:
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
