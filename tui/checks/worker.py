"""The worker process, which searches texts for patterns within limits that the system enforces.

Started by `pool.py` with a socket as its standard input. It ends when the socket is closed, and has no state worth
saving.
"""

import os
import re
import resource
import signal
import socket
import time
import warnings
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice, takewhile

from tui.checks.engine import Engine, Found
from tui.checks.protocol import (
    BATCH,
    COUNTING,
    EVALUATING,
    IDLE,
    SECONDS_A_PATTERN,
    SECONDS_A_TEXT,
    TOO_LARGE,
    TOO_LONG_TOGETHER,
    Matches,
    Note,
    Reply,
    Request,
    Search,
    pack_replies,
    too_long,
    unpack_requests,
)
from tui.model.results import MOST_SPANS, Span

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

FirstFound = Callable[[int, int], None]


def find_javascript(
    engine: Engine, text: str, searches: Sequence[Search], seconds: Callable[[], float] = lambda: SECONDS_A_PATTERN
) -> Iterator[list[Matches]]:
    """Yield all matches of each search in batches, in the order of the searches.

    `seconds` is called before each batch and returns the time limit of one of its patterns; a batch ends after a
    pattern that took longer.
    """
    offsets = Utf16Offsets(text)
    allowed = SECONDS_A_PATTERN

    def allow() -> float:
        nonlocal allowed
        allowed = seconds()
        return allowed

    batch_input = [(search.pattern, offsets.utf16(search.start)) for search in searches]
    for batch in engine.search(text, batch_input, allow):
        yield [_matches(found, offsets, allowed) for found in batch]


def find_python(text: str, search: Search, on_first_match: FirstFound) -> Matches:
    """Return all matches from `search.start` on.

    `on_first_match` is called with the first match before the others are searched for, because it is enough for a
    verdict if the others take too long.
    """
    first: list[Span] = []
    try:
        found = _python(search.pattern).finditer(text, search.start)
        first += [match.span() for match in islice(found, 1)]
        if not first:
            return Matches()
        on_first_match(*first[0])
        spans = first + [match.span() for match in islice(found, MOST_SPANS - 1)]
        return Matches(len(spans) + sum(1 for _ in found), tuple(spans))
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        return Matches(failure=f"invalid pattern: {error}")
    except MemoryError:
        return Matches(1, (first[0],), counted=False) if first else Matches(failure=TOO_LARGE)


def find_assertion(text: str, search: Search) -> Matches:
    """Return the result of an assertion about a text."""
    from tui.checks.case_assertions import decide_encoded  # few suites have one

    try:
        return decide_encoded(search.pattern, text)
    except MemoryError:
        return Matches(failure=TOO_LARGE)


class Utf16Offsets:
    """A mapping between code points and UTF-16 offsets, where a character outside the basic plane counts as two."""

    def __init__(self, text: str) -> None:
        self._points = [] if text.isascii() else [match.start() for match in _ASTRAL.finditer(text)]
        self._units = [point + number for number, point in enumerate(self._points)]

    def utf16(self, point: int) -> int:
        """Return the offset in UTF-16 units of a code point."""
        return point + bisect_left(self._points, point)

    def spans(self, flat: Sequence[int]) -> tuple[Span, ...]:
        """Return the spans of `[start, end, start, …]` in code points.

        A span that begins or ends inside a character is extended to the whole character.
        """
        if not self._points:
            return tuple(zip(flat[::2], flat[1::2], strict=True))
        return tuple(
            (self._point(start, 0), self._point(end, 1)) for start, end in zip(flat[::2], flat[1::2], strict=True)
        )

    def _point(self, offset: int, widening: int) -> int:
        before = bisect_left(self._units, offset)
        is_inside = before > 0 and self._units[before - 1] == offset - 1
        return offset - before + (widening if is_inside else 0)


