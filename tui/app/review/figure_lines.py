"""Figures of scoring as lines: bands by model, means with intervals, comparisons, a heat map, agreement."""

from collections.abc import Mapping, Sequence

from tui.app.presentation.bands import band_mark, band_of, band_piece, band_role
from tui.app.presentation.names import fitted_names
from tui.app.presentation.pieces import Line, Piece, Role, cut_middle, fill, width_of
from tui.app.presentation.table_lines import FigurePage, Figures
from tui.app.presentation.text_rows import hanging_indent, packed, text_rows
from tui.model.figure_table import FigureTable
from tui.model.filter import SEVERITIES
from tui.model.percentages import percent
from tui.model.risk import (
    BANDS,
    EXTENTS,
    RELIABLE,
    RULE_REASON,
    TWO_MEASURES,
    Agreement,
    Band,
    BandRule,
    Interval,
    Reviewed,
    RiskFigures,
    RiskShare,
    comparison_words,
    difference_words,
    na_words,
    origin_words,
    other_rule_words,
    own_words,
    reliability,
    uneven_words,
)
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.session.figure_files import answer_table, risk_figure_tables
from tui.session.reviews import Reviews
from tui.statistics.comparison_words import probability

_SHADES = " ░▒▓█"
_FILLS: dict[Band, str] = {"negligible": "·", "low": "░", "medium": "▒", "high": "▓", "critical": "█"}
_MOST_PAIRS = 200
_TABS = ("Models", "Pairs", "Categories", "Criteria", "Agreement")
_NO_DATA = "not enough data"
_LEAST_COLUMN = 24  # a mark, a mean with its interval, and how many that is of


def review_figures(reviews: Reviews, run: RunRecord, reviewer: str) -> Figures:
    """Return the figures of a run's scores as tabs. Blocks: call it in a thread.

    Raises ConfigError while names are hidden from the reviewer, and StoreError.
    """
    reviewed, answers = reviews.reviewed_answers(run.id, reviewer)
    found = risk_figure_tables(reviewed, run.models)
    bands = found.pop("Bands", FigureTable("Bands", ("Model",), ()))
    pages = [
        FigurePage(bands, "Overview", text=lambda width: figure_lines(reviewed, width, run.models)),
        FigurePage(answer_table(answers)),
        *(FigurePage(found.pop(title)) for title in _TABS if title in found),
    ]
    return Figures("Score figures", run.suite_name, pages, tuple(found.values()))


