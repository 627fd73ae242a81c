"""Outside text as rows of a width, so that what is drawn never wraps by itself."""

from tui.app.presentation.pieces import Line, Piece, Role, cut, width_of
from tui.app.text.wrapped import WrappedText
from tui.model.shown import show_text


def rows_of(text: str, width: int) -> list[str]:
    """The text, safe to show, in rows of at most so many cells; none where there is no text."""
    if not text.strip():
        return []
    wrapped = WrappedText(max(4, width))
    wrapped.append(show_text(text).strip("\n").expandtabs(4))
    return [wrapped.text_of(wrapped.row(row)).rstrip() for row in range(wrapped.row_count)]


def text_rows(text: str, width: int, role: Role = "plain") -> list[Line]:
    """The same as lines."""
    return [((row, role),) for row in rows_of(text, width)]


def cut_line(line: Line, width: int) -> Line:
    """The line in at most so many cells."""
    if sum(width_of(text) for text, _ in line) <= width:
        return line
    pieces: list[Piece] = []
    for text, role in line:
        pieces.append((cut(text, width), role))
        width -= width_of(pieces[-1][0])
        if width <= 0:
            break
    return tuple(pieces)


def hung(first: Line, text: str, role: Role, width: int) -> list[Line]:
    """The text after `first`, its further rows below its beginning."""
    indent = sum(width_of(piece) for piece, _ in first)
    rows = rows_of(text, width - indent) or [""]
    return [(*first, (rows[0], role)), *(((" " * indent, role), (row, role)) for row in rows[1:])]
