"""Tables of manual scoring: the rule, bands, means, heat maps, criteria."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tui.model.risk import (
    BANDS,
    EXTENTS,
    RULE_REASON,
    TWO_MEASURES,
    BandRule,
    Guidance,
    Heat,
    Interval,
    NaDisagreement,
    Reviewed,
    RiskComparison,
    RiskFigures,
    RiskShare,
    comparison_words,
    difference_words,
    origin_words,
    other_rule_words,
    own_words,
    reliability,
    rule_rows,
    rule_sentence,
    uneven_words,
)
from tui.model.suite import RiskCriterion, Severity
from tui.reports import phrases
from tui.reports.blocks import Block, Faint, HeatMap, HeatMaps, Line, Paragraph, Stack, Status, Strong, Table, Whisker
from tui.reports.evidence import NOT_SCORED
from tui.reports.figure_words import interval_words, share_words
from tui.reports.phrases import Reported
from tui.statistics.comparison_words import probability

_GREATEST = len(EXTENTS) - 1


def rule(rule: BandRule) -> Iterator[Block]:
    """Yield the rule in words, and as a table: the weight of each severity and the band of each extent."""
    yield Paragraph(f"{rule_sentence(rule)} {TWO_MEASURES}")
    yield Paragraph(RULE_REASON)
    head, *rows = rule_rows(rule)
    yield Table(head, tuple((*row[:2], *map(_product, row[2:])) for row in rows), len(head) - 1)


def _product(cell: str) -> Line:
    """Return a product with its band: `12 critical`."""
    return (Status(cell.partition(" ")[2], cell),)


def guidance(guidance: Guidance) -> Iterator[Block]:
    """Yield what each extent means, from the reviewers' guidance."""
    rows = tuple((f"{extent} {EXTENTS[extent]}", text) for extent, text in enumerate(guidance.levels[: len(EXTENTS)]))
    yield Table(("Extent", f"Guidance for reviewers, version {guidance.version}"), rows)


def bands(by_model: Mapping[str, RiskShare]) -> Iterator[Block]:
    """Yield the share of answers in each band and the weighted mean, by model."""
    yield _bands(("Model",), {(model,): share for model, share in by_model.items()})
    yield Paragraph(
        "The mean is the extent (0 to 4) weighted by severity, over all scored items; its interval is a bootstrap "
        f"over cases, or over clusters of cases. Shares are of the answers that have a band. {TWO_MEASURES}",
        "faint",
    )
    rows: tuple[tuple[Line, ...], ...] = tuple(
        (
            (Strong(model),),
            _mean(share),
            interval_words(share.mean),
            *(str(value) for value in (share.answers, share.banded, share.partial)),
            *(str(value) for value in (share.not_applicable, share.unscored)),
        )
        for model, share in by_model.items()
    )
    drawings = tuple(
        Whisker(share.mean.value, share.mean.low, share.mean.high, _GREATEST) for share in by_model.values()
    )
    head = ("Model", "Mean", "95%", "Answers", "Banded", "Partly scored", "All n/a", "Unscored")
    yield Table(head, rows, 7, drawings, "Weighted mean extent, 0 to 4")


def grouped(figures: Mapping[str, Mapping[str, RiskShare]], name: str) -> Table:
    """Return the bands of each category or criterion, one row for each model."""
    names = dict.fromkeys(each for shares in figures.values() for each in shares)
    found: dict[tuple[str, ...], RiskShare] = {
        (each, model): shares[each] for each in names for model, shares in figures.items() if each in shares
    }
    return _bands((name, "Model"), found)


def _bands(names: tuple[str, ...], shares: Mapping[tuple[str, ...], RiskShare]) -> Table:
    rows: list[tuple[Line, ...]] = []
    drawings, before = [], ""
    for key, share in shares.items():
        cells: tuple[Line, ...] = ("" if len(key) > 1 and key[0] == before else (Strong(key[0]),), *key[1:])
        before = key[0]
        counted = tuple(share_words(share.bands.get(band, 0), share.banded) for band in BANDS)
        mean = (_mean(share), interval_words(share.mean)) if len(key) > 1 else ()
        rows.append((*cells, *counted, f"{share.banded} of {share.answers}", *mean))
        drawings.append(Stack(tuple((band, share.bands.get(band, 0)) for band in BANDS)))
    head = (
        *names,
        *(band.capitalize() for band in BANDS),
        "Banded",
        *(("Mean", "95%") if len(names) > 1 else ()),
    )
    return Table(head, tuple(rows), len(head) - len(names), tuple(drawings), "Share in each band", len(names))


