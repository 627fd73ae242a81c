"""Parse fenced code blocks of Markdown, both for syntax highlighting and for the code that is written to files.

The rules are those of CommonMark 0.31, section 4.5, with three allowances for the answers of models: a fence may have
any indentation, because lists are not parsed; a closing fence may be indented by up to three columns more than its
opening fence; and a block whose language is Markdown may contain blocks with fences as short as its own.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

_OPENING = re.compile(r"(?P<before>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,4})(?P<marker>`{3,}|~{3,})(?P<info>.*)")
_CLOSING = re.compile(r"(?P<before>[ \t]*)(?P<marker>`{3,}|~{3,})[ \t]*")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_LANGUAGE = re.compile(r"[^\s`{:,;]*")
_MOST_QUOTES = 8
_MARKDOWN = re.compile(r"(?:\{\s*\.)?(?:markdown|md|mdx|mkd)(?![\w+#.-])", re.IGNORECASE)
_MOST_REREAD_LINES = 400_000  # over the whole text, so that the time stays linear in its length


@dataclass(frozen=True, slots=True)
class Fence:
    """The line that opens a fenced block.

    `marker` is its backticks or tildes, `indent` the number of columns before it, `quotes` the number of block quotes
    around it, `info` the info string.
    """

    marker: str
    indent: int
    quotes: int
    info: str

    @property
    def language(self) -> str:
        """The first word of the info string in lower case, up to the first `:`, `,` or `;`."""
        found = _LANGUAGE.match(self.info)
        return found[0].lower() if found else ""

    def contains(self, line: str) -> bool:
        """Return whether a line is still in the block quotes of the fence."""
        return not self.quotes or _quote_end(line, self.quotes) is not None

    def is_closed_by(self, line: str) -> bool:
        """Return whether a line is the closing fence of the block."""
        if self.marker not in line:
            return False
        start = _quote_end(line, self.quotes)
        found = _CLOSING.fullmatch(line, start) if start is not None else None
        if found is None or not found["marker"].startswith(self.marker):
            return False
        return _columns(found["before"]) <= self.indent + 3

    def content(self, line: str) -> str:
        """Return a line of the block without the markers of its block quotes and the indentation of the fence."""
        return _without_indent(unquoted(line, self.quotes), self.indent)

    def blank_quotes(self, line: str) -> str:
        """Return a line of the block with its block quote markers replaced by spaces, which preserves all offsets."""
        end = _quote_end(line, self.quotes) or 0
        return " " * end + line[end:] if end else line


def opening_fence(line: str) -> Fence | None:
    """Return the fence if the line opens a fenced block, else None."""
    if "```" not in line and "~~~" not in line:
        return None
    start = quotes = 0
    while quotes < _MOST_QUOTES and (found := _QUOTE.match(line, start)):
        start, quotes = found.end(), quotes + 1
    opening = _OPENING.fullmatch(line, start)
    if opening is None or (opening["marker"][0] == "`" and "`" in opening["info"]):
        return None
    return Fence(opening["marker"], _columns(opening["before"]), quotes, opening["info"].strip(" \t"))


@dataclass(slots=True)
class FencedBlock:
    """The position of a fenced block, in lines counted from 0.

    `first` is the line below the opening fence. `end` is the line after the last line of the content, or None while the
    block is open. `closed` is true if there is a closing fence, which is then the line `end`.
    """

    fence: Fence
    language: str
    first: int
    end: int | None = None
    closed: bool = False


class FenceParser:
    """An incremental parser for the fenced blocks of a text that arrives line by line."""

    def __init__(self, most_reread_lines: int = _MOST_REREAD_LINES) -> None:
        self.blocks: list[FencedBlock] = []
        self.line_count = 0
        self._firsts: list[int] = []
        self._reread_left = most_reread_lines
        self._reset_nesting()

    def _reset_nesting(self) -> None:
        self._may_nest = self._has_nested = False
        self._inner: list[Fence] = []
        self._lines: list[str] = []  # of the open block, if it may contain nested blocks

    @property
    def _open_block(self) -> FencedBlock | None:
        return self.blocks[-1] if self.blocks and self.blocks[-1].end is None else None

    def add_line(self, line: str) -> None:
        """Parse the next complete line."""
        block = self._open_block
        if block is not None and not block.fence.contains(line):
            if self._has_nested:
                self._read_again(block)
                self.add_line(line)
                return
            block.end, block = self.line_count, None
        if block is None:
            fence = opening_fence(line)
            if fence is not None:
                self._open(fence)
        else:
            self._add_content(block, line)
        self.line_count += 1
        if len(self._lines) > self._reread_left and (block := self._open_block) is not None:
            self._read_again(block)

    def _open(self, fence: Fence, *, nests: bool = True) -> None:
        first = self.line_count + 1
        self.blocks.append(FencedBlock(fence, fence.language, first))
        self._firsts.append(first)
        self._reset_nesting()
        self._may_nest = nests and self._reread_left > 0 and _MARKDOWN.match(fence.info) is not None

    def _add_content(self, block: FencedBlock, line: str) -> None:
        if self._may_nest:
            self._lines.append(line)
        while self._inner and not self._inner[-1].contains(line):
            self._inner.pop()
        if self._inner and self._inner[-1].is_closed_by(line):
            self._inner.pop()
        elif not self._inner and block.fence.is_closed_by(line):
            block.end, block.closed = self.line_count, True
            self._reset_nesting()
        elif self._may_nest and (fence := opening_fence(line)) is not None and fence.info:
            self._inner.append(fence)
            self._has_nested = True

    def finish(self) -> bool:
        """End the text, and return whether earlier lines were parsed again in another way.

        An open Markdown block that is never closed does not contain the blocks inside it, so they become blocks of the
        text.
        """
        again = self._has_nested
        while self._has_nested and (block := self._open_block) is not None:
            self._read_again(block)
        return again

    def _read_again(self, block: FencedBlock) -> None:
        """Parse the lines of the open block again, without nested blocks."""
        lines = self._lines
        self._reread_left = max(0, self._reread_left - len(lines))
        self.blocks.pop()
        self._firsts.pop()
        self.line_count = block.first - 1
        self._open(block.fence, nests=False)
        self.line_count = block.first
        for line in lines:
            self.add_line(line)

    def block_at(self, line: int) -> FencedBlock | None:
        """Return the block whose content includes the line, or None. A fence is not part of the content."""
        at = bisect_right(self._firsts, line) - 1
        if at < 0:
            return None
        block = self.blocks[at]
        return block if block.end is None or line < block.end else None

    def is_fence(self, line: int) -> bool:
        """Return whether a line opens or closes a block."""
        at = bisect_right(self._firsts, line + 1) - 1
        if at < 0:
            return False
        block = self.blocks[at]
        return block.first == line + 1 or (block.closed and block.end == line)

    def would_be_fence(self, line: str) -> bool:
        """Return whether the next line, which may be incomplete, opens or closes a block."""
        block = self._open_block
        if block is None or not block.fence.contains(line):
            return opening_fence(line) is not None
        return not self._inner and block.fence.is_closed_by(line)


def unquoted(line: str, quotes: int) -> str:
    """Return a line without the markers of at most `quotes` block quotes."""
    start = 0
    for _ in range(quotes):
        found = _QUOTE.match(line, start)
        if found is None:
            break
        start = found.end()
    return line[start:]


def _quote_end(line: str, quotes: int) -> int | None:
    """Return the offset after the markers of `quotes` block quotes, or None if the line has fewer."""
    end = 0
    for _ in range(quotes):
        found = _QUOTE.match(line, end)
        if found is None:
            return None
        end = found.end()
    return end


def _columns(blank: str) -> int:
    return len(blank.expandtabs(4))


def _without_indent(line: str, columns: int) -> str:
    """Return the line without its first `columns` columns of white space."""
    column = 0
    for at, character in enumerate(line):
        if column >= columns or character not in " \t":
            return " " * (column - columns) + line[at:]
        column += 4 - column % 4 if character == "\t" else 1
    return " " * max(column - columns, 0)
