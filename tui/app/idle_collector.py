"""Garbage collection while no key is typed."""

import gc
from collections.abc import Callable
from time import monotonic

_IDLE_SECONDS = 5.0
_PAUSE_SECONDS = 30.0
_DUE = 20_000
_OVERDUE = 500_000


class IdleCollector:
    """Collect garbage while no key is pressed, and keep Python from traversing everything in between.

    A full collection traverses each line on the screen with its cached parts, and stops the event loop for a tenth of
    a second: a person who types would see that. So `tick`, which is to be called every few seconds, freezes the
    objects of before, which takes no time, and Python collects among the younger ones only; garbage among the frozen
    ones is collected after some seconds without a key. `last_key_at` returns the time of the last key by
    `time.monotonic`.
    """

    def __init__(self, last_key_at: Callable[[], float], clock: Callable[[], float] = monotonic) -> None:
        self._last_key_at, self._clock = last_key_at, clock
        self._kept = gc.get_freeze_count()
        self._counted_at = dict.fromkeys((False, True), clock())  # while keys are pressed, and without

    def tick(self) -> None:
        """Collect all garbage if no key is typed and many objects are new, else freeze the present objects."""
        is_due = self._is_due()
        if is_due:
            gc.unfreeze()
            gc.collect()
        gc.freeze()
        if is_due:
            self._kept = gc.get_freeze_count()

    def _is_due(self) -> bool:
        """Return whether many objects are new. They are counted once in a while, which takes some milliseconds."""
        now = self._clock()
        is_idle = now - self._last_key_at() >= _IDLE_SECONDS
        if now - self._counted_at[is_idle] < _PAUSE_SECONDS:
            return False
        self._counted_at[is_idle] = now
        return gc.get_freeze_count() - self._kept >= (_DUE if is_idle else _OVERDUE)

    def stop(self) -> None:
        """Let Python collect garbage among all objects again."""
        gc.unfreeze()
