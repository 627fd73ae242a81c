"""The rows of a file's diff as pieces with their ink."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.cells import cell_len

from tui.app.diff.ink import PLAIN_INK, DiffInk, DiffRun, Front, Ground, Over, dye, fit, skip
from tui.app.diff.prose import prose_emphasis
from tui.app.diff.rows import BlankEntry, GapEntry, HeadEntry, LineEntry, NoteEntry, SayEntry, TitleEntry
from tui.app.diff.section import SAY_MARGIN, Look, Section
from tui.app.diff.word_diff import emphasis
from tui.app.presentation.pieces import cut_middle, width_of
from tui.app.text.highlight import LineColours
from tui.app.text.wrap import drawn_at, row_cells
from tui.model.diffs import DiffLine, FileDiff
from tui.model.results import Span
from tui.model.sanitize import show_line

Colours = Callable[[DiffLine, int], LineColours]
Found = Callable[[int, int], Sequence[tuple[Span, bool]]]
Side = Literal[0, 1]

_emphasis = lru_cache(4_000)(emphasis)
_SIGNS: dict[str, tuple[str, Front, Ground]] = {
    "context": (" ", "dim", "plain"),
    "added": ("+", "added", "added"),
    "removed": ("-", "removed", "removed"),
}
_WORDS: dict[str, Ground] = {"added": "added-word", "removed": "removed-word"}
MOST_SHIFTED = 2_000


@dataclass(frozen=True, slots=True)
class Pen:
    """What the drawing asks for: `colours(line, side)` of code, `found(entry, side)` places of the search and whether
    each is the current one; `shift` are the cells scrolled to the right."""

    colours: Colours
    found: Found
    shift: int = 0


def draw_row(section: Section, row: int, pen: Pen, *, current: bool = False) -> list[DiffRun]:
    """One row in exactly as many cells as the look has; `current` marks the hunk that was jumped to."""
    number, sub = section.place(row)
    entry, look = section.entries[number], section.look
    match entry:
        case HeadEntry(file):
            return _head(file, look.width, crlf=section.hidden_returns)
        case GapEntry():
            return _gap(entry, look, current)
        case BlankEntry():
            return [(" " * look.width, PLAIN_INK)]
        case TitleEntry(text):
            return fit([(" ", DiffInk("text", "head")), (text, DiffInk("strong", "head"))], look.width, "head")
        case SayEntry(subject, _):
            return _said(section, number, sub, subject)
        case NoteEntry():
            return _both(section, number, sub, pen, current) if look.beside else _note(section, number, sub)
        case LineEntry(old, new):
            if look.beside:
                return _both(section, number, sub, pen, current)
            numbers = (old.old if old else None, new.new if new else None)
            side: Side = 1 if new else 0
            line = new or old
            assert line is not None, "an entry has a line"
            return _side(section, number, sub, side, line, numbers, look.width, pen, current)


def head_pieces(file: FileDiff, *, crlf: bool) -> tuple[str, str]:
    """The name of a file, with the one it had, and what is to be said of it: what happened, how its lines end."""
    name = show_line(file.path, 1_000)
    if file.old_path and file.old_path != file.path:
        name = f"{show_line(file.old_path, 1_000)} → {name}"
    said = ("" if file.kind == "modified" else file.kind, "CRLF" if crlf else "")
    return name, " · ".join(part for part in said if part)


def _head(file: FileDiff, width: int, *, crlf: bool) -> list[DiffRun]:
    name, kind = head_pieces(file, crlf=crlf)
    right = [(f"+{file.added}", DiffInk("added", "head")), (f" -{file.removed} ", DiffInk("removed", "head"))]
    right_width = sum(len(text) for text, _ in right)
    room = width - right_width - 3 - (len(kind) + 2 if kind else 0)
    name = cut_middle(name, max(1, room))
    left = [(" ", DiffInk("text", "head")), (name, DiffInk("strong", "head"))]
    if kind:
        left.append((f"  {kind}", DiffInk("dim", "head")))
    gap = width - right_width - sum(width_of(text) for text, _ in left)
    return fit([*left, (" " * max(1, gap), DiffInk("dim", "head")), *right], width, "head")


def _gap(entry: GapEntry, look: Look, current: bool) -> list[DiffRun]:
    lines = "line" if entry.hidden == 1 else "lines"
    said = f"⋯ {entry.hidden} {lines}" if entry.hidden else "⋯"
    runs: list[DiffRun] = [
        ("▌" if current else " ", DiffInk("accent")),
        (f"{'':{look.gutter - 3}}{said}", DiffInk("dim")),
    ]
    if entry.heading:
        runs.append((f"  {show_line(entry.heading, 200)}", DiffInk("dim")))
    return fit(runs, look.width, "plain")


def _said(section: Section, number: int, sub: int, subject: str) -> list[DiffRun]:
    start, end = section.part(number, 0, sub) or (0, 0)
    text = section.texts[number].old[start:end]
    bold = max(0, min(len(subject) - start, len(text)))
    runs = [(" " * SAY_MARGIN, PLAIN_INK), (text[:bold], PLAIN_INK), (text[bold:], DiffInk("dim"))]
    return fit(runs, section.look.width, "plain")


def _note(section: Section, number: int, sub: int) -> list[DiffRun]:
    look = section.look
    side: Side = 1 if section.texts[number].new else 0
    part = section.part(number, side, sub)
    text = section.texts[number][side][slice(*part)] if part else ""
    return fit([(" " * look.gutter, PLAIN_INK), (text, DiffInk("dim"))], look.width, "plain")


def _both(section: Section, number: int, sub: int, pen: Pen, current: bool) -> list[DiffRun]:
    """Both sides with a line between them."""
    entry, look = section.entries[number], section.look
    runs: list[DiffRun] = []
    for side, width in enumerate(look.halves):
        if side:
            runs.append(("│", DiffInk("quiet")))
        mark = current and side == 0
        if isinstance(entry, NoteEntry):
            text = section.texts[number][side] if sub == 0 else ""
            runs += fit([(" " * look.gutter, PLAIN_INK), (text, DiffInk("dim"))], width, "plain")
            continue
        line = (entry.old if side == 0 else entry.new) if isinstance(entry, LineEntry) else None
        if line is None:
            runs += fit([("▌", DiffInk("accent", "absent"))] if mark else [], width, "absent")
        else:
            at = line.new if side else line.old
            runs += _side(section, number, sub, 1 if side else 0, line, (at,), width, pen, mark)
    return fit(runs, look.width, "plain")


def _side(
    section: Section,
    number: int,
    sub: int,
    side: Side,
    line: DiffLine,
    numbers: Iterable[int | None],
    width: int,
    pen: Pen,
    current: bool,
) -> list[DiffRun]:
    """Numbers, sign, text."""
    sign, front, ground = _SIGNS[line.kind]
    look = section.look
    part = section.part(number, side, sub)
    gutter = _gutter(look, numbers if sub == 0 else [None for _ in numbers], sign if sub == 0 else " ", front, ground)
    if current:
        gutter[0] = ("▌", DiffInk("accent", ground))
    if part is None:
        return fit(gutter, width, ground)
    text = _text(section, number, side, line, part, ground, pen)
    room = max(0, width - look.gutter)
    if look.wrap:
        return fit([*gutter, *text], width, ground)
    return fit([*gutter, *_shifted(text, pen.shift, room, ground)], width, ground)


def _gutter(look: Look, numbers: Iterable[int | None], sign: str, front: Front, ground: Ground) -> list[DiffRun]:
    runs: list[DiffRun] = [(" ", DiffInk("text", ground))]
    if look.numbers:
        told = "".join(f"{'' if at is None else at:>{look.digits}} " for at in numbers)
        runs.append((told, DiffInk("dim", ground)))
    runs.append((f"{sign} ", DiffInk(front, ground)))
    return runs


def _text(
    section: Section, number: int, side: Side, line: DiffLine, part: tuple[int, int], ground: Ground, pen: Pen
) -> list[DiffRun]:
    whole = section.texts[number][side]
    if not section.look.wrap:
        # What cannot be scrolled to is not laid out: a line may be a megabyte long.
        part = (0, min(len(whole), 4 * (pen.shift + section.look.width) + 64))
    start, end = part
    text = whole[start:end]
    overs = [Over(low - start, high - start, _WORDS[line.kind]) for low, high in _words(section, number, side)]
    overs += [
        Over(low - start, high - start, "current" if now else "match") for (low, high), now in pen.found(number, side)
    ]
    fronts = ((low - start, high - start, role) for low, high, role in pen.colours(line, side))
    drawn = row_cells(text)
    if drawn == text:
        return dye(text, fronts, overs, ground)
    moved = [Over(drawn_at(text, max(0, o.start)), drawn_at(text, max(0, o.end)), o.ground) for o in overs]
    shifted = ((drawn_at(text, max(0, low)), drawn_at(text, max(0, high)), role) for low, high, role in fronts)
    return dye(drawn, shifted, moved, ground)


def _words(section: Section, number: int, side: Side) -> Sequence[Span]:
    """The words that are others than in the partner."""
    emphasis_of = prose_emphasis if section.look.prose else _emphasis
    entry = section.entries[number]
    if not isinstance(entry, LineEntry) or entry.old is entry.new:
        return ()
    if entry.old is not None and entry.new is not None:
        return emphasis_of(*section.texts[number])[side]
    if entry.partner is None:
        return ()
    partner = section.partner_text(entry.partner)
    text = section.texts[number][side]
    return emphasis_of(text, partner)[0] if side == 0 else emphasis_of(partner, text)[1]


def _shifted(runs: list[DiffRun], shift: int, room: int, ground: Ground) -> list[DiffRun]:
    """The part of a line that is scrolled to, with a mark at each end where there is more."""
    size = sum(len(text) if text.isascii() else cell_len(text) for text, _ in runs)
    shown = fit(skip(runs, shift) if shift else runs, room, ground)
    if size - shift > room > 0:
        shown = [*fit(shown, room - 1, ground), ("›", DiffInk("dim", ground))]
    if shift and size and room > 1:
        shown = [("‹", DiffInk("dim", ground)), *skip(shown, 1)]
    return shown
