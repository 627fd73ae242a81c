"""Finds the fenced code blocks of an answer, and what each says about its language and its file.

Lines end at LF, CRLF or CR. Everything here is linear in the length of the answer, whatever a model sends.
"""

import re
from dataclasses import dataclass

from tui.workspace.naming import NamedBy, read_comment, read_info, read_line_before

# So many lines are looked at, over a whole answer, for the ends of blocks of Markdown that hold blocks themselves.
_NESTED_BUDGET = 400_000
_DEEPEST_QUOTE = 8
MOST_BLOCKS = 5_000
_LINE_END = re.compile(r"\r\n|\n|\r")
_OPENING = re.compile(r"(?P<before>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+){0,4})(?P<fence>`{3,}|~{3,})(?P<info>.*)")
_CLOSING = re.compile(r"(?P<before>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*")
_QUOTE = re.compile(r"[ \t]{0,3}>[ \t]?")
_MARKDOWN = frozenset(("markdown", "md", "mdx", "mkd"))


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `number` counts from 0; `language` and `path` are as written, None where the answer names
    none; `text` has LF ends, also at its last line; `closed` is False where the answer ended before its fence."""

    number: int
    language: str | None
    path: str | None
    named_by: NamedBy | None
    text: str
    closed: bool = True


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str
    width: int
    depth: int
    info: str

    def closes(self, line: str) -> bool:
        found = _CLOSING.fullmatch(line) if self.mark in line else None
        if not found or not found["fence"].startswith(self.mark):
            return False
        return _columns(found["before"]) <= self.width + 3


def find_blocks(answer: str) -> tuple[Block, ...]:
    """The fenced blocks of an answer, in order; no more than MOST_BLOCKS."""
    lines = _LINE_END.split(answer)
    if lines[-1] == "":
        lines.pop()
    blocks: list[Block] = []
    at, budget = 0, _NESTED_BUDGET
    while at < len(lines) and len(blocks) < MOST_BLOCKS:
        fence = _opening(lines[at])
        if fence is None:
            at += 1
            continue
        language, path = read_info(fence.info)
        end = None
        if language and language.lower() in _MARKDOWN and budget > 0:
            end, looked = _nested_end(lines, at + 1, fence, budget)
            budget -= looked
        end = end if end is not None else _end(lines, at + 1, fence)
        body = lines[at + 1 : end]
        if fence.depth or fence.width:
            body = [_without_indent(_unquoted(line, fence.depth), fence.width) for line in body]
        before = _line_before(lines, at, fence.depth)
        closed = end < len(lines) and _unquoted_depth(lines[end], fence.depth)
        blocks.append(_block(len(blocks), language, path, body, before, closed))
        at = end + closed
    return tuple(blocks)


def _block(number: int, language: str | None, path: str | None, body: list[str], before: str, closed: bool) -> Block:
    by: NamedBy | None = "info" if path else None
    if path is None and body and (path := read_comment(body[0])) is not None:
        by, body = "comment", body[1:]
    if path is None and (path := read_line_before(before)) is not None:
        by = "line before"
    text = "\n".join([*body, ""]) if body else ""
    return Block(number, language, path, by, text, closed)


def _opening(line: str) -> _Fence | None:
    if "```" not in line and "~~~" not in line:
        return None
    depth = 0
    while depth < _DEEPEST_QUOTE and (found := _QUOTE.match(line)):
        line, depth = line[found.end() :], depth + 1
    opening = _OPENING.fullmatch(line)
    if opening is None or (opening["fence"][0] == "`" and "`" in opening["info"]):
        return None
    return _Fence(opening["fence"], _columns(opening["before"]), depth, opening["info"].strip(" \t"))


def _end(lines: list[str], start: int, fence: _Fence) -> int:
    """The place of the closing line, of the first line that is outside the block's quote, or the end of the answer."""
    mark, depth = fence.mark, fence.depth
    for number in range(start, len(lines)):
        line = lines[number]
        if depth and not _unquoted_depth(line, depth):
            return number
        if mark in line and fence.closes(_unquoted(line, depth)):
            return number
    return len(lines)


def _nested_end(lines: list[str], start: int, fence: _Fence, budget: int) -> tuple[int | None, int]:
    """The closing line of a block of Markdown whose own blocks use fences as short as its own; None where the fences
    do not pair up. Also how many lines were looked at."""
    inner: list[_Fence] = []
    for number in range(start, min(len(lines), start + budget)):
        line = _unquoted(lines[number], fence.depth)
        if not _unquoted_depth(lines[number], fence.depth):
            break
        if inner and inner[-1].closes(line):
            inner.pop()
        elif not inner and fence.closes(line):
            return number, number - start
        elif (opened := _opening(line)) is not None and opened.info:
            inner.append(opened)
    return None, number - start + 1 if start < len(lines) else 0


def _unquoted(line: str, depth: int) -> str:
    for _ in range(depth):
        found = _QUOTE.match(line)
        line = line[found.end() :] if found else line
    return line


def _unquoted_depth(line: str, depth: int) -> bool:
    """Whether the line is still inside as many quotes."""
    for _ in range(depth):
        found = _QUOTE.match(line)
        if not found:
            return False
        line = line[found.end() :]
    return True


def _line_before(lines: list[str], at: int, depth: int) -> str:
    """The last line with text before the fence."""
    for number in range(at - 1, max(at - 4, -1), -1):
        line = _unquoted(lines[number], depth).strip()
        if line:
            return "" if _CLOSING.fullmatch(line) else line
    return ""


def _columns(blank: str) -> int:
    return len(blank.expandtabs(4))


def _without_indent(line: str, width: int) -> str:
    """The line without as many columns of white space as its fence was indented by."""
    column = 0
    for at, character in enumerate(line):
        if column >= width or character not in " \t":
            return " " * (column - width) + line[at:]
        column += 4 - column % 4 if character == "\t" else 1
    return " " * max(column - width, 0)
