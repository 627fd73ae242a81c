"""The worker process: searches for patterns, one after the other, and is ended by the system when one runs too long.

Started by `process.py` with a socket as its standard input. It ends when that is closed, and holds nothing that
would be missed.
"""

import os
import resource
import signal
import socket
import time
import warnings
from contextlib import suppress

from tui.checks.frames import COUNTING, EVALUATING, IDLE, Note, Reply, pack_replies, unpack_requests
from tui.checks.matching import find_matches
from tui.checks.searches import Search

# Processor time, so that a busy or suspended machine is not laid to the pattern.
SECONDS_A_PATTERN = 1.0
_MEMORY = 512 * 1024 * 1024
_FLUSH_SECONDS = 0.05
_CHUNK = 1 << 20


class Worker:
    """Answers the requests that come over `link`, and notes in `note` (a file descriptor) what it is doing."""

    def __init__(self, link: socket.socket, note: int) -> None:
        self._link, self._note = link, note
        self._replies: list[Reply] = []
        self._sent_at = 0.0

    def serve(self) -> None:
        """Work until the other side is gone."""
        buffer = bytearray()
        while chunk := self._link.recv(_CHUNK):
            buffer += chunk
            self._sent_at = time.monotonic()
            for job, searches, text in list(unpack_requests(buffer)):
                for number, search in searches:
                    self._evaluate(job, number, search, text)
            if self._replies:
                self._rest()

    def _evaluate(self, job: int, number: int, search: Search, text: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, SECONDS_A_PATTERN)
        Note(job, number, EVALUATING).write(self._note)
        matches = find_matches(text, search, lambda *span: Note(job, number, COUNTING, *span).write(self._note))
        self._replies.append(Reply(job, number, matches))
        if time.monotonic() - self._sent_at > _FLUSH_SECONDS:
            self._rest()

    def _rest(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._link.sendall(pack_replies(self._replies))
        Note(0, 0, IDLE).write(self._note)
        self._replies.clear()
        self._sent_at = time.monotonic()


def main(note: int) -> None:
    """Serve the socket that is standard input."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError, OSError):  # some systems have no such limit
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    with suppress(BrokenPipeError, ConnectionResetError), socket.socket(fileno=os.dup(0)) as link:
        Worker(link, note).serve()
