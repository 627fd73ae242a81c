"""Runs another program so that nothing of it is left, whatever becomes of it or of us."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import tui

# Started by its path, as a program of its own: it kills the group and every process that descends from it.
_GUARD = Path(tui.__file__).parent / "providers" / "processes" / "guard.py"
_PATIENCE_S = 3.0
_PIECE = 1 << 16


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
    watched, lifeline = os.pipe()
    try:
        process = await _start(words, environ, folder, watched)
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(watched)
    reading = asyncio.create_task(_read(process, took))
    try:
        await _tell(process, stdin)
        status = await process.wait()
        # Something that it left behind may hold the pipe: the guard has killed that by now, or soon will have.
        await asyncio.wait([reading], timeout=_PATIENCE_S)
        return status
    finally:
        os.close(lifeline)
        reading.cancel()
        await asyncio.shield(_end(process))


async def _start(
    words: Sequence[str], environ: Mapping[str, str], folder: Path, watched: int
) -> asyncio.subprocess.Process:
    extra: dict[str, Any] = {}
    if os.name == "posix":
        words = (sys.executable, "-P", str(_GUARD), str(watched), "command", *words)
        extra = {"pass_fds": (watched,), "start_new_session": True}
    return await asyncio.create_subprocess_exec(
        *words,
        env=dict(environ),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        **extra,
    )


async def _tell(process: asyncio.subprocess.Process, text: bytes) -> None:
    if process.stdin is not None:
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(text)
            await process.stdin.drain()
        process.stdin.close()


async def _read(process: asyncio.subprocess.Process, took: Callable[[bytes], object]) -> None:
    if process.stdout is not None:
        while piece := await process.stdout.read(_PIECE):
            took(piece)


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)  # The guard takes it as: end everything.
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(process.wait(), _PATIENCE_S)
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
