"""Parsing of an agent's answer: text, the tools it used, its memory."""

import json
import math
from dataclasses import dataclass

from tui.model.sanitize import sanitize_line
from tui.model.values import MOST_JSON_VALUES, JsonObject, JsonValue, has_too_many_values

_DEEPEST = 64
_LONGEST_MS = 2**53


class Nonsense(Exception):
    """An answer that cannot be parsed; the text says why and is shown after `answered nonsense: `."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the agent reports as used; `arguments` and `result` are JSON or text, or empty if not reported."""

    name: str
    arguments: str = ""
    result: str = ""
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """The answer to one step. `memory` is None if the agent returned none."""

    output: str
    tools: tuple[Tool, ...]
    memory: JsonObject | None


def parse_json(data: bytes | str) -> JsonValue:
    """Parse standard JSON: no NaN, no infinity, no lone surrogates, no huge number of values. Raises Nonsense."""
    if has_too_many_values(data if isinstance(data, bytes) else data.encode(errors="replace")):
        raise Nonsense(f"it contains more than {MOST_JSON_VALUES:,} values")
    try:
        value: JsonValue = json.loads(data, parse_constant=_refuse, parse_float=_finite)
    except Nonsense:
        raise
    except RecursionError:
        raise Nonsense("it is nested too deeply") from None
    except ValueError as error:
        start = data[:600].decode(errors="replace") if isinstance(data, bytes) else data[:600]
        if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
            raise Nonsense(f"it is not JSON: {sanitize_line(start, 120)}") from None
        raise Nonsense(sanitize_line(str(error))) from None
    if _is_deeper(value, _DEEPEST):
        raise Nonsense("it is nested too deeply")
    escape = b"\\ud" if isinstance(data, bytes) else "\\ud"
    return _without_surrogates(value) if escape in data.lower() else value  # type: ignore[operator]


def read_answer(value: JsonValue) -> AgentAnswer:
    """Parse the object `{output, tools_used, memory}`. Raises Nonsense."""
    if not isinstance(value, dict):
        raise Nonsense(f"expected an object with output, tools_used and memory, got {_kind(value)}")
    if "output" not in value:
        if isinstance(value.get("error"), str):
            raise Nonsense(f"it has an error instead of an output: {sanitize_line(str(value['error']))}")
        raise Nonsense("it has no output")
    output, memory = value["output"], value.get("memory")
    if not isinstance(output, str):
        raise Nonsense(f"output: expected a string, got {_kind(output)}")
    if memory is not None and not isinstance(memory, dict):
        raise Nonsense(f"memory: expected an object, got {_kind(memory)}")
    return AgentAnswer(output, _read_tools(value.get("tools_used")), memory)


def _read_tools(value: JsonValue) -> tuple[Tool, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Tool(value),)  # TestHaven accepts a string in place of a list of one.
    if not isinstance(value, list):
        raise Nonsense(f"tools_used expected a list, got {_kind(value)}")
    return tuple(_read_tool(tool) for tool in value)


def _read_tool(value: JsonValue) -> Tool:
    if isinstance(value, str):
        return Tool(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        arguments, result = _text_of(value.get("arguments")), _text_of(value.get("result"))
        return Tool(str(value["name"]), arguments, result, _milliseconds(value.get("duration_ms")))
    raise Nonsense(f"tools_used: expected names or objects with a name, got {_kind(value)}")


def _text_of(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _milliseconds(value: JsonValue) -> float | None:
    """Return a duration, or None for what is none."""
    is_duration = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LONGEST_MS
    return float(value) if is_duration else None  # type: ignore[arg-type]


def _refuse(constant: str) -> float:
    raise Nonsense(f"it contains {constant}, which is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise Nonsense(f"it contains a number that is too large: {sanitize_line(digits, 40)}")
    return value


def _is_deeper(value: JsonValue, limit: int) -> bool:
    """Return whether lists and objects are nested more than `limit` levels deep."""
    if not isinstance(value, (list, dict)):
        return False
    if limit == 0:
        return True
    return any(_is_deeper(item, limit - 1) for item in (value.values() if isinstance(value, dict) else value))


def _without_surrogates(value: JsonValue) -> JsonValue:
    """Replace lone surrogates, which cannot be encoded as UTF-8 and would make storing or sending fail."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(item) for key, item in value.items()}
    return value


def _kind(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    names: dict[type, str] = {str: "text", list: "a list", dict: "an object", type(None): "null"}
    return names[type(value)]
