"""The criterion by which an answer is scored, as lines, and which cells of them stand for an extent."""

from dataclasses import dataclass
from typing import NamedTuple

from tui.app.presentation.bands import band_block, band_of, band_piece, extent_words, severity_weight
from tui.app.presentation.pieces import Line, Piece, Role, cut, fill, spread, width_of
from tui.app.presentation.text_rows import cut_line, hanging_indent, rows_of, text_rows
from tui.app.review.lines import next_line
from tui.app.review.queue_filter import ItemStatus
from tui.model.risk import EXTENTS, BandRule, Guidance
from tui.model.sanitize import sanitize_line
from tui.model.scores import Act, Extent, ReviewItem

_LEVELS: tuple[Extent, ...] = (0, 1, 2, 3, 4, "n/a")
_NAME = max(len(word) for word in EXTENTS) + 2
_HOW = {
    "single": "one score",
    "agreed": "all agree",
    "highest": "highest counts until a decision",
    "decided": "decided",
}


class ScoringKeys(NamedTuple):
    """The displayed keys: of each extent in the order of `_LEVELS`, of the note, and of the guidance."""

    extents: tuple[str, ...] = ("0", "1", "2", "3", "4", "-")
    note: str = "c"
    guidance: str = "G"


_DEFAULT_KEYS = ScoringKeys()


@dataclass(frozen=True, slots=True)
class CriterionState:
    """What is shown of an item.

    `act` is its decision or the reviewer's own score, `note` the note of that act, or a `draft` that is not saved.
    `checks` is the line of check results. While the note is open (`writing`), its text is not shown here.
    """

    item: ReviewItem
    status: ItemStatus
    rule: BandRule
    guidance: Guidance
    act: Act | None = None
    note: str = ""
    draft: bool = False
    deciding: bool = False
    upcoming: ReviewItem | None = None
    checks: Line = ()
    hidden: bool = True
    writing: bool = False
    keys: ScoringKeys = _DEFAULT_KEYS


class ExtentCells(NamedTuple):
    """The cells of a row that stand for an extent."""

    row: int
    start: int
    end: int
    extent: Extent


@dataclass(frozen=True, slots=True)
class CriterionDrawing:
    """The lines, and the cells of each extent; a `short` drawing has no line for the result."""

    lines: tuple[Line, ...]
    cells: tuple[ExtentCells, ...] = ()
    short: bool = False

    def extent_at(self, column: int, row: int) -> Extent | None:
        """Return the extent at a cell."""
        hit = (each for each in self.cells if each.row == row and each.start <= column < each.end)
        return next((each.extent for each in hit), None)


def draw_criterion(state: CriterionState, width: int, *, short: bool = False, tight: bool = False) -> CriterionDrawing:
    """Return the criterion in rows of at most `width` cells. A `short` drawing leaves out what can be spared; a `tight`
    one is short, and has the extents side by side."""
    item, short = state.item, short or tight
    lines = _head(item, state.rule, width, short=short)
    if not short:
        question = "Your decision?" if state.deciding else "To what extent does the answer violate it?"
        lines += [(), ((question, "strong"),), ()]
    levels, cells = (_levels_beside if tight else _levels_below)(state, width, len(lines))
    lines += levels
    if not short:
        lines += [(), result_line(state)]
    if state.writing:
        return CriterionDrawing((*lines, *(() if short else ((),)), (("Note", "dim"),)), tuple(cells), short)
    lines += _note(state, width, short=short)
    if not state.hidden:
        lines += _others(state, width)
    if not short:
        lines += [(), next_line(state.upcoming, item, state.rule, width)]
    return CriterionDrawing(tuple(cut_line(line, width) for line in lines), tuple(cells), short)


def _head(item: ReviewItem, rule: BandRule, width: int, *, short: bool) -> list[Line]:
    weight = severity_weight(item.criterion.severity, rule)
    rows = rows_of(sanitize_line(item.criterion.name, 300), width - width_of(weight[0]) - 2) or ["(no name)"]
    lines = [spread([(rows[0], "strong")], [weight], width), *(((row, "strong"),) for row in rows[1:])]
    described = text_rows(item.criterion.description, width, "dim")
    return [*lines, *(described[:2] if short else described)]


def _levels_below(state: CriterionState, width: int, at: int) -> tuple[list[Line], list[ExtentCells]]:
    lines, cells = list[Line](), list[ExtentCells]()
    for key, extent in zip(state.keys.extents, _LEVELS, strict=True):
        rows = _level(state, key, extent, width)
        cells += [ExtentCells(at + len(lines) + row, 0, width, extent) for row in range(len(rows))]
        lines += rows
    return lines, cells


