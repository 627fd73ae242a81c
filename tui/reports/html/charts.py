"""Charts as inline SVG, drawn from numbers and fixed words only."""

from collections.abc import Mapping
from html import escape

from tui.model.percentages import percent
from tui.model.risk import EXTENTS
from tui.reports.blocks import Drawing, HeatMap, Part, Stack, Whisker

_WIDTH = 260
_HEIGHT = 18
_CELL_WIDTH, _CELL_HEIGHT = 46, 26
_LABEL_WIDTH = 62
_LIGHTEST = 0.12
_WHOLE = 'width="12" height="12"'


def drawn(drawing: Drawing) -> str:
    """Return the SVG of one row of a chart."""
    return _whisker(drawing) if isinstance(drawing, Whisker) else _stack(drawing)


def axis(drawing: Whisker) -> str:
    """Return the SVG of the scale above the rows of a chart."""
    percent = drawing.most == 1
    labels = []
    for tick in (0, 0.25, 0.5, 0.75, 1):
        word = f"{100 * tick:.0f}%" if percent else f"{tick * drawing.most:g}"
        anchor = "start" if tick == 0 else "end" if tick == 1 else "middle"
        x = _place(tick, 1) if 0 < tick < 1 else float(tick * _WIDTH)
        labels.append(f'<text x="{x:.1f}" y="11" text-anchor="{anchor}">{word}</text>')
    return _svg("axis", _WIDTH, 14, "Scale", f"from 0 to {'100%' if percent else f'{drawing.most:g}'}", labels)


def legend(drawing: Stack) -> str:
    """Return the legend of a stacked bar's parts."""
    box = 'viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"'
    items = (f"<li><svg {box}>{_filled(kind, _WHOLE)}</svg>{kind}</li>" for kind, _ in drawing.parts)
    return f'<ul class="legend">{"".join(items)}</ul>'


def _filled(kind: Part, box: str) -> str:
    pattern = f'<rect fill="url(#p-{kind})" {box}/>' if kind in _INKS else ""
    return f'<rect class="{kind}" {box}/>{pattern}'


def _whisker(drawing: Whisker) -> str:
    middle = _HEIGHT / 2
    shapes = [f'<line class="grid" x1="{x}" x2="{x}" y1="0" y2="{_HEIGHT}"/>' for x in _grid()]
    shapes.append(f'<line class="track" x1="0" x2="{_WIDTH}" y1="{middle}" y2="{middle}"/>')
    if drawing.low is not None and drawing.high is not None:
        low, high = (_place(end, drawing.most) for end in (drawing.low, drawing.high))
        shapes.append(f'<line class="range" x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}"/>')
        cap = f'y1="{middle - 4}" y2="{middle + 4}"'
        shapes += [f'<line class="range" x1="{x:.1f}" x2="{x:.1f}" {cap}/>' for x in (low, high)]
    if drawing.value is not None:
        x = _place(drawing.value, drawing.most)
        shapes.append(f'<circle class="point" cx="{x:.1f}" cy="{middle}" r="4.5"/>')
    return _svg("whisker", _WIDTH, _HEIGHT, _figure(drawing), _interval(drawing), shapes)


def _place(value: float, most: float) -> float:
    # Points and caps at the ends are not clipped.
    return min(max(value / most, 0.0), 1.0) * (_WIDTH - 10) + 5


def _grid() -> list[str]:
    return [f"{_place(tick / 4, 1):.1f}" for tick in range(5)]


def _figure(drawing: Whisker) -> str:
    if drawing.value is None:
        return "No value"
    return percent(drawing.value) if drawing.most == 1 else f"{drawing.value:.2f} of {drawing.most:g}"


def _interval(drawing: Whisker) -> str:
    if drawing.low is None or drawing.high is None:
        return "No interval: not enough data"
    if drawing.most == 1:
        return f"95% interval from {percent(drawing.low)} to {percent(drawing.high)}"
    return f"95% interval from {drawing.low:.2f} to {drawing.high:.2f}"


def _stack(drawing: Stack) -> str:
    total = sum(count for _, count in drawing.parts)
    shapes = [f'<rect class="track" width="{_WIDTH}" height="{_HEIGHT}" rx="2"/>']
    at = 0.0
    for kind, count in drawing.parts:
        width = _WIDTH * count / total if total else 0.0
        if width:
            box = f'x="{at:.1f}" width="{width:.1f}" height="{_HEIGHT}"'
            shapes.append(_filled(kind, box))
            if at:
                shapes.append(f'<line class="gap" x1="{at:.1f}" x2="{at:.1f}" y1="0" y2="{_HEIGHT}"/>')
            if width >= 8 * len(str(count)) + 6:
                shapes.append(_plate(at + width / 2, count))
        at += width
    parts = ", ".join(f"{count} {kind}" for kind, count in drawing.parts if count) or "nothing"
    return _svg("stack", _WIDTH, _HEIGHT, f"{total} in total", parts, shapes)


