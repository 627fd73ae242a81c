"""The worker process: searches texts for patterns, and is ended by the system where an engine does not end one itself.

Started by `process.py` with a socket as its standard input. It ends when that is closed, and holds nothing that
would be missed.
"""

import os
import resource
import signal
import socket
import time
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import takewhile

from tui.checks.engine import Engine
from tui.checks.matching import find_javascript, find_python
from tui.checks.protocol import BATCH, COUNTING, EVALUATING, IDLE, Note, Reply, Request, pack_replies, unpack_requests
from tui.checks.searches import SECONDS_A_PATTERN, SECONDS_A_TEXT, TOO_LONG_TOGETHER, Matches, Search

_MEMORY = 512 * 1024 * 1024
_FLUSH_SECONDS = 0.05
_CHUNK = 1 << 20
# The engine of JavaScript patterns ends them itself; the system ends the process if it did not.
_GRACE_SECONDS = 1.0


class Worker:
    """Answers the requests that come over `link`, and notes in `note` (a file descriptor) what it is doing."""

    def __init__(self, link: socket.socket, note: int) -> None:
        self._link, self._note = link, note
        self._engine = Engine()
        self._waiting: deque[_Job] = deque()
        self._replies: list[Reply] = []
        self._sent_at = 0.0

    def serve(self) -> None:
        """Work until the other side is gone."""
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
        """Search until all is done, or until a pattern took too long and other texts wait."""
        while job.open:
            if job.left <= 0:
                self._reply(job, [Matches(failure=TOO_LONG_TOGETHER)] * len(job.open))
                return
            searches = job.next_searches()
            steps = self._javascript(job, searches) if searches[0].engine == "javascript" else self._python(job)
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

    def _python(self, job: "_Job") -> Iterator[list[Matches]]:
        number, search = job.open[0]

        def note(phase: int, start: int = 0, end: int = 0) -> None:
            Note(job.number, number, phase, start, end, job.spent).write(self._note)

        signal.setitimer(signal.ITIMER_PROF, job.begin())
        note(EVALUATING)
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
    """A request as far as it is done; `spent` is the processor time of its searches, in seconds."""

    def __init__(self, request: Request) -> None:
        self.number, self.spent, self._one_by_one, searches, self.text = request
        self.open = deque(searches)
        self._began_at = 0.0

    @property
    def left(self) -> float:
        """How many seconds all that is open has together."""
        return SECONDS_A_TEXT - self.spent

    def next_searches(self) -> list[Search]:
        """Return what is open up to a search of the other language; the first alone where that was asked for."""
        if self._one_by_one:
            return [self.open[0][1]]
        language = self.open[0][1].engine
        return [search for _, search in takewhile(lambda each: each[1].engine == language, self.open)]

    def begin(self) -> float:
        """Return how many seconds the next pattern has, from now on."""
        self._began_at = time.process_time()
        return max(0.001, min(SECONDS_A_PATTERN, self.left))

    def end(self) -> None:
        """Count the time since `begin`."""
        self.spent += time.process_time() - self._began_at


def main(note: int) -> None:
    """Serve the socket that is standard input."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # some systems have no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    with suppress(BrokenPipeError, ConnectionResetError), socket.socket(fileno=os.dup(0)) as link:
        Worker(link, note).serve()
