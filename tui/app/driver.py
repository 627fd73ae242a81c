"""Textual's driver, made to outlive its terminal: a lost one must not keep the app from ending well."""

import contextlib
import os
import sys
from io import TextIOWrapper
from typing import Any, TextIO, cast

from textual.driver import Driver


class TolerantFile:
    """A terminal's file that swallows what can no longer be written. Textual writes from a thread that would die of
    the first such error, and whoever writes after it would wait for ever."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write, or drop what no terminal will read."""
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, or drop what no terminal will read."""
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        """The file's number."""
        return self._file.fileno()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._file.isatty()


def let_go_of_terminal() -> None:
    """Where the terminal is gone, point the standard streams at nothing: Python flushes them at its end, and would
    turn the exit code into 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, stream.fileno())
            os.close(nothing)


def lasting(driver: type[Driver]) -> type[Driver]:
    """The same driver, on a file that outlives the terminal; drivers that write elsewhere are left as they are."""
    if sys.platform == "win32":
        return driver
    from textual.drivers.linux_driver import LinuxDriver

    if driver is not LinuxDriver:
        return driver

    class LastingDriver(LinuxDriver):
        """Textual's own, with that file."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if self._file is not None:
                self._file = cast("TextIOWrapper", TolerantFile(self._file))

    return LastingDriver
