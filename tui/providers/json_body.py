"""What all questions have in common: messages and settings, as compact ASCII JSON."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tui.model.results import Message

_ENCODE = json.JSONEncoder(separators=(",", ":")).encode


def encode_body(body: Mapping[str, Any], wishes: Iterable[tuple[str, Any]]) -> bytes:
    """The body with those wishes that are not None."""
    return _ENCODE({**body, **{name: value for name, value in wishes if value is not None}}).encode("ascii")


def plain(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The messages as objects with `role` and `content`."""
    return [{"role": message.role, "content": message.content} for message in messages]


def split_system(messages: Iterable[Message]) -> tuple[str | None, list[dict[str, str]]]:
    """The system message, None where there is none, and the turns of the conversation."""
    turns = list(messages)
    system = [message.content for message in turns if message.role == "system"]
    return "\n\n".join(system) or None, plain(message for message in turns if message.role != "system")
