"""What the loopback model server can say: whole answers, streams, and every way in which they go wrong."""

import asyncio
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal


@dataclass(frozen=True, slots=True)
class Pause:
    """The server waits before it goes on."""

    seconds: float


HANG: Final = "hang"
ABORT: Final = "abort"
CLOSE: Final = "close"
# An event makes the server wait until the test sets it.
Move = bytes | Pause | asyncio.Event | Literal["hang", "abort", "close"]
Framing = Literal["length", "chunked", "close"]


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer as moves on the wire. `length` None means the true length; `raw` moves stand for head and all."""

    body: tuple[Move, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    framing: Framing = "length"
    length: int | None = None
    latency_s: float = 0.0
    raw: tuple[Move, ...] | None = None
    wire: tuple[Move, ...] | None = None

    def head(self) -> bytes:
        """The status line and the headers."""
        lines = [f"HTTP/1.1 {self.status} Whatever", *(f"{name}: {value}" for name, value in self.headers)]
        if self.framing == "length":
            lines.append(f"Content-Length: {self.true_length if self.length is None else self.length}")
        elif self.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
        else:
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    @property
    def true_length(self) -> int:
        """Bytes of the body; a hang holds back one more, or the answer would be whole without it."""
        return sum(len(move) for move in self.body if isinstance(move, bytes)) + (HANG in self.body)

    @property
    def keeps_connection(self) -> bool:
        """Whether another request may follow."""
        return self.raw is None and self.framing != "close" and self.length is None

    def moves(self) -> Sequence[Move]:
        """The body on the wire, framed."""
        if self.raw is not None:
            return self.raw
        if self.wire is not None:
            return self.wire
        if self.framing != "chunked":
            return self.body
        framed: list[Move] = [frame(move) if isinstance(move, bytes) else move for move in self.body]
        return [*framed, b"0\r\n\r\n"]

    def made(self) -> "Reply":
        """The same, with its frames laid ready."""
        return replace(self, wire=_joined(self.moves()))

    def cut(self, share: float = 0.5, how: Literal["close", "abort"] = "close") -> "Reply":
        """Break off after that share of the body's moves, or of its only one."""
        moves = list(self.body)
        if len(moves) == 1 and isinstance(moves[0], bytes):
            moves = [moves[0][: int(len(moves[0]) * share)]]
        else:
            moves = moves[: int(len(moves) * share)]
        return replace(self, body=(*moves, Pause(0.0), how), length=self.true_length, wire=None)

    def stalled(self, share: float = 0.5) -> "Reply":
        """Say that share of the body and then nothing more, with the connection open."""
        moves = self.body[: int(len(self.body) * share)]
        return replace(self, body=(*moves, HANG), length=self.true_length, wire=None)

    def trickled(self, seconds: float, size: int = 1) -> "Reply":
        """A few bytes at a time."""
        text = b"".join(move for move in self.body if isinstance(move, bytes))
        body = [move for start in range(0, len(text), size) for move in (text[start : start + size], Pause(seconds))]
        return replace(self, body=tuple(body), wire=None)

    def split(self, size: int = 1) -> "Reply":
        """The same bytes in pieces of that size, each sent apart: characters and line ends are torn."""
        return self.trickled(0.0, size)

    def garbled(self) -> "Reply":
        """The same length, but no JSON."""
        body = tuple(move.replace(b'":', b'";', 1) if isinstance(move, bytes) else move for move in self.body)
        return replace(self, body=body, wire=None)

    def zipped(self, times: int = 1) -> "Reply":
        """Compressed although nobody asked for it."""
        text = b"".join(move for move in self.body if isinstance(move, bytes))
        for _ in range(times):
            text = gzip.compress(text)
        encoding = ("Content-Encoding", ", ".join(["gzip"] * times))
        return replace(self, body=(text,), headers=(*self.headers, encoding), wire=None)

    def line_ends(self, ends: bytes) -> "Reply":
        """CR or CRLF instead of LF."""
        body = tuple(move.replace(b"\n", ends) if isinstance(move, bytes) else move for move in self.body)
        return replace(self, body=body, wire=None)


def frame(data: bytes) -> bytes:
    """One chunk of chunked transfer."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def _joined(moves: Iterable[Move]) -> tuple[Move, ...]:
    """Neighbouring bytes as one."""
    joined: list[Move] = []
    for move in moves:
        last = joined[-1] if joined else None
        if isinstance(move, bytes) and isinstance(last, bytes) and len(last) < 16_384:
            joined[-1] = last + move
        else:
            joined.append(move)
    return tuple(joined)


def status(code: int, body: Any = None, *, headers: Mapping[str, str] | None = None) -> Reply:
    """A status with a JSON body."""
    content = b"" if body is None else json.dumps(body).encode()
    return Reply((content,), code, (("Content-Type", "application/json"), *(headers or {}).items()))


def page(text: str = "<!doctype html><title>Welcome</title>", code: int = 200, kind: str = "text/html") -> Reply:
    """A web page."""
    return Reply((text.encode(),), code, (("Content-Type", kind),))


def usage_of(text: str) -> dict[str, Any]:
    """Token counts that depend on the text alone."""
    words = len(text.split())
    return {"prompt_tokens": 7, "completion_tokens": words, "total_tokens": 7 + words}


def whole(
    text: str | None, *, finish: str | None = "stop", message: Mapping[str, Any] | None = None, latency_s: float = 0.0
) -> Reply:
    """An answer in one piece; `message` adds to its message."""
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **(message or {})}, "finish_reason": finish}
        ],
        "usage": usage_of(text or ""),
    }
    return Reply((json.dumps(body, ensure_ascii=False).encode(),), latency_s=latency_s)


def event(data: Any) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


def delta(content: str | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a streamed answer."""
    piece = {"content": content, **more} if content is not None else more
    choice = {"index": 0, "delta": piece, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "mock", "choices": [choice]}


def events(*data: Any, latency_s: float = 0.0, framing: Framing = "chunked") -> Reply:
    """A stream of these: objects and texts become events, bytes and pauses go out as they are."""
    moves: list[Move] = []
    for item in data:
        raw = isinstance(item, bytes | Pause | asyncio.Event) or item in (HANG, ABORT, CLOSE)
        moves.append(item if raw else event(item))
    return Reply(tuple(moves), headers=(("Content-Type", "text/event-stream"),), framing=framing, latency_s=latency_s)


def streamed(
    text: str, *, pieces: int = 4, delay_s: float = 0.0, latency_s: float = 0.0, finish: str = "stop"
) -> Reply:
    """An answer as a stream of that many pieces, with usage and [DONE]."""
    size = max(1, -(-len(text) // max(1, pieces)))
    parts = [text[start : start + size] for start in range(0, len(text), size)]
    data: list[Any] = [delta("", role="assistant")]
    for part in parts:
        data.append(delta(part))
        if delay_s:
            data.append(Pause(delay_s))
    usage = {**delta(), "choices": [], "usage": usage_of(text)}
    return events(*data, delta(finish=finish), usage, "[DONE]", latency_s=latency_s).made()
