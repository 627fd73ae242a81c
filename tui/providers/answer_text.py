"""The text of an answer as it is put together: pieces that come at once are one chunk, torn characters are mended."""

import re
from typing import Literal

from tui.model.provider_messages import Chunk, Reasoning, Text

Kind = Literal["text", "reasoning"]
_SURROGATE = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


class AnswerTooLong(Exception):
    """The answer is longer than the limit; what fits has been taken."""


class AnswerText:
    """Joins neighbouring pieces of a kind. A server may tear a character into two `\\uXXXX` halves in two chunks: the
    first is held until the second comes; one that stays alone becomes U+FFFD."""

    def __init__(self, longest: int) -> None:
        self._room = longest
        self._kind: Kind = "text"
        self._run: list[str] = []
        self._halves: dict[Kind, str] = {"text": "", "reasoning": ""}
        self._chunks: list[Chunk] = []

    def say(self, kind: Kind, text: str) -> None:
        """Add a piece. Raises AnswerTooLong."""
        if kind != self._kind:
            self._close_run()
            self._kind = kind
        self._run.append(text if len(text) <= self._room else text[: self._room])
        self._room -= len(text)
        if self._room < 0:
            raise AnswerTooLong

    def add(self, chunk: Chunk) -> None:
        """Add a chunk that is no text."""
        self._close_run()
        self._chunks.append(chunk)

    def take(self) -> list[Chunk]:
        """What came since the last time."""
        self._close_run()
        chunks, self._chunks = self._chunks, []
        return chunks

    def end(self) -> None:
        """No more text will come."""
        self._close_run()
        for kind, half in self._halves.items():
            if half:
                self._chunks.append(_chunk(kind, _REPLACEMENT))
        self._halves = {"text": "", "reasoning": ""}

    def _close_run(self) -> None:
        if not self._run:
            return
        text = self._run[0] if len(self._run) == 1 else "".join(self._run)
        self._run = []
        if not text.isascii():
            text = self._mend(text)
        if text:
            self._chunks.append(_chunk(self._kind, text))

    def _mend(self, text: str) -> str:
        text = self._halves[self._kind] + text
        self._halves[self._kind] = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        text = text.removesuffix(self._halves[self._kind])
        if not _SURROGATE.search(text):
            return text
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _chunk(kind: Kind, text: str) -> Chunk:
    return Text(text) if kind == "text" else Reasoning(text)
