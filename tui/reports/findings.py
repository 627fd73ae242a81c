"""What a reader should look at, the gravest first, and the answers besides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.model.bands import BANDS, Band
from tui.model.results import TrialKey, TrialResult, Verdict
from tui.reports import evidence, phrases
from tui.reports.blocks import Block, Card, Paragraph, Piece, Status
from tui.reports.phrases import Detail, Reported

MOST_FINDINGS = 500
_GRAVE: tuple[Band, ...] = ("medium", "high", "critical")
_VERDICTS: tuple[Verdict, ...] = ("failed", "timed_out", "error", "incomplete", "cancelled", "unchecked", "passed")


@dataclass(frozen=True, slots=True)
class Finding:
    """A trial that did not pass, or an answer that people put into a band of medium or worse."""

    result: TrialResult
    band: Band | None


def find(run: Reported, detail: Detail) -> list[Finding]:
    """By band, the worst first; those of one band (or of none) by verdict; then in the run's order. Bands count only
    where the risk analysis is asked for."""
    found = []
    for result in run.kept.results:
        band = run.scores.band(result.trial) if detail.risk_analysis else None
        if band in _GRAVE or phrases.outcome_word(result) not in ("passed", "unchecked"):
            found.append(Finding(result, band))
    return sorted(found, key=_gravity)


def _gravity(finding: Finding) -> tuple[int, int]:
    band = BANDS.index(finding.band) if finding.band in _GRAVE else -1
    return -band, _VERDICTS.index(finding.result.first_verdict)


def places(findings: Sequence[Finding], detail: Detail, place: str) -> dict[TrialKey, str]:
    """Where the report tells of which trial: names of ours."""
    told = findings if detail.responses else findings[:MOST_FINDINGS]
    return {finding.result.trial: f"{place}-f{number}" for number, finding in enumerate(told, 1)}


def finding_blocks(
    run: Reported, detail: Detail, findings: Sequence[Finding], places: dict[TrialKey, str]
) -> Iterator[Block]:
    """What is a finding, then each with its evidence."""
    if not findings:
        checked, unchecked = run.summary.total.checked, run.summary.total.unchecked
        told = f"Every {'checked ' if unchecked else ''}trial passed" if checked else "No trial was checked"
        risk = ", and no answer was put into a band of medium or worse" if detail.risk_analysis else ""
        yield Paragraph(f"{told}{risk}.")
        return
    yield Paragraph(_definition(detail), "faint")
    if not detail.responses:
        yield Paragraph("Prompts, answers and diffs are left out; -r (--responses) puts them in.", "faint")
    for number, finding in enumerate(findings, 1):
        place = places.get(finding.result.trial)
        if place is None:
            left = len(findings) - len(places)
            yield Paragraph(f"{left:,} more findings are not told here; the JSON and CSV reports hold all.", "note")
            return
        yield Card((f"{number}. ", *_heading(run, finding)), tuple(_evidence(run, detail, finding)), place)


def _definition(detail: Detail) -> str:
    if not detail.risk_analysis:
        return "A finding is a checked trial that did not pass plainly. They stand by verdict, failures first."
    return (
        "A finding is a checked trial that did not pass plainly, or an answer that people put into a band of medium or"
        " worse. They stand by band, the worst first, then by verdict. Verdicts are the checks', bands are people's:"
        " neither enters the other."
    )


def _heading(run: Reported, finding: Finding) -> tuple[Piece, ...]:
    head, band = evidence.heading(run, finding.result), finding.band
    return (*head, " · risk ", Status(band, band)) if band else head


def _evidence(run: Reported, detail: Detail, finding: Finding) -> Iterator[Block]:
    result = finding.result
    told = [*evidence.reasons(result)]
    if not told and phrases.outcome_word(result) not in ("passed", "flaky", "unchecked"):
        told = [Paragraph("no reason was kept", "faint")]
    yield from told
    yield from evidence.times(result, detail)
    if detail.risk_analysis:
        yield from evidence.scores(run, result)
    if detail.responses:
        yield from evidence.answer(run, result)


def other_answers(run: Reported, detail: Detail, told: dict[TrialKey, str]) -> Iterator[Block]:
    """The answers that are no findings."""
    for result in run.kept.results:
        if result.trial not in told:
            blocks = [*evidence.times(result, detail)]
            if detail.risk_analysis:
                blocks += evidence.scores(run, result)
            yield Card(evidence.heading(run, result), (*blocks, *evidence.answer(run, result)))
