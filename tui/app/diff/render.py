"""Rows of a diff as pieces of text with style keys, and the background colors of a theme for them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from tui.app.diff.layout import SAY_MARGIN, Look, Section
from tui.app.diff.rows import (
    BlankEntry,
    GapEntry,
    HeadEntry,
    LineEntry,
    NoteEntry,
    PairEntry,
    PairHeadEntry,
    SayEntry,
    TitleEntry,
)
from tui.app.diff.word_diff import FindWords, Spans, changed_spans
from tui.app.presentation.pieces import cut_middle, width_of
from tui.app.text.highlight import CodeRole, LineColours
from tui.app.text.wrap import drawn_at, row_cells, whole_characters
from tui.model.diffs import DiffLine, FileDiff
from tui.model.results import Span
from tui.model.sanitize import sanitize_line

Front = CodeRole | Literal["text", "strong", "dim", "quiet", "accent", "added", "removed"]
Ground = Literal["plain", "added", "removed", "added-word", "removed-word", "head", "absent", "match", "current"]


class DiffStyle(NamedTuple):
    """The text color and the background color of a piece."""

    front: Front = "text"
    ground: Ground = "plain"


DiffRun = tuple[str, DiffStyle]
PLAIN_STYLE = DiffStyle()


class Over(NamedTuple):
    """A range of a text with another background."""

    start: int
    end: int
    ground: Ground


def apply_styles(
    text: str, fronts: Iterable[tuple[int, int, Front]], overs: Sequence[Over], ground: Ground
) -> list[DiffRun]:
    """Split a text into styled pieces.

    `fronts` are sorted ranges without overlap; of overlapping `overs` the last one wins.
    """
    if not text:
        return []
    overs = [Over(*_clipped(text, over.start, over.end), over.ground) for over in overs]
    overs = [over for over in overs if over.start < over.end]
    edges = {0, len(text)}
    coloured: list[tuple[int, int, Front]] = []
    for start, end, front in fronts:
        start, end = max(0, start), min(end, len(text))
        if start < end:
            coloured.append((start, end, front))
            edges |= {start, end}
    for over in overs:
        edges |= {over.start, over.end}
    runs: list[DiffRun] = []
    at = 0
    for start, end in pairwise(sorted(edges)):
        while at < len(coloured) and coloured[at][1] <= start:
            at += 1
        is_coloured = at < len(coloured) and coloured[at][0] <= start
        on = next((over.ground for over in reversed(overs) if over.start <= start < over.end), ground)
        runs.append((text[start:end], DiffStyle(coloured[at][2] if is_coloured else "text", on)))
    return runs


def _clipped(text: str, start: int, end: int) -> Span:
    start, end = max(0, start), min(end, len(text))
    return whole_characters(text, start, end) if start < end else (0, 0)


def fit(runs: Iterable[DiffRun], width: int, ground: Ground) -> list[DiffRun]:
    """Crop or pad the runs to exactly `width` cells."""
    fitted: list[DiffRun] = []
    room = width
    for text, style in runs:
        size = len(text) if text.isascii() else cell_len(text)
        if size > room:
            if room > 0:
                fitted.append((set_cell_size(text, room), style))
            return fitted
        fitted.append((text, style))
        room -= size
    if room:
        fitted.append((" " * room, DiffStyle("text", ground)))
    return fitted


def skip(runs: Iterable[DiffRun], cells: int) -> list[DiffRun]:
    """Return the runs without their first cells; a wide character that is cut in half becomes a blank."""
    left: list[DiffRun] = []
    for text, style in runs:
        if cells <= 0:
            left.append((text, style))
            continue
        size = len(text) if text.isascii() else cell_len(text)
        if size <= cells:
            cells -= size
            continue
        kept = text[cells:] if text.isascii() else _cut_off(text, size - cells)
        cells = 0
        left.append((kept, style))
    return left


def _cut_off(text: str, keep: int) -> str:
    """Return the end of a text in exactly `keep` cells."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if cell_len(text[middle:]) > keep:
            low = middle + 1
        else:
            high = middle
    return " " * (keep - cell_len(text[low:])) + text[low:]


Colours = Callable[[DiffLine, int], LineColours]
Found = Callable[[int, int], Sequence[tuple[Span, bool]]]
Side = Literal[0, 1]


def _compare(old: str, new: str, prose: bool) -> Spans:
    return changed_spans(old, new, prose=prose)


_SIGNS: dict[str, tuple[str, Front, Ground]] = {
    "context": (" ", "dim", "plain"),
    "added": ("+", "added", "added"),
    "removed": ("-", "removed", "removed"),
}
_WORDS: dict[str, Ground] = {"added": "added-word", "removed": "removed-word"}
MOST_SHIFTED = 2_000


@dataclass(frozen=True, slots=True)
class Pen:
    """What drawing a row needs in addition to its section.

    `colours(line, side)` returns the colors of code, `found(entry, side)` the search matches with whether each is the
    current one; `shift` is the number of cells scrolled to the right; `words(old, new, prose)` returns the spans of
    changed words in two lines.
    """

    colours: Colours
    found: Found
    shift: int = 0
    words: FindWords = _compare


