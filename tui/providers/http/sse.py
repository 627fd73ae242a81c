"""Decoding of server-sent events: bytes in any split in, whole events out. Does no network access."""

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class SseEvent(NamedTuple):
    """One event: its name, empty if it has none, and its data, lines joined by LF."""

    name: str
    data: str


class EventTooLong(Exception):
    """An event is longer than the limit."""


class SseDecoder:
    """Assembles events from any split: in a character, between CR and LF, in the middle of a line.

    Comments and fields other than `data` and `event` are skipped; bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._rest = bytearray()
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that these bytes complete. Raises EventTooLong."""
        if self._after_cr or b"\r" in data:
            data = self._lines(data)
        rest = self._rest
        if rest:
            # The blank line may be split: its first byte may be the last one received before.
            seen = len(rest) - 1
            rest += data
            end = rest.rfind(b"\n\n", seen)
            whole = bytes(rest[: end + 2]) if end >= 0 else b""
            if end >= 0:
                del rest[: end + 2]
        else:
            end = data.rfind(b"\n\n") + 2
            whole = data[:end] if end > 1 else b""
            rest += data[len(whole) :]
        if len(rest) > self._longest:
            raise EventTooLong
        return self._events(whole) if whole else []

    def flush(self) -> list[SseEvent]:
        """Return the last event if the stream ended without the blank line after it."""
        whole = bytes(self._rest)
        self._rest.clear()
        return self._events(whole) if whole else []

    def _lines(self, data: bytes) -> bytes:
        """Convert CRLF and CR to LF, also if the two are split."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _events(self, whole: bytes) -> list[SseEvent]:
        if self._at_start:
            self._at_start = False
            whole = whole.removeprefix(_BOM)
        events = []
        for block in whole.split(b"\n\n"):
            if block.startswith(b"data: ") and b"\n" not in block:
                event: SseEvent | None = SseEvent("", block[6:].decode(errors="replace"))
            else:
                event = _read_block(block)
            if event is not None:
                if len(block) > self._longest:
                    raise EventTooLong
                events.append(event)
        return events


def _read_block(block: bytes) -> SseEvent | None:
    name, lines = "", []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            lines.append(value)
        elif field == b"event":
            name = value.decode(errors="replace")
    return SseEvent(name, b"\n".join(lines).decode(errors="replace")) if lines else None
