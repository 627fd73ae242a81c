"""Time that passes only when somebody waits, so that the waits of a retry policy are tested and not waited."""

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
        """Let the others go on, then be later."""
        self.waits.append(seconds)
        await asyncio.sleep(0)
        self.elapsed += seconds

    def uniform(self, low: float, high: float) -> float:
        """A random number that is none."""
        return low + (high - low) * self.luck

    def patience(self, **changes: Any) -> RetryLimits:
        """The product's patience, on this clock."""
        base = RetryLimits(
            sleep=self.sleep,
            uniform=self.uniform,
            monotonic=lambda: self.elapsed,
            now=lambda: NOON + self.elapsed,
        )
        return replace(base, **changes)
