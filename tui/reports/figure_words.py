"""Formatting of figures as text."""

from collections.abc import Mapping, Sequence

from tui.model.percentages import percent
from tui.model.results import Verdict
from tui.model.risk import Interval
from tui.reports.summary import RequiredShare


def errors(found: Mapping[Verdict, int]) -> str:
    """Return the errors as text: `2 errors, 1 timed out`."""
    return ", ".join(f"{number} {_error_word(verdict, number)}" for verdict, number in found.items())


def _error_word(verdict: Verdict, number: int) -> str:
    return "errors" if verdict == "error" and number != 1 else verdict.replace("_", " ")


def share_met(share: RequiredShare) -> str:
    """Return a required share as text: `2/3, met`."""
    word = {True: "met", False: "not met", None: "open"}[share.met]
    return f"{share.passes.passed}/{share.planned}, {word}"


def some(names: Sequence[str], limit: int = 40) -> str:
    """Return a list of names as text: `a, b, c and 12 more`."""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def share_words(count: int, of: int) -> str:
    """Return a count with its share: `3 (30%)`, or a dash if `of` is 0."""
    if not of:
        return "–"
    return f"{count} ({percent(count / of)})" if count else "0"


def interval_words(interval: Interval) -> str:
    """Return the interval as text: `0.55 to 0.83`, or a dash if there is not enough data."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{interval.low:.2f} to {interval.high:.2f}".replace("-", "−")