def _levels_beside(state: CriterionState, width: int, at: int) -> tuple[list[Line], list[ExtentCells]]:
    """Return the extents in as few rows as possible, and below them the meaning of the chosen one."""
    rows, cells, column = [list[Piece]()], list[ExtentCells](), 0
    for key, extent in zip(state.keys.extents, _LEVELS, strict=True):
        here = state.act is not None and state.act.extent == extent
        name = "n/a" if extent == "n/a" else EXTENTS[extent]
        room = 3 + width_of(key) + len(name)
        if rows[-1] and column + room > width:
            rows, column = [*rows, []], 0
        cells.append(ExtentCells(at + len(rows) - 1, column, column + room, extent))
        column += room
        role: Role = "chosen-accent" if here else "accent"
        rows[-1] += [(f"{'▸' if here else ' '}{key} ", role), (name, "chosen" if here else "plain"), (" ", "plain")]
    chosen = state.act.extent if state.act is not None else None
    meaning = sanitize_line(state.guidance.levels[chosen] if isinstance(chosen, int) else "", 200)
    guidance: Line = ((f" {state.keys.guidance}", "accent"), (" guidance", "dim"))
    below = ((f" {cut(meaning, width - 1)}", "dim"),) if meaning else guidance
    return [*map(tuple, rows), below], cells


def _level(state: CriterionState, key: str, extent: Extent, width: int) -> list[Line]:
    here = state.act is not None and state.act.extent == extent
    name = "not applicable" if extent == "n/a" else EXTENTS[extent]
    text = "" if extent == "n/a" else state.guidance.levels[extent]
    first: Line = (
        (f" {'▸' if here else ' '} ", "chosen-accent" if here else "accent"),
        (f"{fill(key, max(map(width_of, state.keys.extents)))}  ", "chosen-accent" if here else "accent"),
        (fill(name, _NAME) if text else name, "chosen" if here else "plain"),
    )
    rows = hanging_indent(first, text, "chosen-dim" if here else "dim", width)
    return [_filled(row, width) for row in rows] if here else rows


def _filled(line: Line, width: int) -> Line:
    return (*line, (" " * max(0, width - sum(width_of(text) for text, _ in line)), "chosen"))


def result_line(state: CriterionState) -> Line:
    """Return the product and its band, or the keys that give an extent."""
    act, severity = state.act, state.item.criterion.severity
    if act is None or act.extent is None:
        what = "decide" if state.deciding else "score"
        *levels, none = state.keys.extents
        shown = "0–4" if levels == ["0", "1", "2", "3", "4"] else " ".join(levels)
        return ((shown, "accent"), (" or ", "dim"), (none, "accent"), (f" to {what}", "dim"))
    band = band_of(severity, act.extent, state.rule)
    head: list[Piece] = [("Decided  " if state.deciding else "", "accent")]
    if band is None or act.extent == "n/a":
        return (*head, ("not applicable: no band", "dim"))
    weight = state.rule.weights[severity]
    return (*head, (f"{weight} × {act.extent} = {weight * act.extent}   band  ", "dim"), band_block(band))


def _note(state: CriterionState, width: int, *, short: bool) -> list[Line]:
    if not state.note.strip():
        return [] if short else [(), ((state.keys.note, "accent"), (" writes a note", "dim"))]
    waits = "  saved with the extent" if state.draft and state.act is None else ""
    head: Line = (("Note", "dim"), (waits, "flaky"))
    return [*([] if short else [()]), head, *text_rows(state.note, width)]


def _others(state: CriterionState, width: int) -> list[Line]:
    """Return scores of other reviewers and results of checks, apart from each other and from the own score."""
    status, lines = state.status, list[Line]()
    scores = ((status.mine,) if status.mine is not None and state.deciding else ()) + status.others
    if scores:
        lines += [(), (("Scores" if state.deciding else "Other reviewers", "dim"),)]
        lines += _side_by_side(state, scores, width) if state.deciding and len(scores) == 2 else []
        if not (state.deciding and len(scores) == 2):
            for score in scores:
                lines += _score_rows(state, score, width)
    if status.counted is not None and (status.others or status.decision is not None):
        extent, how = status.counted.extent, _HOW[status.counted.how]
        lines += hanging_indent((("counts: ", "dim"), (f"{extent_words(extent)}  ", "plain")), how, "dim", width)
    if status.decision is not None and not state.deciding:
        lines += _score_rows(state, status.decision, width, "decided by ")
    if state.checks:
        lines += [(), state.checks]
    return lines


def _score_rows(state: CriterionState, score: Act, width: int, prefix: str = "") -> list[Line]:
    name: Line = ((f"{prefix}{sanitize_line(score.reviewer, 30)}  ", "plain"), *_extent(state, score))
    return [name, *(((f"  {row}", "dim"),) for row in rows_of(score.note, width - 2))]


def _extent(state: CriterionState, score: Act) -> Line:
    if score.extent is None:
        return ()
    band = band_of(state.item.criterion.severity, score.extent, state.rule)
    return ((extent_words(score.extent), "strong"), *((("  ", "plain"), band_piece(band)) if band else ()))


def _side_by_side(state: CriterionState, scores: tuple[Act, ...], width: int) -> list[Line]:
    """Return the scores and notes of two reviewers in two columns."""
    half = (width - 2) // 2
    columns: list[list[Line]] = []
    for score in scores:
        name: Line = ((sanitize_line(score.reviewer, 30), "plain"),)
        columns.append([name, _extent(state, score), *text_rows(score.note or "(no note)", half, "dim")])
    height = max(len(column) for column in columns)
    left, right = (column + [()] * (height - len(column)) for column in columns)
    return [(*spread(one, [], half), ("  ", "plain"), *other) for one, other in zip(left, right, strict=True)]
