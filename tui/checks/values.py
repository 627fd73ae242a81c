"""JSON values: where a dotted path leads, and whether two are the same."""

from dataclasses import dataclass
from typing import Final

from tui.model.values import JsonValue


@dataclass(frozen=True, slots=True)
class Missing:
    """There is nothing at that path. It equals null, and nothing else."""


MISSING: Final = Missing()


def value_at(memory: JsonValue, path: str) -> JsonValue | Missing:
    """What a dotted path leads to: keys of objects, numbers of list items from 0. A key that itself holds dots is
    found as well; where several readings lead somewhere, the one with the shortest keys first."""
    return _walk(memory, path.split("."), set())


def _walk(value: JsonValue | Missing, parts: list[str], dead_ends: set[tuple[int, int]]) -> JsonValue | Missing:
    if not parts or (id(value), len(parts)) in dead_ends:
        return MISSING if parts else value
    if isinstance(value, dict):
        for taken in range(1, len(parts) + 1):
            key = ".".join(parts[:taken])
            if key in value and not isinstance(found := _walk(value[key], parts[taken:], dead_ends), Missing):
                return found
    elif isinstance(value, list) and parts[0].isascii() and parts[0].isdigit() and len(parts[0]) < 10:
        number = int(parts[0])
        if number < len(value):
            return _walk(value[number], parts[1:], dead_ends)
    dead_ends.add((id(value), len(parts)))
    return MISSING


def same(one: JsonValue | Missing, other: JsonValue | Missing) -> bool:
    """Equal as JSON: true is not 1, 1 is 1.0, objects regardless of order, what is missing equals null."""
    open_pairs = [(None if one is MISSING else one, None if other is MISSING else other)]
    while open_pairs:
        a, b = open_pairs.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            open_pairs += [(each, b[key]) for key, each in a.items()]
        elif isinstance(a, list) and isinstance(b, list):
            if len(a) != len(b):
                return False
            open_pairs += zip(a, b, strict=True)
        elif isinstance(a, bool) != isinstance(b, bool) or a != b:
            return False
    return True
