"""A picture of the screen as SVG: small, the same on every machine, and one line of the file for each row."""

import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from itertools import zip_longest
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from rich.cells import cell_len
from textual.app import App

CELL, ROW, BASELINE = 10, 22, 16
"""Pixels of a cell and of a row in the pictures, and from the top of a row to the baseline of its text."""
_TEXTUAL_CELL, _TEXTUAL_ROW = 12.2, 24.4
_STYLE = re.compile(r"-(r\d+) \{ ([^}]*) \}")
_RECT = re.compile(r'<rect fill="(#\w+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="24.65" shape')
_TEXT = re.compile(r'<text class="[\w-]+-(r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"[^>]*>([^<]*)</text>')
_RUN = re.compile(r'<text x="(\d+)" textLength="\d+" class="s([\w-]+)">([^<]*)</text>')


class Run(NamedTuple):
    """Cells of a row with one style; `style` is a colour and, where there are any, its attributes: `e3b457-b`."""

    column: int
    text: str
    style: str


def take_picture(app: App[Any]) -> str:
    """Return the app's screen as SVG, made from Textual's own without its frame, its fonts and its random names."""
    svg = app.export_screenshot(simplify=True)
    styles = {name: _style_name(rules) for name, rules in _STYLE.findall(svg)}
    width, height = app.size
    grounds: list[list[Run]] = [[] for _ in range(height)]
    texts: list[list[Run]] = [[] for _ in range(height)]
    for fill, x, y, length in _RECT.findall(svg):
        run = Run(round(float(x) / _TEXTUAL_CELL), " " * round(float(length) / _TEXTUAL_CELL), fill[1:])
        grounds[int(float(y) / _TEXTUAL_ROW)].append(run)
    for name, x, y, text in _TEXT.findall(svg):
        run = Run(round(float(x) / _TEXTUAL_CELL), unescape(text).replace("\xa0", " "), styles[name])
        texts[int(float(y) / _TEXTUAL_ROW)].append(run)
    cells = Counter(run.style for row in grounds for run in row for _ in run.text)
    behind = max(cells, key=cells.__getitem__, default="000000")
    used = sorted({run.style for row in texts for run in row if run.text.strip()})
    rows = (
        f'<g transform="translate(0,{number * ROW + BASELINE})">'
        + "".join(
            f'<rect x="{run.column * CELL}" y="-{BASELINE}" width="{len(run.text) * CELL}" height="{ROW}" '
            f'fill="#{run.style}"/>'
            for run in _joined(grounds[number])
            if run.style != behind
        )
        + "".join(
            f'<text x="{run.column * CELL}" textLength="{cell_len(run.text) * CELL}" class="s{run.style}">'
            f"{escape(run.text)}</text>"
            for run in _words(_joined(texts[number]))
        )
        + "</g>"
        for number in range(height)
    )
    size = f'width="{width * CELL}" height="{height * ROW}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} shape-rendering="crispEdges">',
            "<style>",
            "text { font: 16px monospace }",
            *(_rule(style) for style in used),
            "</style>",
            f'<rect {size} fill="#{behind}"/>',
            *rows,
            "</svg>\n",
        ]
    )


def _style_name(rules: str) -> str:
    colour = re.search(r"fill: #(\w+)", rules)
    attributes = "".join(letter for letter, rule in _ATTRIBUTES.items() if rule in rules)
    return f"{colour[1] if colour else '000000'}{attributes and '-' + attributes}"


_ATTRIBUTES = {
    "b": "font-weight: bold",
    "i": "font-style: italic",
    "u": "text-decoration: underline",
    "s": "text-decoration: line-through",
}


def _rule(style: str) -> str:
    attributes = "".join(f"; {_ATTRIBUTES[letter]}" for letter in style[7:])
    return f".s{style} {{ fill: #{style[:6]}{attributes} }}"


def _joined(runs: list[Run]) -> Iterator[Run]:
    """Join neighbours of one style."""
    current: Run | None = None
    for run in sorted(runs):
        if current and current.style == run.style and current.column + cell_len(current.text) == run.column:
            current = current._replace(text=current.text + run.text)
            continue
        if current:
            yield current
        current = run
    if current:
        yield current


def _words(runs: Iterator[Run]) -> Iterator[Run]:
    """Split where two blanks or more follow each other: some viewers would draw them as one."""
    for run in runs:
        for found in re.finditer(r"\S+(?: \S+)*", run.text):
            yield Run(run.column + cell_len(run.text[: found.start()]), found[0], run.style)


def rows_of(svg: str) -> list[tuple[str, str]]:
    """Return each row of a picture as its line of the file and as plain text."""
    return [(line, _plain(line)) for line in svg.split("\n") if line.startswith("<g ")]


def _plain(line: str) -> str:
    row = ""
    for x, _, text in _runs(line):
        row += " " * (x - cell_len(row)) + text
    return row


def _runs(line: str) -> list[tuple[int, str, str]]:
    return [(int(x) // CELL, style, unescape(text)) for x, style, text in _RUN.findall(line)]


def describe_difference(stored: str, current: str) -> str:
    """Return the rows in which two pictures differ, as text; where only colours differ, which ones."""
    lines = []
    for number, (old, new) in enumerate(zip_longest(rows_of(stored), rows_of(current), fillvalue=("", ""))):
        if old[0] == new[0]:
            continue
        if old[1] != new[1]:
            lines += [f"row {number:2} - {old[1]}", f"       + {new[1]}"]
            continue
        marks = [
            f"{after[2]!r} at column {after[0]}: {before[1]} → {after[1]}"
            for before, after in zip(_runs(old[0]), _runs(new[0]), strict=False)
            if before != after
        ]
        lines += [f"row {number:2}   {new[1]}", f"       only colours differ: {'; '.join(marks) or 'the background'}"]
    return "\n".join(lines) or "only the size or the background differs"
