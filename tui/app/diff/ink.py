"""What a piece of a diff is drawn with, and fitting pieces into cells."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from rich.cells import cell_len, set_cell_size

from tui.app.text.highlight import CodeRole
from tui.app.text.wrap import whole_characters
from tui.model.results import Span

Front = CodeRole | Literal["text", "strong", "dim", "quiet", "accent", "added", "removed", "changed"]
Ground = Literal["plain", "added", "removed", "added-word", "removed-word", "head", "absent", "match", "current"]


class DiffInk(NamedTuple):
    """The colour of the signs, and that of the ground they stand on."""

    front: Front = "text"
    ground: Ground = "plain"


DiffRun = tuple[str, DiffInk]
PLAIN_INK = DiffInk()


class Over(NamedTuple):
    """A range of a text that gets another ground."""

    start: int
    end: int
    ground: Ground


def dye(text: str, fronts: Iterable[tuple[int, int, Front]], overs: Sequence[Over], ground: Ground) -> list[DiffRun]:
    """The text in pieces: `fronts` are ranges in order that do not overlap; of `overs` the last one wins."""
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
        runs.append((text[start:end], DiffInk(coloured[at][2] if is_coloured else "text", on)))
    return runs


def _clipped(text: str, start: int, end: int) -> Span:
    start, end = max(0, start), min(end, len(text))
    return whole_characters(text, start, end) if start < end else (0, 0)


def fit(runs: Iterable[DiffRun], width: int, ground: Ground) -> list[DiffRun]:
    """The runs in exactly so many cells."""
    fitted: list[DiffRun] = []
    room = width
    for text, ink in runs:
        size = len(text) if text.isascii() else cell_len(text)
        if size > room:
            if room > 0:
                fitted.append((set_cell_size(text, room), ink))
            return fitted
        fitted.append((text, ink))
        room -= size
    if room:
        fitted.append((" " * room, DiffInk("text", ground)))
    return fitted


def skip(runs: Iterable[DiffRun], cells: int) -> list[DiffRun]:
    """The runs without their first cells; a character that is cut leaves a blank."""
    left: list[DiffRun] = []
    for text, ink in runs:
        if cells <= 0:
            left.append((text, ink))
            continue
        size = len(text) if text.isascii() else cell_len(text)
        if size <= cells:
            cells -= size
            continue
        kept = text[cells:] if text.isascii() else _cut_off(text, size - cells)
        cells = 0
        left.append((kept, ink))
    return left


def _cut_off(text: str, keep: int) -> str:
    """The end of the text in so many cells."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high) // 2
        if cell_len(text[middle:]) > keep:
            low = middle + 1
        else:
            high = middle
    return " " * (keep - cell_len(text[low:])) + text[low:]
