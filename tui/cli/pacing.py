"""What stderr says of how many questions go at once: every episode once, and no flood."""

import time

from tui.model.events import LimitMoved
from tui.model.sanitize import show_line

_BETWEEN_SECONDS = 5.0


class LimitLines:
    """Remembers what was said of each provider, so that a line tells the way from there to now."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[int, float]] = {}
        self._now: dict[str, LimitMoved] = {}
        self._reasons: dict[str, str] = {}

    def line(self, moved: LimitMoved, now: float | None = None) -> str:
        """`openai: 8 → 6 at once: 429, Retry-After 2 s`; empty where it is too early to say more, or the same as
        before. `now` is in monotonic seconds."""
        now = time.monotonic() if now is None else now
        name = moved.provider
        self._now[name] = moved
        self._reasons[name] = moved.reason or self._reasons.get(name, "")
        if name not in self._said:
            self._said[name] = moved.limit, float("-inf")
            return ""
        said, at = self._said[name]
        is_back = moved.limit == moved.most
        if moved.limit == said or (now - at < _BETWEEN_SECONDS and not is_back):
            return ""
        self._said[name] = moved.limit, now
        why = f": {self._reasons[name]}" if moved.limit < said and self._reasons[name] else ""
        return show_line(f"{name}: {said} → {moved.limit} at once{why}")

    @property
    def narrowed(self) -> str:
        """`6 of 8 at once`, of the provider that is narrowed most; empty where none is."""
        below = [moved for moved in self._now.values() if moved.limit < moved.most]
        if not below:
            return ""
        least = min(below, key=lambda moved: moved.limit / moved.most)
        whom = f"{least.provider} " if len(self._now) > 1 else ""
        return show_line(f"{whom}{least.limit} of {least.most} at once")
