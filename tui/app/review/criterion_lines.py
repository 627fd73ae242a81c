"""The criterion that an answer is judged by, as lines; some of them stand for an extent that can be clicked."""

from dataclasses import dataclass
from typing import NamedTuple

from tui.app.presentation.bands import band_block, band_of, band_piece, extent_words, severity_weight
from tui.app.presentation.pieces import Line, Piece, Role, cut, fill, spread, width_of
from tui.app.presentation.text_rows import cut_line, hung, rows_of, text_rows
from tui.app.review.lines import next_line
from tui.app.review.queue_filter import ItemStatus
from tui.model.risk import EXTENTS, BandRule, Guidance
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, Extent
from tui.risk.queue import ReviewItem

_LEVELS: tuple[Extent, ...] = (0, 1, 2, 3, 4, "n/a")
_NAME = max(len(word) for word in EXTENTS) + 2
_HOW = {
    "single": "one score",
    "agreed": "all agree",
    "highest": "the highest counts until somebody decides",
    "decided": "decided",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """What is shown of an item. `given` is the extent that stands for what is being done (a score, or a decision),
    `note` the one that it has or would have, `draft` whether that is not kept yet; `checks` is said apart."""

    item: ReviewItem
    stand: ItemStatus
    rule: BandRule
    guidance: Guidance
    given: Act | None = None
    note: str = ""
    draft: bool = False
    deciding: bool = False
    upcoming: ReviewItem | None = None
    checks: Line = ()
    hidden: bool = True
    writing: bool = False


class Spot(NamedTuple):
    """Cells of a row that stand for an extent."""

    row: int
    start: int
    end: int
    extent: Extent


@dataclass(frozen=True, slots=True)
class Drawn:
    """Lines, and what a click on one of them gives; a `short` one leaves the result to be said elsewhere."""

    lines: tuple[Line, ...]
    spots: tuple[Spot, ...] = ()
    short: bool = False

    def extent_at(self, column: int, row: int) -> Extent | None:
        """What a click there gives."""
        hit = (spot for spot in self.spots if spot.row == row and spot.start <= column < spot.end)
        return next((spot.extent for spot in hit), None)


def draw_criterion(judged: Judged, width: int, *, short: bool = False, tight: bool = False) -> Drawn:
    """All of it, in rows of at most so many cells; `short` leaves out what is only for comfort, and a `tight` one has
    the extents beside each other besides."""
    item, short = judged.item, short or tight
    lines = _head(item, judged.rule, width, short=short)
    if not short:
        question = "What do you decide?" if judged.deciding else "How far does this answer violate it?"
        lines += [(), ((question, "strong"),), ()]
    levels, spots = (_levels_beside if tight else _levels_below)(judged, width, len(lines))
    lines += levels
    if not short:
        lines += [(), result_line(judged)]
    if judged.writing:
        return Drawn((*lines, *(() if short else ((),)), (("Note", "dim"),)), tuple(spots), short)
    lines += _note(judged, width, short=short)
    if not judged.hidden:
        lines += _others(judged, width)
    if not short:
        lines += [(), next_line(judged.upcoming, item, judged.rule, width)]
    return Drawn(tuple(cut_line(line, width) for line in lines), tuple(spots), short)


def _head(item: ReviewItem, rule: BandRule, width: int, *, short: bool) -> list[Line]:
    weight = severity_weight(item.criterion.severity, rule)
    rows = rows_of(sanitize_line(item.criterion.name, 300), width - width_of(weight[0]) - 2) or ["(no name)"]
    lines = [spread([(rows[0], "strong")], [weight], width), *(((row, "strong"),) for row in rows[1:])]
    described = text_rows(item.criterion.description, width, "dim")
    return [*lines, *(described[:2] if short else described)]


def _levels_below(judged: Judged, width: int, at: int) -> tuple[list[Line], list[Spot]]:
    lines, spots = list[Line](), list[Spot]()
    for extent in _LEVELS:
        rows = _level(judged, extent, width)
        spots += [Spot(at + len(lines) + row, 0, width, extent) for row in range(len(rows))]
        lines += rows
    return lines, spots


def _levels_beside(judged: Judged, width: int, at: int) -> tuple[list[Line], list[Spot]]:
    """In as few rows as they fit in; below them what the given one means."""
    rows, spots, column = [list[Piece]()], list[Spot](), 0
    for extent in _LEVELS:
        here = judged.given is not None and judged.given.extent == extent
        key, name = ("-", "n/a") if extent == "n/a" else (str(extent), EXTENTS[extent])
        cells = 4 + len(name)
        if rows[-1] and column + cells > width:
            rows, column = [*rows, []], 0
        spots.append(Spot(at + len(rows) - 1, column, column + cells, extent))
        column += cells
        role: Role = "chosen-accent" if here else "accent"
        rows[-1] += [(f"{'▸' if here else ' '}{key} ", role), (name, "chosen" if here else "plain"), (" ", "plain")]
    given = judged.given.extent if judged.given is not None else None
    means = judged.guidance.levels[given] if isinstance(given, int) else ""
    means = sanitize_line(means, 200)
    told: Line = ((f" {cut(means, width - 1)}", "dim"),) if means else ((" g", "accent"), (" what they mean", "dim"))
    return [*map(tuple, rows), told], spots


def _level(judged: Judged, extent: Extent, width: int) -> list[Line]:
    here = judged.given is not None and judged.given.extent == extent
    key = "-" if extent == "n/a" else str(extent)
    name = "not applicable" if extent == "n/a" else EXTENTS[extent]
    text = "" if extent == "n/a" else judged.guidance.levels[extent]
    first: Line = (
        (f" {'▸' if here else ' '} ", "chosen-accent" if here else "accent"),
        (f"{key}  ", "chosen-accent" if here else "accent"),
        (fill(name, _NAME) if text else name, "chosen" if here else "plain"),
    )
    rows = hung(first, text, "chosen-dim" if here else "dim", width)
    return [_filled(row, width) for row in rows] if here else rows


def _filled(line: Line, width: int) -> Line:
    return (*line, (" " * max(0, width - sum(width_of(text) for text, _ in line)), "chosen"))


def result_line(judged: Judged) -> Line:
    """The product and its band, or how to give an extent."""
    given, severity = judged.given, judged.item.criterion.severity
    if given is None or given.extent is None:
        what = "decide" if judged.deciding else "score"
        return (("0–4", "accent"), (" or ", "dim"), ("-", "accent"), (f" to {what}", "dim"))
    band = band_of(severity, given.extent, judged.rule)
    said: list[Piece] = [("Decided  " if judged.deciding else "", "accent")]
    if band is None or given.extent == "n/a":
        return (*said, ("not applicable: no band", "dim"))
    weight = judged.rule.weights[severity]
    return (*said, (f"{weight} × {given.extent} = {weight * given.extent}   band  ", "dim"), band_block(band))


def _note(judged: Judged, width: int, *, short: bool) -> list[Line]:
    if not judged.note.strip():
        return [] if short else [(), (("c", "accent"), (" writes a note", "dim"))]
    waits = "  kept with the extent" if judged.draft and judged.given is None else ""
    head: Line = (("Note", "dim"), (waits, "flaky"))
    return [*([] if short else [()]), head, *text_rows(judged.note, width)]


def _others(judged: Judged, width: int) -> list[Line]:
    """What other people gave, and what checks said: apart from each other, and from one's own."""
    stand, lines = judged.stand, list[Line]()
    scores = ((stand.mine,) if stand.mine is not None and judged.deciding else ()) + stand.others
    if scores:
        lines += [(), (("Scores" if judged.deciding else "Other reviewers", "dim"),)]
        lines += _side_by_side(judged, scores, width) if judged.deciding and len(scores) == 2 else []
        if not (judged.deciding and len(scores) == 2):
            for score in scores:
                lines += _score_rows(judged, score, width)
    if stand.standing is not None and (stand.others or stand.decision is not None):
        extent, how = stand.standing.extent, _HOW[stand.standing.how]
        lines += hung((("counts: ", "dim"), (f"{extent_words(extent)}  ", "plain")), how, "dim", width)
    if stand.decision is not None and not judged.deciding:
        lines += _score_rows(judged, stand.decision, width, "decided by ")
    if judged.checks:
        lines += [(), judged.checks]
    return lines


def _score_rows(judged: Judged, score: Act, width: int, prefix: str = "") -> list[Line]:
    name: Line = ((f"{prefix}{sanitize_line(score.reviewer, 30)}  ", "plain"), *_extent(judged, score))
    return [name, *(((f"  {row}", "dim"),) for row in rows_of(score.note, width - 2))]


def _extent(judged: Judged, score: Act) -> Line:
    if score.extent is None:
        return ()
    band = band_of(judged.item.criterion.severity, score.extent, judged.rule)
    return ((extent_words(score.extent), "strong"), *((("  ", "plain"), band_piece(band)) if band else ()))


def _side_by_side(judged: Judged, scores: tuple[Act, ...], width: int) -> list[Line]:
    """Two reviewers in two columns: what they gave, and why."""
    half = (width - 2) // 2
    columns: list[list[Line]] = []
    for score in scores:
        name: Line = ((sanitize_line(score.reviewer, 30), "plain"),)
        columns.append([name, _extent(judged, score), *text_rows(score.note or "(no note)", half, "dim")])
    height = max(len(column) for column in columns)
    left, right = (column + [()] * (height - len(column)) for column in columns)
    return [(*spread(one, [], half), ("  ", "plain"), *other) for one, other in zip(left, right, strict=True)]