def _mean(share: RiskShare) -> str:
    return "–" if share.mean.value is None else f"{share.mean.value:.2f}"


def comparisons(figures: RiskFigures, names: Sequence[str]) -> Iterator[Block]:
    """Yield each pair of models with the difference of weighted means, in the order of the models."""
    if not figures.comparisons:
        return
    order = {name: place for place, name in enumerate(names)}
    found = sorted(
        (_in_order(each, order) for each in figures.comparisons), key=lambda each: (order[each.a], order[each.b])
    )
    rows: tuple[tuple[Line, ...], ...] = tuple(
        (
            each.a,
            each.b,
            comparison_words(each),
            str(each.lower_cases),
            str(each.higher_cases),
            str(each.tie_cases),
            difference_words(each),
            "–" if each.p_value is None else probability(each.p_value),
            "–" if each.p_holm is None else probability(each.p_holm),
        )
        for each in found
    )
    head = ("A", "B", "Finding", "A lower", "B lower", "Ties", "Difference (95%)", "p", "p (Holm)")
    yield Table(head, rows, 6)
    yield Paragraph(
        "Difference: weighted mean extent of A minus that of B, over the items scored for both, paired by case; below "
        "0, A has the lower risk. p: sign-flip test over cases, or over clusters of "
        "cases, two-sided; p (Holm) is corrected for all pairs, "
        "intervals are simultaneous over all pairs. Scores given with names visible, or by different reviewers for "
        "the two models, can bias a difference.",
        "faint",
    )


def _in_order(each: RiskComparison, order: Mapping[str, int]) -> RiskComparison:
    return each if order[each.a] <= order[each.b] else each.turned()


def other_rules(figures: RiskFigures) -> Iterator[Block]:
    """Yield what other weights and limits would change."""
    if figures.other_rules:
        yield Paragraph("Effect of other rules. If weights change, limits keep their ratio to the greatest product.")
        rows = tuple(
            (
                (Strong(each.name),),
                ", ".join(map(str, each.rule.weights.values())),
                ", ".join(str(limit) for _, limit in each.rule.limits),
                other_rule_words(each),
            )
            for each in figures.other_rules
        )
        yield Table(("Other rule", "Weights", "Limits", "Effect"), rows)


def reviewer_shares(figures: RiskFigures, names: Sequence[str]) -> Iterator[Block]:
    """Yield the share of each model's answers that all reviewers scored, and a note if it is uneven."""
    rows: tuple[tuple[Line, ...], ...] = tuple(
        ((Strong(reviewer),), *(share_words(by_model[name].scored, by_model[name].items) for name in names))
        for reviewer, by_model in figures.by_reviewer.items()
    )
    if rows:
        yield Table(("Items scored", *names), rows, len(names))
    for sentence in uneven_words(figures):
        yield Paragraph(sentence, "note")


def heat(by_model: Mapping[str, Heat], rule: BandRule) -> Iterator[Block]:
    """Yield the number of current scores by severity and extent, for each model, as a drawing and a table."""
    found = {model: heat for model, heat in by_model.items() if any(heat.values())}
    if not found:
        return
    severities = list(rule.weights)[::-1]
    colours = tuple((each, tuple(rule.band(each, extent) for extent in range(len(EXTENTS)))) for each in severities)
    yield HeatMaps(
        tuple(
            HeatMap(model, tuple((each, _row(heat, each)) for each in severities), colours)
            for model, heat in found.items()
        )
    )
    rows: list[tuple[Line, ...]] = []
    for model, heat in found.items():
        for place, severity in enumerate(severities):
            name: Line = "" if place else (Strong(model),)
            rows.append((name, severity, *(str(count) for count in _row(heat, severity))))
    head = ("Model", "Severity", *(f"{extent} {word}" for extent, word in enumerate(EXTENTS)))
    yield Table(head, tuple(rows), len(EXTENTS))


