"""Find a pattern in a text with its engine. Can run for ever or crash: only the worker process calls this."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from regress import Match, Regex, RegressError

from tui.checks.searches import Matches, Search
from tui.model.trials import MOST_SPANS, Span

# The engine lets these match ASCII letters, JavaScript does not. Letters without case and as long in UTF-8 stand in.
_STRAYS = (("\u017f", "\u01bb"), ("\u0131", "\u01c0"), ("\u212a", "\u2135"))

FirstFound = Callable[[int, int], None]


def find_matches(text: str, search: Search, tell_first: FirstFound) -> Matches:
    """All matches from `search.start` on. `tell_first` is told the first one before the others are looked for: it
    is enough for a verdict, should the rest take too long."""
    find = _find_javascript if search.engine == "javascript" else _find_python
    first: list[Span] = []

    def note_first(start: int, end: int) -> None:
        first.append((start, end))
        tell_first(start, end)

    try:
        return find(text, search, note_first)
    except (RegressError, re.error, ValueError, OverflowError, RecursionError) as error:
        return Matches(failure=f"the pattern cannot be compiled: {error}")
    except MemoryError:
        if first:
            return Matches(1, (first[0],), counted=False)
        return Matches(failure="the pattern needs too much memory on this text")


@lru_cache(maxsize=1_024)
def _javascript(pattern: str) -> Regex:
    return Regex(pattern, "i")


@lru_cache(maxsize=1_024)
def _python(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _find_javascript(text: str, search: Search, tell_first: FirstFound) -> Matches:
    left = max(0, search.start - search.context)
    piece = text[left:] if left else text
    is_ascii = piece.isascii()
    if not is_ascii and search.pattern.isascii() and "\\u" not in search.pattern:
        for stray, stand_in in _STRAYS:
            piece = piece.replace(stray, stand_in)
    regex = _javascript(search.pattern)
    first = regex.find(piece)
    if first is None:
        return Matches()
    encoded = b"" if is_ascii else piece.encode()
    start, end = next(_in_code_points([first.range()], encoded))
    if left + start >= search.start:
        tell_first(left + start, left + end)
    found = list(regex.find_iter(piece) or ())
    skipped = _known(found, len(piece[: search.start - left].encode())) if search.start > left else 0
    ranges = [match.range() for match in found[skipped : skipped + MOST_SPANS]]
    spans = tuple((left + start, left + end) for start, end in _in_code_points(ranges, encoded))
    return Matches(len(found) - skipped, spans)


def _known(found: Sequence[Match], edge: int) -> int:
    """How many matches begin before that byte, in the context: they are known already, or are none."""
    return next((number for number, match in enumerate(found) if match.range().start >= edge), len(found))


def _in_code_points(ranges: Iterable[slice], encoded: bytes) -> Iterator[Span]:
    """Ranges of bytes, in order, as ranges of code points; no bytes are given where both are the same."""
    at = points = 0
    for each in ranges:
        if not encoded:
            yield each.start, each.stop
            continue
        start = points + len(encoded[at : each.start].decode())
        points = start + len(encoded[each.start : each.stop].decode())
        at = each.stop
        yield start, points


def _find_python(text: str, search: Search, tell_first: FirstFound) -> Matches:
    left = max(0, search.start - search.context)
    piece = text[left:] if left else text
    found = _python(search.pattern).finditer(piece, search.start - left)
    spans = [(left + match.start(), left + match.end()) for match in islice(found, 1)]
    if not spans:
        return Matches()
    tell_first(*spans[0])
    spans += [(left + match.start(), left + match.end()) for match in islice(found, MOST_SPANS - 1)]
    return Matches(len(spans) + sum(1 for _ in found), tuple(spans))
