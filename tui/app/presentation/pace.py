"""The pace of a run as text: the concurrency of each provider, why it is reduced, and that the run is paused."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tui.app.presentation.figures import clock
from tui.app.presentation.pieces import Line, fill, width_of
from tui.model.sanitize import sanitize_line
from tui.model.state import Counts, Limit

_PROVIDER = 20


class Pace(NamedTuple):
    """The concurrency of a run as text: `concurrency 6/8`, without and with the reason.

    Both are padded to their greatest width, so that what follows does not move. `narrowed` is true if the concurrency
    is below its maximum.
    """

    short: str = ""
    full: str = ""
    narrowed: bool = False


NO_PACE = Pace()


def pace_of(limits: Mapping[str, Limit], now: float) -> Pace:
    """Return the pace of the provider whose concurrency is reduced most, else of the one that changed last.

    `now` is in monotonic seconds.
    """
    if not limits:
        return NO_PACE
    name, limit = min(reversed(list(limits.items())), key=lambda each: each[1].limit / each[1].most)
    subject = f"{sanitize_line(name, _PROVIDER)} " if len(limits) > 1 else ""
    numbers, widest = f"concurrency {limit.limit}", f"concurrency {limit.most}/{limit.most}"
    reason = ""
    if limit.limit < limit.most:
        numbers = f"concurrency {limit.limit}/{limit.most}"
        reason = f" · {_short_reason(limit.reason)} {_elapsed(now - limit.narrowed_at)} ago" if limit.reason else ""
    short = fill(subject + numbers, width_of(subject + widest))
    full = fill(subject + numbers + reason, width_of(f"{subject}{widest} · 429 59 min ago"))
    return Pace(short, full, limit.limit < limit.most)


def _short_reason(reason: str) -> str:
    """Return the part of a reason before its first comma."""
    return reason.partition(",")[0]


def _elapsed(seconds: float) -> str:
    """Return a duration in at most six cells: ` 5 s`, ` 2 min`."""
    return f"{max(0, int(seconds)):>2} s" if seconds < 100 else f"{int(seconds) // 60:>2} min"


def limit_line(name: str, limit: Limit) -> Line:
    """Return the concurrency of a provider with the full reason."""
    if limit.limit >= limit.most:
        return ((f"{sanitize_line(name, 40)} {limit.limit}", "plain"),)
    reason = f": {sanitize_line(limit.reason)}" if limit.reason else ""
    return ((f"{sanitize_line(name, 40)} {limit.limit} of {limit.most}{reason}", "plain"),)


def limit_lines(limits: Mapping[str, Limit]) -> list[Line]:
    """Return the concurrency of every provider, for the description of a suite."""
    return [
        ((fill("limits" if number == 0 else "", 10), "dim"), *limit_line(name, limit))
        for number, (name, limit) in enumerate(limits.items())
    ]


def pause_words(answering: int, key: str, *, unsaved: bool = False) -> Sequence[str]:
    """Return the texts for a paused run, from the longest to the shortest.

    `answering` is the number of trials whose answers are still arriving, and `key` the key that continues the run. A
    run whose results cannot be stored at the moment is `unsaved`; no key continues it.
    """
    if unsaved:
        return "paused: results cannot be saved", "results not saved", "not saved"
    still = f" · {answering} answering" if answering else ""
    resume = f" · {key} continue" if key else ""
    return f"paused{still}{resume}", f"paused{resume}", "paused"


def seconds_left(elapsed: float, counts: Counts) -> float | None:
    """Return an estimate of the seconds left, from the finished trials; None while none is finished."""
    if not counts.done or counts.done >= counts.trials:
        return None
    return elapsed / counts.done * (counts.trials - counts.done)


def time_words(elapsed: float, counts: Counts | None, *, running: bool) -> str:
    """Return how long a run has taken, while it is running also the estimated rest: `0:14 · about 0:30 left`."""
    left = seconds_left(elapsed, counts) if running and counts is not None else None
    return clock(elapsed) + (f" · about {clock(left)} left" if left is not None else "")


def concurrency_words(numbers: Mapping[str, int]) -> str:
    """Return the notification for the concurrency that a user has set, by model."""
    each = set(numbers.values())
    if len(each) == 1:
        (number,) = each
        subject = sanitize_line(next(iter(numbers)), 60) if len(numbers) == 1 else "all models"
        return f"Concurrency of {subject}: {number}"
    return "Concurrency: " + ", ".join(f"{sanitize_line(name, 40)} {number}" for name, number in numbers.items())
