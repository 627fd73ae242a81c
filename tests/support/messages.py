"""What the loopback model server can say in Anthropic's Messages protocol."""

import json
from typing import Any

from tests.support.model_server import Script
from tests.support.replies import Framing, Pause, Reply, events


def named(kind: str, **data: Any) -> bytes:
    """One event, whose name is its type."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data}, ensure_ascii=False)}\n\n".encode(
        errors="backslashreplace"
    )


def started(**usage: Any) -> bytes:
    """`message_start`; what it counts is replaced by `usage`."""
    counts = usage or {"input_tokens": 7, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "claude-x"}
    return named("message_start", message={**message, "stop_reason": None, "stop_sequence": None, "usage": counts})


def opened(index: int = 0, kind: str = "text", **block: Any) -> bytes:
    """`content_block_start`."""
    empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}.get(kind, {})
    return named("content_block_start", index=index, content_block={"type": kind, **empty, **block})


def piece(kind: str, index: int = 0, **delta: Any) -> bytes:
    """`content_block_delta` of that type."""
    return named("content_block_delta", index=index, delta={"type": kind, **delta})


def text(words: str, index: int = 0) -> bytes:
    """A piece of text."""
    return piece("text_delta", index, text=words)


def closed(index: int = 0) -> bytes:
    """`content_block_stop`."""
    return named("content_block_stop", index=index)


def stopped(reason: str | None = "end_turn", details: Any = None, **usage: Any) -> bytes:
    """`message_delta`, with what is counted so far."""
    delta = {"stop_reason": reason, "stop_sequence": None, "stop_details": details}
    return named("message_delta", delta=delta, usage=usage or {"output_tokens": 3})


OVER = named("message_stop")
PING = named("ping")


def stream(*data: Any, framing: Framing = "chunked") -> Reply:
    """A stream of these events."""
    return events(*data, framing=framing)


def streamed(
    words: str, *, pieces: int = 4, delay_s: float = 0.0, latency_s: float = 0.0, reason: str = "end_turn"
) -> Reply:
    """A message as a stream of that many pieces of text."""
    size = max(1, -(-len(words) // max(1, pieces)))
    data: list[Any] = [started(), opened(), PING]
    for start in range(0, len(words), size):
        data.append(text(words[start : start + size]))
        if delay_s:
            data.append(Pause(delay_s))
    count = len(words.split())
    return events(*data, closed(), stopped(reason, output_tokens=count), OVER, latency_s=latency_s).made()


def message(*blocks: Any, reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    """A message in one piece; a text stands for a block of text."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "usage": usage or {"input_tokens": 7, "output_tokens": 3},
    }


def whole(*blocks: Any, reason: str | None = "end_turn", latency_s: float = 0.0, **usage: Any) -> Reply:
    """The answer that is this message."""
    body = json.dumps(message(*blocks, reason=reason, **usage), ensure_ascii=False).encode()
    return Reply((body,), latency_s=latency_s)


def say(words: str, *, pieces: int = 4, delay_s: float = 0.0, latency_s: float = 0.0) -> Script:
    """A script that gives the same message to everything, in the way that was asked for."""
    flowing = streamed(words, pieces=pieces, delay_s=delay_s, latency_s=latency_s)
    one = whole(words, latency_s=latency_s, input_tokens=7, output_tokens=len(words.split()))
    return lambda asked: flowing if asked.stream else one
