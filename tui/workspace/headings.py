"""What stands after the second `@@` of a hunk, as git writes it: libgit2 trims long and odd lines differently."""

import re
from collections.abc import Sequence

_HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@[^\n]*")
_MOST = 80
_BLANK = b" \t\r\n"


def with_git_headings(body: bytes, old: bytes) -> bytes:
    """The hunks with the headings that git gives them."""
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
    """The nearest line above that begins like a name; that of the hunk before where there is none since."""
    for number in range(min(start, len(lines)) - 1, looked - 1, -1):
        line = lines[number]
        if line[:1].isalpha() or line[:1] in (b"_", b"$"):
            return (line + b"\n")[:_MOST].rstrip(_BLANK)
    return before


def _end_of_hunk(body: bytes, found: re.Match[bytes]) -> int:
    """The place after the hunk's last line, by the counts in its head."""
    old_left, new_left = (int(count) if count is not None else 1 for count in (found[2], found[3]))
    at = found.end() + 1
    while at < len(body) and (old_left > 0 or new_left > 0 or body[at : at + 1] == b"\\"):
        mark = body[at : at + 1]
        old_left -= mark in (b" ", b"-")
        new_left -= mark in (b" ", b"+")
        at = body.find(b"\n", at) + 1 or len(body)
    return at