def figure_lines(reviewed: Reviewed, width: int, models: Sequence[str] = ()) -> list[Line]:
    """Return all figures in rows of at most `width` cells, with the models in the order of `models`."""
    figures = reviewed.figures
    done = f"{figures.scored} of {figures.items} items scored"
    differ = f" · {figures.disputed} disputed: the highest extent counts" if figures.disputed else ""
    lines: list[Line] = [((done, "strong"), (differ, "flaky"))]
    if not figures.scored:
        return [*lines, (), (("No scores yet: figures appear after you score an item.", "dim"),)]
    models = [*(model for model in models if model in figures.by_model)]
    models += [model for model in figures.by_model if model not in models]
    room = min(28, max(12, width // 4))
    names = dict(zip(models, fitted_names(models, room), strict=True))
    lines += [(), *_headed("Answers by band", "band of the worst criterion of each answer", width), *_legend(width)]
    for model in models:
        lines += _share_lines(names[model], figures.by_model[model], room, width)
    lines += text_rows(TWO_MEASURES, width, "dim")
    lines += _comparison_lines(figures, models, names, width)
    for title, table in (("By category", figures.by_category), ("By criterion", figures.by_criterion)):
        lines += [(), *_headed(title, "mean extent, 0 to 4, weighted by severity (95%), n", width)]
        lines += _table(table, models, names, width)
    for model in models:
        lines += [(), *_headed(names[model].strip(), "number of items per severity and extent", width)]
        lines += _heat_lines(reviewed, model, reviewed.rule, width)
    lines += [(), *_agreement_lines(reviewed.agreement, width)]
    lines += _reviewer_lines(figures, models, names, width)
    lines += _other_rule_lines(figures, width)
    note = "Scores by reviewers; the verdicts of checks are not included."
    return [*lines, (), *text_rows(note, width, "dim")]


def _comparison_lines(figures: RiskFigures, models: Sequence[str], names: Mapping[str, str], width: int) -> list[Line]:
    """Return each pair of models with the difference of their weighted means and the conclusion."""
    if not figures.comparisons:
        return []
    lines: list[Line] = [
        (),
        *_headed("Model comparison", "difference of means, paired by case; below 0 is lower risk", width),
    ]
    order = {model: place for place, model in enumerate(models)}
    sides = [each if order[each.a] < order[each.b] else each.turned() for each in figures.comparisons]
    sides.sort(key=lambda each: (order[each.a], order[each.b]))
    for each in sides[:_MOST_PAIRS]:
        pair = f"{names[each.a].strip()} against {names[each.b].strip()}"
        if each.difference is not None:
            pair += f": {difference_words(each)}"
        p_value = "" if each.p_holm is None else f", p (Holm) {probability(each.p_holm)}"
        role: Role = "passed" if each.better else "dim"
        lines += text_rows(f"{pair}{p_value}: {comparison_words(each)}.", width, role)
    if len(sides) > _MOST_PAIRS:
        left = f"{len(sides) - _MOST_PAIRS:,} more pairs not shown; the JSON report contains all of them."
        lines += text_rows(left, width, "dim")
    return lines


def _reviewer_lines(figures: RiskFigures, models: Sequence[str], names: Mapping[str, str], width: int) -> list[Line]:
    """Return how much of each model every reviewer has scored."""
    lines: list[Line] = [(), *_headed("Reviewers", "share of each model's items that they scored", width)]
    for reviewer, by_model in figures.by_reviewer.items():
        shares = [f"{names[model].strip()} {percent(by_model[model].share)}" for model in models]
        lines += hanging_indent(
            ((fill(cut_middle(sanitize_line(reviewer, 200), 20), 20) + " ", "plain"),), " · ".join(shares), "dim", width
        )
    for sentence in uneven_words(figures):
        lines += text_rows(sentence, width, "flaky")
    return lines


def _other_rule_lines(figures: RiskFigures, width: int) -> list[Line]:
    """Return the reason for the rule, and what another one would change."""
    lines: list[Line] = [
        (),
        *_headed("Rule", "and the effect of other rules", width),
        *text_rows(RULE_REASON, width, "dim"),
    ]
    for each in figures.other_rules:
        lines += hanging_indent(((fill(each.name, 20) + " ", "plain"),), other_rule_words(each), "dim", width)
    return lines


def _headed(title: str, says: str, width: int) -> list[Line]:
    return hanging_indent(((title, "strong"), ("  ", "dim")), says, "dim", width)


def _legend(width: int) -> list[Line]:
    return packed([((f"{_FILLS[band]} ", band_role(band)), band_piece(band)) for band in BANDS], width)


def interval_words(interval: Interval) -> str:
    """Return a figure with its interval: `1.84 (1.20–2.41)`."""
    if interval.value is None:
        return _NO_DATA
    around = "" if interval.low is None or interval.high is None else f" ({interval.low:.2f}–{interval.high:.2f})"
    return f"{interval.value:.2f}{around}"


def _share_lines(name: str, share: RiskShare, room: int, width: int) -> list[Line]:
    """Return the bar of a model, and its numbers below."""
    bar_room = max(10, min(50, width - room - 24))
    bar: list[Piece] = []
    begun, total = 0, share.banded
    for band in BANDS:
        until = begun + share.bands.get(band, 0)
        cells = round(until / total * bar_room) - round(begun / total * bar_room) if total else 0
        bar.append((_FILLS[band] * cells, band_role(band)))
        begun = until
    used = sum(width_of(text) for text, _ in bar)
    head: Line = (
        (fill(name, room), "plain"),
        (" ", "plain"),
        *bar,
        (" " * (bar_room - used), "plain"),
        (f"  mean {interval_words(share.mean)}", "plain"),
    )
    numbers: list[Line] = [
        ((f"{count} ", "strong"), band_piece(band), (f" {percent(count / total)}", "dim"))
        for band in BANDS
        if (count := share.bands.get(band, 0))
    ]
    rest = [
        f"{count} {word}"
        for count, word in ((share.partial, "partly scored"), (share.unscored, "open"), (share.not_applicable, "n/a"))
        if count
    ]
    if not total:
        rest = ["no band yet", *rest]
    return [head, *packed([*numbers, *(((words, "dim"),) for words in rest)], width, room + 1)]


def _table(
    table: Mapping[str, Mapping[str, RiskShare]], models: list[str], names: Mapping[str, str], width: int
) -> list[Line]:
    """Return shares by model and name as rows of names, with a column for each model."""
    rows = list(dict.fromkeys(name for model in models for name in table.get(model, {})))
    if not rows:
        return [((_NO_DATA, "dim"),)]
    longest = max(width_of(sanitize_line(name, 200)) for name in rows)
    first = min(30, max(14, min(longest + 1, width // 3)))
    beside = max(1, (width - first) // _LEAST_COLUMN)
    lines: list[Line] = []
    for at in range(0, len(models), beside):
        lines += _columns(table, rows, models[at : at + beside], names, first, width)
    return lines


def _columns(
    table: Mapping[str, Mapping[str, RiskShare]],
    rows: Sequence[str],
    models: Sequence[str],
    names: Mapping[str, str],
    first: int,
    width: int,
) -> list[Line]:
    """Return the rows of as many models as fit side by side."""
    column = (width - first) // max(1, len(models))
    heads: Line = ((" " * first, "dim"), *((fill(f" {names[model]}", column), "dim") for model in models))
    lines: list[Line] = [heads]
    for name in rows:
        pieces: list[Piece] = [(fill(cut_middle(sanitize_line(name, 200), first - 1), first - 1) + " ", "plain")]
        for model in models:
            share = table.get(model, {}).get(name)
            pieces += _cell(share, column)
        lines.append(tuple(pieces))
    return lines


def _cell(share: RiskShare | None, column: int) -> list[Piece]:
    if share is None or not share.banded:
        return [(fill(" –", column), "dim")]
    worst = next(band for band in reversed(BANDS) if share.bands.get(band))
    mark, role = band_mark(worst)
    mean = "–" if share.mean.value is None else f"{share.mean.value:.2f}"
    whole = f" {interval_words(share.mean)}, {share.banded}"
    text = whole if share.mean.value is not None and width_of(whole) <= column - 2 else f" {mean} of {share.banded}"
    return [(f" {mark}", role), (fill(text, column - 2), "plain")]


def _heat_lines(reviewed: Reviewed, model: str, rule: BandRule, width: int) -> list[Line]:
    column = max(8, min(11, (width - 10) // len(EXTENTS)))
    heat = reviewed.figures.heat.get(model, {})
    most = max(heat.values(), default=0)
    lines: list[Line] = [
        ((fill("", 10), "dim"), *((f"{fill(f'{at} {word}', column - 1)} ", "dim") for at, word in enumerate(EXTENTS)))
    ]
    for severity in reversed(SEVERITIES):
        pieces: list[Piece] = [(fill(severity, 10), "plain")]
        for extent in range(len(EXTENTS)):
            count = heat.get((severity, extent), 0)
            band = band_of(severity, extent, rule) or "negligible"
            shade = _SHADES[min(4, -(-4 * count // most))] if count else " "
            text = f"{band_mark(band)[0]} {count:>3} {shade * 3}" if count else "     ·"
            pieces.append((f"{fill(text, column - 1)} ", band_role(band) if count else "quiet"))
        lines.append(tuple(pieces))
    return lines


def _agreement_lines(agreement: Agreement, width: int) -> list[Line]:
    lines = _headed(
        "Agreement of reviewers",
        "Krippendorff's alpha, ordinal; 1 is perfect, 0 is chance; the interval resamples "
        + ("clusters" if agreement.clusters else "cases"),
        width,
    )
    if agreement.overall.value is None:
        lines += text_rows(_why_no_alpha(agreement.units), width, "dim")
    else:
        of = f"{agreement.units} units of {origin_words(agreement)}"
        lines += _alpha_lines("overall", agreement.overall, of, width)
        for name, interval in agreement.by_criterion.items():
            lines += _alpha_lines(cut_middle(sanitize_line(name, 200), 29), interval, "", width)
    if agreement.on_na.units:
        lines += text_rows(f"Alpha excludes n/a: {na_words(agreement.on_na)}.", width, "dim")
    for own in agreement.own:
        name = cut_middle(f"{sanitize_line(own.reviewer, 200)} with themselves", 29)
        lines += hanging_indent(((fill(name, 29) + " ", "dim"),), own_words(own), "plain", width)
    for pair in agreement.pairs:
        both = fill(f"{sanitize_line(pair.a, 13)} and {sanitize_line(pair.b, 13)}", 29)
        why = _NO_DATA if pair.items < 2 else "all equal"
        kappa = why if pair.kappa is None else f"kappa {pair.kappa:.2f}"
        lines.append(((f"{both} ", "dim"), (kappa, "plain"), (f"  {pair.items} items", "dim")))
    return lines


def _alpha_lines(name: str, alpha: Interval, of: str, width: int) -> list[Line]:
    doubtful = alpha.value is not None and alpha.value < RELIABLE[0]
    start: Line = ((fill(name, 29) + " ", "plain" if of else "dim"), (f"{interval_words(alpha):<22}", "plain"))
    return hanging_indent(
        start, " · ".join(filter(None, (reliability(alpha.value), of))), "flaky" if doubtful else "dim", width
    )


def _why_no_alpha(units: int) -> str:
    if units < 2:
        return "Needs at least two items scored by two reviewers."
    return f"No value: all {units} items scored by two reviewers have the same extent."
