"""Output to stderr: messages for the user, while stdout carries the data."""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TextIO

from tui.model.sanitize import sanitize_text


def say(text: str) -> None:
    """Print one or more lines for the user, sanitized."""
    _write(sanitize_text(text) + "\n")


def note(text: str) -> None:
    """Print a note about what differs from what the user expects."""
    say(f"Note: {text}")


def live_line() -> Callable[[str], None]:
    """Return a function that replaces the line shown before; an empty text clears it. Only for a terminal."""

    def show(text: str) -> None:
        width = _width()
        line = sanitize_text(text).replace("\n", " ")
        _write(f"\r\x1b[K{line[: width - 1]}")

    return show


def _write(text: str) -> None:
    """Write to stderr and ignore failures: the run and its report do not depend on messages."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        sys.stderr = _nowhere()


def fill_closed_streams() -> None:
    """Open closed standard streams (`2>&-`) on the null device.

    Otherwise the next file that is opened would take the stream's number, and messages would go into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115 - until the process ends
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()


def settle_encoding() -> None:
    """Encode data as UTF-8 whatever the locale is, as the reports declare; replace what a terminal cannot show."""
    if isinstance(sys.stdout, TextIOWrapper):
        if sys.stdout.isatty():
            sys.stdout.reconfigure(errors="backslashreplace")
        else:
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def silence_stdout() -> None:
    """Discard further output: the reader of stdout has closed it. Also prevents an error when the interpreter ends."""
    sys.stdout = _nowhere()


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _width() -> int:
    from shutil import get_terminal_size

    return max(20, get_terminal_size().columns)
