"""The report of a suite's saved runs over time: JSON and Markdown."""

from collections.abc import Iterator, Sequence

from tui.model.percentages import percent
from tui.model.run import distinct_length
from tui.reports.json_text import json_text
from tui.reports.markdown import code, inline, table, within
from tui.statistics.trend import Trend, TrendPoint

_MOST_BREAKS = 50


def trend_json(trends: Sequence[Trend]) -> str:
    """Return the trends as JSON by model; rates are fractions, runs are the oldest first."""
    return json_text(
        {
            trend.model: {
                "runs": [
                    {
                        "run": point.run_id,
                        "started_at": point.started_at,
                        "pass_rate": point.rate,
                        "pass_rate_95": point.rate_95,
                        "cases": point.cases,
                        "finished": point.finished,
                        "redefined": point.redefined,
                    }
                    for point in trend.points
                ],
                "broken": [
                    {
                        "case": each.case,
                        "passed_in": each.passed_in,
                        "broke_in": each.broke_in,
                        "failed_runs": each.failed_runs,
                    }
                    for each in trend.breaks
                ],
            }
            for trend in trends
        },
        indent=2,
    )


def trend_markdown(trends: Sequence[Trend]) -> str:
    """Return the trends as Markdown: for each model a table of its runs and one of the cases that broke."""
    return "\n\n".join(block for trend in trends for block in _blocks(trend)) + "\n"


def _blocks(trend: Trend) -> Iterator[str]:
    length = distinct_length(point.run_id for point in trend.points)
    yield f"## {inline(trend.model)}"
    yield table(
        ("Run", "Date", "Cases", "Pass rate", "95% interval"), [_row(each, length) for each in trend.points], numbers=3
    )
    if any(point.redefined for point in trend.points):
        yield "In the runs marked ≠ the name stood for another model, or for other settings, than in the latest run."
    if not trend.breaks:
        yield "No unchanged case that passed before fails in the latest runs."
        return
    rows = [
        (within(each.case), each.broke_in[:length], each.passed_in[:length], f"{each.failed_runs:,}")
        for each in trend.breaks[:_MOST_BREAKS]
    ]
    yield table(("Broken case", "Broke in", "Last passed in", "Failed runs since"), rows, numbers=1)
    if (more := len(trend.breaks) - _MOST_BREAKS) > 0:
        yield f"{more:,} more cases are broken; {code('--format json')} lists all."


def _row(point: TrendPoint, length: int) -> tuple[str, ...]:
    low, high = point.rate_95
    return (
        within(point.run_id[:length]),
        within(point.started_at[:16].replace("T", " "))
        + ("" if point.finished else " (not finished)")
        + (" ≠" if point.redefined else ""),
        f"{point.cases:,}",
        percent(point.rate, 1),
        f"{100 * low:.1f}% to {100 * high:.1f}%",
    )