def draw_row(section: Section, row: int, pen: Pen, *, current: bool = False) -> list[DiffRun]:
    """Return a row in exactly the width of the look; `current` marks the current hunk."""
    number, sub = section.place(row)
    entry, look = section.entries[number], section.look
    match entry:
        case HeadEntry(file):
            return _head(file, [(file.added, file.removed)], look.width, crlf=section.hidden_returns)
        case PairHeadEntry(file, left, right):
            return _head(file, [left, right], look.width, crlf=section.hidden_returns)
        case PairEntry():
            return _both(section, number, sub, pen, current)
        case GapEntry():
            return _gap(entry, look, current)
        case BlankEntry():
            return [(" " * look.width, PLAIN_STYLE)]
        case TitleEntry(text):
            return fit([(" ", DiffStyle("text", "head")), (text, DiffStyle("strong", "head"))], look.width, "head")
        case SayEntry(subject, _):
            return _message(section, number, sub, subject)
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
    """Return the name of a file, with its former name, and its kind of change and line endings."""
    name = sanitize_line(file.path, 1_000)
    if file.old_path and file.old_path != file.path:
        name = f"{sanitize_line(file.old_path, 1_000)} → {name}"
    states = ("" if file.kind == "modified" else file.kind, "CRLF" if crlf else "")
    return name, " · ".join(part for part in states if part)


def _head(file: FileDiff, counts: Sequence[tuple[int, int] | None], width: int, *, crlf: bool) -> list[DiffRun]:
    name, kind = head_pieces(file, crlf=crlf)
    right: list[DiffRun] = []
    for place, count in enumerate(counts):
        right += [("│ ", DiffStyle("quiet", "head"))] if place else []
        if count is None:
            right.append(("unchanged ", DiffStyle("dim", "head")))
        else:
            right += [
                (f"+{count[0]}", DiffStyle("added", "head")),
                (f" -{count[1]} ", DiffStyle("removed", "head")),
            ]
    right_width = sum(len(text) for text, _ in right)
    room = width - right_width - 3 - (len(kind) + 2 if kind else 0)
    name = cut_middle(name, max(1, room))
    left = [(" ", DiffStyle("text", "head")), (name, DiffStyle("strong", "head"))]
    if kind:
        left.append((f"  {kind}", DiffStyle("dim", "head")))
    gap = width - right_width - sum(width_of(text) for text, _ in left)
    return fit([*left, (" " * max(1, gap), DiffStyle("dim", "head")), *right], width, "head")


def _gap(entry: GapEntry, look: Look, current: bool) -> list[DiffRun]:
    lines = "line" if entry.hidden == 1 else "lines"
    label = f"⋯ {entry.hidden} {lines}" if entry.hidden else "⋯"
    runs: list[DiffRun] = [
        ("▌" if current else " ", DiffStyle("accent")),
        (f"{'':{look.gutter - 3}}{label}", DiffStyle("dim")),
    ]
    if entry.heading:
        runs.append((f"  {sanitize_line(entry.heading, 200)}", DiffStyle("dim")))
    return fit(runs, look.width, "plain")


def _message(section: Section, number: int, sub: int, subject: str) -> list[DiffRun]:
    start, end = section.part(number, 0, sub) or (0, 0)
    text = section.texts[number].old[start:end]
    bold = max(0, min(len(subject) - start, len(text)))
    runs = [(" " * SAY_MARGIN, PLAIN_STYLE), (text[:bold], PLAIN_STYLE), (text[bold:], DiffStyle("dim"))]
    return fit(runs, section.look.width, "plain")


def _note(section: Section, number: int, sub: int) -> list[DiffRun]:
    look = section.look
    side: Side = 1 if section.texts[number].new else 0
    part = section.part(number, side, sub)
    text = section.texts[number][side][slice(*part)] if part else ""
    return fit([(" " * look.gutter, PLAIN_STYLE), (text, DiffStyle("dim"))], look.width, "plain")


def _both(section: Section, number: int, sub: int, pen: Pen, current: bool) -> list[DiffRun]:
    """Return a row of a split view: both sides with a vertical line between them."""
    entry, look = section.entries[number], section.look
    runs: list[DiffRun] = []
    for side, width in enumerate(look.halves):
        if side:
            runs.append(("│", DiffStyle("quiet")))
        mark = current and side == 0
        if isinstance(entry, NoteEntry):
            text = section.texts[number][side] if sub == 0 else ""
            runs += fit([(" " * look.gutter, PLAIN_STYLE), (text, DiffStyle("dim"))], width, "plain")
            continue
        line = _line_of(section, number, side)
        if line is None:
            runs += fit([("▌", DiffStyle("accent", "absent"))] if mark else [], width, "absent")
        else:
            at = line.old if isinstance(entry, PairEntry) or not side else line.new
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
    """Return one side of a row: line numbers, sign and text."""
    sign, front, ground = _SIGNS[line.kind]
    look = section.look
    part = section.part(number, side, sub)
    gutter = _gutter(look, numbers if sub == 0 else [None for _ in numbers], sign if sub == 0 else " ", front, ground)
    if current:
        gutter[0] = ("▌", DiffStyle("accent", ground))
    if part is None:
        return fit(gutter, width, ground)
    text = _text(section, number, side, line, part, ground, pen)
    room = max(0, width - look.gutter)
    if look.wrap:
        return fit([*gutter, *text], width, ground)
    return fit([*gutter, *_shifted(text, pen.shift, room, ground)], width, ground)


