"""The format of a line in a score file: one JSON object, UTF-8, ended by LF, always written the same way."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from sys import intern
from typing import Any, NoReturn, cast, get_args

from tui.model.sanitize import escape_unseen, sanitize_line
from tui.model.scores import OF_A_RUN, Act, ActKind, Extent, ItemKey
from tui.model.values import JsonTooLarge, first_repeated, parse_json

VERSION = 1
NEEDED = (
    "version",
    "act",
    "id",
    "run",
    "case",
    "model",
    "repeat",
    "criterion",
    "extent",
    "note",
    "reviewer",
    "scored_at",
    "blind",
    "guidance",
)
LARGEST_LINE = 1024 * 1024  # bytes
_ID = re.compile("[0-9a-fA-F]{32}")
_HASH = re.compile("[0-9a-fA-F]{64}")
_GREATEST = 2**53
_NOTHING = ItemKey("", "", 0, "")
_ITEM = ("case", "model", "repeat", "criterion")
_ACTS = get_args(ActKind)
_Rule = tuple[str, Callable[[Any], bool], str]
"""A key, the test of its value, and the message if the test fails."""


class LineFault(ValueError):
    """A line is invalid; the text says why and what to do."""


def write_line(act: Act) -> str:
    """Return the line with its LF, without optional keys that have no value. `read_line` is its inverse."""
    item = act.item or _NOTHING
    fields: dict[str, object] = {
        "version": VERSION,
        "act": act.act,
        "id": act.id,
        "run": act.run,
        **item.first._asdict(),
        "extent": act.extent,
        "note": act.note,
        "reviewer": act.reviewer,
        "scored_at": act.scored_at,
        "blind": act.blind,
        "guidance": act.guidance,
    }
    del fields["again"]
    fields |= {key: value for key, _, _ in _OPTIONAL if (value := getattr(act, key)) is not None}
    if item.again:
        fields["again"] = True
    return dump_line(fields)


def dump_line(fields: Mapping[str, object]) -> str:
    """Return the fields as a line with its LF, without anything that a terminal would obey."""
    return escape_unseen(json.dumps(fields, ensure_ascii=False)) + "\n"


def read_line(line: bytes) -> Act:
    """Return the act of a line, with or without its LF. Raises LineFault.

    A `score` whose extent is null is an unfilled template line. Unknown keys are ignored.
    """
    return read_fields(parse_line(line))


def read_fields(found: Mapping[str, Any]) -> Act:
    """Return the act with the fields of a line. Raises LineFault.

    Names that many lines share are in memory once.
    """
    _check_fields(found)
    act: ActKind = found["act"]
    extent = _optional_extent(found) if act in OF_A_RUN else _extent(found, act)
    reviewer = found["reviewer"]
    if not reviewer.strip() and (act != "score" or extent is not None):
        raise _fault(
            "reviewer",
            reviewer,
            "is empty; write the reviewer's name (a template made with --reviewer NAME contains it)",
        )
    return Act(
        act,
        found["id"].lower(),
        intern(found["run"]),
        _optional_item(found) if act in OF_A_RUN else _item(found),
        extent,
        found["note"],
        intern(reviewer),
        found["scored_at"],
        found["blind"],
        "" if found["guidance"] is None else intern(str(found["guidance"])),
        found.get("attempt"),
        found.get("seed"),
        found.get("took_ms"),
        None if found.get("withdraws") is None else found["withdraws"].lower(),
        None if found.get("answer") is None else intern(found["answer"].lower()),
        found.get("masked"),
        found.get("repeats"),
    )


def _check_fields(found: Mapping[str, Any]) -> None:
    """Raise LineFault for the first field that is missing or has a wrong value."""
    names = _NEEDED_OF_A_RUN if found.get("act") in _WHOLE_RUN else NEEDED
    if missing := [key for key in names if key not in found]:
        raise LineFault(f"{_named(missing)} missing; required keys: {', '.join(NEEDED)}")
    for key in _TEXTS:
        if type(found[key]) is not str:
            raise _fault(key, found[key], "is not valid; expected a string")
    for key, fits, what in _RULES:
        if not fits(found[key]):
            raise _fault(key, found[key], what)
    for key, fits, what in _OPTIONAL:
        if found.get(key) is not None and not fits(found[key]):
            raise _fault(key, found[key], f"{what}, or no such key")


def template_line(act: Act) -> str:
    """Return the line of an act to be filled in by any reviewer: without an id, which it gets when it is imported."""
    fields = json.loads(write_line(act))
    del fields["id"]
    return dump_line(fields)


def parse_line(line: bytes, largest: int = LARGEST_LINE) -> dict[str, Any]:
    """Return the JSON object of a line of at most `largest` bytes. Raises LineFault."""
    if len(line) > largest:
        raise LineFault(f"the line has {len(line):,} bytes, the limit is {largest:,}; shorten the note")
    try:
        found = parse_json(line.decode("utf-8"), _DECODER.decode)
    except LineFault:
        raise
    except UnicodeDecodeError as error:
        raise LineFault(f"is not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8") from error
    except json.JSONDecodeError as error:
        what = (
            f"is not a JSON object ({error.msg}, column {error.colno}); check whether the line was truncated or wrapped"
        )
        raise LineFault(what) from error
    except JsonTooLarge as limit:
        raise LineFault(str(limit)) from limit
    except ValueError as error:
        raise LineFault("cannot be parsed as JSON: a number is too long") from error
    if not isinstance(found, dict):
        raise LineFault("expected one JSON object per line")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = first_repeated(name for name, _ in pairs) or ""
        raise LineFault(f"duplicate key `{sanitize_line(twice, 60)}`; remove one")
    return found


def _no_constant(name: str) -> NoReturn:
    raise LineFault(f"{name} is not JSON; write a number")


def _item(found: Mapping[str, Any]) -> ItemKey:
    for key in ("case", "model", "criterion"):
        if type(found[key]) is not str:
            raise _fault(key, found[key], "is not valid; expected a string")
    repeat = found["repeat"]
    if type(repeat) is not int or not 1 <= repeat <= _GREATEST:
        raise _fault("repeat", repeat, "is not valid; expected a whole number of at least 1")
    again = found.get("again")
    if again is not None and type(again) is not bool:
        raise _fault("again", again, "is not valid; expected true or false, or no such key")
    return ItemKey(intern(found["case"]), intern(found["model"]), repeat, intern(found["criterion"]), bool(again))


def _extent(found: Mapping[str, Any], act: ActKind) -> Extent | None:
    extent = found["extent"]
    if _is_extent(extent):
        return cast(Extent, extent)
    if extent is None and act != "adjudicate":
        return None
    allowed = 'is not valid; expected 0, 1, 2, 3, 4 or "n/a"'
    raise _fault("extent", extent, f"{allowed}, or null if not scored" if act == "score" else allowed)


def _optional_item(found: Mapping[str, Any]) -> ItemKey | None:
    """Return the item of a line that may name none."""
    values = [found.get(key) for key in _ITEM]
    if [type(value) for value in values] != [str, str, int, str] or not _is_count(found["repeat"]):
        return None
    item = ItemKey._make([*values, False])
    return item if item != _NOTHING else None


def _optional_extent(found: Mapping[str, Any]) -> Extent | None:
    extent = found.get("extent")
    return cast(Extent, extent) if _is_extent(extent) else None


def _is_extent(value: object) -> bool:
    return value == "n/a" or (type(value) is int and 0 <= value <= 4)


def _is_act(value: object) -> bool:
    return type(value) is str and value in _ACTS


def _is_id(value: object) -> bool:
    return type(value) is str and _ID.fullmatch(value) is not None


def _is_hash(value: object) -> bool:
    return type(value) is str and _HASH.fullmatch(value) is not None


def _is_instant(value: object) -> bool:
    try:
        return type(value) is str and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _is_version(value: object) -> bool:
    return type(value) is int and value == VERSION


def _is_version_of_text(value: object) -> bool:
    # Other tools number their guidance, or have none.
    return value is None or type(value) is str or _is_number(value)


def _is_flag(value: object) -> bool:
    return type(value) is bool


def _is_number(value: object) -> bool:
    return type(value) is int and abs(value) <= _GREATEST


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _GREATEST


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
_WHOLE_RUN = tuple(OF_A_RUN)  # compared, not hashed: a line may hold anything there
_NEEDED_OF_A_RUN = [key for key in NEEDED if key not in ("case", "model", "repeat", "criterion", "extent")]
_TEXTS = ("run", "note", "reviewer")
_RULES: tuple[_Rule, ...] = (
    ("version", _is_version, f"is not supported; expected {VERSION}, or use another version of Assay"),
    ("act", _is_act, f"is not valid; expected one of {', '.join(_ACTS)}"),
    ("id", _is_id, "is not valid; expected 32 hex digits, unique for each line"),
    ("scored_at", _is_instant, "is not valid; expected ISO 8601 with a time zone, such as 2026-11-20T10:15:00+01:00"),
    ("blind", _is_flag, "is not valid; expected true or false"),
    ("guidance", _is_version_of_text, "is not valid; expected a string, a number or null"),
)
_OPTIONAL: tuple[_Rule, ...] = (
    ("answer", _is_hash, "is not valid; expected the SHA-256 of the scored answer, 64 hex digits"),
    ("attempt", _is_count, "is not valid; expected a whole number"),
    ("seed", _is_number, "is not valid; expected a whole number"),
    ("took_ms", _is_count, "is not valid; expected a whole number of milliseconds"),
    ("withdraws", _is_id, "is not valid; expected the id of a decision, 32 hex digits"),
    ("masked", _is_count, "is not valid; expected a whole number"),
    ("repeats", _is_count, "is not valid; expected a whole number of percent"),
)


def _fault(key: str, value: object, what: str) -> LineFault:
    return LineFault(f"{key}: {sanitize_line(json.dumps(value, ensure_ascii=False), 80)} {what}")


def _named(keys: list[str]) -> str:
    return f"{', '.join(keys)} {'is' if len(keys) == 1 else 'are'}"
