"""Types of JSON values in Python, values at paths, and the limits of the values that one JSON text may contain."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType("JsonValue", "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None")
JsonObject = TypeAliasType("JsonObject", "dict[str, JsonValue]")

SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: an escape in JSON text can be one, and UTF-8 cannot encode it."""
MOST_JSON_VALUES = 500_000
MOST_JSON_DEPTH = 200
"""The most levels of a JSON text, which is that of pydantic. Python can parse five times as many at best, and may then
be unable to write the value again, or to compare it.
"""


def value_at(value: Any, path: Sequence[str | int]) -> Any:
    """Return the value that the keys and indexes of a path lead to, or None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def equals(one: JsonValue, other: JsonValue) -> bool:
    """Return whether two values are equal as JSON: 1 is 1.0, but unlike in Python true is not 1."""
    open_pairs = [(one, other)]
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


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first of the names that is one of those before it, or None."""
    before = set[str]()
    for name in names:
        if name in before:
            return name
        before.add(name)
    return None


class JsonTooLarge(ValueError):
    """A JSON text has too many values or levels; the text says how many are allowed."""


def parse_json(text: str, decode: Callable[[str], Any] = json.loads, most: int = MOST_JSON_VALUES) -> Any:
    """Return the value of a JSON text from outside, which any function can handle.

    Raises JsonTooLarge for a text that has more than so many values or is nested too deeply, and what `decode` raises
    for one that is no JSON: ValueError.
    """
    if has_too_many_values(text, most):
        raise JsonTooLarge(f"contains more than {most:,} values")
    try:
        value = decode(text)
    except RecursionError:
        raise JsonTooLarge("is nested too deeply") from None
    # Most texts have fewer brackets than levels are allowed.
    if text.count("[") + text.count("{") > MOST_JSON_DEPTH and is_deeper(value, MOST_JSON_DEPTH):
        raise JsonTooLarge(f"is nested deeper than {MOST_JSON_DEPTH} levels")
    return value


def is_deeper(value: Any, levels: int) -> bool:
    """Return whether objects and lists are nested in more than so many levels."""
    holders = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        items = (item for holder in holders for item in (holder.values() if isinstance(holder, dict) else holder))
        holders = [item for item in items if isinstance(item, dict | list)]
        if not holders:
            return False
    return bool(holders)


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
