"""Output to stderr: messages for the user, while stdout carries the data."""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from tui.model.sanitize import sanitize_text

if TYPE_CHECKING:
    from tui.model.secrets import Secrets, SecretStream


def say(text: str) -> None:
    """Print one or more lines for the user, without keys and sanitized."""
    _write(sanitize_text(without_keys(text)) + "\n")


def note(text: str) -> None:
    """Print a note about what differs from what the user expects."""
    say(f"Note: {text}")


def count_words(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def live_line() -> Callable[[str], None]:
    """Return a function that replaces the line shown before; an empty text clears it. Only for a terminal."""

    def show(text: str) -> None:
        width = _width()
        line = sanitize_text(without_keys(text)).replace("\n", " ")
        _write(f"\r\x1b[K{line[: width - 1]}")

    return show


def _write(text: str) -> None:
    """Write to stderr and ignore failures: the run and its report do not depend on messages."""
    file = sys.stderr.file if isinstance(sys.stderr, _FilteredStderr) else sys.stderr
    try:
        file.write(text)
        file.flush()
    except OSError:
        if isinstance(sys.stderr, _FilteredStderr):
            sys.stderr.file = _nowhere()
        else:
            sys.stderr = _nowhere()


def without_keys(text: str) -> str:
    """Return a message without known keys: it may quote anything."""
    return sys.stderr.hide(text) if isinstance(sys.stderr, _FilteredStderr) else _find_secrets().hide(text)


def print_path(text: str) -> None:
    """Print a line with a path on stdout: as it is for a program, sanitized for a terminal."""
    click.echo(sanitize_text(text) if sys.stdout.isatty() else text)


def filter_stderr() -> None:
    """Remove keys and control characters from what other code writes to stderr: tracebacks of threads, warnings, log
    messages of libraries."""
    sys.stderr = cast("TextIO", _FilteredStderr(sys.stderr))


class _FilteredStderr:
    """The stream `file` for text of other code, and the keys that are removed from messages.

    The keys are looked up when the first text is written, and when the config file has changed since. What is written
    meanwhile, by the look-up itself or by another thread, is held back until the keys are known.
    """

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self._secrets: Secrets | None = None
        self._stream: SecretStream | None = None
        self._config: tuple[int, ...] = ()
        self._is_reading_keys = False
        self._waiting: list[str] = []

    def write(self, text: str) -> int:
        """Write the text without keys and control characters; hold back what may be the beginning of a key."""
        self._waiting.append(text)
        if not self._is_reading_keys:
            self._is_reading_keys = True
            try:
                secrets = self._find_secrets()
            finally:
                self._is_reading_keys = False
            self._stream = self._stream or secrets.stream()
            self._write_waiting(self._stream)
        return len(text)

    def hide(self, text: str) -> str:
        """Return a whole text without keys."""
        return self._find_secrets().hide(text)

    def _find_secrets(self) -> "Secrets":
        config = _state_of_config()
        if self._secrets is None or config != self._config:
            found = _find_secrets()
            if self._secrets is None:
                self._secrets = found
            else:
                self._secrets.add(found.values)
        self._config = config
        return self._secrets

    def _write_waiting(self, stream: "SecretStream") -> None:
        while self._waiting:
            _write(sanitize_text(stream.feed(self._waiting.pop(0))))

    def flush(self) -> None:
        """Write what was held back."""
        if self._stream is not None and not self._is_reading_keys:
            self._write_waiting(self._stream)
            _write(sanitize_text(self._stream.flush()))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def _find_secrets() -> "Secrets":
    from tui.config.load import known_secrets

    return known_secrets(os.environ, sys.argv)


def _state_of_config() -> tuple[int, ...]:
    """Return what differs after the config file was changed; empty if there is none."""
    from tui.config.folders import CONFIG_FILE, find_folders

    try:
        status = (find_folders(os.environ).config / CONFIG_FILE).stat()
    except Exception:  # noqa: BLE001 the report of any error is written to this stream
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns)


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
