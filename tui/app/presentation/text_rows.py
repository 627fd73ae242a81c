"""Wrap text to rows of a given width in cells, so that a widget does not have to."""

from collections.abc import Sequence

from tui.app.presentation.pieces import Line, Piece, Role, cut, width_of
from tui.app.text.wrap import WrappedText
from tui.model.sanitize import sanitize_text


def rows_of(text: str, width: int) -> list[str]:
    """Return sanitized text in rows of at most `width` cells; an empty list for blank text."""
    if not text.strip():
        return []
    wrapped = WrappedText(max(4, width))
    wrapped.append(sanitize_text(text).strip("\n").expandtabs(4))
    return [wrapped.text_of(wrapped.row(row)).rstrip() for row in range(wrapped.row_count)]


def text_rows(text: str, width: int, role: Role = "plain") -> list[Line]:
    """Return text as lines of at most `width` cells."""
    return [((row, role),) for row in rows_of(text, width)]


def cut_line(line: Line, width: int) -> Line:
    """Return a line cut to `width` cells."""
    if sum(width_of(text) for text, _ in line) <= width:
        return line
    pieces: list[Piece] = []
    for text, role in line:
        pieces.append((cut(text, width), role))
        width -= width_of(pieces[-1][0])
        if width <= 0:
            break
    return tuple(pieces)


def hanging_indent(first: Line, text: str, role: Role, width: int) -> list[Line]:
    """Return text after `first`, with its further rows indented to where the text begins."""
    indent = sum(width_of(piece) for piece, _ in first)
    rows = rows_of(text, width - indent) or [""]
    return [(*first, (rows[0], role)), *(((" " * indent, role), (row, role)) for row in rows[1:])]


def packed(parts: Sequence[Line], width: int, indent: int = 0, gap: int = 3) -> list[Line]:
    """Return parts side by side, as many in a row as fit; no part is split."""
    rows: list[list[Piece]] = []
    used = 0
    for part in parts:
        cells = sum(width_of(text) for text, _ in part)
        if rows and used + gap + cells <= width:
            rows[-1] += [(" " * gap, "plain"), *part]
            used += gap + cells
        else:
            rows.append([(" " * indent, "plain"), *part])
            used = indent + cells
    return [tuple(row) for row in rows]


def cut_rows(lines: Sequence[Line], rows: int) -> list[Line]:
    """Return at most `rows` lines, at least one, with an ellipsis at the last one with text if lines were removed."""
    rows = max(1, rows)
    if len(lines) <= rows:
        return [*lines]
    kept = [*lines[:rows]]
    while len(kept) > 1 and not any(text.strip() for text, _ in kept[-1]):
        kept.pop()
    return [*kept[:-1], (*kept[-1], (" …", "dim"))]
