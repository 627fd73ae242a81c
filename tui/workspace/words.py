"""Word differences within a changed line."""

import re

from tui.model.results import Span

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def changed_words(
    old: str, new: str, *, longest: int = 2_000, most_edits: int = 12
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans (half-open, code points) removed from the old line and added in the new one.

    Lines that differ in more than `most_edits` words, and those with more than `longest` code points, are marked from
    their first difference to their last. The defaults suit lines of code; a paragraph needs more of both.
    """
    if old == new:
        return (), ()
    if len(old) > longest or len(new) > longest:
        return _outer_spans(old, new)
    a, b = _WORD.findall(old), _WORD.findall(new)
    start = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        start += 1
    end = 0
    most = min(len(a), len(b)) - start
    while end < most and a[-1 - end] == b[-1 - end]:
        end += 1
    common = _common_words(a[start : len(a) - end], b[start : len(b) - end], most_edits)
    return (
        _spans(a, start, end, {at for at, _ in common}),
        _spans(b, start, end, {at for _, at in common}),
    )


def _outer_spans(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    end = next((at for at in range(most - start) if old[-1 - at] != new[-1 - at]), most - start)
    spans = ((start, len(text) - end) for text in (old, new))
    first, second = (((low, high),) if low < high else () for low, high in spans)
    return first, second


def _spans(words: list[str], start: int, end: int, common: set[int]) -> tuple[Span, ...]:
    """Return the spans of the words between `start` and the last `end` that are not in common.

    Two spans with only white space between them are merged.
    """
    place = sum(map(len, words[:start]))
    spans: list[Span] = []
    joins = False
    for number, word in enumerate(words[start : len(words) - end]):
        after = place + len(word)
        if number not in common:
            if spans and joins:
                spans[-1] = (spans[-1][0], after)
            else:
                spans.append((place, after))
            joins = True
        elif joins:
            joins = word.isspace()
        place = after
    return tuple(spans)


def _common_words(a: list[str], b: list[str], most_edits: int) -> list[tuple[int, int]]:
    """Return a longest common subsequence of words (Myers 1986), or nothing if more than `most_edits` differ."""
    if not a or not b or abs(len(a) - len(b)) > most_edits:
        return []
    size_a, size_b = len(a), len(b)
    most_edits = min(most_edits, size_a + size_b)
    # The furthest index in `a` on each diagonal (negative ones count from the end of the list); one state for each
    # number of edits.
    furthest = [0] * (2 * most_edits + 2)
    trace: list[list[int]] = []
    for edits in range(most_edits + 1):
        trace.append(furthest[:])
        for diagonal in range(-edits, edits + 1, 2):
            down = _goes_down(furthest, diagonal, edits)
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < size_a and y < size_b and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= size_a and y >= size_b:
                return _backtracked(trace, size_a, size_b)
    return []


def _goes_down(furthest: list[int], diagonal: int, edits: int) -> bool:
    return diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])


def _backtracked(trace: list[list[int]], x: int, y: int) -> list[tuple[int, int]]:
    common: list[tuple[int, int]] = []
    for edits in range(len(trace) - 1, 0, -1):
        furthest, diagonal = trace[edits], x - y
        previous = diagonal + 1 if _goes_down(furthest, diagonal, edits) else diagonal - 1
        before_x = furthest[previous]
        before_y = before_x - previous
        while x > before_x and y > before_y:
            x, y = x - 1, y - 1
            common.append((x, y))
        x, y = before_x, before_y
    return common + [(at, at) for at in range(x)]
