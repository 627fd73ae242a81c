"""Runs another program so that nothing of it is left, whatever becomes of it or of us."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from tui.processes.guarding import start_guarded

_PATIENCE_S = 3.0


class _Program(asyncio.SubprocessProtocol):
    """A running program: hands on what it prints, and knows when it has ended and when all of that has come."""

    def __init__(self, took: Callable[[bytes], object]) -> None:
        self._took = took
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes) -> None:  # noqa: ARG002
        self._took(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 1 and not self.drained.done():
            self.drained.set_result(None)

    def process_exited(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)


async def run_guarded(
    words: Sequence[str],
    environ: Mapping[str, str],
    folder: Path,
    took: Callable[[bytes], object],
    *,
    stdin: bytes = b"",
) -> int:
    """Run a program in a folder until it ends; its exit status (negative: the signal that killed it). What it prints,
    on both channels, is handed to `took` as it comes. When this is cancelled, the program and everything that it
    started is killed first. Raises OSError where it cannot be started."""
    transport, program, lifeline = await start_guarded(
        lambda: _Program(took), words, environ, cwd=folder, stderr=subprocess.STDOUT
    )
    try:
        told = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        told.write(stdin)
        told.close()
        await asyncio.wait([program.ended])  # Awaited by itself, it would be cancelled with us, and seem to have ended.
        # Whatever it left behind is dead by now, and with it the other holders of the pipe.
        await asyncio.wait([program.drained], timeout=_PATIENCE_S)
        return cast("int", transport.get_returncode())
    finally:
        os.close(lifeline)
        await asyncio.shield(_end(transport, program))


async def _end(transport: asyncio.SubprocessTransport, program: _Program) -> None:
    try:
        if not program.ended.done():
            with suppress(ProcessLookupError):
                transport.send_signal(signal.SIGTERM)  # The guard takes it as: end everything.
            await asyncio.wait([program.ended], timeout=_PATIENCE_S)
        if not program.ended.done():
            with suppress(ProcessLookupError):
                transport.kill()
            await asyncio.wait([program.ended], timeout=_PATIENCE_S)
    finally:
        transport.close()
