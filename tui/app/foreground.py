"""Run a command in the foreground of the terminal in a process group of its own, as a shell runs a job."""

import asyncio
import contextlib
import os
import signal
import termios
from collections.abc import Callable, Iterator
from time import monotonic, sleep
from typing import Any

_PATIENCE_S = 3.0
_POLL_S = 0.02
_WANT_THE_TERMINAL = {signal.SIGTTIN, signal.SIGTTOU}
_RESET = b"\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?1049l\x1b[?25h\x1b[0m"
"""No bracketed paste, no reports of mouse and focus, the main screen, a visible cursor, no style."""


async def run_in_foreground(command: list[str]) -> int:
    """Run a command with the terminal until it ends, and return its exit status, or -n after signal n.

    Signals from keys (SIGINT for Ctrl+C) reach the command and its children, but not Assay. If the command stops
    (Ctrl+Z), Assay stops too, and both continue together. If this task is cancelled, the whole group is ended, by force
    after some seconds, and the terminal is reset. Raises OSError if the command cannot start.
    """
    with _controlling_terminal() as terminal:
        modes = _modes_of(terminal)
        group = _start(command)
        try:
            _move(terminal, os.getpgrp(), group)
            _send(group, signal.SIGCONT)  # it has stopped if it used the terminal before this
            status = await _wait_for(group, terminal)
        except BaseException:
            _end(group)
            _move(terminal, group, os.getpgrp(), modes, _RESET)
            raise
        _move(terminal, group, os.getpgrp(), modes)
    return os.waitstatus_to_exitcode(status)


async def _wait_for(group: int, terminal: int | None) -> int:
    """Wait until the process that leads a group has ended, and return its status as `os.waitpid` gives it."""
    is_open = True
    while True:
        status = _status(group)
        if is_open and terminal is not None and _foreground(terminal) is None:
            is_open = False  # closed: the system sends SIGHUP to the group in the foreground only
            signal.raise_signal(signal.SIGHUP)
        if status is not None:
            if not os.WIFSTOPPED(status):
                return status
            _stop_with(group, terminal, os.WSTOPSIG(status))
        await asyncio.sleep(_POLL_S)


def _start(command: list[str]) -> int:
    """Start a command in a process group of its own, and return its number."""
    # Python ignores these two signals, and the command would inherit that.
    return os.posix_spawnp(command[0], command, os.environ, setpgroup=0, setsigdef=[signal.SIGPIPE, signal.SIGXFSZ])


@contextlib.contextmanager
def _controlling_terminal() -> Iterator[int | None]:
    """Open the controlling terminal, so that writing to it never waits. Yields None if there is none."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        yield None
        return
    try:
        yield terminal
    finally:
        os.close(terminal)


def _modes_of(terminal: int | None) -> list[Any] | None:
    with contextlib.suppress(termios.error):
        return None if terminal is None else termios.tcgetattr(terminal)
    return None


def _foreground(terminal: int | None) -> int | None:
    with contextlib.suppress(OSError):
        return None if terminal is None else os.tcgetpgrp(terminal)
    return None


def _move(terminal: int | None, source: int, target: int, modes: list[Any] | None = None, text: bytes = b"") -> None:
    """Give the foreground of the terminal from one process group to another if that one has it, then its modes and a
    text. Does nothing if the terminal is gone."""
    if terminal is None or _foreground(terminal) != source:
        return
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])  # it would stop a group in the background
    try:
        os.tcsetpgrp(terminal, target)
        if modes is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, modes)
        os.write(terminal, text)
    except (OSError, termios.error):
        pass
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


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


def _stop_with(group: int, terminal: int | None, number: int) -> None:
    """Stop Assay because a signal has stopped the group, then continue both.

    Nothing stops where no shell could continue it (in an orphaned process group). A group that was stopped only because
    another one was in the foreground is continued without that, once Assay is back there.
    """
    if number not in _WANT_THE_TERMINAL or _foreground(terminal) not in {group, os.getpgrp()}:
        _move(terminal, group, os.getpgrp())
        handler = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, handler)
    _move(terminal, os.getpgrp(), group)
    _send(group, signal.SIGCONT)


def _end(group: int) -> None:
    """End a process group, by force after some seconds. What cannot be ended, such as `sudo`, is left.

    This blocks the event loop: while the app closes, its tasks are cancelled a second time, within their `finally`.
    """
    _send(group, signal.SIGTERM)
    _send(group, signal.SIGCONT)  # a stopped process does not handle SIGTERM
    _wait_while(lambda: _status(group) is None or _send(group, 0))
    if _send(group, signal.SIGKILL):
        _wait_while(lambda: _status(group) is None)


def _wait_while(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + _PATIENCE_S
    while condition() and monotonic() < deadline:
        sleep(_POLL_S)
