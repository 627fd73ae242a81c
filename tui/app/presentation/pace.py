"""How a run is paced: how many questions go at once to whom, why not more, and that it is paused."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tui.app.presentation.pieces import Line, fill, width_of
from tui.model.sanitize import sanitize_line
from tui.model.state import Limit

_PROVIDER = 20


class Pace(NamedTuple):
    """`concurrency 6/8`, and the same with the reason; each as wide as it may become, so that nothing jumps. `narrowed`
    where it is less than it may be."""

    short: str = ""
    full: str = ""
    narrowed: bool = False


NO_PACE = Pace()


def pace_of(limits: Mapping[str, Limit], now: float) -> Pace:
    """The provider that is narrowed most, else the one that was told of last; `now` is in monotonic seconds."""
    if not limits:
        return NO_PACE
    name, limit = min(reversed(list(limits.items())), key=lambda each: each[1].limit / each[1].most)
    whom = f"{sanitize_line(name, _PROVIDER)} " if len(limits) > 1 else ""
    numbers, widest = f"concurrency {limit.limit}", f"concurrency {limit.most}/{limit.most}"
    why = ""
    if limit.limit < limit.most:
        numbers = f"concurrency {limit.limit}/{limit.most}"
        why = f" · {_first(limit.reason)} {_ago(now - limit.narrowed_at)} ago" if limit.reason else ""
    short = fill(whom + numbers, width_of(whom + widest))
    full = fill(whom + numbers + why, width_of(f"{whom}{widest} · 429 59 min ago"))
    return Pace(short, full, limit.limit < limit.most)


def _first(reason: str) -> str:
    return reason.partition(",")[0]


def _ago(seconds: float) -> str:
    return f"{max(0, int(seconds)):>2} s" if seconds < 100 else f"{int(seconds) // 60:>2} min"


def limit_line(name: str, limit: Limit) -> Line:
    """One provider, with the whole reason."""
    if limit.limit >= limit.most:
        return ((f"{sanitize_line(name, 40)} {limit.limit}", "plain"),)
    why = f": {sanitize_line(limit.reason)}" if limit.reason else ""
    return ((f"{sanitize_line(name, 40)} {limit.limit} of {limit.most}{why}", "plain"),)


def limit_lines(limits: Mapping[str, Limit]) -> list[Line]:
    """All of them, for where a suite is told of."""
    return [
        ((fill("limits" if number == 0 else "", 10), "dim"), *limit_line(name, limit))
        for number, (name, limit) in enumerate(limits.items())
    ]


def pause_words(answering: int, key: str) -> Sequence[str]:
    """What is said of a paused run, from the longest to the shortest."""
    still = f" · {answering} answering" if answering else ""
    go_on = f" · {key} continue" if key else ""
    return f"paused{still}{go_on}", f"paused{go_on}", "paused"


def at_once_words(numbers: Mapping[str, int]) -> str:
    """What a person has just chosen: how many cases of which model go at once."""
    each = set(numbers.values())
    if len(each) == 1:
        (number,) = each
        whom = sanitize_line(next(iter(numbers)), 60) if len(numbers) == 1 else "all models"
        return f"Concurrency of {whom}: {number}"
    return "Concurrency: " + ", ".join(f"{sanitize_line(name, 40)} {number}" for name, number in numbers.items())
