"""Rendering of reports as text, in each format."""

from collections.abc import Mapping, Sequence

from tui.model.errors import ReportError
from tui.model.risk import Reviewed
from tui.model.run import KeptRun, ReportFormat
from tui.model.sanitize import sanitize_line
from tui.reports.phrases import Detail, Reported
from tui.reports.scores import RunScores
from tui.reports.summary import cases_of, summarize


def render_report(
    kept: KeptRun,
    format: ReportFormat,
    *,
    responses: bool = False,
    timestamps: bool = False,
    risk_analysis: bool = False,
    margin: float | None = None,
    reviewed: Reviewed | None = None,
) -> str:
    """Return the report of one run. JSON is always complete; the options are for the formats that people read.

    `responses` adds full answers, `timestamps` the times, `risk_analysis` criteria, scores with notes and the rule.
    Within `margin` (0 to 1) two models count as equivalent.
    """
    return render_reports(
        [kept],
        format,
        responses=responses,
        timestamps=timestamps,
        risk_analysis=risk_analysis,
        margin=margin,
        reviewed={kept.record.id: reviewed} if reviewed else {},
    )


def render_reports(
    runs: Sequence[KeptRun],
    format: ReportFormat,
    *,
    responses: bool = False,
    timestamps: bool = False,
    risk_analysis: bool = False,
    margin: float | None = None,
    reviewed: Mapping[str, Reviewed] | None = None,
) -> str:
    """Return the report of several runs in one text: one array (JSON), table, page or set of test suites.

    A single run is not in an array. `reviewed` is by the run's id. The text is valid UTF-8 and ends with a newline.
    Raises ReportError.
    """
    scored = reviewed or {}
    try:
        if format == "json":
            from tui.reports.json_text import render_json

            return render_json(runs, scored, margin)
        reported = [_reported(kept, scored.get(kept.record.id), margin) for kept in runs]
        return _render(format, reported, Detail(responses, timestamps, risk_analysis))
    except Exception as error:
        # Stored runs hold what servers and files reported: whatever a format fails on is one sentence, not a traceback.
        what = f"Cannot render the {format} report ({sanitize_line(f'{type(error).__name__}: {error}', 200)})"
        raise ReportError(what, fix="The run is saved: try another format, and report this error.") from error


def _render(format: ReportFormat, reported: Sequence[Reported], detail: Detail) -> str:
    # Each format is imported only when it is used.
    if format == "markdown":
        from tui.reports.markdown import render_markdown as render
    elif format == "html":
        from tui.reports.html.render import render_html as render
    elif format == "csv":
        from tui.reports.csv_report import render_csv as render
    else:
        from tui.reports.junit import render_junit as render
    return render(reported, detail)


def _reported(kept: KeptRun, reviewed: Reviewed | None, margin: float | None) -> Reported:
    cases = cases_of(kept)
    return Reported(kept, summarize(kept, margin), cases, RunScores(reviewed, cases))