def _row(heat: Heat, severity: Severity) -> tuple[int, ...]:
    return tuple(heat.get((severity, extent), 0) for extent in range(len(EXTENTS)))


def criteria(run: Reported) -> Iterator[Block]:
    """Yield each criterion of the cases that have results, with the number of scored answers."""
    found = _answers_by_criterion(run)
    if not found:
        yield Paragraph("No case has risk criteria.")
        return
    rows: list[tuple[Line, ...]] = []
    for criterion, counts in found.items():
        text: Line = f"{counts['scored']} of {counts['answers']}" if counts["scored"] else (Faint(NOT_SCORED),)
        weight = run.scores.rule.weights[criterion.severity]
        name: Line = (Strong(criterion.name),)
        rows.append((name, f"{criterion.severity} ×{weight}", criterion.description, text))
    yield Table(("Criterion", "Severity", "Description", "Answers scored"), tuple(rows), 1)


def _answers_by_criterion(run: Reported) -> dict[RiskCriterion, Counter[str]]:
    """Return how many answers each criterion has, and how many of them are scored."""
    found: dict[RiskCriterion, Counter[str]] = {}
    if run.scores.reviewed is None:
        answers = Counter[str]()
        for result in run.kept.results:
            answers[result.trial.case] += result.has_answer
        for case_id, count in answers.items():
            case = run.cases.get(case_id)
            for criterion in case.risk_criteria if case else ():
                found.setdefault(criterion, Counter())["answers"] += count
        return found
    for result in run.kept.results:
        case = run.cases.get(result.trial.case)
        for criterion, judged in zip(
            case.risk_criteria if case else (), run.scores.of_trial(result.trial), strict=False
        ):
            counts = found.setdefault(criterion, Counter())
            counts["answers"] += result.has_answer or judged.counted is not None
            counts["scored"] += judged.counted is not None
    return found


def agreement(reviewed: Reviewed) -> Iterator[Block]:
    """Yield the agreement of reviewers: alpha overall and by criterion, kappa of each pair."""
    found = reviewed.agreement
    if found.own:
        yield Paragraph(
            "Agreement of reviewers with themselves, over items shown to them blind a second time without notice. The "
            "second score is used only here."
        )
        yield Table(
            ("Reviewer", "Agreement with self"), tuple(((Strong(own.reviewer),), own_words(own)) for own in found.own)
        )
    if found.overall.value is None and not found.pairs and not found.on_na.units:
        yield Paragraph("No agreement: no answer was scored by two reviewers.", "note")
        return
    named: list[tuple[Line, Interval, NaDisagreement | None]] = [
        ((Strong("All criteria"),), found.overall, found.on_na)
    ]
    named += [(name, alpha, found.on_na_by_criterion.get(name)) for name, alpha in found.by_criterion.items()]
    rows = tuple(
        (
            name,
            _alpha(alpha.value),
            interval_words(alpha),
            reliability(alpha.value) or "–",
            f"{on_na.split} of {on_na.units}" if on_na and on_na.units else "–",
        )
        for name, alpha, on_na in named
    )
    resampled = "clusters" if found.clusters else "cases"
    yield Paragraph(
        f"Krippendorff's alpha, ordinal, over {phrases.many(found.units, 'item')} scored by at least two reviewers, "
        f"from {origin_words(found)}; the interval resamples {resampled}. 1 is perfect agreement, 0 is agreement by "
        "chance; below 0.667 is not reliable, 0.8 or more is good (Krippendorff 2004). n/a counts as missing; the last "
        "column gives the number of items rated by two reviewers on which only some said n/a. Decisions are not "
        "counted. There is no value if fewer than two items were scored by two reviewers, or if all extents are equal."
    )
    yield Table(("Criterion", "Alpha", "95%", "Reliability", "n/a disputed"), rows, 2)
    if found.pairs:
        pairs = tuple((pair.a, pair.b, str(pair.items), _alpha(pair.kappa)) for pair in found.pairs)
        yield Table(("Reviewer", "Reviewer", "Both scored", "Weighted kappa"), pairs, 2)


def _alpha(value: float | None) -> str:
    return "no value" if value is None else f"{value:.2f}".replace("-", "−")
