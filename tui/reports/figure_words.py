"""What figures say, in words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tui.model.risk import Interval
from tui.model.trials import Verdict
from tui.reports.required import RequiredShare
from tui.statistics.comparing import Comparison
from tui.statistics.pairs import cases_needed


def judgement(comparison: Comparison) -> str:
    """What a comparison says, in words."""
    match comparison.finding:
        case "a":
            return f"{comparison.a} does better"
        case "b":
            return f"{comparison.b} does better"
        case "nothing in common":
            return "no case in common"
        case "not enough data":
            differ = comparison.wins + comparison.losses
            cases = "1 case differs" if differ == 1 else f"{differ} cases differ"
            return f"not enough data: {cases}, it takes {cases_needed(comparison.pairs)} at least"
        case finding:
            return finding


def difference(comparison: Comparison) -> str:
    """`+12 points (+3 to +21)`: the first model's pass rate less the second's, over the cases of both."""
    low, high = comparison.difference_95
    return f"{_points(comparison.difference)} points ({_points(low)} to {_points(high)})"


def turned(comparison: Comparison) -> Comparison:
    """The difference seen from the second model."""
    low, high = comparison.difference_95
    return replace(comparison, difference=-comparison.difference, difference_95=(-high, -low))


def _points(share: float) -> str:
    points = round(100 * share)
    return f"{points:+}".replace("-", "−") if points else "0"


def errors(found: Mapping[Verdict, int]) -> str:
    """`2 timed out, 1 incomplete`"""
    return ", ".join(f"{number} {verdict.replace('_', ' ')}" for verdict, number in found.items())


def share_met(share: RequiredShare) -> str:
    """`2/3, met`"""
    word = {True: "met", False: "not met", None: "open"}[share.met]
    return f"{share.passes.passed}/{share.planned}, {word}"


def method(comparison: Comparison) -> str:
    """The test's name for people."""
    return "exact McNemar" if comparison.method == "mcnemar-exact" else "paired bootstrap (signs of cases)"


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
