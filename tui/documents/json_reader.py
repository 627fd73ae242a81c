"""An exact reader for JSON with positions, which explains every error; used for files with problems."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from json import JSONDecodeError
from math import isinf

from tui.documents.positions import Branch, OpenBranch, Path, Tree
from tui.documents.problems import (
    LONG_NUMBER,
    MOST_DEPTH,
    MOST_DIGITS,
    MOST_PROBLEMS,
    MOST_VALUES,
    TOO_DEEP,
    Finding,
    Unreadable,
)
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonValue

_LOOKALIKES = {"True": "true", "False": "false", "None": "null", "undefined": "null", "TRUE": "true", "FALSE": "false"}
_NAMES = {"\n": "a line break", "\t": "a tab", "\r": "a line break", " ": "a space"}
_COMMENTS = ("//", "/*", "#")
_NO_COMMENTS = "JSON has no comments; remove it, or write the suite in YAML"


def string_fault(text: str, position: int, error: JSONDecodeError) -> tuple[int, str]:
    """Return where and why the string that begins at the position is invalid."""
    if error.msg.startswith("Unterminated"):
        return position, "this string has no closing double quote; add it"
    at = min(error.pos, len(text) - 1)
    if error.msg.startswith("Invalid control character"):
        return at, f"{named(text[at])} is not allowed inside a string; write it as an escape such as \\n"
    return at, 'unknown escape; JSON has \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hex digits'


def no_value(text: str, position: int, word: str) -> str:
    """Return why no value begins at the position; `word` is the text there."""
    if word in _LOOKALIKES:
        return f"`{word}` is not a JSON value; write {_LOOKALIKES[word]}"
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    if text.startswith("'", position):
        return "JSON strings use double quotes, not single quotes"
    if word and (word[0].isdigit() or word[0] in "-+."):
        return f"`{sanitize_line(word, 40)}` is not a JSON number; correct it, or put it in double quotes"
    return f"expected a value, {found(text, position)}; put text in double quotes"


def no_key(text: str, position: int) -> str:
    """Return why no key begins at the position."""
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    if text.startswith("'", position):
        return "JSON keys use double quotes, not single quotes"
    return f"expected a key in double quotes, {found(text, position)}; add one"


def not_closed(text: str, position: int, closer: str) -> str:
    """Return why an object or list cannot continue at the position."""
    if position >= len(text):
        opener = "[" if closer == "]" else "{"
        return f"unexpected end of file inside a value; close the last `{opener}` with `{closer}`"
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    what = f"expected a comma or `{closer}`, {found(text, position)}"
    fix = "check the brackets" if text[position] in "]}:" else "is a comma missing before it?"
    return f"{what}; {fix}"


def found(text: str, position: int) -> str:
    """Return the text at the position, for a message."""
    return "but the file ends" if position >= len(text) else f"got {named(text[position])}"


def named(character: str) -> str:
    """Return the description of a character, safe to show."""
    return _NAMES.get(character) or f"`{sanitize_line(character) or ascii(character)}`"


# The C scanner of the standard library, which its type stubs leave out.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)")
_WORD = re.compile(r"[-+.\w]+")
_LITERALS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}
_NOT_FINITE = frozenset(("NaN", "Infinity", "-Infinity", "+Infinity", "-NaN", "inf", "nan", "-inf"))


@dataclass(slots=True)
class ExactJson:
    """A JSON text with its value, the tree of its positions, and all of its problems.

    Reading ends at the first syntax error; duplicate keys and invalid values are recorded, and reading continues.
    """

    text: str
    value: JsonValue = None
    tree: Tree = 0
    findings: list[Finding] = field(default_factory=list)
    _open: list[OpenBranch] = field(default_factory=list)
    _count: int = 0

    def read(self) -> bool:
        """Read the text, and return whether its end was reached."""
        try:
            position = self._space(self._read_value(self._space(0)))
            if position < len(self.text):
                raise self._unreadable(
                    position, "unexpected text after the end of the value; a file contains one JSON value"
                )
        except Unreadable as stopped:
            self.findings.append(stopped.finding)
            return False
        return True

    def _read_value(self, position: int) -> int:
        while True:
            begun = position
            self._count += 1
            if self._count > MOST_VALUES:
                raise self._unreadable(begun, f"contains more than {MOST_VALUES:,} values; split the file")
            character = self.text[position : position + 1]
            if character in ("{", "["):
                if (inside := self._enter(position, character)) is not None:
                    position = inside
                    continue
                value: JsonValue = {} if character == "{" else []
                tree: Tree = Branch(begun)
                position = self._space(position + 1) + 1
            elif character == '"':
                tree = begun
                value, position = self._string(position)
            else:
                tree = begun
                value, position = self._literal(position)
            after = self._close(value, tree, position)
            if not self._open:
                return after
            position = after

    def _enter(self, position: int, character: str) -> int | None:
        """Return the position of the first value of the object or list, or None if it is empty."""
        if len(self._open) >= MOST_DEPTH:
            raise self._unreadable(position, TOO_DEEP)
        inside = self._space(position + 1)
        if character == "[":
            if self.text.startswith("]", inside):
                return None
            self._open.append(OpenBranch([], position))
            return inside
        if self.text.startswith("}", inside):
            return None
        self._open.append(OpenBranch({}, position))
        return self._key(inside)

    def _close(self, value: JsonValue, tree: Tree, position: int) -> int:
        """Add a complete value to its parent, and return the position of the next value or of the end."""
        while self._open:
            inner = self._open[-1]
            inner.put(value, tree)
            position = self._space(position)
            closer = "]" if isinstance(inner.value, list) else "}"
            character = self.text[position : position + 1]
            if character == ",":
                following = self._space(position + 1)
                if self.text.startswith(closer, following):
                    raise self._unreadable(position, f"trailing comma before `{closer}`; remove it")
                return following if closer == "]" else self._key(following)
            if character != closer:
                raise self._unreadable(position, not_closed(self.text, position, closer))
            self._open.pop()
            value, tree, position = inner.value, inner.tree(), position + 1
        self.value, self.tree = value, tree
        return position

    def _key(self, position: int) -> int:
        if not self.text.startswith('"', position):
            raise self._unreadable(position, no_key(self.text, position))
        key, after = self._string(position)
        inner, shown = self._open[-1], sanitize_line(key, 60)
        inner.key, inner.key_start = key, position
        if key in inner.members:
            self._note(position, f"duplicate key `{shown}`; remove one")
        colon = self._space(after)
        if not self.text.startswith(":", colon):
            raise self._unreadable(colon, f"expected a colon after `{shown}`, {found(self.text, colon)}; add it")
        return self._space(colon + 1)

    def _string(self, position: int) -> tuple[str, int]:
        try:
            value, after = _scan_string(self.text, position + 1, True)
        except JSONDecodeError as error:
            raise self._unreadable(*string_fault(self.text, position, error)) from error
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                code = ord(value[error.start])
                self._note(position, f"half a surrogate pair (\\u{code:04x}) is not a character; remove or complete it")
        return value, after

    def _literal(self, position: int) -> tuple[JsonValue, int]:
        match = _WORD.match(self.text, position)
        word = match[0] if match else ""
        after = position + len(word)
        if word in _LITERALS:
            return _LITERALS[word], after
        if word in _NOT_FINITE:
            self._note(position, f"{word} is not a JSON number; write a number, or null")
            return None, after
        number = _NUMBER.fullmatch(word)
        if number is None:
            raise self._unreadable(position, no_value(self.text, position, word))
        return self._number(number, position), after

    def _number(self, number: re.Match[str], position: int) -> JsonValue:
        digits = number[0]
        if len(digits) > MOST_DIGITS:
            self._note(position, LONG_NUMBER.format(len(digits)))
            return None
        if not number[2]:
            return int(digits)
        value = float(digits)
        if isinf(value):
            self._note(position, f"the number {sanitize_line(digits, 40)} is too large; write a smaller one")
            return None
        return value

    def _space(self, position: int) -> int:
        match = _SPACE.match(self.text, position)
        return match.end() if match else position

    def _path(self) -> Path:
        return tuple(inner.here() for inner in self._open)

    def _note(self, position: int, what: str) -> None:
        if len(self.findings) > MOST_PROBLEMS:
            raise self._unreadable(position, "contains too many errors to continue; fix the ones listed")
        self.findings.append(Finding(self._path(), what, offset=position))

    def _unreadable(self, position: int, what: str) -> Unreadable:
        return Unreadable(Finding((), what, offset=position, where="JSON"))
