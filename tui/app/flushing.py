"""Text on its way from the runner to the panes: gathered as it comes, handed over by a timer in measured portions."""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

FLUSHES_A_SECOND = 15
LARGEST_FLUSH = 16_384

Key = TypeVar("Key", bound=Hashable)


class StreamBuffers(Generic[Key]):
    """Text that waits for each pane, in the order in which it came.

    The producer calls `put` for each piece; that costs well under a microsecond and paints nothing. One timer of the
    screen (FLUSHES_A_SECOND) calls `take` with the panes that can be seen; the others only gather. A pane gets at most
    `largest` code points at once, so that a burst cannot hold the keys up; what is left comes with the next flush.
    """

    def __init__(self, largest: int = LARGEST_FLUSH) -> None:
        self._largest = largest
        self._waiting: dict[Key, deque[str]] = {}

    def put(self, key: Key, text: str) -> None:
        """Gather a piece for a pane."""
        try:
            self._waiting[key].append(text)
        except KeyError:
            self._waiting[key] = deque((text,))

    def __bool__(self) -> bool:
        """Whether anything waits."""
        return bool(self._waiting)

    def take(self, visible: Iterable[Key]) -> Iterator[tuple[Key, str]]:
        """For each of these panes that has text waiting, its next portion; it waits no more then."""
        if not self._waiting:
            return
        for key in visible:
            pieces = self._waiting.get(key)
            if pieces is not None:
                yield key, self._portion(key, pieces)

    def take_all(self, key: Key) -> str:
        """Everything that waits for one pane, for when it is shown anew with its whole text."""
        return "".join(self._waiting.pop(key, ()))

    def drop(self, key: Key) -> None:
        """Forget what waits for a pane."""
        self._waiting.pop(key, None)

    def _portion(self, key: Key, pieces: deque[str]) -> str:
        taken: list[str] = []
        room = self._largest
        while pieces and room > 0:
            piece = pieces.popleft()
            if len(piece) > room:
                pieces.appendleft(piece[room:])
                piece = piece[:room]
            taken.append(piece)
            room -= len(piece)
        if not pieces:
            del self._waiting[key]
        return "".join(taken)
