"""A clock that advances only when something sleeps, to test a retry policy without waiting."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tui.providers.http.limits import RetryLimits

NOON = 1_763_640_000.0  # 20 November 2025, 12:00:00 UTC


@dataclass
class FakeTime:
    """A clock that only `sleep` moves; `waits` holds every sleep, `luck` is where in its range a random wait falls."""

    luck: float = 1.0
    elapsed: float = 0.0
    waits: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        """Run the other tasks once, then advance the clock."""
        self.waits.append(seconds)
        await asyncio.sleep(0)
        self.elapsed += seconds

    def uniform(self, low: float, high: float) -> float:
        """Return the number at `luck` between the bounds."""
        return low + (high - low) * self.luck

    def patience(self, **changes: Any) -> RetryLimits:
        """Return the retry limits of the product on this clock."""
        base = RetryLimits(
            sleep=self.sleep,
            uniform=self.uniform,
            monotonic=lambda: self.elapsed,
            now=lambda: NOON + self.elapsed,
        )
        return replace(base, **changes)


class LoopClock:
    """The clock of the running event loop, which only `advance` moves: no deadline passes while the machine is busy."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._now = loop.time()
        loop.time = lambda: self._now  # type: ignore[method-assign]

    def advance(self, seconds: float) -> None:
        """Move the clock; deadlines that it passes expire when the loop runs next."""
        self._now += seconds


class Elapsed(asyncio.Event):
    """An event for a script: until it is set, each wait for it advances the clock; `then_set`: and sets it."""

    def __init__(self, clock: LoopClock, seconds: float, *, then_set: bool = False) -> None:
        super().__init__()
        self._clock, self._seconds, self._then_set = clock, seconds, then_set

    async def wait(self) -> Literal[True]:
        """Advance the clock, let expired deadlines take effect, and wait."""
        if not self.is_set():
            self._clock.advance(self._seconds)
            if self._then_set:
                self.set()
            await asyncio.sleep(0)
        return await super().wait()
