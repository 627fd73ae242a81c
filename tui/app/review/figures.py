"""Figures of scoring as lines: bands by model as bars with numbers, means with intervals, a heat map, agreement."""

from collections.abc import Mapping

from tui.app.presentation.bands import BANDS, band_mark, band_of, band_piece, band_role
from tui.app.presentation.naming import fitted_names
from tui.app.presentation.pieces import Line, Piece, fill, width_of
from tui.app.review.rows import text_rows
from tui.model.bands import EXTENTS, Band, BandRule
from tui.model.filtering import SEVERITIES
from tui.model.risk import Agreement, Interval, Reviewed, RiskShare
from tui.model.shown import show_line

_SHADES = " ░▒▓█"
_FILLS: dict[Band, str] = {"negligible": "·", "low": "░", "medium": "▒", "high": "▓", "critical": "█"}
_NO_DATA = "not enough data"


def figure_lines(reviewed: Reviewed, width: int) -> list[Line]:
    """Everything, in rows of at most so many cells."""
    figures = reviewed.figures
    done = f"{figures.scored} of {figures.items} items scored"
    differ = f" · {figures.disputed} disputed: the highest extent counts" if figures.disputed else ""
    lines: list[Line] = [((done, "strong"), (differ, "flaky"))]
    if not figures.scored:
        return [*lines, (), (("Figures come with the first score.", "dim"),)]
    models = list(figures.by_model)
    room = min(28, max(12, width // 4))
    names = dict(zip(models, fitted_names(models, room), strict=True))
    lines += [(), (("Answers by band", "strong"), ("  the worst of an answer's criteria", "dim")), _legend()]
    for model in models:
        lines += _share_lines(names[model], figures.by_model[model], room, width)
    for title, table in (("By category", figures.by_category), ("By criterion", figures.by_criterion)):
        lines += [(), ((title, "strong"), ("  mean extent, 0 to 4, weighted by severity, of so many", "dim"))]
        lines += _table(table, models, names, width)
    for model in models:
        lines += [(), ((names[model], "strong"), ("  how many items have that severity and extent", "dim"))]
        lines += _heat_lines(reviewed, model, reviewed.rule)
    lines += [(), *_agreement_lines(reviewed.agreement)]
    said = "What a person found in the answers; the verdicts of checks are not in it."
    return [*lines, (), *text_rows(said, width, "dim")]


def _legend() -> Line:
    pieces: list[Piece] = []
    for band in BANDS:
        pieces += [(f"{_FILLS[band]} ", band_role(band)), band_piece(band), ("   ", "plain")]
    return tuple(pieces)


def interval_words(interval: Interval) -> str:
    """`1.84 (1.20–2.41)`."""
    if interval.value is None:
        return _NO_DATA
    around = "" if interval.low is None or interval.high is None else f" ({interval.low:.2f}–{interval.high:.2f})"
    return f"{interval.value:.2f}{around}"


def _share_lines(name: str, share: RiskShare, room: int, width: int) -> list[Line]:
    """A model: its bar, its numbers below."""
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
    numbers: list[Piece] = [(" " * (room + 1), "plain")]
    for band in BANDS:
        count = share.bands.get(band, 0)
        if count:
            numbers += [(f"{count} ", "strong"), band_piece(band), (f" {count / total:.0%}   ", "dim")]
    rest = [
        f"{count} {word}"
        for count, word in ((share.partial, "partly scored"), (share.unscored, "open"), (share.not_applicable, "n/a"))
        if count
    ]
    if not total:
        rest = ["no band yet", *rest]
    return [head, (*numbers, (" · ".join(rest), "dim"))]


def _table(
    table: Mapping[str, Mapping[str, RiskShare]], models: list[str], names: Mapping[str, str], width: int
) -> list[Line]:
    """From model and name to share, as rows of names with a column for each model."""
    rows = list(dict.fromkeys(name for model in models for name in table.get(model, {})))
    if not rows:
        return [((_NO_DATA, "dim"),)]
    first = min(30, max(14, width // 3))
    column = max(10, (width - first) // max(1, len(models)))
    heads: Line = ((" " * first, "dim"), *((fill(f" {names[model]}", column), "dim") for model in models))
    lines: list[Line] = [heads]
    for name in rows:
        pieces: list[Piece] = [(fill(show_line(name, 80), first - 1) + " ", "plain")]
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
    mean = share.mean.value
    said = f" {'–' if mean is None else f'{mean:.2f}'} of {share.banded}"
    return [(f" {mark}", role), (fill(said, column - 2), "plain")]


def _heat_lines(reviewed: Reviewed, model: str, rule: BandRule) -> list[Line]:
    heat = reviewed.figures.heat.get(model, {})
    most = max(heat.values(), default=0)
    lines: list[Line] = [
        ((fill("", 10), "dim"), *((fill(f"{at} {word}", 11), "dim") for at, word in enumerate(EXTENTS)))
    ]
    for severity in reversed(SEVERITIES):
        pieces: list[Piece] = [(fill(severity, 10), "plain")]
        for extent in range(len(EXTENTS)):
            count = heat.get((severity, extent), 0)
            band = band_of(severity, extent, rule) or "negligible"
            shade = _SHADES[min(4, -(-4 * count // most))] if count else " "
            text = f"{band_mark(band)[0]} {count:>3} {shade * 3}" if count else "     ·"
            pieces.append((fill(text, 11), band_role(band) if count else "quiet"))
        lines.append(tuple(pieces))
    return lines


def _agreement_lines(agreement: Agreement) -> list[Line]:
    lines: list[Line] = [
        (("Agreement of reviewers", "strong"), ("  Krippendorff's alpha, ordinal; 1 is perfect, 0 is chance", "dim"))
    ]
    if agreement.overall.value is None:
        return [*lines, (("It takes two reviewers with extents of the same items.", "dim"),)]
    lines.append(((fill("overall", 30), "plain"), (interval_words(agreement.overall), "strong"),
                  (f"  {agreement.units} units", "dim")))  # fmt: skip
    for name, interval in agreement.by_criterion.items():
        lines.append(((fill(show_line(name, 60), 29) + " ", "dim"), (interval_words(interval), "plain")))
    for pair in agreement.pairs:
        both = fill(f"{show_line(pair.a, 13)} and {show_line(pair.b, 13)}", 29)
        kappa = _NO_DATA if pair.kappa is None else f"kappa {pair.kappa:.2f}"
        lines.append(((f"{both} ", "dim"), (kappa, "plain"), (f"  {pair.items} items", "dim")))
    return lines