def _plate(x: float, count: int) -> str:
    """Return a number on a plain background, so that no pattern runs through it."""
    half = 4 * len(str(count)) + 2
    plate = f'<rect class="plate" x="{x - half:.1f}" y="2.5" width="{2 * half}" height="13" rx="3"/>'
    return f'{plate}<text x="{x:.1f}" y="13" text-anchor="middle">{count}</text>'


HEAT_LEGEND = "Stronger cell colour: more scores. Line below a cell: colour of its band."


def heat_map(heat: HeatMap) -> str:
    """Return the SVG of severity × extent, with a number in each cell and the colours of `HEAT_LEGEND`."""
    most = max((count for _, counts in heat.counts for count in counts), default=0)
    bands = dict(heat.bands)
    shapes = []
    for row, (severity, counts) in enumerate(heat.counts):
        y = row * _CELL_HEIGHT
        shapes.append(f'<text x="{_LABEL_WIDTH - 8}" y="{y + 17}" text-anchor="end">{severity}</text>')
        for extent, count in enumerate(counts):
            x = _LABEL_WIDTH + extent * _CELL_WIDTH
            shapes.append(_heat_cell(x, y, count, most, bands[severity][extent]))
    foot = len(heat.counts) * _CELL_HEIGHT + 14
    for extent, word in enumerate(EXTENTS):
        centre = _LABEL_WIDTH + extent * _CELL_WIDTH + _CELL_WIDTH / 2
        shapes.append(f'<text x="{centre}" y="{foot}" text-anchor="middle">{extent} {word}</text>')
    description = "; ".join(
        f"{severity}: {', '.join(f'{count} at extent {extent}' for extent, count in enumerate(counts) if count)}"
        for severity, counts in heat.counts
        if any(counts)
    )
    width = _LABEL_WIDTH + len(EXTENTS) * _CELL_WIDTH
    return _svg("heat", width, foot + 6, "Scores by severity and extent", description or "no score", shapes)


def _heat_cell(x: int, y: int, count: int, most: int, band: str) -> str:
    strength = _LIGHTEST + (0.9 - _LIGHTEST) * count / most if count else 0.0
    box = f'x="{x + 1}" y="{y + 1}" width="{_CELL_WIDTH - 2}" height="{_CELL_HEIGHT - 2}" rx="2"'
    fill = f'<rect class="empty" {box}/><rect class="warmth" fill-opacity="{strength:.2f}" {box}/>'
    line_below = f'<rect class="{band}" x="{x + 1}" y="{y + _CELL_HEIGHT - 4}" width="{_CELL_WIDTH - 2}" height="3"/>'
    kind = ' class="on"' if strength > 0.7 else "" if count else ' class="none"'
    number = f'<text{kind} x="{x + _CELL_WIDTH / 2}" y="{y + 16}" text-anchor="middle">{count or "·"}</text>'
    return fill + line_below + number


def _svg(kind: str, width: float, height: float, title: str, description: str, shapes: list[str]) -> str:
    body = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
    box = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return f'<svg class="{kind}" {box} role="img">{body}{"".join(shapes)}</svg>'


def patterns() -> str:
    """Return the fill patterns of bars, used besides their colour; once on a page."""
    found = "".join(
        f'<pattern id="p-{kind}" width="6" height="6" patternUnits="userSpaceOnUse"{turn}>{pattern}</pattern>'
        for kind, (turn, pattern) in _INKS.items()
    )
    return f'<svg class="patterns" width="0" height="0" aria-hidden="true"><defs>{found}</defs></svg>'


_TURNED = ' patternTransform="rotate(45)"'
_DOT = '<circle class="ink" cx="3" cy="3" r="1"/>'
_STROKE = '<path class="ink" d="M0 0V6"/>'
_CROSS = '<path class="ink" d="M0 3H6M3 0V6"/>'
_INKS: Mapping[Part, tuple[str, str]] = {
    "flaky": ("", _DOT),
    "failed": (_TURNED, _STROKE),
    "error": ("", _CROSS),
    "low": ("", _DOT),
    "medium": (_TURNED, _STROKE),
    "high": (_TURNED, _CROSS),
}
