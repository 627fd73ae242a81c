"""How long a person looks at an item, and how long the rest may take."""

from collections.abc import Callable
from time import monotonic

STILL_SECONDS = 120.0


class Stopwatch:
    """Counts seconds while somebody is there: two minutes after the last key it stands still."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._touched = clock()

    def restart(self) -> None:
        """Another item."""
        self._seconds, self._touched = 0.0, self._clock()

    def touch(self) -> None:
        """A key was pressed."""
        self._seconds, self._touched = self.seconds, self._clock()

    @property
    def seconds(self) -> float:
        """So far."""
        return self._seconds + min(self._clock() - self._touched, STILL_SECONDS)

    @property
    def milliseconds(self) -> int:
        """The same, whole."""
        return round(self.seconds * 1000)


def minutes(milliseconds: float) -> str:
    """`40 s`, `11 min`, `2 h 05`."""
    seconds = max(0, round(milliseconds / 1000))
    if seconds < 60:
        return f"{seconds} s"
    whole = round(seconds / 60)
    return f"{whole} min" if whole < 60 else f"{whole // 60} h {whole % 60:02}"


def left_words(spent_ms: float, scored: int, left: int) -> str:
    """`about 22 min left`, from what scoring took so far; empty where that tells nothing yet, or nothing is left."""
    if scored < 3 or not left or spent_ms <= 0:
        return ""
    return f"about {minutes(spent_ms / scored * left)} left"
