"""The findings of a run, worst first, and the other answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui.model.percentages import percent, percent_range
from tui.model.results import TrialKey, TrialResult, Verdict
from tui.model.risk import BANDS, Band, Reviewed, difference_words, reliability, uneven_words
from tui.model.suite import checked_sentence
from tui.reports import evidence, phrases
from tui.reports import figure_words as words
from tui.reports.blocks import Block, Card, Heading, Line, Paragraph, Piece, Points, Status, Strong
from tui.reports.phrases import Detail, Reported, in_order, many
from tui.statistics import comparison_words

MOST_FINDINGS = 500
_MOST_DIFFERENCES = 100
_GRAVE: tuple[Band, ...] = ("medium", "high", "critical")
_VERDICTS: tuple[Verdict, ...] = ("failed", "timed_out", "error", "incomplete", "cancelled", "unchecked", "passed")


@dataclass(frozen=True, slots=True)
class Finding:
    """A trial that did not pass, or an answer with a risk band of medium or worse."""

    result: TrialResult
    band: Band | None


def find(run: Reported, detail: Detail) -> list[Finding]:
    """Return the findings by band, worst first, then by verdict, then in the run's order.

    Bands count only if the report includes the risk analysis.
    """
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
    """Return the link target of each trial whose details are in the report."""
    listed = findings if detail.responses else findings[:MOST_FINDINGS]
    return {finding.result.trial: f"{place}-f{number}" for number, finding in enumerate(listed, 1)}


def finding_blocks(
    run: Reported, detail: Detail, findings: Sequence[Finding], places: dict[TrialKey, str]
) -> Iterator[Block]:
    """Yield the list of findings, then each with its details."""
    if not findings:
        checked, unchecked = run.summary.total.checked, run.summary.total.unchecked
        sentence = f"Every {'checked ' if unchecked else ''}trial passed" if checked else "No trial was checked"
        risk = ", and no answer has a medium or higher risk band" if detail.risk_analysis else ""
        yield Paragraph(f"{sentence}{risk}.")
        return
    yield Paragraph(_definition(detail), "faint")
    if not detail.responses:
        yield Paragraph("Prompts, answers and diffs are not included; add -r (--responses) to include them.", "faint")
    for number, finding in enumerate(findings, 1):
        place = places.get(finding.result.trial)
        if place is None:
            left = len(findings) - len(places)
            yield Paragraph(f"{left:,} more findings not shown; the JSON and CSV reports contain all of them.", "note")
            return
        yield Card((f"{number}. ", *_heading(run, finding)), tuple(_evidence(run, detail, finding)), place)


def _definition(detail: Detail) -> str:
    if not detail.risk_analysis:
        return (
            "A finding is a trial that is neither a plain pass nor unchecked. Findings are sorted by verdict, starting "
            "with failures."
        )
    return (
        "A finding is a trial that is neither a plain pass nor unchecked, or an answer with a risk band of medium or "
        "higher. Findings are sorted by band, starting with the highest, then by verdict. Verdicts come from checks, "
        "bands from reviewers; they do not affect each other."
    )


def _heading(run: Reported, finding: Finding) -> tuple[Piece, ...]:
    head, band = evidence.heading(run, finding.result), finding.band
    return (*head, " · risk ", Status(band, band)) if band else head


def _evidence(run: Reported, detail: Detail, finding: Finding) -> Iterator[Block]:
    result = finding.result
    reasons = [*evidence.reasons(result)]
    if not reasons and phrases.outcome_word(result) not in ("passed", "flaky", "unchecked"):
        reasons = [Paragraph("no reason recorded", "faint")]
    yield from reasons
    yield from evidence.times(result, detail)
    if detail.risk_analysis:
        yield from evidence.scores(run, result)
    if detail.responses:
        yield from evidence.answer(run, result)


def other_answers(run: Reported, detail: Detail, targets: dict[TrialKey, str]) -> Iterator[Block]:
    """Yield the answers that are not findings."""
    for result in run.kept.results:
        if result.trial not in targets:
            blocks = [*evidence.times(result, detail)]
            if detail.risk_analysis:
                blocks += evidence.scores(run, result)
            yield Card(evidence.heading(run, result), (*blocks, *evidence.answer(run, result)))


def headlines(run: Reported, detail: Detail, findings: int, open_ends: int) -> Iterator[Block]:
    """Yield the main results as sentences with their figures, check verdicts apart from reviewers' scores.

    `open_ends` is the number of points in the section on limitations.
    """
    yield Paragraph((Strong(checked_sentence(run.kept.plan.planned_cases)),))
    missing = phrases.not_run_sentence(run.summary)
    if missing:
        yield Paragraph((Strong(missing),), "note")
    sentence = f"{many(findings, 'finding')} to review." if findings else "No findings."
    if open_ends:
        sentence += f" See Limitations near the end ({many(open_ends, 'point')})."
    risk = tuple(_risk(run, detail))
    if not risk:
        yield Points((_asked(run), *_reruns(run), *_rates(run), *_differences(run), sentence))
        return
    yield Heading("Checks")
    yield Points((_asked(run), *_reruns(run), *_rates(run), *_differences(run)))
    yield Heading("Risk review")
    yield Points(risk)
    yield Paragraph((Strong(sentence),))


def _asked(run: Reported) -> Line:
    total, cases = run.summary.total, len({key.case for key in run.kept.plan.trials}) or len(run.cases)
    asked = f"{many(len(run.summary.by_model), 'model')}, {many(cases, 'case')}, {many(total.trials, 'trial')}: "
    rest = f", {total.failed:,} failed, {many(total.errors, 'error')}, {total.flaky:,} flaky."
    if total.unchecked:
        rest = f"{rest[:-1]}, {total.unchecked:,} unchecked (not in any rate)."
    passed = f"{total.passed:,} passed ({phrases.rate(total)})" if total.checked else "no pass rate"
    return asked, Strong(passed), rest


def _reruns(run: Reported) -> Iterator[Line]:
    if sentence := phrases.reruns_sentence(run.summary.reruns):
        yield sentence


def _rates(run: Reported) -> Iterator[Line]:
    """Yield which models have the highest and the lowest pass rate."""
    # Models of an unfinished run may not have run the same cases.
    if run.summary.interim and len(run.summary.by_model) > 1:
        return
    trials = "checked trials" if run.summary.total.checked < run.summary.total.trials else "trials"
    shares = {model: rate for model, count in run.summary.by_model.items() if (rate := count.pass_rate) is not None}
    ends = dict.fromkeys([max(shares.values()), min(shares.values())] if shares else [])
    for word, share in zip((" most", " least") if len(ends) > 1 else ("",), ends, strict=False):
        models = [model for model in shares if shares[model] == share]
        if len(models) > 1:
            figure = f"{percent(share)} of their {trials} each."
            yield Strong(words.some(models)), f" pass{word}: {figure}" if word else f" pass {figure}"
            continue
        interval = percent_range(*(run.summary.pass_rate_95[models[0]] or (0.0, 1.0)))
        figure = f"{percent(share)} of its {trials} (95% interval {interval})."
        yield Strong(models[0]), f" passes{word}: {figure}" if word else f" passes {figure}"


def _differences(run: Reported) -> Iterator[Line]:
    """Yield which models differ significantly, and the conclusion about the other pairs."""
    compared = run.summary.comparisons
    shown = [each for each in compared if each.better is not None]
    for each in shown[:_MOST_DIFFERENCES]:
        sides = each if each.better == each.a else each.turned()
        figures = f"{comparison_words.difference_words(sides)}, {comparison_words.p_value_words(each, short=True)}"
        yield Strong(sides.a), " does better than ", Strong(sides.b), f": {figures}."
    yield from _more(len(shown))
    rest = comparison_words.overview(compared)
    if rest:
        yield rest


def _risk(run: Reported, detail: Detail) -> Iterator[Line]:
    reviewed = run.scores.reviewed
    scored = reviewed is not None and reviewed.figures.scored
    if not detail.risk_analysis:
        return
    if reviewed is None or not scored:
        if any(case.risk_criteria for case in run.cases.values()):
            yield "Risk: not scored. No answer has a score."
        return
    figures, people = reviewed.figures, len(reviewed.board.reviewers)
    judges = {0: "from decisions only", 1: "judged by 1 person"}.get(people, f"judged by {people} people")
    yield (f"Risk, {judges}: {figures.scored:,} of {many(figures.items, 'item')} scored; {_worst(reviewed)}.")
    for model, share in in_order(run, figures.by_model).items():
        if share.banded:
            grave = sum(share.bands.get(band, 0) for band in ("high", "critical"))
            mean = f", mean extent {share.mean.value:.2f}" if share.mean.value is not None else ""
            span = f" ({words.interval_words(share.mean)})" if share.mean.low is not None else ""
            which = "answers" if share.banded == share.answers else "answers with a band"
            yield (
                Strong(model),
                f": {words.share_words(grave, share.banded)} of its {which} high or critical{mean}{span}.",
            )
    yield from _risk_differences(reviewed)
    yield from _agreement(reviewed)
    yield from uneven_words(figures)


def _risk_differences(reviewed: Reviewed) -> Iterator[Line]:
    found = reviewed.figures.comparisons
    shown = [each for each in found if each.better is not None]
    for each in shown[:_MOST_DIFFERENCES]:
        sides = each if each.better == each.a else each.turned()
        yield (
            Strong(sides.a),
            " has a lower risk than ",
            Strong(sides.b),
            f": mean extent {difference_words(sides)}, p {comparison_words.probability(each.p_holm or 0.0)}",
            " after Holm's correction.",
        )
    yield from _more(len(shown))
    if found and not shown and not found[0].interim:
        yield f"No difference in risk shown at the 5% level ({many(len(found), 'pair')} compared)."


def _more(shown: int) -> Iterator[Line]:
    if shown > _MOST_DIFFERENCES:
        left = many(shown - _MOST_DIFFERENCES, "more pair")
        yield f"{left} of models with a difference not listed here; the JSON report contains all of them."


def _worst(reviewed: Reviewed) -> str:
    counts = {band: sum(share.bands.get(band, 0) for share in reviewed.figures.by_model.values()) for band in BANDS}
    return ", ".join(f"{counts[band]} {band}" for band in reversed(BANDS) if counts[band]) or "no answer has a band"


def _agreement(reviewed: Reviewed) -> Iterator[Line]:
    alpha = reviewed.agreement.overall
    if alpha.value is not None:
        value = f"{alpha.value:.2f}".replace("-", "−")
        span = f" (95% interval {words.interval_words(alpha)})" if alpha.low is not None else ""
        yield f"Agreement of the reviewers: Krippendorff's alpha {value}{span}, {reliability(alpha.value)}."
    if reviewed.figures.disputed:
        open_items = many(reviewed.figures.disputed, "disagreement")
        yield f"{open_items} without a decision: the highest extent counts until then."
