"""Follows an answer while it arrives: looks only at what is new, and a little before it.

What is found is provisional; the verdict comes from a scan of the whole at the end.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from tui.checks.assertions import occurrences
from tui.checks.protocol import Matches, Search
from tui.model.events import LiveState
from tui.model.results import MOST_SPANS, Span
from tui.model.suite import Check

# A match may grow, or turn out to be none, until this much text has come after its beginning.
OPEN_LENGTH = 4_096
_CONTEXT = 256
REACH = OPEN_LENGTH + _CONTEXT
# Texts above this are searched whole only when they have grown by a 64th, so that the work stays linear.
_LARGE = 1 << 16
_GROWTH = 64


class Followed:
    """A check that can move while text arrives. Every match that began `OPEN_LENGTH` code points ago or earlier is
    settled: the search goes on behind it, as a search of the whole would. Later ones are found anew each time. The
    window that is searched begins before the place where the search goes on, so that `^` is not found there."""

    def __init__(self, number: int, check: Check) -> None:
        self.number = number
        self.state = first_state(check)
        self.spans: tuple[Span, ...] = ()
        self.is_open = True
        self._kind, self._target = check.kind, check.target
        self._settled: list[Span] = []
        self._resume = 0
        self._searched_to = 0
        self._told: tuple[LiveState, tuple[Span, ...]] = (self.state, ())

    @property
    def is_searched(self) -> bool:
        """Is a pattern, for the worker."""
        return self._kind != "output.includes"

    @property
    def needs_whole(self) -> bool:
        """Has to be searched for in the whole text so far: a lookbehind may look back to its beginning."""
        return self._kind != "output.includes" and "(?<" in self._target

    def is_due(self, end: int) -> bool:
        """Is worth a search of the text up to `end`."""
        return not self.needs_whole or end < _LARGE or end - self._searched_to >= end // _GROWTH

    def search(self, base: int) -> Search:
        """What to look for in a window that begins at `base`."""
        return Search("python" if self._kind == "output.matches" else "javascript", self._target, self._resume - base)

    def find(self, window: str, base: int) -> Matches:
        """The same for a plain text, here and now."""
        return occurrences(self._target, window, self._resume - base)

    def take(self, matches: Matches, base: int, end: int) -> None:
        """What was found in the window from `base` to `end`."""
        self._searched_to = end
        if matches.failure:
            self.is_open, self.state = False, "timed_out"
            return
        found = [(base + start, base + stop) for start, stop in matches.spans]
        edge = end - OPEN_LENGTH
        settled = [span for span in found if span[0] <= edge]
        self._settled += settled
        self._resume = max(self._resume, edge + 1, *(stop for _, stop in settled[-1:]))
        self.spans = tuple([*self._settled, *found[len(settled) :]][:MOST_SPANS])
        self.state = self._state_of(bool(self.spans))
        if len(self._settled) >= MOST_SPANS or not matches.counted or (self.spans and not self._target):
            self.is_open = False  # nothing that may still come would be shown

    def moved(self) -> bool:
        """Is there anything new since the last time this was asked?"""
        before, self._told = self._told, (self.state, self.spans)
        return before != self._told

    def _state_of(self, is_found: bool) -> LiveState:
        if self._kind == "forbidden_pattern":
            return "forbidden" if is_found else "clear"
        return "found" if is_found else "waiting"


def follow(number: int, check: Check) -> Followed | None:
    """What follows a check; None for one that can only be decided at the end."""
    watchable = ("expected_pattern", "forbidden_pattern", "output.matches", "output.includes")
    return Followed(number, check) if check.kind in watchable else None


def first_state(check: Check) -> LiveState:
    """How a check stands before any text."""
    return "clear" if check.kind == "forbidden_pattern" else "waiting"


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
