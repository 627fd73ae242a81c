"""stderr: what a person reads while stdout carries the data."""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TextIO

from tui.model.sanitize import sanitize_text


def say(text: str) -> None:
    """One or more lines for the person. Everything that anybody else wrote goes through the funnel here."""
    _write(sanitize_text(text) + "\n")


def live_line() -> Callable[[str], None]:
    """A function that shows a line in place of the one before; an empty text wipes it. Only for a terminal."""

    def show(text: str) -> None:
        width = _width()
        line = sanitize_text(text).replace("\n", " ")
        _write(f"\r\x1b[K{line[: width - 1]}")

    return show


def _write(text: str) -> None:
    """Nobody may be listening any more: the run and its report matter, what is said beside them does not."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        sys.stderr = _nowhere()


def fill_closed_streams() -> None:
    """Where a standard stream was closed (`2>&-`), the next file that is opened would take its number, and what is
    meant for the stream would go into that file."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()


def settle_encoding() -> None:
    """Data is UTF-8 whatever the locale is, as the reports themselves say; a terminal shows what it can."""
    if isinstance(sys.stdout, TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def silence_stdout() -> None:
    """Whoever read our output has had enough: what is still to come goes nowhere, also at the interpreter's end."""
    sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _width() -> int:
    from shutil import get_terminal_size

    return max(20, get_terminal_size().columns)
