"""The CSV report (RFC 4180): one row for each trial."""

import csv
import io
import re
from collections.abc import Sequence

from tui.model.context import sent_with
from tui.model.outcomes import outcome_of
from tui.model.results import Attempt, TrialResult
from tui.model.sanitize import sanitize_text
from tui.reports.phrases import CHECKS, Detail, Reported, missed_checks
from tui.reports.provenance import answering_models
from tui.reports.scores import describe_scores

_COLUMNS = (
    "run",
    "suite",
    "case",
    "name",
    "category",
    "tags",
    "model",
    "repeat",
    "verdict",
    "first_verdict",
    "reruns",
    "flaky",
    "attempts",
    "error",
    "missed_checks",
    "first_token_ms",
    "duration_ms",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "retries",
    "cost_usd",
    "answered_by",
    "context_files",
    "context_characters",
)
# Full-width signs are formulas in spreadsheets of East Asian locales; white space may be skipped before a sign.
_FORMULA = re.compile("\\s*[-=+@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
# Where the list separator is `;` or TAB, a spreadsheet divides the rows there, and ignores quotes within a cell.
# All separators up to a sign are one match, so that the time does not grow with the square of their number.
_LATER_FORMULA = re.compile('([;\t][;\\s"]*)([-=+@\uff1d\uff0b\uff0d\uff20])?')

Cell = str | int | float | None


def render_csv(runs: Sequence[Reported], detail: Detail) -> str:
    """Return one table with one header. Times are in milliseconds; unknown counts are empty."""
    target = io.StringIO(newline="")
    writer = csv.writer(target)
    writer.writerow([*_COLUMNS, *_more_columns(detail)])
    for run in runs:
        for result in run.kept.results:
            writer.writerow([safe_cell(value) for value in (*_row(run, result), *_more(run, result, detail))])
    return target.getvalue()


def _more_columns(detail: Detail) -> tuple[str, ...]:
    return (
        *(("started_at",) * detail.timestamps),
        *(("response", "rerun_response") * detail.responses),
        *(("band", "risk") * detail.risk_analysis),
    )


def _row(run: Reported, result: TrialResult) -> list[Cell]:
    case, key, outcome = run.cases.get(result.trial.case), result.trial, outcome_of(result)
    return [
        run.kept.record.id,
        run.kept.plan.suite.name,
        key.case,
        run.name(result),
        case.category if case else "",
        ", ".join(case.tags) if case else "",
        key.model,
        key.repeat,
        result.verdict,
        result.first_verdict,
        result.reruns,
        "true" if result.flaky else "false",
        outcome.attempts,
        result.error or "",
        "; ".join(
            f"{CHECKS[check.kind]} {check.target}: {check.detail}" for _, check in missed_checks(result.counted_attempt)
        ),
        outcome.first_token_ms,
        outcome.duration_ms or None,
        outcome.input_tokens,
        outcome.output_tokens,
        outcome.reasoning_tokens,
        outcome.retries,
        outcome.cost_usd,
        "; ".join(answering_models(result)),
        *_context(result),
    ]


def _context(result: TrialResult) -> tuple[int, int] | tuple[None, None]:
    """Return the number of files sent with the first prompt and their characters, or None if none was sent."""
    steps = result.attempts[0].steps if result.attempts else ()
    if not steps:
        return None, None
    sent = sent_with(steps[0].prompt)
    return sent.files[0], sent.characters[0]


def _more(run: Reported, result: TrialResult, detail: Detail) -> list[Cell]:
    counted, current = result.counted_attempt, result.current_attempt
    cells: list[Cell] = []
    if detail.timestamps:
        cells.append(counted.started_at if counted else "")
    if detail.responses:
        cells += [_response(counted), "" if current is counted else _response(current)]
    if detail.risk_analysis:
        cells += [run.scores.band(result.trial) or "", "; ".join(describe_scores(run.scores, result.trial))]
    return cells


def _response(attempt: Attempt | None) -> str:
    return "\n\n".join(step.response for step in attempt.steps) if attempt else ""


def safe_cell(value: Cell) -> Cell:
    """Return the value with a `'` in front of text that a spreadsheet would evaluate as a formula."""
    if not isinstance(value, str):
        return value
    text = sanitize_text(value)
    if ";" in text or "\t" in text:
        text = _LATER_FORMULA.sub(lambda match: f"{match[1]}'{match[2]}" if match[2] else match[1], text)
    return f"'{text}" if _FORMULA.match(value) or _FORMULA.match(text) else text
