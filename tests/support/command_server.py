"""A process that has imported `tui` and runs each command in a fork of itself: imports are half of a command's time.

A command has its own process, arguments, environment, folder, streams and exit code. What it cannot show is how Python
starts: a test of that starts a process of its own.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

_ROOT = Path(__file__).parents[2]
_MOST_BYTES = 1 << 20
_TIMEOUT_S = 120.0


class CommandServer:
    """The process, for the one that started it. It ends with that one."""

    def __init__(self) -> None:
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=_ROOT,
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
            )

    def run(self, args: Sequence[str], environ: Mapping[str, str], folder: Path) -> tuple[int, str, str]:
        """Run `assay` with these arguments to its end; return the exit code and what it wrote to its two streams.

        The code is negative after a signal. Threads may call this at the same time.
        """
        order = json.dumps({"args": args, "environ": dict(environ), "folder": str(folder)}).encode()
        answers, theirs = socket.socketpair()
        with answers, _file_for_text() as out, _file_for_text() as err:
            with theirs:
                socket.send_fds(self._orders, [order], [theirs.fileno(), out.fileno(), err.fileno()])
            answers.settimeout(_TIMEOUT_S)
            code = int(answers.recv(16))
            out.seek(0)
            err.seek(0)
            return code, out.read(), err.read()

    def close(self) -> None:
        """End the process; commands that are running go on."""
        self._orders.close()
        self._process.wait()


@cache
def command_server() -> CommandServer:
    """Return the one of this process, which ends with it."""
    server = CommandServer()
    atexit.register(server.close)
    return server


def _file_for_text() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _import_everything() -> None:
    """Import all that commands import, but not the app."""
    import tui

    for module in pkgutil.walk_packages(tui.__path__, "tui."):
        if not module.name.startswith(("tui.app", "tui.__main__")):
            importlib.import_module(module.name)


def _wait_for_order(orders: socket.socket) -> dict[str, Any]:
    """Return each order in a process of its own, whose parent reports its exit code; exit at the end of the orders."""
    while True:
        message, files, _, _ = socket.recv_fds(orders, _MOST_BYTES, 3)
        if not message:
            sys.exit()
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
    orders.close()
    answers, *streams = files
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if command := os.fork():
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
        os.write(answers, str(code).encode())
        os._exit(0)
    os.close(answers)
    for stream, number in zip(streams, (1, 2), strict=True):
        os.dup2(stream, number)
        os.close(stream)
    order: dict[str, Any] = json.loads(message)
    return order


class _QuickExit:
    """The end of a command without freeing what was imported, which takes most of the time of a short command.

    Python calls it after all other functions for its exit, which were registered later.
    """

    def __init__(self) -> None:
        self.code: int | None = None
        atexit.register(self._exit)

    def _exit(self) -> None:
        if self.code is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.code)


def _serve(orders: socket.socket) -> None:
    """Run each order as `python -m tui` does."""
    end = _QuickExit()
    _import_everything()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that report
    order = _wait_for_order(orders)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environ"])
    sys.path[0] = order["folder"]
    sys.argv[1:] = order["args"]
    try:
        runpy.run_module("tui", run_name="__main__", alter_sys=True)
        end.code = 0
    except SystemExit as exited:
        end.code = exited.code if isinstance(exited.code, int) else None
        raise


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        _serve(orders)