def _gutter(look: Look, numbers: Iterable[int | None], sign: str, front: Front, ground: Ground) -> list[DiffRun]:
    runs: list[DiffRun] = [(" ", DiffStyle("text", ground))]
    if look.numbers:
        columns = "".join(f"{'' if at is None else at:>{look.digits}} " for at in numbers)
        runs.append((columns, DiffStyle("dim", ground)))
    runs.append((f"{sign} ", DiffStyle(front, ground)))
    return runs


def _text(
    section: Section, number: int, side: Side, line: DiffLine, part: tuple[int, int], ground: Ground, pen: Pen
) -> list[DiffRun]:
    whole = section.texts[number][side]
    if not section.look.wrap:
        # Lay out only the visible part: a line may be a megabyte long.
        part = (0, min(len(whole), 4 * (pen.shift + section.look.width) + 64))
    start, end = part
    text = whole[start:end]
    overs = [Over(low - start, high - start, _WORDS[line.kind]) for low, high in _words(section, number, side, pen)]
    overs += [
        Over(low - start, high - start, "current" if now else "match") for (low, high), now in pen.found(number, side)
    ]
    fronts = ((low - start, high - start, role) for low, high, role in pen.colours(line, side))
    drawn = row_cells(text)
    if drawn == text:
        return apply_styles(text, fronts, overs, ground)
    moved = [Over(drawn_at(text, max(0, o.start)), drawn_at(text, max(0, o.end)), o.ground) for o in overs]
    shifted = ((drawn_at(text, max(0, low)), drawn_at(text, max(0, high)), role) for low, high, role in fronts)
    return apply_styles(drawn, shifted, moved, ground)


def _line_of(section: Section, number: int, side: int) -> DiffLine | None:
    """Return the line of an entry on a side."""
    entry = section.entries[number]
    if isinstance(entry, PairEntry):
        return entry.lines[side]
    return (entry.new if side else entry.old) if isinstance(entry, LineEntry) else None


def _words(section: Section, number: int, side: Side, pen: Pen) -> Sequence[Span]:
    """Return the ranges of the words that differ from the partner line."""
    entry, prose = section.entries[number], section.look.prose
    line = _line_of(section, number, side)
    if line is None or line.kind == "context":
        return ()
    if isinstance(entry, LineEntry) and entry.old is not None and entry.new is not None:
        return pen.words(*section.texts[number], prose)[side]
    partner = entry.partners[side] if isinstance(entry, PairEntry) else getattr(entry, "partner", None)
    if partner is None:
        return ()
    text, other = section.texts[number][side], section.partner_text(partner)
    if line.kind == "removed":
        return pen.words(text, other, prose)[0]
    return pen.words(other, text, prose)[1]


def _shifted(runs: list[DiffRun], shift: int, room: int, ground: Ground) -> list[DiffRun]:
    """Return the visible part of a shifted line, with a mark at each end where text is hidden."""
    size = sum(len(text) if text.isascii() else cell_len(text) for text, _ in runs)
    shown = fit(skip(runs, shift) if shift else runs, room, ground)
    if size - shift > room > 0:
        shown = [*fit(shown, room - 1, ground), ("›", DiffStyle("dim", ground))]
    if shift and size and room > 1:
        shown = [("‹", DiffStyle("dim", ground)), *skip(shown, 1)]
    return shown


_LINE, _WORD = 0.12, 0.30


def grounds(colours: Mapping[str, str]) -> dict[Ground, str]:
    """Return the color `#rrggbb` of each kind of background; `colours` are those of the theme."""
    back = colours["background"]
    return {
        "plain": back,
        "added": mix(back, colours["passed"], _LINE),
        "removed": mix(back, colours["failed"], _LINE),
        "added-word": mix(back, colours["passed"], _WORD),
        "removed-word": mix(back, colours["failed"], _WORD),
        "head": colours["raised"],
        "absent": colours["raised"],
        "match": colours["match-expected-background"],
        "current": colours["match-current-background"],
    }


def mix(ground: str, colour: str, share: float) -> str:
    """Return a color mixed into a background color; `share` is the part of the color, 0 to 1."""
    pairs = ((int(ground[at : at + 2], 16), int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{round(below + (above - below) * share):02x}" for below, above in pairs)
