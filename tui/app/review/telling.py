"""What the Review screen tells at length: guidance, rule, trail, the end, and why there is nothing to score."""

from collections.abc import Sequence
from datetime import datetime

from tui.app.presentation.bands import band_of, band_piece, band_role, extent_words
from tui.app.presentation.pieces import Line, Piece, fill, width_of
from tui.app.presentation.text_rows import hung, rows_of, text_rows
from tui.app.review.pace import minutes
from tui.model.risk import EXTENTS, Band, BandRule, Guidance, rule_rows, rule_sentence
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act
from tui.model.suite import Severity
from tui.risk.queue import ReviewItem

_DIFFER = (
    "Where reviewers differ and nobody has decided, bands use the highest extent and means the mean of the reviewers; "
    "the item is marked as disputed. "
    "Decisions are not reviewers' scores: they do not enter agreement."
)
_INHERENT = "Scores say what a person found in an answer. They are never mixed with the verdicts of checks."
_ACTS = {
    "score": "scored",
    "invalidate": "took back",
    "adjudicate": "decided",
    "reveal": "revealed the names",
    "look": "saw names",
}


def guidance_lines(guidance: Guidance, item: ReviewItem | None, width: int) -> list[Line]:
    """What each extent means, whole, with the version of the text."""
    lines: list[Line] = []
    for extent, text in enumerate(guidance.levels):
        first: Line = ((f"{extent}  ", "accent"), (fill(EXTENTS[extent], 9), "strong"))
        lines += hung(first, text, "plain", width)
    first = (("-  ", "accent"), (fill("n/a", 9), "strong"))
    lines += hung(first, "The criterion does not apply to this answer: no band, and it counts nowhere.", "plain", width)
    if item is not None:
        lines += [(), ((sanitize_line(item.criterion.name), "strong"),)]
        lines += text_rows(item.criterion.description, width)
    lines += [(), *text_rows(_DIFFER, width, "dim"), (), *text_rows(_INHERENT, width, "dim")]
    return [*lines, (), ((f"Version {guidance.version} of this text is written beside each score.", "dim"),)]


def rule_lines(rule: BandRule, width: int, here: Severity | None = None) -> list[Line]:
    """The table of severity × extent with its bands, and the rule in a sentence."""
    rows = rule_rows(rule)
    bands: dict[tuple[str, int], Band] = {
        (severity, extent): rule.band(severity, extent) for severity in rule.weights for extent in range(len(EXTENTS))
    }
    columns = [max(width_of(row[place]) for row in rows) + 2 for place in range(len(rows[0]))]
    if sum(columns) > width:
        return [*_narrow_rule(rule, here), (), *text_rows(rule_sentence(rule), width)]
    lines: list[Line] = [tuple((fill(text, room), "dim") for text, room in zip(rows[0], columns, strict=True))]
    for row in rows[1:]:
        pieces: list[Piece] = [
            (fill(row[0], columns[0]), "strong" if row[0] == here else "plain"),
            (fill(f"×{row[1]}", columns[1]), "dim"),
        ]
        for extent, text in enumerate(row[2:]):
            pieces.append((fill(text, columns[extent + 2]), band_role(bands[row[0], extent])))
        lines.append(tuple(pieces))
    return [*lines, (), *text_rows(rule_sentence(rule), width)]


def _narrow_rule(rule: BandRule, here: Severity | None) -> list[Line]:
    lines: list[Line] = []
    for severity, weight in rule.weights.items():
        lines.append(((severity, "strong" if severity == here else "plain"), (f"  weight {weight}", "dim")))
        for extent in range(len(EXTENTS)):
            product = f"  {weight} × {extent} = {weight * extent:>2}  "
            lines.append(((product, "dim"), band_piece(rule.band(severity, extent))))
    return lines


def trail_lines(item: ReviewItem, acts: Sequence[Act], rule: BandRule, width: int) -> list[Line]:
    """Everything that happened to an item: who, when with zone, what, how, why."""
    title = f"{sanitize_line(item.case.id, 80)} · {sanitize_line(item.criterion.name, 120)}"
    lines: list[Line] = [((title, "strong"),)]
    if not acts:
        return [*lines, (), (("Nothing has happened to it yet.", "dim"),)]
    for act in acts:
        lines += [(), _act_line(act, item, rule)]
        how = ["blind" if act.blind else "not blind", f"guidance {sanitize_line(act.guidance, 12) or '–'}"]
        how += [f"attempt {act.attempt}"] if act.attempt else []
        how += [f"seed {act.seed}"] if act.seed is not None else []
        how += [f"took {minutes(act.took_ms)}"] if act.took_ms else []
        lines += [((f"  {row}", "dim"),) for row in rows_of(" · ".join(how), width - 2)]
        lines += [((f"  {row}", "plain"),) for row in rows_of(act.note, width - 2)]
    return [*lines, (), *text_rows("Nothing is overwritten: the latest act of each reviewer counts.", width, "dim")]


def _act_line(act: Act, item: ReviewItem, rule: BandRule) -> Line:
    what = "took a decision back" if act.withdraws else _ACTS[act.act]
    pieces: list[Piece] = [
        (f"{_when(act.scored_at)}  ", "dim"),
        (sanitize_line(act.reviewer, 40), "strong"),
        (f" {what} ", "plain"),
    ]
    if act.extent is not None:
        pieces.append((extent_words(act.extent), "strong"))
        band = band_of(item.criterion.severity, act.extent, rule)
        pieces += [("  ", "plain"), band_piece(band)] if band else []
    return tuple(pieces)


def _when(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return sanitize_line(text, 32)
    zone = f"{moment:%z}"
    return f"{moment:%Y-%m-%d %H:%M:%S} {zone[:3]}:{zone[3:5]}" if zone else f"{moment:%Y-%m-%d %H:%M:%S}"
