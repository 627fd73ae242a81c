"""The values of YAML scalars: YAML 1.2's core schema, except words that YAML 1.1 would read in another way.

`no`, `on`, `017`, `1:30` and dates are text, as written: `tags: [on]` means the word.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime
from math import isinf
from typing import Any

from tui.documents.problems import LONG_NUMBER, MOST_DIGITS, has_too_many_digits
from tui.model.sanitize import sanitize_line
from tui.model.values import JsonValue

TAG = "tag:yaml.org,2002:"
_TAGGED: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_WORDS: dict[str, JsonValue] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC = frozenset("0123456789.-+")
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_DATE = re.compile(
    r"(?P<day>[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?)"
    r"(?:(?:[Tt]|[ \t]+)(?P<time>[0-9][0-9]?:[0-9]{2}:[0-9]{2})(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9:]+))?)?"
)
_OLD_BOOL = re.compile(r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF")
_OLD_NUMBER = re.compile(r"[-+]?(?:0[0-7_]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*|[0-9][0-9_]*(?::[0-5]?[0-9])+)")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value, or why it is invalid; `doubt` is set if other YAML readers would read another value."""

    value: JsonValue
    fault: str = ""
    doubt: str = ""


def plain_scalar(text: str) -> Scalar:
    """Return the value of a word without quotes or tag."""
    if text in _WORDS:
        return Scalar(_WORDS[text])
    if text[0] not in _NUMERIC:
        if _OLD_BOOL.fullmatch(text):
            meaning = "true" if text.lower() in ("yes", "on") else "false"
            return Scalar(text, doubt=f"`{text}` is read as text; write {meaning}, or put it in quotes")
        return Scalar(text)
    if len(text) > MOST_DIGITS:
        return _long_scalar(text)
    if _NOT_FINITE.fullmatch(text):
        return Scalar(None, f"`{text}` is not a number in JSON; write a number, or put it in quotes")
    if found := _DATE.fullmatch(text):
        return _dated(text, found)
    if _OLD_NUMBER.fullmatch(text):
        return Scalar(
            text, doubt=f"`{sanitize_line(text, 40)}` is read as text; write a plain number, or put it in quotes"
        )
    value = _number(text)
    if has_too_many_digits(value):
        return Scalar(None, LONG_NUMBER.format(len(text)))
    if isinstance(value, float) and isinf(value):
        return Scalar(
            None, f"the number {sanitize_line(text, 40)} is too large; write a smaller one, or put it in quotes"
        )
    return Scalar(text) if value is None else Scalar(value)


def resolved(event: Any) -> Scalar:
    """Return the value of a scalar event, according to its quotes and its tag."""
    if event.tag in (None, "!"):
        plain = event.implicit[0] and event.tag is None
        return plain_scalar(event.value) if plain else Scalar(event.value)
    name = event.tag.removeprefix(TAG)
    if event.tag == f"{TAG}str":
        return Scalar(event.value)
    if name not in _TAGGED or event.tag == name:
        return Scalar(None, no_tag(event.tag))
    scalar = plain_scalar(event.value)
    if scalar.fault or type(scalar.value) in _TAGGED[name]:
        return scalar
    return Scalar(None, f"`{sanitize_line(event.value, 40)}` does not fit its tag !!{name}; remove the tag")


def no_tag(tag: str) -> str:
    """Return the message about a tag that suites do not support."""
    return f"the tag {sanitize_line(tag.replace(TAG, '!!'), 40)} is not supported in suites; remove it"


def _long_scalar(text: str) -> Scalar:
    if _FLOAT.fullmatch(text) or _OTHER_BASE.fullmatch(text):
        return Scalar(None, LONG_NUMBER.format(len(text)))
    return Scalar(text)


def _number(text: str) -> JsonValue:
    if _INT.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else None


def _dated(text: str, found: re.Match[str]) -> Scalar:
    try:
        date(*map(int, found["day"].split("-")))
        if found["time"]:
            datetime.strptime(found["time"], "%H:%M:%S")
    except ValueError:
        return Scalar(None, f"`{sanitize_line(text, 40)}` looks like a date, but is not a valid one; put it in quotes")
    return Scalar(text)
