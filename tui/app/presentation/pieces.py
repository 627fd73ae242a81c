"""Text in pieces with a role each, which widgets turn into styled text."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal
from unicodedata import combining, east_asian_width

Role = Literal[
    "plain", "strong", "dim", "quiet", "accent", "passed", "failed", "error", "flaky", "running",
    "block-dim", "block-passed", "block-flaky", "block-failed", "chosen", "chosen-dim", "chosen-accent",
]  # fmt: skip
"""The role of a piece, which the theme gives a style.

`block-` roles have a background of their color, and `chosen` roles the background of the selection. In lists, where the
row determines the background, they only have the color.
"""
Piece = tuple[str, Role]
Line = tuple[Piece, ...]


def text_of(line: Iterable[Piece]) -> str:
    """Return the text of a line without roles."""
    return "".join(text for text, _ in line)


@lru_cache(4096)
def width_of(text: str) -> int:
    """Return the width of a text in cells: exact for ASCII, an estimate for other characters."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in text)


def cut(text: str, width: int) -> str:
    """Return the text in at most `width` cells, with an ellipsis if it was longer."""
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
    """Return the text in exactly `width` cells, cut or padded at the end."""
    text = cut(text, width)
    return text + " " * (width - width_of(text))


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> Line:
    """Return a line of exactly `width` cells with one part at each end; the left part is cut first."""
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
    """Return the text in at most `width` cells, with an ellipsis in the middle: names often differ at their end."""
    if width_of(text) <= width or width < 4:
        return cut(text, width)
    half = (width - 1) // 2
    tail = text[-half:]
    while width_of(tail) > half:
        tail = tail[1:]
    return f"{cut(text, width - half)[:-1]}…{tail}"
