"""Reads sound JSON fast, with the offset of each case; whatever is doubtful is left to the exact reader."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecoder
from math import isinf

from tui.model.values import JsonObject, JsonValue
from tui.suites.limits import MOST_DEPTH, MOST_DIGITS

# The C scanner of the standard library, which its type stubs leave out.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*")
_SEPARATOR = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_COLON = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# Every escape, so that the search keeps in step; only the group is half of a surrogate pair without its other half.
_ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QuickJson:
    """A sound value, and the offsets of the items of `testCases` or of the list that the file is."""

    value: JsonValue
    starts: tuple[int, ...]


class _Doubtful(ValueError):
    """Not to be read quickly."""


def read_quickly(text: str) -> QuickJson | None:
    """The value of the text; None where anything about it is doubtful, from its syntax to a doubled key."""
    try:
        return _read(text)
    except (ValueError, StopIteration, RecursionError, IndexError):
        return None


def _read(text: str) -> QuickJson:
    if _SURROGATE.search(text):
        for escape in _ESCAPE.finditer(text):
            if escape[1]:
                raise _Doubtful
    begin = _after(_SPACE, text, 0)
    value, end = _DECODER.raw_decode(text, begin)
    if _after(_SPACE, text, end) != len(text):
        raise _Doubtful
    return QuickJson(value, _starts(text, begin, value))


def _starts(text: str, begin: int, value: JsonValue) -> tuple[int, ...]:
    items = value.get("testCases") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return (begin,)
    if not {dict}.issuperset(map(type, items)):
        raise _Doubtful
    first_keys = {next(iter(item), "") for item in items if isinstance(item, dict)}
    words = "|".join(re.escape(json.dumps(key)) for key in first_keys)
    found = tuple(match.start() for match in re.finditer(rf"\{{[ \t\n\r]*(?:{words})[ \t\n\r]*:", text))
    # No object other than the items may begin with such a key; else they have to be read one by one.
    if "" not in first_keys and len(found) == len(items):
        return found
    return _starts_of_items(text, begin) if isinstance(value, list) else _starts_of_cases(text, begin)


def _starts_of_cases(text: str, position: int) -> tuple[int, ...]:
    position = _after(_SPACE, text, position + 1)
    while True:
        key, position = _scan_string(text, position + 1, True)
        position = _after(_COLON, text, position)
        if key == "testCases":
            return _starts_of_items(text, position)
        _, position = _DECODER.raw_decode(text, position)
        position = _after(_SEPARATOR, text, position)


def _starts_of_items(text: str, position: int) -> tuple[int, ...]:
    starts: list[int] = []
    position = _after(_SPACE, text, position + 1)
    while text[position] != "]":
        starts.append(position)
        _, position = _DECODER.raw_decode(text, position)
        if text[_after(_SPACE, text, position)] == "]":
            break
        position = _after(_SEPARATOR, text, position)
    return tuple(starts)


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


def _refuse(word: str) -> float:
    raise _Doubtful(word)


_DECODER = JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_refuse)


def too_deep(value: JsonValue, levels: int = MOST_DEPTH) -> bool:
    """Whether objects and lists are nested deeper than that."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(too_deep(item, levels - 1) for item in inner if isinstance(item, dict | list))
