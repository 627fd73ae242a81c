"""A fast reader for valid JSON with the offset of each case; it leaves anything doubtful to the exact reader."""

import json
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from json import JSONDecoder
from math import isinf
from typing import Any, TypeAlias

from tui.documents.positions import Branch, Path, Tree
from tui.documents.problems import MOST_DEPTH, MOST_DIGITS, MOST_VALUES
from tui.model.values import JsonObject, JsonValue, has_too_many_values

# The C scanner of the standard library, which its type stubs leave out.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*")
_SEPARATOR = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
# The colon after every key that does not end in a backslash, and hardly ever one within a text. It begins with the
# colon, not with the quotation mark, because there are fewer of them.
_AFTER_KEY = re.compile(rb':(?<=[^\\]":|[" \t\n\r][ \t\n\r]:)')


_Places: TypeAlias = dict[str | int, "_Places"]


@dataclass(frozen=True, slots=True)
class QuickJson:
    """A UTF-8 text with its value, and the offsets of the items of `testCases` or of the top-level list."""

    content: bytes
    value: JsonValue
    starts: tuple[int, ...]

    def is_sound(self, keys: int | None = None) -> bool:
        """Return whether no key is duplicated and no number is out of range.

        `keys`, if known, is the total number of keys of all objects in the value, none of which ends in a backslash,
        and promises that all numbers are integers: more keys in the text then mean a duplicate.
        """
        if keys is not None and keys == len(_AFTER_KEY.findall(self.content)):
            return True
        try:
            _STRICT.decode(self.content.decode())
        except (ValueError, RecursionError):
            return False
        return True

    def is_regular(self) -> bool:
        """Return whether the exact reader would find no problem: the text is sound, neither deep nor too large."""
        values, keys, is_odd = 1, 0, False
        level: list[Any] = [self.value] if isinstance(self.value, dict | list) else []
        for _ in range(MOST_DEPTH):
            below: list[Any] = []
            for holder in level:
                if isinstance(holder, dict):
                    keys += len(holder)
                    is_odd = is_odd or "\\" in "".join(holder)
                items: Collection[Any] = holder.values() if isinstance(holder, dict) else holder
                values += len(items)
                kinds = set(map(type, items))
                is_odd = is_odd or float in kinds
                if not kinds.isdisjoint((dict, list)):
                    below += [item for item in items if isinstance(item, dict | list)]
            if values > MOST_VALUES:
                return False
            if not below:
                return self.is_sound(None if is_odd else keys)
            level = below
        return False


class _Doubtful(ValueError):
    """A text that the fast reader cannot handle."""


def read_quickly(content: bytes) -> QuickJson | None:
    """Return the value of the bytes, or None if anything is doubtful, except what `is_sound` checks."""
    # The parser of pydantic would take gigabytes for 16 MiB of empty objects.
    if has_too_many_values(content):
        return None
    # It takes half the time of the standard library's, and makes one text of texts that are equal.
    from pydantic_core import from_json

    try:
        value: JsonValue = from_json(content, allow_inf_nan=False)
        return QuickJson(content, value, _starts(content, value))
    except (ValueError, StopIteration, RecursionError, IndexError):
        return None


def _starts(content: bytes, value: JsonValue) -> tuple[int, ...]:
    items = value.get("testCases") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return (len(content) - len(content.lstrip()),)
    if not {dict}.issuperset(map(type, items)):
        raise _Doubtful
    first_keys = {next(iter(item), "") for item in items if isinstance(item, dict)}
    words = "|".join(re.escape(json.dumps(key)) for key in first_keys)
    begins = re.compile(rf"\{{[ \t\n\r]*(?:{words})[ \t\n\r]*:".encode())
    found = tuple(match.start() for match in begins.finditer(content))
    # If other objects begin with such a key too, the items have to be read one by one.
    if "" not in first_keys and len(found) == len(items):
        return found
    text = content.decode("latin-1")  # one character per byte, so that offsets are those of the bytes
    begin = _after(_SPACE, text, 0)
    return _starts_of_items(text, begin) if isinstance(value, list) else _starts_of_cases(text, begin)


def _starts_of_cases(text: str, position: int) -> tuple[int, ...]:
    position = _after(_SPACE, text, position + 1)
    while True:
        key, position = _scan_string(text, position + 1, True)
        position = _after(_COLON, text, position)
        if key == "testCases":
            return _starts_of_items(text, position)
        _, position = _PLAIN.raw_decode(text, position)
        position = _after(_SEPARATOR, text, position)


def _starts_of_items(text: str, position: int) -> tuple[int, ...]:
    starts: list[int] = []
    position = _after(_SPACE, text, position + 1)
    while text[position] != "]":
        starts.append(position)
        _, position = _PLAIN.raw_decode(text, position)
        if text[_after(_SPACE, text, position)] == "]":
            break
        position = _after(_SEPARATOR, text, position)
    return tuple(starts)


def tree_at(text: str, paths: Iterable[Path]) -> Tree:
    """Return the positions of the values at some paths, and of all that are around them, in valid JSON.

    Everything else is skipped, which takes a small part of the time of the exact reader.
    """
    places: _Places = {}
    for path in paths:
        inner = places
        for step in path:
            inner = inner.setdefault(step, {})
    return _tree(text, _after(_SPACE, text, 0), places)


def _tree(text: str, start: int, places: "_Places") -> Tree:
    """Return the tree of the value that begins at `start`, with the values at these places in it."""
    if not places or text[start] not in "{[":
        return start
    return _tree_of_object(text, start, places) if text[start] == "{" else _tree_of_list(text, start, places)


def _tree_of_object(text: str, start: int, places: "_Places") -> Branch:
    members: dict[str, tuple[int, Tree]] = {}
    missing = len(places)
    key_start = _after(_SPACE, text, start + 1)
    while text[key_start] != "}":
        key, position = _scan_string(text, key_start + 1, True)
        position = _after(_COLON, text, position)
        if key in places:
            members[key] = key_start, _tree(text, position, places[key])
            missing -= 1
        _, position = _PLAIN.raw_decode(text, position) if missing else (None, position)
        position = _after(_SPACE, text, position)
        if not missing or text[position] == "}":
            break
        key_start = _after(_SEPARATOR, text, position)
    return Branch(start, members=members)


def _tree_of_list(text: str, start: int, places: "_Places") -> Branch:
    items: list[Tree] = []
    last = max((step for step in places if isinstance(step, int)), default=-1)
    position = _after(_SPACE, text, start + 1)
    while len(items) <= last and text[position] != "]":
        items.append(_tree(text, position, places.get(len(items), {})))
        if len(items) > last:
            break
        _, position = _PLAIN.raw_decode(text, position)
        position = _after(_SPACE, text, position)
        if text[position] == "]":
            break
        position = _after(_SEPARATOR, text, position)
    return Branch(start, items=items)


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    if match is None:
        raise _Doubtful
    return match.end()


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Doubtful
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if isinf(value) or len(digits) > MOST_DIGITS:
        raise _Doubtful
    return value


_PLAIN = JSONDecoder()
_STRICT = JSONDecoder(object_pairs_hook=_unique, parse_float=_finite)
