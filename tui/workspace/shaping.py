"""Gives the text of a block the shape of the file that it replaces: its line ends, its last line, its mark."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from tui.model.diffs import Hunk

_MARK = b"\xef\xbb\xbf"
_END = re.compile(rb"\r\n|\n|\r")


def shape_text(text: str, old: bytes | None) -> bytes:
    """The bytes of the file that becomes `text` (LF ends). A new file ends with a newline; an existing one keeps its
    line ends and whether its last line had one. Raises UnicodeEncodeError for lone surrogates."""
    data = text.encode()
    if data and not data.endswith(b"\n"):
        data += b"\n"
    if not old:
        return data
    if old.startswith(_MARK) and not data.startswith(_MARK):
        data = _MARK + data
    if not old.endswith((b"\n", b"\r")):
        data = data.removesuffix(b"\n")
    ends = Counter(cast("list[bytes]", _END.findall(old)))
    if not ends or set(ends) == {b"\n"}:
        return data
    usual = ends.most_common(1)[0][0]
    return data.replace(b"\n", usual) if len(ends) == 1 else _with_mixed_ends(data, old, usual)


def _with_mixed_ends(data: bytes, old: bytes, usual: bytes) -> bytes:
    """Lines that did not change keep the end that they had; the others get the usual one."""
    from tui.workspace.git.diff import diff_texts

    plain = _END.sub(b"\n", old)
    had = cast("list[bytes]", _END.findall(old))
    lines = data.split(b"\n")
    came_from = dict(_unchanged(diff_texts(plain, data, 0).hunks, len(lines)))
    ends = (had[at] if (at := came_from.get(number, -1)) in range(len(had)) else usual for number in range(len(lines)))
    return b"".join(part for pair in zip(lines[:-1], ends, strict=False) for part in pair) + lines[-1]


def _unchanged(hunks: Iterable[Hunk], count: int) -> Iterator[tuple[int, int]]:
    """Pairs of a new line and the old one that it is, both counted from 0; `hunks` have no context."""
    new, shift = 0, 0
    for hunk in hunks:
        start = hunk.new_start - (1 if hunk.new_count else 0)
        yield from ((line, line + shift) for line in range(new, start))
        new = start + hunk.new_count
        shift += hunk.old_count - hunk.new_count
    yield from ((line, line + shift) for line in range(new, count))
