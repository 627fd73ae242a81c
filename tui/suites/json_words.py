"""What to say of a fault in JSON's syntax, and what to do about it."""

from json import JSONDecodeError

from tui.model.sanitize import show_line

LONG_NUMBER = "a number of {:,} characters is too long; write a smaller one, or put it in quotes"
_LOOKALIKES = {"True": "true", "False": "false", "None": "null", "undefined": "null", "TRUE": "true", "FALSE": "false"}
_NAMES = {"\n": "a line break", "\t": "a tab", "\r": "a line break", " ": "a space"}
_COMMENTS = ("//", "/*", "#")
_NO_COMMENTS = "JSON has no comments; remove it, or write the suite in YAML"


def string_fault(text: str, position: int, error: JSONDecodeError) -> tuple[int, str]:
    """Where and why the text that begins at the position cannot be read."""
    if error.msg.startswith("Unterminated"):
        return position, "this text has no closing double quote; add it"
    at = min(error.pos, len(text) - 1)
    if error.msg.startswith("Invalid control character"):
        return at, f"{named(text[at])} may not stand in a text as it is; write it as an escape such as \\n"
    return at, 'this escape is unknown; JSON knows \\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four hex digits'


def no_value(text: str, position: int, word: str) -> str:
    """Why no value begins at the position; `word` is what stands there."""
    if word in _LOOKALIKES:
        return f"`{word}` is no JSON value; write {_LOOKALIKES[word]}"
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    if text.startswith("'", position):
        return "text stands in double quotes in JSON, not in single ones"
    if word and (word[0].isdigit() or word[0] in "-+."):
        return f"`{show_line(word, 40)}` is no JSON number; mend it, or put it in double quotes"
    return f"a value is due here, {found(text, position)}; text stands in double quotes"


def no_key(text: str, position: int) -> str:
    """Why no key begins at the position."""
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    if text.startswith("'", position):
        return "keys stand in double quotes in JSON, not in single ones"
    return f"a key in double quotes is due here, {found(text, position)}; write one"


def not_closed(text: str, position: int, closer: str) -> str:
    """Why an object or list cannot go on at the position."""
    if position >= len(text):
        opener = "[" if closer == "]" else "{"
        return f"the file ends in the middle of a value; close the last `{opener}` with `{closer}`"
    if text.startswith(_COMMENTS, position):
        return _NO_COMMENTS
    what = f"a comma or `{closer}` is due here, {found(text, position)}"
    fix = "check the brackets" if text[position] in "]}:" else "is a comma missing before it?"
    return f"{what}; {fix}"


def found(text: str, position: int) -> str:
    """What stands there instead."""
    return "but the file ends" if position >= len(text) else f"not {named(text[position])}"


def named(character: str) -> str:
    """A character in words, safe to show."""
    return _NAMES.get(character) or f"`{show_line(character) or ascii(character)}`"
