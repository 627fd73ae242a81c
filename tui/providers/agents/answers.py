"""Parsing of an agent's answer: text, the tools it used, its memory."""

import asyncio
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

from tui.model.results import ToolUse, Usage
from tui.model.sanitize import sanitize_line
from tui.model.values import MOST_JSON_VALUES, JsonObject, JsonValue, has_too_many_values, is_deeper
from tui.providers.agents.spans import Trace, read_spans

_SPANS = ("spans", "resourceSpans")
_DEEPEST = 64
_LONGEST_MS = 2**53
_LARGE_BYTES = 64 << 10  # reading more than this can take longer than a frame of the screen
T = TypeVar("T")


class InvalidAnswer(Exception):
    """An answer that cannot be parsed; the text says why, and is displayed after `sent an invalid answer: `."""


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """The answer to one step. `memory` and `usage` are None if the agent returned none.

    `calls` are the calls in its spans and those in `tools` that no span records, none if it has no spans.
    """

    output: str
    tools: tuple[ToolUse, ...]
    memory: JsonObject | None
    calls: tuple[ToolUse, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


async def read_aside(read: Callable[[], T], size: int) -> T:
    """Return what `read` returns for an answer of `size` bytes; that of a large one is computed in a thread."""
    return await asyncio.to_thread(read) if size > _LARGE_BYTES else read()


def parse_json(data: bytes | str) -> JsonValue:
    """Parse standard JSON: no NaN, no infinity, no lone surrogates, no huge number of values. Raises InvalidAnswer."""
    if has_too_many_values(data if isinstance(data, bytes) else data.encode(errors="replace")):
        raise InvalidAnswer(f"it contains more than {MOST_JSON_VALUES:,} values")
    try:
        value: JsonValue = json.loads(data, parse_constant=_refuse, parse_float=_finite)
    except InvalidAnswer:
        raise
    except RecursionError:
        raise InvalidAnswer("it is nested too deeply") from None
    except ValueError as error:
        start = data[:600].decode(errors="replace") if isinstance(data, bytes) else data[:600]
        start += "…" if len(data) > 600 else ""  # a key may have been cut there
        if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
            raise InvalidAnswer(f"it is not JSON: {sanitize_line(start, 120)}") from None
        raise InvalidAnswer(sanitize_line(str(error))) from None
    if is_deeper(value, _DEEPEST):
        raise InvalidAnswer("it is nested too deeply")
    escape = b"\\ud" if isinstance(data, bytes) else "\\ud"
    return _without_surrogates(value) if escape in data.lower() else value  # type: ignore[operator]


def read_answer(value: JsonValue) -> AgentAnswer:
    """Parse the object `{output, tools_used, memory}`, which may have `usage` and `spans`. Raises InvalidAnswer."""
    if not isinstance(value, dict):
        raise InvalidAnswer(f"expected an object with output, tools_used and memory, got {_kind(value)}")
    if "output" not in value:
        if isinstance(value.get("error"), str):
            raise InvalidAnswer(f"it has an error instead of an output: {sanitize_line(str(value['error']))}")
        raise InvalidAnswer("it has no output")
    output, memory = value["output"], value.get("memory")
    if not isinstance(output, str):
        raise InvalidAnswer(f"output: expected a string, got {_kind(output)}")
    if memory is not None and not isinstance(memory, dict):
        raise InvalidAnswer(f"memory: expected an object, got {_kind(memory)}")
    tools = _read_tools(value.get("tools_used"))
    spans = next((value[name] for name in _SPANS if value.get(name)), None)
    trace = Trace() if spans is None else read_spans(spans)
    calls = (*trace.calls, *_without_span(tools, trace.calls)) if trace.calls else ()
    return AgentAnswer(output, tools, memory, calls, _read_usage(value.get("usage")) or trace.usage, trace.notes)


def _without_span(tools: Sequence[ToolUse], calls: Sequence[ToolUse]) -> Iterator[ToolUse]:
    """Yield the reported calls with details for which there are not as many spans of that name."""
    recorded = Counter(call.name for call in calls if call.kind == "tool")
    for tool in tools:
        if recorded[tool.name]:
            recorded[tool.name] -= 1
        elif tool.has_details:
            yield tool


def _read_usage(value: JsonValue) -> Usage | None:
    """Return the token counts that an agent reports, or None for what is none."""
    if not isinstance(value, dict):
        return None
    given = {field.name: value.get(field.name) for field in fields(Usage)}
    counts = {name: count for name, count in given.items() if isinstance(count, int) and not isinstance(count, bool)}
    return Usage(**counts) if counts else None


def _read_tools(value: JsonValue) -> tuple[ToolUse, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (ToolUse(value),)  # TestHaven accepts a string in place of a list of one.
    if not isinstance(value, list):
        raise InvalidAnswer(f"tools_used expected a list, got {_kind(value)}")
    return tuple(_read_tool(tool) for tool in value)


def _read_tool(value: JsonValue) -> ToolUse:
    if isinstance(value, str):
        return ToolUse(value)
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        arguments, result = _text_of(value.get("arguments")), _text_of(value.get("result"))
        return ToolUse(str(value["name"]), arguments, result, _milliseconds(value.get("duration_ms")))
    raise InvalidAnswer(f"tools_used: expected names or objects with a name, got {_kind(value)}")


def _text_of(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _milliseconds(value: JsonValue) -> float | None:
    """Return a duration, or None for what is none."""
    is_duration = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= _LONGEST_MS
    return float(value) if is_duration else None  # type: ignore[arg-type]


def _refuse(constant: str) -> float:
    raise InvalidAnswer(f"it contains {constant}, which is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise InvalidAnswer(f"it contains a number that is too large: {sanitize_line(digits, 40)}")
    return value


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