@lru_cache(maxsize=1_024)
def _python(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _matches(found: Found, offsets: Utf16Offsets, seconds: float) -> Matches:
    if found.end == "invalid":
        return Matches(failure=f"invalid pattern: {found.reason}")
    if found.end and not found.total:
        return Matches(failure=too_long(seconds) if found.end == "slow" else TOO_LARGE)
    return Matches(found.total, offsets.spans(found.offsets), counted=not found.end)


_MEMORY = 512 * 1024 * 1024
_FLUSH_SECONDS = 0.05
_CHUNK = 1 << 20
# The engine stops JavaScript patterns itself; if it does not, the system ends the process.
_GRACE_SECONDS = 1.0


class Worker:
    """A server of the requests that arrive over `link`; its activity is noted in `note` (a file descriptor)."""

    def __init__(self, link: socket.socket, note: int) -> None:
        self._link, self._note = link, note
        self._engine = Engine()
        self._waiting: deque[_Job] = deque()
        self._replies: list[Reply] = []
        self._sent_at = 0.0

    def serve(self) -> None:
        """Process requests until the socket is closed."""
        buffer = bytearray()
        while chunk := self._link.recv(_CHUNK):
            buffer += chunk
            self._sent_at = time.monotonic()
            self._waiting += map(_Job, unpack_requests(buffer))
            while self._waiting:
                self._work(self._waiting.popleft())
            if self._replies:
                self._rest()

    def _work(self, job: "_Job") -> None:
        """Search until all jobs are done, or a pattern took too long while other texts wait."""
        while job.open:
            if job.left <= 0:
                self._reply(job, [Matches(failure=TOO_LONG_TOGETHER)] * len(job.open))
                return
            searches = job.next_searches()
            engine = searches[0].engine
            steps = self._javascript(job, searches) if engine == "javascript" else self._one(job)
            for found in steps:
                self._reply(job, found)
                if job.left <= 0:
                    break
                if self._waiting and any(each.failure for each in found):
                    self._waiting.append(job)
                    return

    def _javascript(self, job: "_Job", searches: list[Search]) -> Iterator[list[Matches]]:
        phase = BATCH if len(searches) > 1 else EVALUATING

        def begin() -> float:
            seconds = job.begin()
            signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE_SECONDS)
            Note(job.number, job.open[0][0], phase, spent=job.spent).write(self._note)
            return seconds

        for found in find_javascript(self._engine, job.text, searches, begin):
            job.end()
            yield found

    def _one(self, job: "_Job") -> Iterator[list[Matches]]:
        """Evaluate the first open search, a pattern of Python or an assertion."""
        number, search = job.open[0]

        def note(phase: int, start: int = 0, end: int = 0) -> None:
            Note(job.number, number, phase, start, end, job.spent).write(self._note)

        signal.setitimer(signal.ITIMER_PROF, job.begin())
        note(EVALUATING)
        if search.engine == "assertion":
            found = find_assertion(job.text, search)
        else:
            found = find_python(job.text, search, lambda *span: note(COUNTING, *span))
        job.end()
        yield [found]

    def _reply(self, job: "_Job", found: list[Matches]) -> None:
        self._replies += (Reply(job.number, job.open.popleft()[0], each) for each in found)
        if time.monotonic() - self._sent_at > _FLUSH_SECONDS:
            self._rest()

    def _rest(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._link.sendall(pack_replies(self._replies))
        Note(0, 0, IDLE).write(self._note)
        self._replies.clear()
        self._sent_at = time.monotonic()


class _Job:
    """The state of a request; `spent` is the processor time of its searches in seconds."""

    def __init__(self, request: Request) -> None:
        self.number, self.spent, self._one_by_one, searches, self.text = request
        self.open = deque(searches)
        self._began_at = 0.0

    @property
    def left(self) -> float:
        """The seconds left for all open searches together."""
        return SECONDS_A_TEXT - self.spent

    def next_searches(self) -> list[Search]:
        """Return the open searches up to one of another language; only the first if one by one was requested."""
        if self._one_by_one:
            return [self.open[0][1]]
        language = self.open[0][1].engine
        return [search for _, search in takewhile(lambda each: each[1].engine == language, self.open)]

    def begin(self) -> float:
        """Return how many seconds the next pattern has, from now on."""
        self._began_at = time.process_time()
        return max(0.001, min(SECONDS_A_PATTERN, self.left))

    def end(self) -> None:
        """Add the processor time since `begin`."""
        self.spent += time.process_time() - self._began_at


def main(note: int) -> None:
    """Serve the socket that is standard input."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # not every system has this limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    with suppress(BrokenPipeError, ConnectionResetError), socket.socket(fileno=os.dup(0)) as link:
        Worker(link, note).serve()
