"""Rendered Markdown: rows of styled pieces for the headings, lists, tables and code of an answer."""

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui.app.text.highlight import SlowCode, knows_language, lexing_deadline, load_lexer
from tui.app.text.page import Base, Run, TextStyle
from tui.app.text.wrap import kind_of, row_cells, row_starts
from tui.model.sanitize import sanitize_text

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_CHARACTERS = 50_000
"""Longer texts are rendered up to here."""
_LEAST_WIDTH = 8  # cells for text within quotes and lists; deeper ones are not indented further
_LEAST_COLUMN = 3
_MOST_LEVELS = 32  # a list has two, one for its items
_DIM = TextStyle("dim")
_SPANS: dict[str, Base] = {"strong": "strong", "em": "emphasis", "s": "dim", "link": "link"}


def markdown_rows(text: str, width: int) -> list[list[Run]]:
    """Return the rows of a text rendered as CommonMark with tables and strikethrough, each at most `width` cells wide.

    `text` is external text; it is sanitized here, because entities of Markdown can spell control characters. HTML is
    text, images are their descriptions, and links are followed by their address. A text that is nested too deeply is
    plain. A text of `MOST_CHARACTERS` needs up to a second: call it in a thread.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": _MOST_LEVELS}).enable(["table", "strikethrough"])
    renderer = _Renderer(max(_LEAST_WIDTH, width))
    tokens = parser.parse(text[:MOST_CHARACTERS])
    # The parser drops what is nested more deeply, with all that follows.
    if any(token.level >= _MOST_LEVELS - 1 and token.type in ("blockquote_open", "list_item_open") for token in tokens):
        renderer.paragraph([("The quotes and lists are nested too deeply to be rendered.", _DIM)])
        renderer.plain(text[:MOST_CHARACTERS])
    else:
        renderer.render(tokens)
    if len(text) > MOST_CHARACTERS:
        renderer.paragraph([(f"The first {MOST_CHARACTERS:,} characters are rendered.", _DIM)])
    return renderer.rows


class _Renderer:
    """The rows so far, and the quotes and lists around the current block."""

    def __init__(self, width: int) -> None:
        self.rows: list[list[Run]] = []
        self._width = width
        self._prefix: list[Run] = []  # at the beginning of each row
        self._marker = ""  # of a list item, in place of the last prefix in its first row
        self._lists: list[int | None] = []  # the next number of each open list; None for bullets
        self._table: list[list[list[Run]]] | None = None

    def render(self, tokens: Iterable["Token"]) -> None:
        """Add the rows of all blocks."""
        base: Base = "text"
        for token in tokens:
            kind = token.type
            if kind == "heading_open":
                base = "strong"
            elif kind == "heading_close":
                self._underline(token.tag)
                base = "text"
            elif kind in ("fence", "code_block"):
                self._code(token.content, token.info.split()[0] if token.info.split() else "")
            elif kind == "hr":
                self._gap()
                self._row([("─" * self._room, _DIM)])
            elif kind == "inline":
                runs = _inline_runs(token.children or (), base)
                if self._table is not None:
                    self._table[-1].append(runs)
                else:
                    self.paragraph(runs)
            else:
                self._nest(token)

    def plain(self, text: str) -> None:
        """Add the lines of a text as they are."""
        self._code(text, "")

    def paragraph(self, runs: Sequence[Run]) -> None:
        """Add a paragraph below a blank row."""
        self._gap()
        self._wrapped(runs)

    def _nest(self, token: "Token") -> None:
        """Open or close a quote, a list, an item or a table."""
        kind = token.type
        if kind == "blockquote_open":
            self._gap()
            self._prefix.append(("│ ", _DIM))
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._gap()
            self._lists.append(int(token.attrGet("start") or 1) if kind == "ordered_list_open" else None)
        elif kind == "list_item_open":
            number = self._lists[-1]
            self._lists[-1] = None if number is None else number + 1
            self._marker = "• " if number is None else f"{number}. "
            self._prefix.append((" " * len(self._marker), TextStyle("text")))
        elif kind in ("blockquote_close", "list_item_close"):
            if self._marker:
                self._row([])  # an item without text
            self._prefix.pop()
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
        elif kind == "table_open":
            self._table = []
        elif kind == "tr_open" and self._table is not None:
            self._table.append([])
        elif kind == "table_close" and self._table is not None:
            table, self._table = self._table, None
            self._gap()
            self._grid(table)

    @property
    def _indent(self) -> list[Run]:
        """The prefixes that leave enough room for text."""
        widths = accumulate(cell_len(text) for text, _ in self._prefix)
        return [run for run, used in zip(self._prefix, widths, strict=True) if used + _LEAST_WIDTH <= self._width]

    @property
    def _room(self) -> int:
        return self._width - sum(cell_len(text) for text, _ in self._indent)

    def _gap(self) -> None:
        """Add a blank row, except at the beginning, within a list, and after its marker."""
        if self.rows and any(text.strip() for text, _ in self.rows[-1]) and not self._lists and not self._marker:
            self.rows.append([run for run in self._indent if run[0].strip()])

    def _row(self, runs: Sequence[Run]) -> None:
        indent = self._indent
        if self._marker and indent and len(indent) == len(self._prefix):
            indent = [*indent[:-1], (self._marker, _DIM)]
        self._marker = ""
        self.rows.append([*indent, *runs])

    def _wrapped(self, runs: Sequence[Run]) -> None:
        for row in _wrap(runs, self._room):
            self._row(row)

    def _underline(self, tag: str) -> None:
        if tag in ("h1", "h2") and self.rows:
            self._row([(("═" if tag == "h1" else "─") * self._room, _DIM)])

    def _code(self, code: str, language: str) -> None:
        self._gap()
        self._prefix.append(("▏ ", _DIM))
        for runs in _code_runs(sanitize_text(code).removesuffix("\n").split("\n"), language):
            self._wrapped(runs)
        self._prefix.pop()

    def _grid(self, table: list[list[list[Run]]]) -> None:
        """Add a table; columns that do not fit share the width, and their cells wrap."""
        count = max(map(len, table))
        widest = [max((_cells(row[at]) for row in table if at < len(row)), default=0) for at in range(count)]
        room = self._room - 3 * (count - 1)
        if room < _LEAST_COLUMN * count:
            for row in table:
                parts = [part for cell in row for part in (*cell, (" │ ", _DIM))]
                self._wrapped(parts[:-1])
            return
        widths = _shared(widest, room)
        for number, cells in enumerate(table):
            wrapped = [_wrap(cell, width) for cell, width in zip(cells, widths, strict=False)]
            for height in range(max(map(len, wrapped), default=0)):
                drawn: list[Run] = []
                for at, width in enumerate(widths):
                    runs = wrapped[at][height] if at < len(wrapped) and height < len(wrapped[at]) else []
                    drawn += [(" │ ", _DIM)] if at else []
                    drawn += [*runs, (" " * (width - _cells(runs)), TextStyle("text"))]
                self._row(drawn)
            if number == 0:
                self._row([("─┼─".join("─" * width for width in widths), _DIM)])


def _inline_runs(tokens: Iterable["Token"], base: Base) -> list[Run]:
    """Return the pieces of a paragraph, which may contain line breaks."""
    runs: list[Run] = []
    bases, addresses = [base], list[tuple[str, int]]()
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if end == "open":
            bases.append(_SPANS.get(name, bases[-1]))
            if name == "link":
                addresses.append((sanitize_text(str(token.attrGet("href") or "")), len(runs)))
        elif end == "close":
            bases.pop()
            if name == "link":
                address, first = addresses.pop()
                if address != "".join(text for text, _ in runs[first:]):
                    runs.append((f" ({address})", _DIM))
        elif token.type == "softbreak":
            runs.append((" ", TextStyle(bases[-1])))
        elif token.type == "hardbreak":
            runs.append(("\n", TextStyle(bases[-1])))
        elif token.type == "image":
            runs.append((f"[image: {sanitize_text(token.content)}]", _DIM))
        elif token.content:
            style = TextStyle("string" if token.type == "code_inline" else bases[-1])
            runs.append((sanitize_text(token.content), style))
    return runs


def _code_runs(lines: Sequence[str], language: str) -> list[list[Run]]:
    """Return the pieces of each line of code, highlighted if the language is known."""
    plain = [[(line, TextStyle("text"))] for line in lines]
    if not knows_language(language.lower()):
        return plain
    try:
        colours, _ = load_lexer(language.lower()).colours(lines, (), lexing_deadline())
    except SlowCode:
        return plain
    found: list[list[Run]] = []
    for line, spans in zip(lines, colours, strict=True):
        roles: dict[int, Base] = {span.start: span.role for span in spans}
        ends = {0, len(line), *(place for span in spans for place in (span.start, span.end))}
        parts = pairwise(sorted(place for place in ends if place <= len(line)))
        found.append([(line[start:end], TextStyle(roles.get(start, "text"))) for start, end in parts])
    return found


def _wrap(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Return the rows of pieces that may contain line breaks; there is at least one."""
    rows: list[list[Run]] = []
    line: list[Run] = []
    for text, style in (*runs, ("\n", TextStyle("text"))):
        first, *others = text.split("\n")
        line.append((first, style))
        for other in others:
            rows += _rows_of_line(line, width)
            line = [(other, style)]
    return rows


