"""One worker process as the checker sees it: what it was given, what it answered, and how it ended."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import tui
from tui.checks.engine import engine_folder
from tui.checks.jobs import Job
from tui.checks.protocol import Note, Reply, unpack_replies

_BOOT = "import sys; sys.path += sys.argv[2:]; from tui.checks.worker import main; main(int(sys.argv[1]))"
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "TMPDIR")
_CHUNK = 1 << 18


class WorkerProcess:
    """Started at once; OSError if that cannot be. `on_replies` is called with what it answered, `on_end` once, when
    it is gone for any reason but `stop`."""

    def __init__(
        self,
        on_replies: "Callable[[WorkerProcess, list[Reply]], None]",
        on_end: "Callable[[WorkerProcess], None]",
    ) -> None:
        self.jobs: dict[int, Job] = {}
        self.is_stuck = False
        self.has_answered = False
        self._on_replies, self._on_end = on_replies, on_end
        self._loop = asyncio.get_running_loop()
        self._unsent = bytearray()
        self._received = bytearray()
        self._note = _open_note()
        try:
            self._link, self._process = _start(self._note)
        except OSError:
            os.close(self._note)
            raise
        self._loop.add_reader(self._link, self._read)

    @property
    def note(self) -> Note:
        """What it is doing, or was doing when it died."""
        return Note.read(self._note)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def send(self, frame: bytes) -> None:
        """Hand over a frame; what does not fit into the socket now goes when it does."""
        if not self._unsent:
            try:
                frame = frame[self._link.send(frame) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # it is gone: the reader sees that and tells
            if frame:
                self._loop.add_writer(self._link, self._write)
        self._unsent += frame

    def kill(self) -> None:
        """End it; `on_end` follows."""
        self._process.kill()

    def stop(self) -> int:
        """End it and let go of everything. How it ended: the negative number of a signal, or the exit status."""
        self._loop.remove_reader(self._link)
        self._loop.remove_writer(self._link)
        self._link.close()
        self._process.kill()
        status = self._process.wait()
        os.close(self._note)
        return status

    def _read(self) -> None:
        try:
            chunk = self._link.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if not chunk:
            self._loop.remove_reader(self._link)
            self._on_end(self)
            return
        self._received += chunk
        replies = list(unpack_replies(self._received))
        if replies:
            self.has_answered = True
            self._on_replies(self, replies)

    def _write(self) -> None:
        try:
            del self._unsent[: self._link.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()
        if not self._unsent:
            self._loop.remove_writer(self._link)


def describe_end(status: int) -> str:
    """How a process ended, in words."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _open_note() -> int:
    """A small file without a name. In memory where that exists, so that a full disk does not matter."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("assay-note", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _start(note: int) -> tuple[socket.socket, "subprocess.Popen[bytes]"]:
    """In a session of its own, so that Ctrl-C and Ctrl-Z at the terminal do not reach it; without the person's
    environment, site hooks or current folder, so that nothing there can be loaded into it."""
    folders = [str(Path(tui.__file__).parent.parent), engine_folder()]
    near, far = socket.socketpair()
    with far:
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _BOOT, str(note), *folders],
                stdin=far.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(note,),
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                start_new_session=True,
            )
        except OSError:
            near.close()
            raise
    near.setblocking(False)
    return near, process
