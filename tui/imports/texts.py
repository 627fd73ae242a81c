"""Values of other tools' files as text, and their conversations as messages."""

import json
from collections.abc import Mapping

from tui.model.results import Message, Role
from tui.model.sanitize import sanitize_line

MOST_NOTES = 50
"""How many notes of a step are kept at most."""
_LONGEST_NAME, _LONGEST_DETAIL = 80, 2_000
_ROLES: Mapping[object, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}


def as_json(value: object) -> str:
    """Return a value as JSON text, or a note if it cannot be serialized."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return "[value that cannot be serialized]"


def as_text(value: object) -> str:
    """Return a text unchanged, and any other value as JSON."""
    return value if isinstance(value, str) else as_json(value)


def name_of(value: object) -> str:
    """Return a text as a name on one line; empty for a value that is no text."""
    return sanitize_line(value, _LONGEST_NAME) if isinstance(value, str) else ""


def detail_of(text: str | None) -> str:
    """Return the detail of a check's result, cut where it is too long; empty if there is none."""
    return (text or "")[:_LONGEST_DETAIL]


def messages_of(turns: object) -> tuple[Message, ...]:
    """Return the messages of a conversation; empty if a value is none, or has a turn that is not text alone."""
    if not isinstance(turns, list) or not all(map(_is_turn, turns)):
        return ()
    return tuple(Message(_ROLES[turn["role"]], turn["content"]) for turn in turns)


def _is_turn(turn: object) -> bool:
    return (
        isinstance(turn, dict)
        and isinstance(turn.get("content"), str)
        and isinstance(turn.get("role"), str)
        and turn["role"] in _ROLES
    )
