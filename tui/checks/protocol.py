"""How the checker and its worker process talk: length-prefixed frames over a socket, and a note of what is being done.

A request is a JSON header `[job, spent, one_by_one, [[number, engine, pattern, start], …]]` and the text in UTF-8; a
reply is a JSON list of `[job, number, failure, count, counted, [start, end, …]]`. The note lies in a small file that
outlives the worker, so that its death can be laid to the right pattern.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import Literal, NamedTuple

from tui.model.results import Span

Language = Literal["javascript", "python"]
# Processor time, so that a busy or suspended machine is not laid to the pattern.
SECONDS_A_PATTERN = 1.0
SECONDS_A_TEXT = 5.0

TOO_LONG = f"the pattern ran longer than {SECONDS_A_PATTERN:g} s on this text"
TOO_LONG_TOGETHER = f"the patterns of this answer ran longer than {SECONDS_A_TEXT:g} s together"
TOO_LARGE = "the pattern needs too much memory on this text"


def too_long(seconds: float) -> str:
    """Return why a pattern was stopped after so many seconds: fewer than a pattern has where the others took them."""
    return TOO_LONG if seconds >= SECONDS_A_PATTERN else TOO_LONG_TOGETHER


@dataclass(frozen=True, slots=True)
class Search:
    """A pattern and where in the text it is looked for: matches begin at `start` or later, and the engine sees all of
    the text before that, for `^`, `\\b` and lookbehind."""

    engine: Language
    pattern: str
    start: int = 0


@dataclass(frozen=True, slots=True)
class Matches:
    """How often a pattern was found, and where: the first 1,000 spans, in code points of the text.

    `failure` says why it could not be evaluated, empty if it could. `counted` is False where at least one match is
    sure but looking for the rest took too long or too much memory.
    """

    count: int = 0
    spans: tuple[Span, ...] = ()
    failure: str = ""
    counted: bool = True


_REQUEST = Struct("=II")
_REPLY = Struct("=I")
_NOTE = Struct("=QIIQQd")

# In a batch the worker does not know which of several patterns is running.
IDLE, EVALUATING, COUNTING, BATCH = range(4)


class Request(NamedTuple):
    """A text and what to search it for, each with the number that its reply names. `spent` is how many seconds earlier
    searches of that text took; `one_by_one` asks for a note of each pattern."""

    job: int
    spent: float
    one_by_one: bool
    searches: list[tuple[int, Search]]
    text: str


class Reply(NamedTuple):
    """What came of search `number` of a job."""

    job: int
    number: int
    matches: Matches


class Note(NamedTuple):
    """What the worker is doing; in phase COUNTING the first match is known, in code points. `spent` is how many seconds
    the job's searches had taken before."""

    job: int
    number: int
    phase: int
    start: int = 0
    end: int = 0
    spent: float = 0.0

    def write(self, descriptor: int) -> None:
        """Replace what the file says."""
        os.pwrite(descriptor, _NOTE.pack(*self), 0)

    @classmethod
    def read(cls, descriptor: int) -> "Note":
        """What the file says; idle if nothing was ever written."""
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
    """Take every whole request from the buffer's start."""
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
    """Several replies in one frame."""
    plain = [
        (job, number, found.failure, found.count, found.counted, [at for span in found.spans for at in span])
        for job, number, found in replies
    ]
    body = json.dumps(plain).encode()
    return _REPLY.pack(len(body)) + body


def unpack_replies(buffer: bytearray) -> Iterator[Reply]:
    """Take every whole reply from the buffer's start."""
    while len(buffer) >= _REPLY.size:
        end = _REPLY.size + _REPLY.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        plain = json.loads(buffer[_REPLY.size : end])
        del buffer[:end]
        for job, number, failure, count, counted, flat in plain:
            spans = tuple(zip(flat[::2], flat[1::2], strict=True))
            yield Reply(job, number, Matches(count, spans, failure, counted))
