"""What has come back for a step so far."""

import time
from dataclasses import dataclass, field

from tui.model.errors import ProviderError
from tui.model.results import Retry, ServedBy, Timing, Usage
from tui.model.values import JsonValue

_PACE_MS = 50


@dataclass(slots=True)
class Arrival:
    """Gathers one answer. Clocks are monotonic; they start (again) when the request goes out. `held_s` is how long a
    pause of the run kept it from being asked."""

    memory: JsonValue = None
    remembers: bool = False
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    first: float | None = None
    parts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    pace: list[tuple[int, int]] = field(default_factory=list)
    size: int = 0
    usage: Usage = field(default_factory=Usage)
    served_by: ServedBy | None = None
    finish_reason: str | None = None
    fault: ProviderError | None = None
    cancelled: bool = False
    held_s: float = 0.0

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self.parts)

    def begin(self) -> None:
        """The request goes out (again)."""
        self.started = time.monotonic()

    def add_text(self, text: str) -> None:
        """A piece of the answer came."""
        now = time.monotonic()
        if self.first is None:
            self.first = now
        self.parts.append(text)
        self.size += len(text)
        elapsed = round((now - self.started) * 1000)
        if self.pace and elapsed - self.pace[-1][0] < _PACE_MS:
            self.pace[-1] = (self.pace[-1][0], self.size)
        else:
            self.pace.append((elapsed, self.size))

    def end(self) -> None:
        """The last byte came, or none will come."""
        self.ended = time.monotonic()

    def timing(self) -> Timing:
        """Milliseconds since the request that was answered."""
        ended = self.ended if self.ended is not None else time.monotonic()
        first = None if self.first is None else round((self.first - self.started) * 1000, 1)
        return Timing(first, round((ended - self.started) * 1000, 1))
