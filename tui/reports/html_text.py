"""Outside text inside HTML, and the few shapes that are drawn."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

from tui.model.shown import show_line, show_text
from tui.model.trials import CheckResult
from tui.reports.summary import Tally

_BAR = 200


def line(text: str, limit: int = 300) -> str:
    """Text on one line, escaped."""
    return escape(show_line(text, limit))


def lines(text: str) -> str:
    """Text with its lines, escaped."""
    return escape(show_text(text))


def block(text: str, kind: str = "") -> str:
    """Text on lines of its own, as it is."""
    return f'<pre class="{kind}">{lines(text)}</pre>' if kind else f"<pre>{lines(text)}</pre>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> str:
    """A table of cells that are HTML already; the last `numbers` columns are set right."""
    first = len(head) - numbers
    top = "".join(f'<th scope="col"{_right(at, first)}>{cell}</th>' for at, cell in enumerate(head))
    body = "\n".join(
        "<tr>" + "".join(f"<td{_right(at, first)}>{cell}</td>" for at, cell in enumerate(row)) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _right(at: int, first: int) -> str:
    return ' class="n"' if at >= first else ""


def rate_bar(count: Tally, low: float, high: float) -> str:
    """The pass rate as a mark in its interval, from 0 to 1."""
    share = count.passed / count.trials if count.trials else 0.0
    mark = f'<rect class="rate" x="{share * (_BAR - 3):.1f}" y="0" width="3" height="12"/>' if count.trials else ""
    return (
        f'<svg class="bar" viewBox="0 0 {_BAR} 12" width="{_BAR}" height="12" role="img" aria-label="interval">'
        f'<rect class="track" y="5" width="{_BAR}" height="2"/>'
        f'<rect class="range" x="{low * _BAR:.1f}" y="3" width="{(high - low) * _BAR:.1f}" height="6" rx="3"/>'
        f"{mark}</svg>"
    )


def share_bar(count: Tally) -> str:
    """Passed, flaky, failed and errors as parts of one bar."""
    parts, at = [], 0.0
    for kind, value in (
        ("passed", count.passed),
        ("flaky", count.flaky),
        ("failed", count.failed),
        ("error", count.errors),
    ):
        width = _BAR * value / count.trials if count.trials else 0.0
        if width:
            parts.append(f'<rect class="{kind}" x="{at:.1f}" width="{width:.1f}" height="8"/>')
        at += width
    track = f'<rect class="track" width="{_BAR}" height="8"/>'
    label = f"{count.passed} passed, {count.flaky} flaky, {count.failed} failed, {count.errors} errors"
    svg = f'<svg class="bar" viewBox="0 0 {_BAR} 8" width="{_BAR}" height="8" role="img" aria-label="{label}">'
    return f"{svg}{track}{''.join(parts)}</svg>"


def marked(text: str, checks: Sequence[CheckResult]) -> str:
    """Text with the matches of its checks marked; where matches overlap, what was forbidden prevails."""
    forbidden = _merge([check for check in checks if check.kind == "forbidden_pattern"], len(text))
    found = _merge([check for check in checks if check.kind != "forbidden_pattern"], len(text))
    edges = sorted({0, len(text), *(edge for span in (*forbidden, *found) for edge in span)})
    parts, bad, good = [], iter([*forbidden, _END]), iter([*found, _END])
    in_bad, in_good = next(bad), next(good)
    for start, end in pairwise(edges):
        while in_bad[1] <= start:
            in_bad = next(bad)
        while in_good[1] <= start:
            in_good = next(good)
        kind = "bad" if in_bad[0] <= start else "good" if in_good[0] <= start else ""
        piece = lines(text[start:end])
        parts.append(f'<mark class="{kind}">{piece}</mark>' if kind else piece)
    return f'<pre class="answer">{"".join(parts)}</pre>'


_END = (1 << 62, 1 << 62)


def _merge(checks: Sequence[CheckResult], size: int) -> list[tuple[int, int]]:
    """The spans of checks inside the text, without overlaps, in order."""
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
