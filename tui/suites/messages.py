"""Converting the errors of pydantic to findings: sentences that say what is wrong and how to fix it."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

from tui.documents.positions import Path
from tui.documents.problems import MOST_PROBLEMS, Finding
from tui.model.sanitize import sanitize_line
from tui.model.secrets import hide_service_keys
from tui.model.suggest import nearest
from tui.model.values import JsonValue

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

UNION_TAGS = ("<text>", "<object>")
"""The tags of unions in the shapes; pydantic puts the tag of the chosen type in the path of an error."""
_LONGEST_KEY = 2_000
ID_PATTERN = r"^[A-Za-z0-9._-]+$"


def unknown_key(word: str, known: Iterable[str]) -> str:
    """Return the message about an unknown key, which is ignored."""
    known = tuple(known)
    meant = nearest(word, known)
    if meant:
        return f"unknown key, ignored; did you mean `{meant}`?"
    return f"unknown key, ignored; remove it, or use one of: {', '.join(known)}"


def quoted(value: object, limit: int = 60) -> str:
    """Return the beginning of a value from the file, sanitized for a message and without keys of known services."""
    beginning = hide_service_keys(str(value)[: limit + _LONGEST_KEY])
    return f"`{sanitize_line(beginning.replace(chr(10), '␊'), limit)}`"


_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "list_type": "a list",
    "dict_type": "an object with keys",
    "union_tag_not_found": "text, or an object with `run`",
    "agent_kind": "text, or an object with `file`",
}
_TRUTH = {"yes": "true", "on": "true", "true": "true", "no": "false", "off": "false", "false": "false"}
# Of a file with more problems only the first are reported.
_MOST_DETAILS = MOST_PROBLEMS + 1


def shape_findings(
    adapter: "TypeAdapter[Any]", value: JsonValue, at: Path = (), *, warnings: bool = True
) -> list[Finding]:
    """Return the mismatches between the value at the path `at` and the shape.

    If there are more than MOST_PROBLEMS, the rest is missing: warnings first, so that no error is missed if all errors
    are fewer. Without `warnings` only errors are returned.
    """
    from pydantic import ValidationError

    try:
        adapter.validate_python(value)
    except ValidationError as error:
        details = error.errors(include_url=False)
        if not warnings or len(details) > _MOST_DETAILS:
            unknown_keys = [detail for detail in details if detail["type"] == "extra_forbidden"]
            details = [detail for detail in details if detail["type"] != "extra_forbidden"]
            details += unknown_keys if warnings else []
        return [_finding(adapter, detail, at) for detail in details[:_MOST_DETAILS]]
    return []


def _finding(adapter: "TypeAdapter[Any]", detail: "ErrorDetails", at: Path) -> Finding:
    kind, value = detail["type"], detail["input"]
    # A key of the file may be written like a tag: the last step is a tag only where a value is wrong.
    is_key = kind in ("extra_forbidden", "missing")
    last = len(detail["loc"]) - 1
    loc = tuple(step for at, step in enumerate(detail["loc"]) if step not in UNION_TAGS or (is_key and at == last))
    shape = shape_at(adapter._type, loc[:-1])
    if kind == "extra_forbidden":
        return Finding(at + loc, unknown_key(str(loc[-1]), _keys_of(shape)), "warning", at_key=True)
    if kind == "missing":
        hint = _description(shape, str(loc[-1]))
        return Finding(at + loc, f"is missing; add it{f' ({hint})' if hint else ''}")
    return Finding(at + loc, _sentence(kind, value, detail.get("ctx", {})))


def _sentence(kind: str, value: Any, context: dict[str, Any]) -> str:
    if kind == "literal_error":
        words = [word.strip("'") for word in context["expected"].replace(" or ", ", ").split(", ")]
        meant = nearest(value, words) if isinstance(value, str) else None
        last = f"; did you mean `{meant}`?" if meant else "; use one of them"
        return f"expected one of {', '.join(words)}, got {_what(value)}{last}"
    if kind == "greater_than":
        return f"expected a number above {context['gt']:g}, got {quoted(value)}; write a larger number"
    if kind == "greater_than_equal":
        return f"expected at least {context['ge']}, got {quoted(value)}; write a larger number"
    if kind == "less_than_equal":
        return f"expected at most {context['le']}, got {quoted(value)}; write a smaller number"
    if kind == "string_too_short":
        return "is empty; add text, or remove the key"
    expected = _EXPECTED.get(kind, "something else")
    return f"expected {expected}, got {_what(value)}; {_advice(kind, value)}"


def _what(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return f"the number {quoted(value)}"
        case str():
            return f"the text {quoted(value)}"
        case list():
            return "a list"
    return "an object"


def _advice(kind: str, value: Any) -> str:
    match kind, value:
        case _, None:
            return "write a value, or remove the key if it is optional"
        case "string_type", bool() | int() | float():
            return "put it in quotes"
        case "bool_type", str() if value.lower() in _TRUTH:
            return f"write {_TRUTH[value.lower()]} without quotes"
        case "bool_type", int() | float():
            return "write true or false"
        case (("int_type" | "int_from_float"), str()) if value.strip().isdigit():
            zeros = value.strip().startswith("0") and value.strip() != "0"
            return "write the number without quotes and leading zeros" if zeros else "remove the quotes"
        case "float_type", str() if value.strip().replace(".", "", 1).isdigit():
            return "remove the quotes"
        case "list_type", str():
            return "put it in square brackets"
        case (("int_type" | "int_from_float"), float()):
            return "round it"
    return f"write {_EXPECTED.get(kind, 'that')}"


def shape_at(hint: Any, path: Path) -> Any:
    """Return the type annotation at a path, or None if it is unknown."""
    for step in path:
        hint = _bare(hint)
        if isinstance(step, int):
            hint = get_args(hint)[0] if get_origin(hint) is list else None
        else:
            hint = _hints(hint).get(step)
    return _bare(hint)


@cache
def _hints(shape: Any) -> dict[str, Any]:
    return get_type_hints(shape, include_extras=True) if is_typeddict(shape) else {}


def _bare(hint: Any) -> Any:
    """Return the annotation without its wrappers; of a union, the alternative with keys."""
    while get_origin(hint) is not None and get_origin(hint) is not list:
        inner = get_args(hint)
        hint = next((option for option in map(_bare, inner) if is_typeddict(option)), inner[0])
    return hint


def _keys_of(shape: Any) -> tuple[str, ...]:
    return tuple(_hints(shape))


def _description(shape: Any, key: str) -> str:
    def details(hint: Any) -> Iterator[Any]:
        for part in get_args(hint):
            yield part
            yield from details(part)

    found = (getattr(part, "description", None) for part in details(_hints(shape).get(key)))
    text = next((description for description in found if description), "")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
