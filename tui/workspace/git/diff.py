"""Diffs of two texts, by libgit2. Import on first use: loads pygit2."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import pygit2
from pygit2.enums import DiffOption

from tui.model.diffs import Hunk
from tui.workspace.git.patch import read_hunks

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@[^\n]*")
_MOST = 80
_BLANK = b" \t\r\n"


def with_git_headings(body: bytes, old: bytes) -> bytes:
    """Return the hunks with the headings that git gives them."""
    if b"\x0c" not in old and b"\x0b" not in old and max(map(len, _heads(body)), default=0) < _MOST:
        return body
    lines = old.split(b"\n")
    parts: list[bytes] = []
    at, looked, heading = 0, 0, b""
    while at < len(body) and (found := _HUNK.match(body, at)):
        start = int(found[1]) - (1 if found[2] != b"0" else 0)
        heading, looked = _heading(lines, start, looked, heading), start
        end = _end_of_hunk(body, found)
        head = found[0][: found[0].index(b" @@") + 3] + (b" " + heading if heading else b"")
        parts.append(head + body[found.end() : end])
        at = end
    return b"".join(parts) + body[at:]


def _heads(body: bytes) -> list[bytes]:
    return [found[0].partition(b" @@ ")[2] for found in _HUNK.finditer(body)]


def _heading(lines: Sequence[bytes], start: int, looked: int, before: bytes) -> bytes:
    """Return the nearest line above that looks like a definition, else the heading of the hunk before."""
    for number in range(min(start, len(lines)) - 1, looked - 1, -1):
        line = lines[number]
        if line[:1].isalpha() or line[:1] in (b"_", b"$"):
            return (line + b"\n")[:_MOST].rstrip(_BLANK)
    return before


def _end_of_hunk(body: bytes, found: re.Match[bytes]) -> int:
    """Return the index after the hunk's last line, by the counts in its header."""
    old_left, new_left = (int(count) if count is not None else 1 for count in (found[2], found[3]))
    at = found.end() + 1
    while at < len(body) and (old_left > 0 or new_left > 0 or body[at : at + 1] == b"\\"):
        mark = body[at : at + 1]
        old_left -= mark in (b" ", b"-")
        new_left -= mark in (b" ", b"+")
        at = body.find(b"\n", at) + 1 or len(body)
    return at


class TextDiff(NamedTuple):
    """The difference of two texts: its hunks, and how many lines they add and remove. A binary text has no hunks."""

    hunks: tuple[Hunk, ...]
    added: int
    removed: int


class Body(NamedTuple):
    """The hunks of one file as git writes them, and how many lines they add and remove."""

    text: bytes
    added: int
    removed: int


def diff_body(old: bytes, new: bytes, context: int = 3) -> Body:
    """Return the hunks of two texts as bytes.

    Holds the GIL: about 10 ms for 100,000 equal lines, and 250 ms if they differ.
    """
    # libgit2 only borrows both texts: `old` and `new` must live until the patch has been read.
    patch = pygit2.Patch.create_from(old, new, "f", "f", DiffOption.INDENT_HEURISTIC, context)
    data, (_, added, removed) = patch.data, patch.line_stats
    start = data.find(b"\n@@ ") + 1
    body = data[start:] if start and not patch.delta.is_binary else b""
    return Body(with_git_headings(body, old), added, removed)


def diff_texts(old: bytes, new: bytes, context: int = 3) -> TextDiff:
    """Return the difference of two texts as hunks with `context` lines around each change.

    Bytes that are not UTF-8 become U+FFFD. Takes about 0.7 µs per line shown: run it in a thread for large files.
    """
    body = diff_body(old, new, context)
    lines = body.text.decode("utf-8", "replace").split("\n")
    hunks = read_hunks(lines[:-1] if lines[-1] == "" else lines)
    return TextDiff(hunks, body.added, body.removed)
