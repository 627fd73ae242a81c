"""The history of a review item as lines: every score, withdrawal and decision, with its conditions."""

from collections.abc import Sequence
from datetime import datetime

from tui.app.presentation.bands import band_of, band_piece, extent_words
from tui.app.presentation.figures import minutes
from tui.app.presentation.pieces import Line, Piece
from tui.app.presentation.text_rows import rows_of, text_rows
from tui.model.risk import BandRule
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, ReviewItem

_ACTS = {
    "score": "scored",
    "invalidate": "withdrew",
    "adjudicate": "decided",
    "reveal": "revealed the names",
    "look": "saw names",
}


def trail_lines(item: ReviewItem, acts: Sequence[Act], rule: BandRule, width: int) -> list[Line]:
    """Return all acts on an item: who did what and when, under which conditions, with which note."""
    title = f"{sanitize_line(item.case.id, 80)} · {sanitize_line(item.criterion.name, 120)}"
    lines: list[Line] = [((title, "strong"),)]
    if not acts:
        return [*lines, (), (("No history yet.", "dim"),)]
    for act in acts:
        lines += [(), _act_line(act, item, rule)]
        how = ["blind" if act.blind else "not blind", f"guidance {sanitize_line(act.guidance, 12) or '–'}"]
        how += [f"attempt {act.attempt}"] if act.attempt else []
        how += [f"seed {act.seed}"] if act.seed is not None else []
        how += [f"took {minutes(act.took_ms)}"] if act.took_ms else []
        lines += [((f"  {row}", "dim"),) for row in rows_of(" · ".join(how), width - 2)]
        lines += [((f"  {row}", "plain"),) for row in rows_of(act.note, width - 2)]
    return [*lines, (), *text_rows("Nothing is overwritten: the latest entry of each reviewer counts.", width, "dim")]


def _act_line(act: Act, item: ReviewItem, rule: BandRule) -> Line:
    what = "withdrew a decision" if act.withdraws else _ACTS[act.act]
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
