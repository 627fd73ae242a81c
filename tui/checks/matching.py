"""Find patterns in a text with their engines. Can run for ever or crash: only the worker process calls this."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from tui.checks.engine import Engine, Found
from tui.checks.searches import SECONDS_A_PATTERN, TOO_LARGE, Matches, Search, too_long
from tui.model.results import MOST_SPANS, Span

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

FirstFound = Callable[[int, int], None]


def find_javascript(
    engine: Engine, text: str, searches: Sequence[Search], seconds: Callable[[], float] = lambda: SECONDS_A_PATTERN
) -> Iterator[list[Matches]]:
    """Return all matches of each search, in batches, in the order of the searches. `seconds` is asked before each batch
    how long one of its patterns may take; a batch ends after a pattern that took longer."""
    offsets = Utf16Offsets(text)
    allowed = SECONDS_A_PATTERN

    def allow() -> float:
        nonlocal allowed
        allowed = seconds()
        return allowed

    wanted = [(search.pattern, offsets.utf16(search.start)) for search in searches]
    for batch in engine.search(text, wanted, allow):
        yield [_matches(found, offsets, allowed) for found in batch]


def find_python(text: str, search: Search, tell_first: FirstFound) -> Matches:
    """Return all matches from `search.start` on. `tell_first` is told the first one before the others are looked for:
    it is enough for a verdict, should the rest take too long."""
    first: list[Span] = []
    try:
        found = _python(search.pattern).finditer(text, search.start)
        first += [match.span() for match in islice(found, 1)]
        if not first:
            return Matches()
        tell_first(*first[0])
        spans = first + [match.span() for match in islice(found, MOST_SPANS - 1)]
        return Matches(len(spans) + sum(1 for _ in found), tuple(spans))
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        return Matches(failure=f"the pattern cannot be compiled: {error}")
    except MemoryError:
        return Matches(1, (first[0],), counted=False) if first else Matches(failure=TOO_LARGE)


class Utf16Offsets:
    """Where a text's characters are in UTF-16, where one outside the basic plane counts as two."""

    def __init__(self, text: str) -> None:
        self._points = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]
        self._units = [point + number for number, point in enumerate(self._points)]

    def utf16(self, point: int) -> int:
        """Return the offset in UTF-16 units of a code point."""
        return point + bisect_left(self._points, point)

    def spans(self, flat: Sequence[int]) -> tuple[Span, ...]:
        """Return the spans of `[start, end, start, …]` in code points; one that begins or ends inside a character is
        widened to the whole of it."""
        if not self._points:
            return tuple(zip(flat[::2], flat[1::2], strict=True))
        return tuple(
            (self._point(start, 0), self._point(end, 1)) for start, end in zip(flat[::2], flat[1::2], strict=True)
        )

    def _point(self, offset: int, widening: int) -> int:
        before = bisect_left(self._units, offset)
        is_inside = before > 0 and self._units[before - 1] == offset - 1
        return offset - before + (widening if is_inside else 0)


@lru_cache(maxsize=1_024)
def _python(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(found: Found, offsets: Utf16Offsets, seconds: float) -> Matches:
    if found.end == "invalid":
        return Matches(failure=f"the pattern cannot be compiled: {found.reason}")
    if found.end and not found.total:
        return Matches(failure=too_long(seconds) if found.end == "slow" else TOO_LARGE)
    return Matches(found.total, offsets.spans(found.offsets), counted=not found.end)
