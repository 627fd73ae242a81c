"""One guarded process with a line protocol: one line in, one line out."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

from tui.model.sanitize import sanitize_text
from tui.processes.guarded import let_go, start_guarded, wait_for_end

_LONGEST_LINE = 16 << 20
_TAIL_BYTES, _TAIL_LINES, _TAIL_TEXT = 8 << 10, 10, 1_000
_LAST_BYTES_S = 0.5
_READ_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Launch:
    """The program to start.

    It is the `words` of a command, or with `module` the arguments of that Python file's `serve`, which gets at most
    `memory_bytes` (0: no limit). It may print `most_printed` bytes between two requests (0: no limit). `is_reused` says
    that the process of a command may serve several trials, like that of a module.
    """

    words: tuple[str, ...]
    environ: Mapping[str, str]
    module: Path | None = None
    memory_bytes: int = 0
    most_printed: int = 16 << 20
    is_reused: bool = False


class WorkerLost(Exception):
    """The process gave no answer and cannot give one; the text is shown after its name."""


class Worker(asyncio.SubprocessProtocol):
    """A running process. Only one request may be open at a time.

    `answered_at` is the time of the event loop at which the last answer came, in seconds; None before the first.
    """

    def __init__(self, most_printed: int = 0) -> None:
        self._most_printed = most_printed
        self.stamp: object = None
        self.answered_at: float | None = None
        self._buffer = bytearray()
        self._scanned = 0
        self._tail, self._tail_cut = bytearray(), False
        self._printed = 0
        self._over: str | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lifeline = -1
        self._transport: asyncio.SubprocessTransport

    @classmethod
    async def start(cls, launch: Launch) -> "Worker":
        """Start the process. Raises OSError."""
        make = partial(cls, launch.most_printed)
        _, worker, lifeline = await start_guarded(
            make, launch.words, launch.environ, module=launch.module, memory_bytes=launch.memory_bytes
        )
        worker._lifeline = lifeline
        return worker

    @property
    def is_alive(self) -> bool:
        """Whether the process can accept a request."""
        return self._over is None and self._transport.get_returncode() is None

    @property
    def ended_well(self) -> bool:
        """Whether the process has exited by itself with status 0."""
        return self._transport.get_returncode() == 0

    @property
    def last_words(self) -> str:
        """The last lines that the process printed, safe to show; empty if it printed nothing.

        They begin with `…` if a line was cut, so that the part of a key after it is recognized.
        """
        text = ("…" if self._tail_cut else "") + self._tail.decode(errors="replace")
        lines = "\n".join(sanitize_text(text).strip().splitlines()[-_TAIL_LINES:])
        return lines if len(lines) <= _TAIL_TEXT else "…" + lines[-_TAIL_TEXT:]

    @property
    def is_out_of_turn(self) -> bool:
        """Whether the process has written a line that answers no request. Call it between requests only."""
        self._read_waiting()
        return len(self._buffer) > _LONGEST_LINE or bool(self._buffer.strip())

    async def ask(self, line: bytes) -> bytes:
        """Send one line and return the line that answers it.

        Raises WorkerLost, also if a line was already waiting: it would be taken for the answer.
        """
        if self.is_out_of_turn:
            raise WorkerLost("answered more than once for one step")
        self._buffer.clear()
        self._tail.clear()
        self._tail_cut = False
        self._scanned = self._printed = 0
        self._answer = asyncio.get_running_loop().create_future()
        stdin = cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0))
        stdin.write(line + b"\n")
        self._look()
        try:
            return await self._answer
        finally:
            self._answer = None

    async def end(self, grace: float = 0.0) -> None:
        """Close its input, wait `grace` seconds, then kill it and its children. Return when it has ended."""
        stdin = self._transport.get_pipe_transport(0)
        if stdin is not None:
            stdin.close()
        try:
            if grace:
                await asyncio.wait([self._gone], timeout=grace)
        finally:
            self.kill()
            await wait_for_end(self._transport, self._gone)

    async def wait_for_end(self, seconds: float) -> str | None:
        """Return how the process ended, as text to follow its name, or None if it is alive after `seconds`."""
        await asyncio.wait([self._gone], timeout=seconds)
        return self._over

    def kill(self) -> None:
        """Make the guards kill the process and its children."""
        if self._lifeline >= 0:
            let_go(self._transport, self._lifeline)
            self._lifeline = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._buffer += data
            if not data.strip():
                self._count_printed(len(data))
            self._look()
            if len(self._buffer) > _LONGEST_LINE + 1:
                self._lose(f"answered with more than {_LONGEST_LINE >> 20} MiB")
        else:
            self._tail += data
            self._tail_cut = self._tail_cut or len(self._tail) > _TAIL_BYTES
            del self._tail[:-_TAIL_BYTES]
            self._count_printed(len(data))
        self._look()

    def _count_printed(self, size: int) -> None:
        """Count output that is no answer. Blank lines count too: they are skipped without an end."""
        self._printed += size
        if self._printed > self._most_printed > 0:
            self._lose(f"wrote more than {self._most_printed >> 20} MiB of output")

    def process_exited(self) -> None:
        asyncio.get_running_loop().call_later(_LAST_BYTES_S, self._finish)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        """Handle the exit, when the last bytes have arrived or a child process holds the pipes open."""
        if self._gone.done():
            return
        self._gone.set_result(None)
        self.kill()
        if self._buffer and not self._buffer.endswith(b"\n"):
            self._buffer += b"\n"
        self._look()
        self._lose(_how_it_ended(self._transport.get_returncode()))
        self._transport.close()

    def _look(self) -> None:
        """Return the answer to the waiting request once its line is complete, or fail it if none will come."""
        if self._answer is None or self._answer.done():
            return
        if self._buffer[:1].isspace():  # blank lines
            self._buffer, self._scanned = self._buffer.lstrip(), 0
        if (end := self._buffer.find(b"\n", self._scanned)) >= 0:
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._scanned = 0
            self._answer.set_result(line)
            self.answered_at = asyncio.get_running_loop().time()
            return
        self._scanned = len(self._buffer)
        if self._over is not None:
            self._answer.set_exception(WorkerLost(self._over))

    def _lose(self, why: str) -> None:
        if self._over is None:
            self._over = why
            self._look()
            self.kill()

    def _read_waiting(self) -> None:
        """Read what the process has written and the event loop has not read yet."""
        pipe = self._transport.get_pipe_transport(1)
        if os.name != "posix" or pipe is None or pipe.is_closing():
            return
        with suppress(BlockingIOError):
            while data := os.read(pipe.get_extra_info("pipe").fileno(), _READ_BYTES):
                self.pipe_data_received(1, data)
                if len(self._buffer) > _LONGEST_LINE:
                    return


def _how_it_ended(status: int | None) -> str:
    if status is None or status >= 0:
        return f"exited with status {status or 0} without an answer"
    try:
        name = f" ({signal.Signals(-status).name})"
    except ValueError:
        name = ""
    why = ", possibly because memory ran out" if -status == 9 else ""
    return f"was killed by signal {-status}{name}{why}"
