"""How long a run has taken, pauses left out."""


class Stopwatch:
    """Every moment is given, in monotonic seconds."""

    def __init__(self) -> None:
        self._began: float | None = None
        self._stopped: float | None = None

    def begin(self, now: float) -> None:
        """From 0."""
        self._began, self._stopped = now, None

    def stop(self, now: float) -> None:
        """Stand still, for now or for good."""
        if self._stopped is None:
            self._stopped = now

    def go_on(self, now: float) -> None:
        """Run again after a stop."""
        if self._stopped is not None and self._began is not None:
            self._began += now - self._stopped
        self._stopped = None

    def elapsed(self, now: float) -> float | None:
        """Seconds; None before it has begun."""
        if self._began is None:
            return None
        return (now if self._stopped is None else self._stopped) - self._began
