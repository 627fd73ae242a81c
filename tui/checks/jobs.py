"""One text that waits for its patterns to be decided."""

import asyncio
from collections.abc import Sequence
from functools import cached_property

from tui.checks.protocol import encode_text
from tui.checks.searches import Matches, Search


class Job:
    """`done` holds the results in the order of `searches`, once all are there. `spent` is how many seconds processes
    that died had searched; `one_by_one` says that one of them died of some pattern and it is not known of which."""

    def __init__(self, text: str, searches: Sequence[Search]) -> None:
        self.searches = tuple(searches)
        self.losses = 0
        self.spent = 0.0
        self.one_by_one = False
        self.done: asyncio.Future[tuple[Matches, ...]] = asyncio.get_running_loop().create_future()
        self._text = text
        self._results: list[Matches | None] = [None] * len(self.searches)

    @cached_property
    def text(self) -> bytes:
        """The text as it is sent."""
        return encode_text(self._text)

    @property
    def open(self) -> list[tuple[int, Search]]:
        """What is still to be searched for, each with its number."""
        return [(number, self.searches[number]) for number, each in enumerate(self._results) if each is None]

    def settle(self, number: int, matches: Matches) -> None:
        """Take the result of one search; a second one for the same changes nothing."""
        if self._results[number] is None:
            self._results[number] = matches
        results = [each for each in self._results if each is not None]
        if len(results) == len(self._results) and not self.done.done():
            self.done.set_result(tuple(results))

    def settle_all(self, failure: str) -> None:
        """Give up what is still open."""
        for number, _ in self.open:
            self.settle(number, Matches(failure=failure))
