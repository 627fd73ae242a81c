"""What figures say, in words."""

from collections.abc import Mapping, Sequence

from tui.model.results import Verdict
from tui.model.risk import Interval
from tui.reports.summary import RequiredShare


def errors(found: Mapping[Verdict, int]) -> str:
    """`2 timed out, 1 incomplete`"""
    return ", ".join(f"{number} {verdict.replace('_', ' ')}" for verdict, number in found.items())


def share_met(share: RequiredShare) -> str:
    """`2/3, met`"""
    word = {True: "met", False: "not met", None: "open"}[share.met]
    return f"{share.passes.passed}/{share.planned}, {word}"


def some(names: Sequence[str], limit: int = 40) -> str:
    """`a, b, c and 12 more`"""
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"


def share_words(count: int, of: int) -> str:
    """`3 (30%)`; nothing of nothing is a dash."""
    if not of:
        return "–"
    return f"{count} ({count / of:.0%})" if count else "0"


def interval_words(interval: Interval) -> str:
    """`0.55 to 0.83`; a dash where there is not enough data."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{interval.low:.2f} to {interval.high:.2f}".replace("-", "−")
