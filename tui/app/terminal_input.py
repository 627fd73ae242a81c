"""Input of a terminal on its way to Textual: pastes are cleaned and capped before they are parsed, and input that
cannot be parsed does no harm.

Textual's parser reads key presses out of a paste that contains escape characters, one event for each of them, and fails
at numbers that are no code point. Nothing that is pasted may press a key of the app or end it.
"""

import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from threading import Event

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.events import Resize
from textual.message import Message

POLL_SECONDS = 0.1
_READ_BYTES = 4096
MAX_PASTE = 1 << 20
"""Characters of one paste that are passed on; the rest is dropped."""
MAX_TYPED = 1024
"""Characters that can be key presses when they are read at once; more are a paste, whether the terminal says so or
not."""
MAX_CELLS = 10_000
"""Columns or rows of the largest terminal."""

_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_MOUSE = re.compile(r"\x1b\[<[0-9;-]+[mM]")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def read_input(descriptor: int) -> bytes:
    """Return what can be read, or nothing when the other end is gone."""
    try:
        return os.read(descriptor, _READ_BYTES)
    except OSError:
        return b""


class PasteFilter:
    """Remove control characters and all that exceeds `MAX_PASTE` from pastes, and make one paste of a flood of
    characters that the terminal did not mark as pasted."""

    def __init__(self) -> None:
        self._pasting = self._flooding = False
        self._pasted = 0
        self._held = self._tail = ""

    def feed(self, text: str) -> str:
        """Return what the parser gets for the text that was read."""
        passed: list[str] = []
        while text:
            if self._flooding:
                passed.append(self._clean(_SEQUENCE.sub("", text)))
                text = ""
            elif self._pasting:
                pasted, text = self._split_paste(self._held + text)
                passed.append(pasted)
            else:
                typed, text = self._split_typed(text)
                passed.append(typed)
        return "".join(passed)

    def idle(self) -> str:
        """Return what the parser gets when no input arrives any more: the end of a flood."""
        if not self._flooding:
            return ""
        self._flooding = False
        return BRACKETED_PASTE_END

    def _split_typed(self, text: str) -> tuple[str, str]:
        """Return key presses, with the mark that begins a paste, and the text after them. The mark may have begun in
        the text that was read before."""
        start = (self._tail + text).find(BRACKETED_PASTE_START)
        end = len(text) if start < 0 else start + len(BRACKETED_PASTE_START) - len(self._tail)
        typed, rest = text[:end], text[end:]
        if len(_MOUSE.sub("", typed)) > MAX_TYPED:
            self._tail, self._flooding, self._pasted = "", True, 0
            return BRACKETED_PASTE_START, text
        self._pasting, self._pasted = start >= 0, 0
        self._tail = "" if self._pasting else (self._tail + typed)[1 - len(BRACKETED_PASTE_START) :]
        return typed, rest

    def _split_paste(self, text: str) -> tuple[str, str]:
        """Return the cleaned paste up to its end, and the text after it. The beginning of a mark that may end the paste
        is held for the next call."""
        before, mark, after = text.partition(BRACKETED_PASTE_END)
        self._pasting, self._held = not mark, ""
        if not mark:
            for length in range(len(BRACKETED_PASTE_END) - 1, 0, -1):
                if before.endswith(BRACKETED_PASTE_END[:length]):
                    before, self._held = before[:-length], before[-length:]
                    break
        return self._clean(before) + mark, after

    def _clean(self, text: str) -> str:
        cleaned = _CONTROLS.sub("", text)[: MAX_PASTE - self._pasted]
        self._pasted += len(cleaned)
        return cleaned


class InputParser:
    """Turn the bytes of a terminal into Textual's messages. Call `idle` when no input has arrived for a moment."""

    def __init__(self, debug: bool = False) -> None:
        self._debug = debug
        self._parser = XTermParser(debug)
        self._filter = PasteFilter()
        self._decode = getincrementaldecoder("utf-8")(errors="replace").decode

    def feed(self, data: bytes) -> Iterator[Message]:
        """Yield the messages of the bytes."""
        yield from self._parse(self._filter.feed(self._decode(data)))
        yield from self._parser.tick()

    def idle(self) -> Iterator[Message]:
        """Yield the messages that waited for more input: an Escape key, or the end of a flood."""
        yield from self._parse(self._filter.idle())
        yield from self._parser.tick()

    def _parse(self, text: str) -> Iterator[Message]:
        if not text:
            return
        try:
            for message in self._parser.feed(text):
                if not (isinstance(message, Resize) and max(message.size) > MAX_CELLS):
                    yield message
        except (ValueError, OverflowError, ZeroDivisionError):
            # A number in a sequence is not a code point, not a size, or too long. The parser ends with the error.
            old, self._parser = self._parser, XTermParser(self._debug)
            self._parser.mouse_pixels = old.mouse_pixels
            self._parser.terminal_size = old.terminal_size
            self._parser.terminal_pixel_size = old.terminal_pixel_size


def read_messages(descriptor: int, ended: Event, post: Callable[[Message], object], *, debug: bool = False) -> None:
    """Read a terminal and post its messages until `ended` is set; run this in a thread."""
    parser = InputParser(debug)
    with selectors.SelectSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while not ended.is_set():
            if not selector.select(POLL_SECONDS):
                messages = parser.idle()
            elif data := read_input(descriptor):
                messages = parser.feed(data)
            else:  # the terminal is gone, which a signal reports
                ended.wait(POLL_SECONDS)
                continue
            for message in messages:
                post(message)