def _rows_of_line(line: Sequence[Run], width: int) -> list[list[Run]]:
    line = [(row_cells(text), style) for text, style in line if text]
    text = "".join(part for part, _ in line)
    starts = row_starts(text, 0, max(2, width), kind_of(text))
    rows: list[list[Run]] = [[] for _ in range(len(starts) + 1)]
    bounds = [0, *starts, len(text)]
    at = row = 0
    for part, style in line:
        begin = at
        at += len(part)
        while begin < at:
            end = min(at, bounds[row + 1])
            if begin < end:
                rows[row].append((text[begin:end], style))
            begin = end
            if end == bounds[row + 1] and row + 1 < len(rows):
                row += 1
    return [_without_end_blanks(each, width) for each in rows]


def _without_end_blanks(row: list[Run], width: int) -> list[Run]:
    """Remove the blanks at the end of a row that is too wide with them."""
    while row and _cells(row) > width and row[-1][0] != (text := row[-1][0].rstrip(" ")):
        row = [*row[:-1], (text, row[-1][1])] if text else row[:-1]
    return row


def _cells(runs: Iterable[Run]) -> int:
    return sum(cell_len(text) for text, _ in runs)


def _shared(widest: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns: narrow ones get what they need, and the others share the rest."""
    widths = [max(_LEAST_COLUMN, width) for width in widest]
    if sum(widths) <= room:
        return widths
    order = sorted(range(len(widths)), key=widths.__getitem__)
    left, columns = room, len(order)
    for at in order:
        widths[at] = min(widths[at], max(_LEAST_COLUMN, left // columns))
        left, columns = left - widths[at], columns - 1
    return widths
