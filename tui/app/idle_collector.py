"""Garbage collection while no key is typed."""

import gc
import sys
from collections.abc import Callable
from time import monotonic

_IDLE_SECONDS = 2.0
_IDLE_SHARE = 15.0
"""The further seconds without a key before a collection that will take one second; four times as many before two."""
_PAUSE_SECONDS = 15.0
_DUE, _LEAST_SHARE = 20_000, 0.05
_LONG_SECONDS = 1.0
_OVERDUE, _LONG_OVERDUE = 500_000, 40_000_000
_SECONDS_PER_BLOCK = 2e-7
"""About how long a collection takes for each block of memory. What one takes varies with the garbage that it frees."""


class IdleCollector:
    """Collect garbage while no key is pressed, and keep Python from traversing everything in between.

    A full collection traverses each line on the screen with its cached parts, and stops the event loop for a tenth of
    a second, with the results of a very large run for seconds: a person who types would see that. So `tick`, which is
    to be called every few seconds, freezes the objects of before, which takes no time, and Python collects among the
    younger ones only; garbage among the frozen ones is collected after some time without a key, a longer time if the
    collection will take long. `last_key_at` returns the time of the last key by `time.monotonic`.
    """

    def __init__(self, last_key_at: Callable[[], float], clock: Callable[[], float] = monotonic) -> None:
        self._last_key_at, self._clock = last_key_at, clock
        self._kept = sys.getallocatedblocks()
        self._collected_at = clock()

    def tick(self) -> None:
        """Collect all garbage if no key is typed and much memory is new, else freeze the present objects."""
        if self._is_due():
            gc.unfreeze()
            gc.collect()
            self._kept, self._collected_at = sys.getallocatedblocks(), self._clock()
        gc.freeze()

    def _is_due(self) -> bool:
        """Return whether so much memory is new that a collection is worth its time now."""
        now, blocks = self._clock(), sys.getallocatedblocks()
        new, takes = blocks - self._kept, blocks * _SECONDS_PER_BLOCK
        if now - self._collected_at < _PAUSE_SECONDS:
            return False
        if now - self._last_key_at() >= _IDLE_SECONDS + _IDLE_SHARE * takes**2:
            return new >= max(_DUE, blocks * _LEAST_SHARE)
        return new >= (_OVERDUE if takes < _LONG_SECONDS else _LONG_OVERDUE)

    def stop(self) -> None:
        """Let Python collect garbage among all objects again."""
        gc.unfreeze()
