"""Make Textual's drivers robust against a terminal or a browser that is closed or resized at any moment, and against
hostile pastes."""

import contextlib
import os
import sys
from io import TextIOWrapper
from typing import TextIO, cast

from textual.driver import Driver


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


def drawn_on() -> "TextIOWrapper | None":
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
        from tui.app.linux_driver import CrashSafeDriver

        return CrashSafeDriver
    return driver
