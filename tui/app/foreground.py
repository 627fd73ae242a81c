"""Run a command in the foreground of the terminal in a process group of its own, as a shell runs a job."""

import asyncio
import contextlib
import errno
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any

_PATIENCE_S = 3.0
_POLL_S = 0.02
_WANT_THE_TERMINAL = {signal.SIGTTIN, signal.SIGTTOU}
_RESET = b"\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[0m"
"""No bracketed paste, no reports of mouse and focus, the main screen, a visible cursor, no style."""
_STOP_THEN_EXECUTE = """
import os, signal, sys
failure = int(sys.argv[1])
os.set_inheritable(failure, False)
for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGSTOP)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    os.write(failure, str(error.errno).encode())
"""
"""A Python program that stops itself, and becomes the command in its arguments when it is continued. If that fails, it
writes the number of the error to the descriptor in its first argument."""


async def run_in_foreground(command: list[str]) -> int:
    """Run a command with the terminal until it ends, and return its exit status, or -n after signal n.

    Signals from keys (SIGINT for Ctrl+C) reach the command and its children, but not Assay. If the command stops
    (Ctrl+Z), Assay stops too, and both continue together. If this task is cancelled, the whole group is ended, by force
    after some seconds, and the terminal is reset. Raises OSError if the command cannot start.
    """
    with _controlling_terminal() as terminal, _stopped(command) as (group, failure):
        try:
            terminal.lend(group)
            _send(group, signal.SIGCONT)
            status = await _wait_for(group, terminal)
        except BaseException:
            _end(group, terminal.borrower)
            terminal.reset(_RESET)
            raise
        if terminal.borrower not in {None, group}:  # a job that the command has left in the foreground takes the keys
            _end(group, terminal.borrower)
        terminal.reset()
        if number := os.read(failure, 16):
            raise OSError(int(number), os.strerror(int(number)))
    return os.waitstatus_to_exitcode(status)


class _Terminal:
    """The controlling terminal, which is lent to the process group of a command. Does nothing if there is none."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._is_lent = False
        self._modes: list[Any] | None = None
        with contextlib.suppress(termios.error):
            self._modes = None if descriptor is None else termios.tcgetattr(descriptor)

    @property
    def foreground(self) -> int | None:
        """The process group in the foreground."""
        with contextlib.suppress(OSError):
            return None if self._descriptor is None else os.tcgetpgrp(self._descriptor)
        return None

    @property
    def borrower(self) -> int | None:
        """The process group that has the terminal on loan: another one if the command gave it to one of its jobs."""
        return self.foreground if self._is_lent and self.foreground != os.getpgrp() else None

    @property
    def is_closed(self) -> bool:
        """Whether there was a terminal that is gone."""
        return self._descriptor is not None and self.foreground is None

    def lend(self, group: int) -> None:
        """Bring a process group to the foreground if Assay is there."""
        if self.foreground == os.getpgrp():
            self._is_lent = True
            self._bring_forward(group)

    def take_back(self) -> None:
        """Bring Assay to the foreground, whoever is there: a shell changes that only while Assay is stopped."""
        if self.borrower is not None:
            self._bring_forward(os.getpgrp())
        self._is_lent = False

    def reset(self, text: bytes = b"") -> None:
        """Take the terminal back if it is lent, restore its modes, and write a text to it."""
        if not self._is_lent or self._descriptor is None:
            return
        self.take_back()
        with contextlib.suppress(OSError, termios.error):
            if self._modes is not None:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._modes)
            os.write(self._descriptor, text)

    def _bring_forward(self, group: int) -> None:
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])  # it would stop a group in the background
        try:
            if self._descriptor is not None:
                os.tcsetpgrp(self._descriptor, group)
        except OSError:
            pass
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@contextlib.contextmanager
def _controlling_terminal() -> Iterator[_Terminal]:
    """Open the controlling terminal, so that writing to it never waits."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        yield _Terminal(None)
        return
    try:
        yield _Terminal(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _stopped(command: list[str]) -> Iterator[tuple[int, int]]:
    """Prepare a command in a process group of its own, stopped before its first instruction.

    It must not run before it has the terminal: a shell with job control would take the terminal for its job, and the
    command's turn would then take it away from the job. Returns the number of the group, and a descriptor that contains
    the number of an error if the command did not start. Raises OSError if it cannot be prepared.
    """
    failure, written = os.pipe()
    try:
        os.set_inheritable(written, True)
        program = [sys.executable, "-I", "-S", "-c", _STOP_THEN_EXECUTE, str(written), *command]
        try:
            group = os.posix_spawn(program[0], program, os.environ, setpgroup=0)
        finally:
            os.close(written)
        with contextlib.suppress(ChildProcessError):  # it ended at once, and Assay was started with SIGCHLD ignored
            if not os.WIFSTOPPED(os.waitpid(group, os.WUNTRACED)[1]):
                raise OSError(errno.ENOEXEC, f"{program[0]} ended at once")
        yield group, failure
    finally:
        os.close(failure)


async def _wait_for(group: int, terminal: _Terminal) -> int:
    """Wait until the process that leads a group has ended, and return its status as `os.waitpid` gives it."""
    was_closed = has_stopped = False
    while True:
        status = _status(group)
        if terminal.is_closed and not was_closed:
            was_closed = True
            signal.raise_signal(signal.SIGHUP)  # the system sends it to the group in the foreground only
        if status is not None:
            if not os.WIFSTOPPED(status):
                return status
            has_stopped = True
            _stop_with(group, terminal, os.WSTOPSIG(status))
        if has_stopped and terminal.foreground in {group, os.getpgrp(), None}:
            has_stopped = False
            terminal.lend(group)
            _send(group, signal.SIGCONT)
        await asyncio.sleep(_POLL_S)


def _status(process: int) -> int | None:
    """Return the status of a child that has ended or stopped as `os.waitpid` gives it, or None while it runs."""
    try:
        pid, status = os.waitpid(process, os.WNOHANG | os.WUNTRACED)
    except ChildProcessError:  # known already, or never: Assay was started with SIGCHLD ignored
        return 0
    return status if pid else None


def _send(group: int, number: int) -> bool:
    """Send a signal to a process group, and return whether there is one."""
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user, such as `sudo`
        pass
    return True


def _stop_with(group: int, terminal: _Terminal, number: int) -> None:
    """Stop Assay because a signal has stopped the group.

    Nothing stops where no shell could continue it (in an orphaned process group), or if the group was stopped only
    because another one had been in the foreground. After SIGTERM, a shell continues Assay in the background, to end.
    """
    if number in _WANT_THE_TERMINAL and terminal.foreground in {group, os.getpgrp()}:
        return
    terminal.take_back()
    handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    os.kill(0, signal.SIGTSTP)
    signal.signal(signal.SIGTSTP, handler)


def _end(group: int, borrower: int | None) -> None:
    """End a process group and the one in the foreground, by force after some seconds. What cannot be ended, such as
    `sudo`, is left.

    This blocks the event loop: while the app closes, its tasks are cancelled a second time, within their `finally`.
    """
    groups = {group, borrower or group}
    for each in groups:
        _send(each, signal.SIGTERM)
        _send(each, signal.SIGCONT)  # a stopped process does not handle SIGTERM
    _wait_while(lambda: _status(group) is None or any(_send(each, 0) for each in groups))
    for each in groups:
        _send(each, signal.SIGKILL)
    _wait_while(lambda: _status(group) is None)


def _wait_while(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + _PATIENCE_S
    while condition() and monotonic() < deadline:
        sleep(_POLL_S)
