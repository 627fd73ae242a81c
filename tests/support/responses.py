"""What the loopback model server can say in OpenAI's Responses protocol."""

import json
from typing import Any

from tests.support.messages import named
from tests.support.model_server import Script
from tests.support.replies import Reply, events


def response(status: str = "completed", *items: Any, **more: Any) -> dict[str, Any]:
    """A response; a text stands for a message of the assistant."""
    output = [message(item) if isinstance(item, str) else item for item in items]
    return {"id": "resp_1", "object": "response", "status": status, "error": None, "output": output, **more}


def message(*parts: Any) -> dict[str, Any]:
    """An item that is a message; a text stands for a part of text."""
    content = [{"type": "output_text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}


def reasoning(*summary: str) -> dict[str, Any]:
    """An item that is a thought."""
    return {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": text} for text in summary]}


def call(name: str, arguments: str) -> dict[str, Any]:
    """An item that is a call of a function."""
    return {"id": "fc_1", "type": "function_call", "call_id": "c", "name": name, "arguments": arguments}


def usage(read: int = 7, written: int = 3, thought: int = 0) -> dict[str, Any]:
    """The counts of a response."""
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + written,
    }


def begun() -> bytes:
    """What comes first."""
    empty = response("in_progress")
    return named("response.created", response=empty) + named("response.in_progress", response=empty)


def added(item: dict[str, Any]) -> bytes:
    """An item begins."""
    return named("response.output_item.added", output_index=0, item=item)


def done(item: dict[str, Any]) -> bytes:
    """An item is whole."""
    return named("response.output_item.done", output_index=0, item=item)


def text(words: str) -> bytes:
    """A piece of text."""
    return named("response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=words)


def thought(words: str) -> bytes:
    """A piece of the summary of a thought."""
    return named("response.reasoning_summary_text.delta", item_id="rs_1", summary_index=0, delta=words)


def ended(status: str = "completed", *items: Any, **more: Any) -> bytes:
    """The last event."""
    return named(f"response.{status}", response=response(status, *items, **more))


def streamed(words: str) -> Reply:
    """A response as a stream of single words."""
    *before, final = words.split(" ")
    pieces = [*(text(f"{word} ") for word in before), text(final)]
    last = ended("completed", words, usage=usage(written=len(words.split())))
    return events(begun(), added(message()), *pieces, done(message(words)), last)


def whole(*items: Any, status: str = "completed", **more: Any) -> Reply:
    """A response in one piece."""
    return Reply((json.dumps(response(status, *items, **more), ensure_ascii=False).encode(),))


def say(words: str) -> Script:
    """A script that gives the same response to everything, in the way that was asked for."""
    one = whole(words, usage=usage(written=len(words.split())))
    flowing = streamed(words)
    return lambda asked: flowing if asked.stream else one
