"""The driver of the app in a browser: it talks to the server of `assay serve` by pipes."""

import asyncio
import contextlib
import os
import selectors
import signal
import sys
from collections.abc import Iterator
from typing import Any

from textual.drivers._byte_stream import ByteStream
from textual.drivers.web_driver import WebDriver
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message

from tui.app.terminal_input import MAX_CELLS, POLL_SECONDS, InputParser, read_input


class CrashSafeWebDriver(WebDriver):
    """Textual's driver for a browser with an `InputParser`. It ends the app as a closed terminal does when the
    browser's page is closed or the server is gone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._write = self._write_all  # type: ignore[assignment]

    def _write_all(self, data: bytes) -> None:
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(self.fileno, data) :]

    def run_input_thread(self) -> None:
        """Read the packets of the server and post their messages until the application mode ends."""
        parser, packets, source = InputParser(self._debug), ByteStream(), sys.__stdin__
        assert source is not None
        with selectors.DefaultSelector() as selector:
            selector.register(source.fileno(), selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if not selector.select(POLL_SECONDS):
                    self._process(parser.idle())
                elif data := read_input(source.fileno()):
                    for kind, payload in packets.feed(data):
                        if kind == "D":
                            self._process(parser.feed(payload))
                        else:
                            self._on_meta(kind, payload)
                else:
                    self._end_app()
                    return

    def send_message(self, message: Message) -> None:
        """Send a message to the app, or drop it if its loop has ended: a page may close while a key is on its way."""
        posting = self._app._post_message(message)
        try:
            asyncio.run_coroutine_threadsafe(posting, loop=self._loop)
        except RuntimeError:
            posting.close()
            if not self._loop.is_closed():
                raise

    def _process(self, messages: Iterator[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Process what the server says: a size is bounded, and `quit` ends the app as a closed terminal does."""
        if packet_type == "quit":
            self._end_app()
        elif packet_type == "resize":
            width, height = payload.get("width"), payload.get("height")
            if isinstance(width, int) and isinstance(height, int) and 0 < min(width, height) <= MAX_CELLS:
                self._size = min(width, MAX_CELLS), min(height, MAX_CELLS)
                # In the way of the first size, so that an early change is not overtaken by it.
                self.send_message(Resize(Size(*self._size), Size(*self._size)))
        else:
            super().on_meta(packet_type, payload)

    def _end_app(self) -> None:
        # A server that `nohup` started, and with it the app, ignores SIGHUP.
        is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGTERM if is_ignored else signal.SIGHUP)
