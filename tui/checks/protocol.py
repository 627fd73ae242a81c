"""The protocol between the checker and its worker: length-prefixed frames over a socket, and a note on a file.

A request is a JSON header `[job, spent, one_by_one, [[number, engine, pattern, start], …]]` and the text in UTF-8; a
reply is a JSON list of `[job, number, failure, count, counted, state, detail, [start, end, …]]`. The note is a small
file that outlives the worker and names the pattern that it died of.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from struct import Struct
from typing import Literal, NamedTuple

from tui.model.results import MOST_SPANS_TOGETHER, CheckState, Span

Language = Literal["javascript", "python", "assertion"]
"""The language of a pattern; an assertion is encoded as one (see `case_assertions.encode_assertion`)."""
# Processor time, so that a busy or suspended machine does not make a pattern fail.
SECONDS_A_PATTERN = 1.0
SECONDS_A_TEXT = 5.0

TOO_LONG = f"the pattern ran longer than {SECONDS_A_PATTERN:g} s on this text"
TOO_LONG_TOGETHER = f"the patterns of this answer ran longer than {SECONDS_A_TEXT:g} s in total"
TOO_LARGE = "the pattern needs too much memory on this text"


def too_long(seconds: float) -> str:
    """Return why a pattern was stopped after this many seconds, which are fewer if other patterns used up the time."""
    return TOO_LONG if seconds >= SECONDS_A_PATTERN else TOO_LONG_TOGETHER


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern and the position from which it is searched for.

    Matches begin at `start` or later; the engine sees the text before it, for `^`, `\\b` and lookbehind.
    """

    engine: Language
    pattern: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Matches:
    """The number of matches of a pattern, and the first 1,000 spans in code points of the text.

    `failure` is why it could not be evaluated, else empty. `counted` is False if at least one match is certain but the
    others took too long or too much memory to find. `state` and `detail` are the result of an assertion.
    """

    count: int = 0
    spans: tuple[Span, ...] = ()
    failure: str = ""
    counted: bool = True
    state: CheckState | Literal[""] = ""
    detail: str = ""


class SpanRoom:
    """The room for the spans of the checks of one answer: 1,000 of each of many checks would fill the memory."""

    def __init__(self) -> None:
        self._left = MOST_SPANS_TOGETHER

    def cut(self, spans: tuple[Span, ...]) -> tuple[Span, ...]:
        """Return the spans that have room, the first one in any case."""
        kept = spans[: max(1, self._left)]
        self._left -= len(kept)
        return kept

    def cut_matches(self, matches: Matches) -> Matches:
        """Return the matches with the spans that have room."""
        kept = self.cut(matches.spans)
        return matches if len(kept) == len(matches.spans) else replace(matches, spans=kept)


_REQUEST = Struct("=II")
_REPLY = Struct("=I")
_NOTE = Struct("=QIIQQd")

# In a batch the worker does not know which of several patterns is running.
IDLE, EVALUATING, COUNTING, BATCH = range(4)


class Request(NamedTuple):
    """A text and its numbered searches.

    `spent` is the time in seconds that earlier searches of that text took; `one_by_one` requests a note for each
    pattern.
    """

    job: int
    spent: float
    one_by_one: bool
    searches: list[tuple[int, Search]]
    text: str


class Reply(NamedTuple):
    """The result of search `number` of a job."""

    job: int
    number: int
    matches: Matches


class Note(NamedTuple):
    """What the worker is doing.

    In phase COUNTING the first match is known, in code points. `spent` is the time in seconds that the job's earlier
    searches took.
    """

    job: int
    number: int
    phase: int
    start: int = 0
    end: int = 0
    spent: float = 0.0

    def write(self, descriptor: int) -> None:
        """Replace the note in the file."""
        os.pwrite(descriptor, _NOTE.pack(*self), 0)

    @classmethod
    def read(cls, descriptor: int) -> "Note":
        """Return the note in the file; idle if none was written."""
        data = os.pread(descriptor, _NOTE.size, 0)
        return cls(*_NOTE.unpack(data)) if len(data) == _NOTE.size else cls(0, 0, IDLE)


def encode_text(text: str) -> bytes:
    """Return the text in UTF-8, halves of surrogate pairs as they are."""
    return text.encode("utf-8", "surrogatepass")


def pack_request(
    job: int, spent: float, one_by_one: bool, searches: Sequence[tuple[int, Search]], text: bytes
) -> bytes:
    """Return the bytes of a request."""
    plain = [(number, each.engine, each.pattern, each.start) for number, each in searches]
    header = json.dumps((job, spent, one_by_one, plain)).encode()
    return b"".join((_REQUEST.pack(len(header), len(text)), header, text))


def unpack_requests(buffer: bytearray) -> Iterator[Request]:
    """Remove all complete requests from the start of the buffer, and return them."""
    while len(buffer) >= _REQUEST.size:
        header_size, text_size = _REQUEST.unpack_from(buffer)
        middle = _REQUEST.size + header_size
        if len(buffer) < middle + text_size:
            return
        job, spent, one_by_one, plain = json.loads(buffer[_REQUEST.size : middle])
        text = buffer[middle : middle + text_size].decode("utf-8", "surrogatepass")
        del buffer[: middle + text_size]
        yield Request(job, spent, one_by_one, [(number, Search(*rest)) for number, *rest in plain], text)


def pack_replies(replies: Sequence[Reply]) -> bytes:
    """Return several replies as one frame."""
    plain = [
        (job, number, *_plain(found), [at for span in found.spans for at in span]) for job, number, found in replies
    ]
    body = json.dumps(plain).encode()
    return _REPLY.pack(len(body)) + body


def unpack_replies(buffer: bytearray) -> Iterator[Reply]:
    """Remove all complete replies from the start of the buffer, and yield them."""
    while len(buffer) >= _REPLY.size:
        end = _REPLY.size + _REPLY.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        plain = json.loads(buffer[_REPLY.size : end])
        del buffer[:end]
        for job, number, failure, count, counted, state, detail, flat in plain:
            spans = tuple(zip(flat[::2], flat[1::2], strict=True))
            yield Reply(job, number, Matches(count, spans, failure, counted, state, detail))


def _plain(found: Matches) -> tuple[object, ...]:
    return found.failure, found.count, found.counted, found.state, found.detail
