"""stderr: what a person reads while stdout carries the data."""

import sys
from collections.abc import Callable

from tui.model.shown import show_text


def say(text: str) -> None:
    """One or more lines for the person. Everything that anybody else wrote goes through the funnel here."""
    sys.stderr.write(show_text(text) + "\n")
    sys.stderr.flush()


def live_line() -> Callable[[str], None]:
    """A function that shows a line in place of the one before; an empty text wipes it. Only for a terminal."""

    def show(text: str) -> None:
        width = _width()
        line = show_text(text).replace("\n", " ")
        sys.stderr.write(f"\r\x1b[K{line[: width - 1]}")
        sys.stderr.flush()

    return show


def _width() -> int:
    from shutil import get_terminal_size

    return max(20, get_terminal_size().columns)
