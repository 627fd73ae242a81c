"""Text in pieces with roles: what the pure functions hand to the widgets."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal
from unicodedata import combining, east_asian_width

Role = Literal[
    "plain", "strong", "dim", "quiet", "accent", "passed", "failed", "error", "flaky", "running",
    "block-dim", "block-passed", "block-flaky", "block-failed", "chosen", "chosen-dim", "chosen-accent",
]  # fmt: skip
"""`block-` stands on a ground of that colour, `chosen` on the ground of what is selected; in lists, where the ground is
the row's, they are text in that colour."""
Piece = tuple[str, Role]
Line = tuple[Piece, ...]


def text_of(line: Iterable[Piece]) -> str:
    """The text alone."""
    return "".join(text for text, _ in line)


@lru_cache(4096)
def width_of(text: str) -> int:
    """Cells that the text takes; an estimate for what is not ASCII, good enough to line columns up."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def cut(text: str, width: int) -> str:
    """The text in at most so many cells, with an ellipsis where it was longer."""
    if width <= 0:
        return ""
    if width_of(text) <= width:
        return text
    taken, used = [], 0
    for sign in text:
        used += width_of(sign)
        if used > width - 1:
            break
        taken.append(sign)
    return "".join(taken) + "…"


def fill(text: str, width: int) -> str:
    """The text in exactly so many cells, cut or padded at its end."""
    text = cut(text, width)
    return text + " " * (width - width_of(text))


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> Line:
    """Left and right on one line of exactly so many cells; the right part stays whole while there is room for it."""
    right_width = sum(width_of(text) for text, _ in right)
    if right_width + 2 > width:
        right, right_width = (), 0
    room = width - right_width - (1 if right else 0)
    taken: list[Piece] = []
    for text, role in left:
        text = cut(text, room)
        room -= width_of(text)
        if text:
            taken.append((text, role))
        if room <= 0:
            break
    gap = width - right_width - sum(width_of(text) for text, _ in taken)
    return (*taken, (" " * gap, "plain"), *right)


def cut_middle(text: str, width: int) -> str:
    """The text in at most so many cells, with an ellipsis in its middle: what names differ in is often at their end."""
    if width_of(text) <= width or width < 4:
        return cut(text, width)
    half = (width - 1) // 2
    tail = text[-half:]
    while width_of(tail) > half:
        tail = tail[1:]
    return f"{cut(text, width - half)[:-1]}…{tail}"
