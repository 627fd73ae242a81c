"""JSON values: access by dotted path, and equality."""

from dataclasses import dataclass
from typing import Final

from tui.model.values import JsonValue, equals


@dataclass(frozen=True, slots=True)
class Missing:
    """The value at a path that does not exist. It equals null and nothing else."""


MISSING: Final = Missing()


def value_at(memory: JsonValue, path: str) -> JsonValue | Missing:
    """Return the value at a dotted path of object keys and list indices from 0.

    A key may contain dots; if several splits lead to a value, the one with the shortest keys first is used.
    """
    parts = path.split(".")
    open_ends: list[tuple[JsonValue, int]] = [(memory, 0)]
    seen: set[tuple[int, int]] = set()
    while open_ends:
        value, at = open_ends.pop()
        if at == len(parts):
            return value
        if (id(value), at) not in seen:
            seen.add((id(value), at))
            open_ends += _next_ends(value, parts, at)
    return MISSING


def _next_ends(value: JsonValue, parts: list[str], at: int) -> list[tuple[JsonValue, int]]:
    """Return the possible ends of the next key of the path, the shortest key last."""
    if isinstance(value, dict):
        keys = ((".".join(parts[at:end]), end) for end in range(len(parts), at, -1))
        return [(value[key], end) for key, end in keys if key in value]
    part = parts[at]
    if isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 10 and int(part) < len(value):
        return [(value[int(part)], at + 1)]
    return []


def same(one: JsonValue | Missing, other: JsonValue | Missing) -> bool:
    """Return whether two values are equal as JSON: true is not 1, 1 is 1.0, a missing value equals null."""
    return equals(None if isinstance(one, Missing) else one, None if isinstance(other, Missing) else other)
