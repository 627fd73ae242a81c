"""Which lines of an answer are code: fenced blocks, found line by line as they are completed."""

import re
from bisect import bisect_right
from dataclasses import dataclass

_OPENS = re.compile(r"[ \t]*(?:[-*+>] +|\d{1,3}[.)] +)?(`{3,}(?=[^`]*\Z)|~{3,})[ \t]*([^\s`{]*)")
_CLOSES = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*\Z")


@dataclass(slots=True)
class Block:
    """A fenced block. `first` is its first line of code, `end` the line of its closing fence (None: still open)."""

    first: int
    end: int | None
    language: str
    fence: str


class Fences:
    """The fenced blocks of a text; lines count from 0."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._firsts: list[int] = []
        self._seen = 0

    @property
    def seen(self) -> int:
        """How many lines have been looked at."""
        return self._seen

    def add_line(self, line: str) -> None:
        """Look at the next line, which is complete."""
        block = self._blocks[-1] if self._blocks else None
        if block is not None and block.end is None:
            if self.would_be_fence(line):
                block.end = self._seen
        elif opening := _OPENS.match(line):
            # `lang:path`, `lang,attributes` and `lang path` name a language first.
            language = re.split(r"[:,;]", opening[2], maxsplit=1)[0].lower()
            self._blocks.append(Block(self._seen + 1, None, language, opening[1]))
            self._firsts.append(self._seen + 1)
        self._seen += 1

    def block_at(self, line: int) -> Block | None:
        """The block to whose code a line belongs; its fences do not."""
        at = bisect_right(self._firsts, line) - 1
        if at < 0:
            return None
        block = self._blocks[at]
        return block if block.end is None or line < block.end else None

    def is_fence(self, line: int) -> bool:
        """Whether the line opens or closes a block."""
        at = bisect_right(self._firsts, line + 1) - 1
        return at >= 0 and (self._firsts[at] == line + 1 or self._blocks[at].end == line)

    def would_be_fence(self, line: str) -> bool:
        """Whether the next line, as far as it has come, opens or closes a block."""
        block = self._blocks[-1] if self._blocks else None
        if block is not None and block.end is None:
            closing = _CLOSES.match(line)
            return closing is not None and closing[1].startswith(block.fence)
        return _OPENS.match(line) is not None
