"""Start programs under guards, which end them and all their processes, also if Assay is killed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

P = TypeVar("P", bound=asyncio.SubprocessProtocol)

# A separate program that is started by its path and uses the standard library only.
_GUARD = Path(__file__).with_name("guard.py")
_PATIENCE_S = 3.0
_GUARDS_S = 5.0  # longer than both guards take together, which give up after 2 s each
_SET_DUMPABLE = 4  # prctl(2)


@cache
def protect_memory() -> None:
    """Keep other processes of the same user out of this process, which holds keys; leave no core file of it.

    On Linux they can then read neither its environment nor its memory nor its open files under /proc, and cannot
    attach a debugger. A process that may read everything (root, CAP_SYS_PTRACE) still can.
    """
    if os.name != "posix":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


async def start_guarded(
    make: Callable[[], P],
    words: Sequence[str],
    environ: Mapping[str, str],
    *,
    module: Path | None = None,
    memory_bytes: int = 0,
    private: bool = False,
    **settings: Any,
) -> tuple[asyncio.SubprocessTransport, P, int]:
    """Start a command, or with `module` the `serve` function of that Python file, under two guards.

    `words` are the command or the arguments of `serve`, which may use at most `memory_bytes` (0: no limit). With
    `private`, other processes of the same user cannot read the memory of that function and of its guards (Linux).
    `settings` are those of `subprocess.Popen`. Returns the transport, the protocol and the descriptor of the lifeline.

    The caller has to pass the lifeline to `let_go`, which ends all processes; the kernel closes it if Assay is killed.
    Before the program starts, this process is protected against it (`protect_memory`). Raises OSError.
    """
    protect_memory()
    watched, lifeline = _make_lifeline()
    if os.name == "posix":
        kind: tuple[str, ...] = ("command",)
        if module is not None:
            kind = ("private" if private else "module", str(module), str(memory_bytes))
        words = (sys.executable, "-P", str(_GUARD), str(watched), *kind, *words)
        settings |= {"pass_fds": (watched,), "start_new_session": True}
    elif module is not None:
        words = (sys.executable, "-P", str(module), *words)
    try:
        transport, program = await asyncio.get_running_loop().subprocess_exec(
            make, *words, env=dict(environ), **settings
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(watched)
    return transport, program, lifeline


def _make_lifeline() -> tuple[int, int]:
    """Return the descriptor that the guards watch, and the one whose end they notice.

    They are sockets: through /proc a program can open a guard's pipe for writing, and so keep it from ending.
    """
    if os.name != "posix":
        return os.pipe()
    far, near = socket.socketpair()
    return far.detach(), near.detach()


def let_go(transport: asyncio.SubprocessTransport, lifeline: int) -> None:
    """Close the lifeline, by which the guards end the program and all its processes.

    They get no signal: `send_signal` asks the system whether the process has ended, which takes the exit status away
    from asyncio. It then reports status 255 and warns of an unknown child process.
    """
    os.close(lifeline)
    if os.name != "posix" and transport.get_returncode() is None:
        with suppress(ProcessLookupError):
            transport.terminate()


async def wait_for_end(transport: asyncio.SubprocessTransport, ended: "asyncio.Future[None]") -> None:
    """Wait until a guard that was let go has ended, then close the transport.

    A guard that its program has stopped is killed. The other guard, which the kernel continues, then ends everything.
    A cancellation is raised afterwards only: a transport that is closed earlier kills the guard while it is at work.
    """
    is_cancelled = await _wait_uninterrupted(ended, _GUARDS_S)
    if not ended.done():
        with suppress(ProcessLookupError):
            os.kill(transport.get_pid(), signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        is_cancelled |= await _wait_uninterrupted(ended, _PATIENCE_S)
    transport.close()
    if is_cancelled:
        raise asyncio.CancelledError


async def _wait_uninterrupted(ended: "asyncio.Future[None]", seconds: float) -> bool:
    """Wait at most `seconds`, also if the task is cancelled. Return whether it was."""
    clock = asyncio.get_running_loop().time
    is_cancelled, deadline = False, clock() + seconds
    while not ended.done() and (rest := deadline - clock()) > 0:
        try:
            await asyncio.wait([ended], timeout=rest)
        except asyncio.CancelledError:
            is_cancelled = True
    return is_cancelled


class _Program(asyncio.SubprocessProtocol):
    """A running program: passes on its output, and signals its exit and the end of its output."""

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
    """Run a program in a folder and return its exit status (negative: the signal that killed it).

    Output of both channels is passed to `took` as it comes. On cancellation the program and its children are killed
    first. Raises OSError if it cannot be started.
    """
    transport, program, lifeline = await start_guarded(
        lambda: _Program(took), words, environ, cwd=folder, stderr=subprocess.STDOUT
    )
    try:
        standard_input = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        standard_input.write(stdin)
        standard_input.close()
        return await _finish(transport, program)
    finally:
        let_go(transport, lifeline)
        await wait_for_end(transport, program.ended)


async def run_private(
    module: Path,
    environ: Mapping[str, str],
    folder: Path,
    took: Callable[[bytes], object],
    secret: bytes,
    *,
    memory_bytes: int,
) -> int:
    """Run the `serve` function of a Python file that reads a secret from stdin, and return its exit status.

    Other processes of the same user can read neither the secret nor the memory of the program (Linux). Output and
    cancellation are as in `run_guarded`.
    """
    near, far = socket.socketpair()  # Unlike a pipe, it cannot be opened through /proc while the guard starts.
    with near:
        near.setblocking(False)
        with far:
            transport, program, lifeline = await start_guarded(
                lambda: _Program(took),
                (),
                environ,
                module=module,
                memory_bytes=memory_bytes,
                private=True,
                cwd=folder,
                stdin=far,
                stderr=subprocess.STDOUT,
            )
        try:
            with suppress(ConnectionError):  # The program has ended before it read all.
                await asyncio.get_running_loop().sock_sendall(near, secret)
            near.close()
            return await _finish(transport, program)
        finally:
            let_go(transport, lifeline)
            await wait_for_end(transport, program.ended)


async def _finish(transport: asyncio.SubprocessTransport, program: _Program) -> int:
    # Awaited directly, the future would be cancelled with this task, and the program would seem to have ended.
    await asyncio.wait([program.ended])
    # Its child processes are dead by now, and with them the other holders of the pipe.
    await asyncio.wait([program.drained], timeout=_PATIENCE_S)
    return cast("int", transport.get_returncode())
