"""Types of JSON values in Python, values at paths, and the limit of values that one JSON text may contain."""

from collections.abc import Iterable, Sequence
from typing import Any

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType("JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None")
JsonObject = TypeAliasType("JsonObject", "dict[str, JsonValue]")

MOST_JSON_VALUES = 500_000


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """Return the value that the keys and indexes of a path lead to, or None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first of the names that is one of those before it, or None."""
    before = set[str]()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


def has_too_many_values(text: str | bytes | bytearray, most: int = MOST_JSON_VALUES) -> bool:
    """Return whether a JSON text contains more than so many values, without parsing it.

    Parsing 16 MiB of tiny values takes seconds and half a gigabyte of memory. Strings may contain anything.
    """
    if len(text) <= most:
        return False
    data = text.encode(errors="replace") if isinstance(text, str) else text
    if _separators(data) <= most:
        return False
    rest, found = data.replace(rb"\\", b"").replace(rb"\"", b""), 0
    while rest and found <= most:
        *pieces, rest = rest.split(b'"', 2 * MOST_JSON_VALUES)
        if len(pieces) < 2 * MOST_JSON_VALUES:
            pieces, rest = [*pieces, rest], b""
        found += _separators(b"".join(pieces[::2]))
    return found > most


def _separators(data: bytes | bytearray) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")
