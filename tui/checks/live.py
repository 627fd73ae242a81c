"""Evaluating checks while an answer streams, by searching only the new text and a little before it.

The results are provisional; the verdict comes from a search of the whole answer at the end.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

from tui.checks.assertions import occurrences
from tui.checks.case_assertions import find_part, most_parts, parts_of
from tui.checks.protocol import Matches, Search
from tui.checks.turns import Turn
from tui.model.events import LiveState
from tui.model.results import MOST_SPANS, Span
from tui.model.suite import FORBIDDING, Check, CheckKind, TextAssertion

# A match may grow or disappear until this much text has arrived after its beginning.
OPEN_LENGTH = 4_096
_CONTEXT = 256
REACH = OPEN_LENGTH + _CONTEXT
# Larger texts are searched whole only after they have grown by a 64th, so that the work stays linear.
_LARGE = 1 << 16
_GROWTH = 64


class Followed:
    """The search for one check in a growing text.

    A match that began at least `OPEN_LENGTH` code points ago is final: the search continues after it, like a search of
    the whole text. Later matches are searched again each time. The searched window begins before the position where the
    search continues, so that `^` does not match there.
    """

    def __init__(self, number: int, check: Check) -> None:
        self.number = number
        self.state = first_state(check)
        self.spans: tuple[Span, ...] = ()
        self.is_open = True
        self._kind, self._target = check.kind, check.target
        self._settled: list[Span] = []
        self._resume = 0
        self._searched_to = 0
        self._reported: tuple[LiveState, tuple[Span, ...]] = (self.state, ())

    @property
    def is_searched(self) -> bool:
        """Whether the check is a pattern, which a worker searches for."""
        return self._kind != "output.includes"

    @property
    def needs_full_text(self) -> bool:
        """Whether the pattern has a lookbehind and needs the whole text so far."""
        return self._kind != "output.includes" and "(?<" in self._target

    def is_due(self, end: int) -> bool:
        """Return whether the text up to `end` has grown enough for another search."""
        return not self.needs_full_text or end < _LARGE or end - self._searched_to >= end // _GROWTH

    def search(self, base: int) -> Search:
        """Return the search in a window that begins at `base`."""
        return Search("python" if self._kind == "output.matches" else "javascript", self._target, self._resume - base)

    async def look(self, window: str, base: int, end: int, turn: Turn) -> None:
        """Search for a plain text in the window from `base` to `end`."""
        await turn.end_if_long()
        self.take(occurrences(self._target, window, self._resume - base), base, end)

    def take(self, matches: Matches, base: int, end: int) -> None:
        """Add the matches found in the window from `base` to `end`."""
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
            self.is_open = False  # no later match would be shown

    def has_changed(self) -> bool:
        """Return whether the state or the spans have changed since the last call."""
        before, self._reported = self._reported, (self.state, self.spans)
        return before != self._reported

    def _state_of(self, is_found: bool) -> LiveState:
        return _state(self._kind, is_found)


class FollowedTexts:
    """The search for the texts of an assertion in a growing answer: for all of them, any of them, or none.

    `starts-with` is decided by the beginning of the answer alone.
    """

    is_searched = False
    needs_full_text = False

    def __init__(self, number: int, check: Check) -> None:
        self.number = number
        self.state = first_state(check)
        self.spans: tuple[Span, ...] = ()
        self.is_open = True
        self._check = check
        self._resume = dict.fromkeys(parts_of(check), 0)
        self._missing = set(self._resume)
        self._reported: tuple[LiveState, tuple[Span, ...]] = (self.state, ())

    async def look(self, window: str, base: int, end: int, turn: Turn) -> None:
        """Search in the window from `base` to `end`, and return to no match that was found before."""
        if self._check.kind == "assert.starts-with":
            found = self._look_at_beginning(window, base, end)
        else:
            found = []
            for part, resume in self._resume.items():
                await turn.end_if_long()
                matches = find_part(self._check, part, window, max(0, resume - base)).spans
                found += [(base + start, base + stop) for start, stop in matches]
                self._resume[part] = max(found[-1][1] if matches else resume, end - len(part) + 1)
                if matches:
                    self._missing.discard(part)
        if found:
            self.spans = tuple(sorted((*self.spans, *found))[:MOST_SPANS])
        is_for_all = self._check.kind == "assert.contains-all"
        is_met = not self._missing if is_for_all else len(self._missing) < len(self._resume)
        self.state = _state(self._check.kind, is_met)
        self.is_open = self.is_open and not (is_met and len(self.spans) >= MOST_SPANS) and all(self._resume)

    def has_changed(self) -> bool:
        """Return whether the state or the spans have changed since the last call."""
        before, self._reported = self._reported, (self.state, self.spans)
        return before != self._reported

    def _look_at_beginning(self, window: str, base: int, end: int) -> list[Span]:
        [part] = self._resume
        if end < len(part):
            return []
        self.is_open = False
        if base or not window.startswith(part):
            return []
        self._missing.clear()
        return [(0, len(part))]


_PLAIN_TEXTS = get_args(TextAssertion)
_WATCHABLE = ("expected_pattern", "forbidden_pattern", "output.matches", "output.includes")
_MOST_SEARCHES = 500  # for the patterns and texts of all checks of an answer; others are searched for at the end


def follow_checks(checks: Sequence[Check]) -> Iterator[Followed | FollowedTexts]:
    """Yield the searches for the checks, without those that can only be decided at the end, up to a limit."""
    room = _MOST_SEARCHES
    for number, check in enumerate(checks):
        if not room:
            return
        if check.kind in _PLAIN_TEXTS and (count := most_parts(check)) <= room:
            room -= count
            yield FollowedTexts(number, check)
        elif check.kind in _WATCHABLE:
            room -= 1
            yield Followed(number, check)


def first_state(check: Check) -> LiveState:
    """Return the state of a check before any text."""
    return _state(check.kind, False)


def _state(kind: CheckKind, is_found: bool) -> LiveState:
    if kind in FORBIDDING:
        return "forbidden" if is_found else "clear"
    return "found" if is_found else "waiting"


SearchText = Callable[[str, Sequence[Search]], Awaitable[tuple[Matches, ...]]]


@dataclass(frozen=True, slots=True)
class Watched:
    """The provisional state of a check: `check` is its index among the watched checks.

    `spans` are the first 1,000 matches so far, in code points of the answer.
    """

    check: int
    state: LiveState
    spans: tuple[Span, ...]


class Watch:
    """The provisional evaluation of the checks of one answer while it streams.

    Checks that can only be decided at the end never change. The worker, which is stateless, receives the new text and
    the last few thousand code points before it; the whole text for patterns with a lookbehind.
    """

    def __init__(self, checks: Sequence[Check], search: SearchText) -> None:
        self._search, self._checks = search, checks
        self._is_polling = False
        self.restart()

    def restart(self) -> None:
        """Forget the text so far: another one begins."""
        self._followed = list(follow_checks(self._checks))
        self._pieces: list[str] = []
        self._full_text = ""
        self._window = ""
        self._base = 0
        self._seen = 0

    def feed(self, text: str) -> None:
        """Add a chunk of the answer, which the next poll searches."""
        if self._followed:
            self._pieces.append(text)

    async def poll(self) -> tuple[Watched, ...]:
        """Search the new text, and return the checks that have changed since the last poll.

        Returns nothing while an earlier poll is running. After a cancelled poll the next one searches the same text.
        """
        if self._is_polling:
            return ()
        fresh = "".join(self._pieces)
        self._pieces.clear()
        self._window += fresh
        if any(each.needs_full_text for each in self._followed):
            self._full_text += fresh
        end = self._base + len(self._window)
        followed = self._followed
        active = [each for each in followed if each.is_open]
        if end == self._seen or not active:
            return ()
        self._is_polling = True
        try:
            await self._look(active, end)
        finally:
            self._is_polling = False
        if followed is not self._followed:
            return ()  # another text has begun meanwhile
        self._seen = end
        self._forget(end)
        return tuple(Watched(each.number, each.state, each.spans) for each in active if each.has_changed())

    def close(self) -> None:
        """End the watch. May be called repeatedly."""
        self._followed.clear()
        self._pieces.clear()
        self._window = self._full_text = ""

    async def _look(self, active: Sequence[Followed | FollowedTexts], end: int) -> None:
        base, window, turn = self._base, self._window, Turn()
        for each in active:
            if not each.is_searched:
                await each.look(window, base, end, turn)
        due = [each for each in active if isinstance(each, Followed) and each.is_searched and each.is_due(end)]
        await self._search_for([each for each in due if not each.needs_full_text], window, base, end)
        await self._search_for([each for each in due if each.needs_full_text], self._full_text, 0, end)

    async def _search_for(self, followed: Sequence[Followed], text: str, base: int, end: int) -> None:
        if followed:
            results = await self._search(text, [each.search(base) for each in followed])
            for each, matches in zip(followed, results, strict=True):
                each.take(matches, base, end)

    def _forget(self, end: int) -> None:
        """Drop the text that no open match or lookbehind needs."""
        keep = max(self._base, end - REACH)
        self._window = self._window[keep - self._base :]
        self._base = keep
