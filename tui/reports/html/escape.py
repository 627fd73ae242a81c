"""Escaping of outside text for HTML: no part of it becomes an element or an attribute."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from tui.model.results import CheckResult
from tui.model.sanitize import sanitize_line, sanitize_text
from tui.model.suite import FORBIDDING
from tui.reports.blocks import LARGEST, Code, Faint, Jump, Line, Piece, Status, Strong, Whole


def line(text: str, limit: int = 300) -> str:
    """Return text on one line, escaped."""
    return escape(sanitize_line(text, limit))


def pieces(text: Line, limit: int = 2_000) -> str:
    """Return the HTML of a line of pieces."""
    return "".join(_piece(piece, limit) for piece in ((text,) if isinstance(text, str) else text))


def _piece(piece: Piece, limit: int) -> str:
    match piece:
        case str():
            return _spaced(piece, limit)
        case Code():
            return f"<code>{line(piece.text, limit)}</code>"
        case Strong():
            return f"<b>{_spaced(piece.text, limit)}</b>"
        case Faint():
            return f'<span class="dim">{_spaced(piece.text, limit)}</span>'
        case Whole():
            return _spaced(piece.text, LARGEST)
        case Status():
            return f'<span class="{line(piece.kind)}">{line(piece.text)}</span>'
        case Jump():
            return f'<a href="#{line(piece.place)}">{_piece(piece.label, limit)}</a>'


def _spaced(text: str, limit: int) -> str:
    """Return text on one line with the spaces at its ends, which are needed between pieces."""
    return " " * text[:1].isspace() + line(text, limit) + " " * text[1:][-1:].isspace()


def block(text: str, kind: str = "") -> str:
    """Return the HTML of preformatted text on lines of its own."""
    return f'<pre class="{kind}">{_lines(text)}</pre>' if kind else f"<pre>{_lines(text)}</pre>"


def _lines(text: str) -> str:
    return escape(sanitize_text(text))


def diff(text: str) -> str:
    """Return the HTML of a unified diff with coloured lines; the signs stay in the text."""
    shown = []
    for each in sanitize_text(text).splitlines():
        kind = "hunk" if each.startswith("@@") else _LINE_KINDS.get(each[:1], "")
        kind = "" if each.startswith(("+++ ", "--- ")) else kind
        shown.append(f'<span class="{kind}">{escape(each)}</span>' if kind else escape(each))
    return f'<pre class="diff">{chr(10).join(shown)}</pre>'


_LINE_KINDS = {"+": "plus", "-": "minus"}


def marked(text: str, checks: Sequence[CheckResult]) -> str:
    """Return text with the matches of its checks marked; where matches overlap, the forbidden one is shown."""
    forbidden = _merge([check for check in checks if check.kind in FORBIDDING], len(text))
    found = _merge([check for check in checks if check.kind not in FORBIDDING], len(text))
    edges = sorted({0, len(text), *(edge for span in (*forbidden, *found) for edge in span)})
    parts, bad, good = [], iter([*forbidden, _END]), iter([*found, _END])
    in_bad, in_good = next(bad), next(good)
    for start, end in pairwise(edges):
        while in_bad[1] <= start:
            in_bad = next(bad)
        while in_good[1] <= start:
            in_good = next(good)
        kind = "bad" if in_bad[0] <= start else "good" if in_good[0] <= start else ""
        piece = _lines(text[start:end])
        parts.append(f'<mark class="{kind}">{piece}</mark>' if kind else piece)
    return f'<pre class="answer">{"".join(parts)}</pre>'


_END = (1 << 62, 1 << 62)


def _merge(checks: Sequence[CheckResult], size: int) -> list[tuple[int, int]]:
    """Return the spans of checks inside the text, sorted and without overlaps."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(span for check in checks for span in check.spans):
        start, end = max(0, start), min(end, size)
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
