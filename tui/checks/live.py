"""Follows an answer while it arrives: looks only at what is new, and a little before it.

What is found is provisional; the verdict comes from a scan of the whole at the end.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tui.checks.followed import REACH, Followed, follow
from tui.checks.searches import Matches, Search
from tui.model.events import LiveState
from tui.model.results import Span
from tui.model.suite import Check

SearchText = Callable[[str, Sequence[Search]], Awaitable[tuple[Matches, ...]]]


@dataclass(frozen=True, slots=True)
class Watched:
    """How a check stands now: `check` is its place among the checks that are watched; the spans are all so far, at
    most 1,000, in code points of the answer."""

    check: int
    state: LiveState
    spans: tuple[Span, ...]


class Watch:
    """One answer that arrives. Checks that can only be decided at the end never move. The worker is given the new text
    and the last few thousand code points before it, for patterns with a lookbehind all of it, and keeps nothing."""

    def __init__(self, checks: Sequence[Check], search: SearchText) -> None:
        self._search = search
        self._followed = [followed for number, check in enumerate(checks) if (followed := follow(number, check))]
        self._pieces: list[str] = []
        self._whole = ""
        self._window = ""
        self._base = 0
        self._seen = 0
        self._is_polling = False

    def feed(self, text: str) -> None:
        """More of the answer. Only kept until the next poll."""
        if self._followed:
            self._pieces.append(text)

    async def poll(self) -> tuple[Watched, ...]:
        """Look at what is new. The checks that moved since the last poll; none while an earlier poll still runs.
        When cancelled, nothing is lost: the next poll looks at the same text."""
        if self._is_polling:
            return ()
        fresh = "".join(self._pieces)
        self._pieces.clear()
        self._window += fresh
        if any(each.needs_whole for each in self._followed):
            self._whole += fresh
        end = self._base + len(self._window)
        active = [each for each in self._followed if each.is_open]
        if end == self._seen or not active:
            return ()
        self._is_polling = True
        try:
            await self._look(active, end)
        finally:
            self._is_polling = False
        self._seen = end
        self._forget(end)
        return tuple(Watched(each.number, each.state, each.spans) for each in active if each.moved())

    def close(self) -> None:
        """Nothing more will come. May be called again."""
        self._followed.clear()
        self._pieces.clear()
        self._window = self._whole = ""

    async def _look(self, active: Sequence[Followed], end: int) -> None:
        base, window = self._base, self._window
        for each in active:
            if not each.is_searched:
                each.take(each.find(window, base), base, end)
        due = [each for each in active if each.is_searched and each.is_due(end)]
        await self._search_for([each for each in due if not each.needs_whole], window, base, end)
        await self._search_for([each for each in due if each.needs_whole], self._whole, 0, end)

    async def _search_for(self, followed: Sequence[Followed], text: str, base: int, end: int) -> None:
        if followed:
            results = await self._search(text, [each.search(base) for each in followed])
            for each, matches in zip(followed, results, strict=True):
                each.take(matches, base, end)

    def _forget(self, end: int) -> None:
        """Keep only what a match that is still open, or a look back, may need."""
        keep = max(self._base, end - REACH)
        self._window = self._window[keep - self._base :]
        self._base = keep
