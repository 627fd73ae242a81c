"""A clock that advances only when something sleeps, to test a retry policy without waiting."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

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
