"""Make Textual's drivers robust against a terminal or a browser that is closed or resized at any moment, and against
hostile pastes."""

import asyncio
import contextlib
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, TextIO, cast

from textual.driver import Driver
from textual.events import Resize
from textual.geometry import Size


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


def detach_closed_terminal() -> None:
    """Redirect the standard streams to the null device when their terminal is gone. Python flushes them when it exits,
    and a failure there would change the exit code to 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)


def _drawn_on() -> "TextIOWrapper | None":
    """Return the stream on which the app draws. Textual draws on stderr: with `2> FILE` the app would be invisible."""
    streams = (sys.__stderr__, sys.__stdout__)
    found = next((stream for stream in streams if stream is not None and stream.isatty()), sys.__stderr__)
    return None if found is None else cast("TextIOWrapper", TolerantFile(found))


def crash_safe_driver(driver: type[Driver]) -> type[Driver]:
    """Return a safe version of Textual's drivers for Linux and macOS and for a browser; return any other driver
    unchanged."""
    if sys.platform == "win32":
        return driver
    if driver.__name__ == "WebDriver":
        from tui.app.web_driver import CrashSafeWebDriver

        return CrashSafeWebDriver
    if driver.__name__ == "LinuxDriver":
        return _safe_linux_driver()
    return driver


def _safe_linux_driver() -> type[Driver]:
    from textual.drivers.linux_driver import LinuxDriver

    from tui.app.terminal_input import read_messages

    class CrashSafeDriver(LinuxDriver):
        """Textual's driver with a `TolerantFile`, with an `InputParser`, and with its own handler for changes of the
        terminal's size."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self._file = _drawn_on() or self._file
            # Textual's handlers stop and start its threads wherever the signal interrupts the program: while it holds a
            # lock of such a thread, they would wait for ever.
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
            loop.add_signal_handler(signal.SIGCONT, self._continue)

        def _continue(self) -> None:
            """Start application mode again after SIGCONT.

            The signal also comes without a stop: with SIGHUP when the terminal closes, or from `kill -CONT`. Threads
            that are replaced without being stopped would keep the process alive for ever.
            """
            if not self._auto_restart:  # an editor uses the terminal
                return
            if self._key_thread is not None and self._key_thread.is_alive():
                self.suspend_application_mode()
            self.resume_application_mode()

        def start_application_mode(self) -> None:
            """Start application mode with a handler that reads the size in the event loop.

            Textual reads it in the signal handler itself. The next signal interrupts that handler: the older of the two
            sizes is then posted last, and with enough signals the stack overflows.
            """
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

    return CrashSafeDriver
