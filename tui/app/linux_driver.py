"""A driver for terminals on Linux and macOS that survives signals and closed terminals at any moment."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any, TextIO, cast

from textual.drivers.linux_driver import LinuxDriver
from textual.events import Resize
from textual.geometry import Size

from tui.app.terminal_input import read_messages

_LOOK_S = 0.2  # between looks at who has the terminal: a shell sends no signal to a job that runs in the background


@contextlib.contextmanager
def _unstopped() -> Iterator[None]:
    """Block SIGTTOU inside the `with` block: changing the terminal would stop Assay in the background."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


class TolerantFile:
    """A terminal's file that ignores write errors. Textual writes from a thread that would end with the first such
    error, and every later write would then block forever."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write the text, or drop it when the terminal is gone."""
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush the file, or do nothing when the terminal is gone."""
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        """Return the number of the file descriptor."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Return whether the file is a terminal."""
        return self._file.isatty()


class CrashSafeDriver(LinuxDriver):
    """Textual's driver with a `TolerantFile`, with an `InputParser`, and with its own handlers of signals.

    Application mode starts once, is suspended and resumed, and ends once: nothing starts it again after that.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._file = _drawn_on() or self._file
        self._is_suspending = self._has_ended = False
        self._waiting: asyncio.TimerHandle | None = None
        # Textual's handlers stop and start its threads wherever the signal interrupts the program: while it holds a
        # lock of such a thread, they would wait for ever.
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._continue)

    def _stop(self) -> None:
        """Stop the whole process group: a shell that started `uv run assay` waits for uv, not for Assay."""
        if self._auto_restart:
            self.suspend_application_mode()
            self._must_signal_resume = True
        os.kill(0, signal.SIGSTOP)

    def _continue(self) -> None:
        """Start application mode again after SIGCONT, as soon as Assay is in the foreground of the terminal.

        The signal also comes without a stop: with SIGHUP when the terminal closes, or from `kill -CONT`. Threads
        that are replaced without being stopped would keep the process alive for ever. A shell also sends it to a
        stopped job after SIGTERM (`kill %1`), which must end Assay in the background.
        """
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._has_ended or not self._auto_restart:  # an editor uses the terminal
            return
        self.suspend_application_mode()
        if self._is_in_background:
            self._waiting = asyncio.get_running_loop().call_later(_LOOK_S, self._continue)
        else:
            self.resume_application_mode()

    @property
    def _is_in_background(self) -> bool:
        """Whether another process group has the terminal."""
        try:
            return os.tcgetpgrp(self.fileno) != os.getpgrp()
        except OSError:  # it is closed, or it is not the controlling terminal
            return False

    @property
    def _is_active(self) -> bool:
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def write(self, data: str) -> None:
        """Write to the terminal in application mode; drop the text otherwise."""
        if self._is_active:
            super().write(data)

    def suspend_application_mode(self) -> None:
        """Suspend application mode if it is active."""
        if self._has_ended or not self._is_active:
            return
        self._is_suspending = True
        try:
            super().suspend_application_mode()
        finally:
            self._is_suspending = False

    def stop_application_mode(self) -> None:
        """Stop application mode; where it is suspended, the terminal belongs to another program."""
        if not self._is_active:
            self._has_ended = True
            return
        with _unstopped():
            super().stop_application_mode()

    def disable_input(self) -> None:
        """Disable further input, for a suspension or because the app ends."""
        self._has_ended = self._has_ended or not self._is_suspending
        if self._is_active:
            with _unstopped():
                super().disable_input()

    def start_application_mode(self) -> None:
        """Start application mode with a handler that reads the size in the event loop.

        Textual reads it in the signal handler itself. The next signal interrupts that handler: the older of the two
        sizes is then posted last, and with enough signals the stack overflows.
        """
        if self._has_ended:  # nobody would stop it
            return
        if self._is_in_background:  # as the system stops a program that uses the terminal there
            os.kill(0, signal.SIGSTOP)
            return
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
        try:
            super().start_application_mode()  # type: ignore[no-untyped-call]
            if signal.getsignal(signal.SIGWINCH) is not signal.SIG_DFL:  # no handler: in the background
                asyncio.get_running_loop().add_signal_handler(signal.SIGWINCH, self._post_size)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGWINCH])

    def _post_size(self) -> None:
        if not self._in_band_window_resize:
            size = Size(*self._get_terminal_size())
            self.send_message(Resize(size, size))

    def run_input_thread(self) -> None:
        """Read the terminal and post its messages until the application mode ends."""
        read_messages(self.fileno, self.exit_event, self.process_message, debug=self._debug)


def _drawn_on() -> "TextIOWrapper | None":
    """Return the stream on which the app draws. Textual draws on stderr: with `2> FILE` the app would be invisible."""
    streams = (sys.__stderr__, sys.__stdout__)
    found = next((stream for stream in streams if stream is not None and stream.isatty()), sys.__stderr__)
    return None if found is None else cast("TextIOWrapper", TolerantFile(found))
