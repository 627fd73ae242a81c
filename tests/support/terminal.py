"""A program running in a real pseudo-terminal: keys go in, and its screen is read back as a person would see it."""

import codecs
import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import pyte

WAIT_SECONDS = 60.0
"""Seconds to wait for a condition: long, since a busy machine is no reason for a failed test."""
_LOOK_SECONDS = 0.1  # conditions may look at more than the screen, such as the state of a process
_IGNORED = "keys are ignored"
KEYS = {
    "enter": "\r", "escape": "\x1b", "tab": "\t", "shift+tab": "\x1b[Z", "backspace": "\x7f", "space": " ",
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "home": "\x1b[H", "end": "\x1b[F",
    "pageup": "\x1b[5~", "pagedown": "\x1b[6~", "delete": "\x1b[3~", "insert": "\x1b[2~",
    "f1": "\x1bOP", "f2": "\x1bOQ", "f3": "\x1bOR", "f4": "\x1bOS", "f5": "\x1b[15~",
}  # fmt: skip
KEYS |= {f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"}

# What pyte would misread: CSI with a < = > prefix (keyboard protocols), DCS, APC and PM strings.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<=>][0-9;:]*[ -/]*[@-~]|\x1b[P_^].*?\x1b\\", re.DOTALL)
# DEC private modes that a program has to take back, on and off.
_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_TURNED_ON = {
    1049: "alternate screen", 1000: "mouse", 1003: "mouse moves", 1006: "mouse as SGR", 1015: "mouse as urxvt",
    1004: "focus reports", 2004: "bracketed paste", 2048: "size reports",
}  # fmt: skip
_TURNED_OFF = {25: "hidden cursor", 7: "no line wrap"}
_UNFINISHED = re.compile(rb"\x1b(?:\[[<=>]?[0-9;:?]*[ -/]*)?\Z|\x1b[P_^](?:(?!\x1b\\).)*\Z", re.DOTALL)


class Cell(NamedTuple):
    """One cell of the screen: colours are `rrggbb`, a name such as `red`, or `default`."""

    text: str
    front: str
    back: str
    bold: bool
    underlined: bool
    reverse: bool


_STYLE = re.compile(r"\x1b\[([0-9;]*)m")


class _Cells(dict[str, Any]):
    """The cells of one style by their character: None for a character that does not fill one column."""

    def __init__(self, style: Any) -> None:
        super().__init__()
        self._style = style

    def __missing__(self, char: str) -> Any:
        cell = self[char] = self._style._replace(data=char) if pyte.screens.wcwidth(char) == 1 else None
        return cell


@cache
def _numbers(params: str) -> tuple[int, ...]:
    return tuple(min(int(number or 0), 9999) for number in params.split(";"))


class FastScreen(pyte.Screen):
    """Draw a text at once and compute each style and cell once: pyte alone takes as long as the app for its frames."""

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__(columns, rows)
        self._cells: dict[Any, _Cells] = {}
        self._styles: dict[Any, Any] = {}

    def draw(self, data: str) -> None:
        """Draw a text; what needs more than one cell for each character within the row is left to pyte."""
        cursor = self.cursor
        begin, end = cursor.x, cursor.x + len(data)
        cells = self._cells.get(cursor.attrs)
        if cells is None:
            cells = self._cells[cursor.attrs] = _Cells(cursor.attrs)
        drawn = [cells[char] for char in data]
        if end > self.columns or pyte.modes.IRM in self.mode or not all(drawn):
            super().draw(data)
            return
        self.buffer[cursor.y].update(zip(range(begin, end), drawn, strict=True))
        cursor.x = end
        self.dirty.add(cursor.y)

    def select_graphic_rendition(self, *attrs: int) -> None:
        """Change the style."""
        key = (self.cursor.attrs, attrs)
        if key not in self._styles:
            super().select_graphic_rendition(*attrs)
            self._styles[key] = self.cursor.attrs
        self.cursor.attrs = self._styles[key]

    @property
    def display(self) -> list[str]:
        """The rows as text."""
        columns, blank = range(self.columns), self.default_char
        rows = [self.buffer[row] for row in range(self.lines)]
        return ["".join([row.get(column, blank).data for column in columns]) for row in rows]


class FastStream(pyte.Stream):
    """Read what most sequences are, styles, without looking at each character of them."""

    def __init__(self, screen: FastScreen) -> None:
        super().__init__(screen)
        self._screen = screen

    def feed(self, data: str) -> None:
        """Feed a text that ends with no unfinished style."""
        for number, piece in enumerate(_STYLE.split(data)):
            if number % 2 == 0:
                super().feed(piece)
            elif self._taking_plain_text:
                self._screen.select_graphic_rendition(*_numbers(piece))
            else:  # within another sequence
                super().feed(f"\x1b[{piece}m")


class Screen:
    """The text on the terminal now."""

    def __init__(self, columns: int, rows: int) -> None:
        self._screen = FastScreen(columns, rows)
        self._stream = FastStream(self._screen)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = b""

    def feed(self, data: bytes) -> None:
        """Take what the program wrote; a sequence that is cut off waits for its rest."""
        data = self._pending + data
        cut = _UNFINISHED.search(data)
        end = cut.start() if cut else len(data)
        self._pending = data[end:]
        self._stream.feed(self._decoder.decode(_UNKNOWN_TO_PYTE.sub(b"", data[:end])))

    def resize(self, columns: int, rows: int) -> None:
        """Give the screen another size."""
        self._screen.resize(rows, columns)

    @property
    def lines(self) -> list[str]:
        """The rows as text, without the blanks at their ends."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def text(self) -> str:
        """The whole screen as text, rows joined by newlines."""
        return "\n".join(self.lines)

    @property
    def title(self) -> str:
        """The window title that the program set."""
        return str(self._screen.title)

    def __contains__(self, text: str) -> bool:
        return text in self.text

    def row_of(self, text: str) -> int:
        """The first row (from 0) that holds the text. Raises LookupError where none does."""
        for row, line in enumerate(self.lines):
            if text in line:
                return row
        raise LookupError(f"{text!r} is not on the screen:\n{self.text}")

    def cell(self, column: int, row: int) -> Cell:
        """One cell, both counted from 0."""
        char = self._screen.buffer[row][column]
        return Cell(char.data, char.fg, char.bg, char.bold, char.underscore, char.reverse)

    def cell_of(self, text: str, row: int | None = None) -> Cell:
        """The first cell of the first place where the text stands (all characters before it one cell wide)."""
        row = self.row_of(text) if row is None else row
        return self.cell(self.lines[row].index(text), row)


class Terminal:
    """Starts `command` on a terminal of `size` (columns, rows) and reads all that it writes, in a thread.

    Use it as a context manager: the program's whole process group is gone at the end. `raw` holds every byte written,
    `arrivals` the monotonic seconds at which each piece came together with the bytes written by then.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        size: tuple[int, int] = (80, 24),
        cwd: Path | None = None,
        env: Mapping[str, str | Path] | None = None,
    ) -> None:
        self.size = size
        self.raw = bytearray()
        self.arrivals: list[tuple[float, int]] = []
        self._screen, self._shown, self._answered = Screen(*size), 0, 0
        self._changed = threading.Condition()
        self._closed = False
        self._status: int | None = None
        self._master, slave = os.openpty()
        self._hangup = os.pipe()
        self._set_size(size)
        self.pid = self._start([str(part) for part in command], os.ttyname(slave), cwd, env or {})
        os.close(slave)
        self._reader = threading.Thread(target=self._read, name="terminal", daemon=True)
        self._reader.start()

    def _start(self, command: list[str], tty: str, cwd: Path | None, env: Mapping[str, str | Path]) -> int:
        """A session leader that opens a terminal gets it as its own; a shell changes folder and becomes the program."""
        settings = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
        kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
        launcher = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(cwd or Path.cwd()), *command]
        return os.posix_spawn(
            launcher[0],
            launcher,
            {**kept, **settings, **{name: str(value) for name, value in env.items()}},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, tty, os.O_RDWR, 0),
                (os.POSIX_SPAWN_DUP2, 0, 1),
                (os.POSIX_SPAWN_DUP2, 0, 2),
            ],
            setsid=True,
            setsigdef=[signal.SIGPIPE],
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the program and everything in its process group."""
        if self._closed:
            return
        self._closed = True
        if self._status is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        self._reader.join(5)
        self.hang_up()

    def hang_up(self) -> None:
        """Close the terminal under the program, as when its window is closed."""
        if self._master < 0:
            return
        os.write(self._hangup[1], b"x")
        self._reader.join(5)
        for descriptor in (self._master, *self._hangup):
            os.close(descriptor)
        self._master = -1

    # --- keys and size go in

    def send(self, data: str | bytes) -> None:
        """Hand the bytes to the program as they are."""
        data = data.encode() if isinstance(data, str) else data
        while data:
            data = data[os.write(self._master, data) :]

    def press(self, *keys: str) -> None:
        """Press keys by name (`enter`, `ctrl+p`, `pagedown`), or a single character as itself."""
        for key in keys:
            if key not in KEYS and len(key) != 1:
                raise ValueError(f"no such key: {key}")
            self.send(KEYS.get(key, key))

    def mouse(self, column: int, row: int, *, button: int = 0, kind: str = "click") -> None:
        """Use the mouse at a cell counted from 0; `kind` is click, press, release, drag, scroll_up or scroll_down."""
        place = f"{column + 1};{row + 1}"
        code = {"drag": button + 32, "scroll_up": 64, "scroll_down": 65}.get(kind, button)
        if kind != "release":
            self.send(f"\x1b[<{code};{place}M")
        if kind in {"click", "release"}:
            self.send(f"\x1b[<{code};{place}m")

    def resize(self, columns: int, rows: int) -> None:
        """Change the size of the terminal; the program gets SIGWINCH."""
        self.size = columns, rows
        self._show()
        self._screen.resize(columns, rows)
        self._set_size(self.size)

    def _set_size(self, size: tuple[int, int]) -> None:
        columns, rows = size
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    # --- the screen comes out

    def _read(self) -> None:
        while True:
            try:
                ready = select.select([self._master, self._hangup[0]], [], [])[0]
                data = os.read(self._master, 65536) if self._master in ready else b""
            except OSError:  # the program is gone, and with it the other end
                data = b""
            with self._changed:
                self.raw += data
                self.arrivals.append((time.monotonic(), len(self.raw)))
                self._changed.notify_all()
            if not data:
                return

    def _show(self) -> Screen:
        with self._changed:
            fresh = bytes(self.raw[self._shown :])
            self._shown = len(self.raw)
        self._screen.feed(fresh)
        return self._screen

    @property
    def screen(self) -> Screen:
        """The current screen, the same object each time."""
        return self._show()

    def wait_until(
        self, condition: Callable[[Screen], object], what: str = "the condition", within: float = WAIT_SECONDS
    ) -> Screen:
        """Wait for a condition of the screen, which does not hold while it raises LookupError. Raises AssertionError
        with the screen after `within` seconds."""
        deadline = time.monotonic() + within
        while not self._holds(condition):
            left = deadline - time.monotonic()
            with self._changed:
                ended = not self._reader.is_alive() and self._shown == len(self.raw)
                if left <= 0 or ended:
                    state = "the program has ended" if ended else f"{within:g} s have passed"
                    raise AssertionError(f"{what} does not hold and {state}. The screen:\n{self._screen.text}")
                if self._shown == len(self.raw):
                    self._changed.wait(min(left, _LOOK_SECONDS))
        return self._screen

    def _holds(self, condition: Callable[[Screen], object]) -> bool:
        try:
            return bool(condition(self._show()))
        except LookupError:
            return False

    def wait_for(self, text: str, within: float = WAIT_SECONDS) -> Screen:
        """Wait until the text is on the screen."""
        return self.wait_until(lambda screen: text in screen, repr(text), within)

    def wait_while(self, text: str, within: float = WAIT_SECONDS) -> Screen:
        """Wait until the text does not stand on the screen any more."""
        return self.wait_until(lambda screen: text not in screen, f"the absence of {text!r}", within)

    def wait_for_question(self, text: str) -> Screen:
        """Wait until a dialog that asks for permission accepts keys: its question is there, and its last row no longer
        says that keys are ignored. That row may arrive after the question, so that its absence alone is no sign."""
        self.wait_for(text)
        self.wait_for_bytes(_IGNORED.encode(), self._answered)
        self._answered = len(self.raw)
        return self.wait_while(_IGNORED)

    def wait_for_bytes(self, pattern: bytes, start: int = 0, within: float = WAIT_SECONDS) -> float:
        """Wait until the program has written the pattern somewhere after the first `start` bytes, without spending time
        on the screen. Returns the monotonic second at which the last byte of it came."""
        deadline = time.monotonic() + within
        with self._changed:
            while (at := self.raw.find(pattern, start)) < 0:
                left = deadline - time.monotonic()
                if left <= 0 or not self._reader.is_alive():
                    raise AssertionError(f"{pattern!r} was not written within {within:g} s")
                self._changed.wait(left)
            end = at + len(pattern)
            return next(moment for moment, written in self.arrivals if written >= end)

    # --- the end

    def unrestored(self) -> list[str]:
        """What the program has changed of the terminal and not taken back, for example `mouse` and `no echo`."""
        with self._changed:
            written = bytes(self.raw)
        states = {int(mode): found[2] == b"h" for found in _MODE.finditer(written) for mode in found[1].split(b";")}
        left = [name for mode, name in _TURNED_ON.items() if states.get(mode, False)]
        left += [name for mode, name in _TURNED_OFF.items() if not states.get(mode, True)]
        if len(re.findall(rb"\x1b\[>[0-9]+u", written)) > written.count(b"\x1b[<u"):
            left.append("keyboard protocol")
        flags = termios.tcgetattr(self._master)[3]
        names = {termios.ECHO: "no echo", termios.ICANON: "no lines", termios.ISIG: "no signals from keys"}
        return left + [name for flag, name in names.items() if not flags & flag]

    def _reap(self, flags: int) -> bool:
        if self._status is None:
            pid, status, self.usage = os.wait4(self.pid, flags)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status is not None

    def signal(self, number: int) -> None:
        """Send a signal to the program itself."""
        os.kill(self.pid, number)

    def wait_exit(self, within: float = WAIT_SECONDS) -> int:
        """Wait for the program's end: its exit code, negative for a signal. `usage` then holds its CPU seconds."""
        self._reader.join(within)
        deadline = time.monotonic() + within
        while not self._reap(os.WNOHANG):
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"the program is still running after {within:g} s. The screen:\n{self.screen.text}"
                )
            time.sleep(0.005)
        assert self._status is not None
        return self._status


def run_here(*arguments: str | Path) -> list[str | Path]:
    """The command that runs this interpreter with these arguments, for example `run_here("-m", "tui", folder)`."""
    return [sys.executable, *arguments]
