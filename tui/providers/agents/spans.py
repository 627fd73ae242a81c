"""OpenTelemetry spans in an agent's answer: the calls of models, tools and agents that they record, as a tree.

Spans are read as OTLP/JSON, or as the SDK of Python prints them. Attributes are those of the GenAI semantic conventions
and, for spans without an operation, of OpenInference.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tui.model.results import CallKind, ToolUse, Usage
from tui.model.values import JsonObject, JsonValue

_MOST_READ, MOST_CALLS = 2_000, 200  # of one answer: spans that are read, and calls that are kept
_MOST_MS = 2**53
_OPERATIONS: Mapping[str, CallKind] = {
    "chat": "model",
    "text_completion": "model",
    "generate_content": "model",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "agent",
    "invoke_workflow": "agent",
}
_OPENINFERENCE: Mapping[str, CallKind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.input.messages", "input.value")
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.output.messages", "output.value")
_COUNTS: Mapping[str, tuple[str, ...]] = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
    "cached_tokens": ("gen_ai.usage.cache_read.input_tokens", "llm.token_count.prompt_details.cache_read"),
    "cache_writing_tokens": (
        "gen_ai.usage.cache_creation.input_tokens",
        "llm.token_count.prompt_details.cache_write",
    ),
}
_NO_SPAN = "0" * 16
_SCALARS = ("stringValue", "boolValue", "intValue", "doubleValue", "bytesValue")


@dataclass(frozen=True, slots=True)
class Trace:
    """The calls that spans record, callers first; the tokens that their models used; notes about what was left out."""

    calls: tuple[ToolUse, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Span:
    key: tuple[str, str]  # of the trace, and of the span in it
    parent: tuple[str, str] | None
    start: int | None
    call: ToolUse  # without its parent
    attributes: Mapping[str, JsonValue]


def read_spans(value: JsonValue) -> Trace:
    """Return the calls that the spans of an answer record.

    `value` is an OTLP/JSON document (`{"resourceSpans": […]}`), or a list of such documents, of their parts, or of
    spans. What is no span is left out with a note: a broken trace is no reason to lose an answer.
    """
    spans: list[_Span] = []
    unread = beyond = 0
    for found in _find_spans(value):
        if len(spans) == _MOST_READ:
            beyond += 1
        elif (span := _read_span(found)) is None:
            unread += 1
        else:
            spans.append(span)
    ordered = _callers_first(spans)
    kept = _choose(ordered)
    notes = [f"{_count(unread)} of the agent could not be read"] if unread else []
    if left_out := len(spans) - len(kept) + beyond:
        notes.append(f"{_count(left_out)} of the agent left out; at most {MOST_CALLS} are saved")
    return Trace(_link(ordered, kept), _usage_of(ordered), tuple(notes))


def _count(spans: int) -> str:
    return f"{spans:,} span{'' if spans == 1 else 's'}"


def _find_spans(value: JsonValue) -> Iterator[JsonValue]:
    """Yield every value at a place where a span is expected, in order."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack += reversed(item)
        elif isinstance(item, dict) and (
            inner := [item[name] for name in ("resourceSpans", "scopeSpans", "spans") if name in item]
        ):
            stack += reversed(inner)
        elif item != {}:  # an OTLP/JSON document without spans
            yield item


def _read_span(value: JsonValue) -> _Span | None:
    if not isinstance(value, dict):
        return None
    context = value.get("context")
    own = context if isinstance(context, dict) else value  # the SDK of Python puts the ids into an object
    trace, span = (_id_of(own, *names) for names in (("traceId", "trace_id"), ("spanId", "span_id")))
    if not span:
        return None
    parent = _id_of(value, "parentSpanId", "parent_span_id", "parent_id")
    attributes = _attributes_of(value.get("attributes"))
    start = _nanoseconds(value.get("startTimeUnixNano", value.get("start_time")))
    end = _nanoseconds(value.get("endTimeUnixNano", value.get("end_time")))
    kind = _kind_of(attributes)
    call = ToolUse(
        _name_of(value, kind, attributes),
        _first_text(attributes, _ARGUMENTS),
        _first_text(attributes, _RESULTS) or _error_of(value.get("status"), attributes),
        _duration_ms(start, end),
        kind,
    )
    return _Span((trace, span), (trace, parent) if parent else None, start, call, attributes)


def _id_of(value: JsonObject, *names: str) -> str:
    """Return an id in one spelling: hexadecimal without `0x`, in lower case; empty if there is none."""
    found = next((value[name] for name in names if value.get(name)), "")
    written = found.lower().removeprefix("0x") if isinstance(found, str) else ""
    return "" if written == _NO_SPAN else written[:64]


def _attributes_of(value: JsonValue) -> dict[str, JsonValue]:
    """Return attributes by name, written as in OTLP/JSON (a list of keys and values) or as an object."""
    if isinstance(value, dict):
        return value
    pairs = value if isinstance(value, list) else []
    return {str(pair["key"]): _plain(pair.get("value")) for pair in pairs if isinstance(pair, dict) and "key" in pair}


def _plain(value: JsonValue) -> JsonValue:
    """Return the value that an OTLP/JSON `AnyValue` contains. 64-bit integers are written as strings."""
    if not isinstance(value, dict):
        return value
    for name in _SCALARS:
        if name in value:
            inner = value[name]
            count = _integer(inner) if name == "intValue" else None
            return inner if count is None else count
    if isinstance(array := value.get("arrayValue"), dict):
        values = array.get("values")
        return [_plain(item) for item in values] if isinstance(values, list) else []
    if isinstance(pairs := value.get("kvlistValue"), dict):
        return _attributes_of(pairs.get("values"))
    return None


def _kind_of(attributes: Mapping[str, JsonValue]) -> CallKind:
    operation, other = attributes.get("gen_ai.operation.name"), attributes.get("openinference.span.kind")
    if isinstance(operation, str):
        return _OPERATIONS.get(operation, "other")
    return _OPENINFERENCE.get(other.upper(), "other") if isinstance(other, str) else "other"


def _name_of(value: JsonObject, kind: CallKind, attributes: Mapping[str, JsonValue]) -> str:
    tool = _first_text(attributes, ("gen_ai.tool.name", "tool.name")) if kind == "tool" else ""
    name = value.get("name")
    return tool or (name if isinstance(name, str) else "") or "unnamed"


def _first_text(attributes: Mapping[str, JsonValue], names: Sequence[str]) -> str:
    value = next((attributes[name] for name in names if attributes.get(name) is not None), "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _error_of(status: JsonValue, attributes: Mapping[str, JsonValue]) -> str:
    """Return how a span failed, empty if it did not."""
    if not isinstance(status, dict) or status.get("code", status.get("status_code")) not in (
        2,
        "STATUS_CODE_ERROR",
        "ERROR",
    ):
        return ""
    message = _first_text(status, ("message", "description")) or _first_text(attributes, ("error.type",))
    return f"error: {message}" if message else "error"


def _nanoseconds(value: JsonValue) -> int | None:
    """Return a time in nanoseconds since 1970, written as a number, as a string of digits, or in ISO 8601."""
    if (count := _integer(value)) is not None:
        return count if 0 < count < 2**64 else None
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    microseconds = (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return microseconds * 1_000 if microseconds > 0 else None


def _integer(value: JsonValue) -> int | None:
    if isinstance(value, str):
        return int(value) if len(value) <= 20 and value.isascii() and value.isdigit() else None
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _duration_ms(start: int | None, end: int | None) -> float | None:
    if start is None or end is None or not 0 <= end - start <= _MOST_MS * 1_000_000:
        return None
    return (end - start) / 1_000_000


def _callers_first(spans: Sequence[_Span]) -> list[tuple[_Span, int | None]]:
    """Return each span with the index of its caller in the result, which comes before it; siblings by their start.

    A span without a known parent is a root. Of spans that call each other in a circle, the earliest is one.
    """
    order = sorted(range(len(spans)), key=lambda place: (spans[place].start is None, spans[place].start or 0))
    by_key: dict[tuple[str, str], int] = {}
    for place in range(len(spans)):
        by_key.setdefault(spans[place].key, place)
    below: dict[int, list[int]] = {}
    roots: list[int] = []
    for place in order:
        key = spans[place].parent
        caller = by_key.get(key) if key else None
        (roots if caller is None or caller == place else below.setdefault(caller, [])).append(place)
    found: list[tuple[_Span, int | None]] = []
    seen: set[int] = set()
    for root in (*roots, *order):  # after the roots, only circles are left
        stack: list[tuple[int, int | None]] = [(root, None)]
        while stack:
            place, caller = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            found.append((spans[place], caller))
            above = len(found) - 1
            stack += ((inner, above) for inner in reversed(below.get(place, [])))
    return found


def _choose(ordered: Sequence[tuple[_Span, int | None]]) -> list[int]:
    """Return the indices of the spans to keep: all, else the first calls of models, tools and agents."""
    if len(ordered) <= MOST_CALLS:
        return list(range(len(ordered)))
    known = [place for place, (span, _) in enumerate(ordered) if span.call.kind != "other"]
    return (known or list(range(len(ordered))))[:MOST_CALLS]


def _link(ordered: Sequence[tuple[_Span, int | None]], kept: Sequence[int]) -> tuple[ToolUse, ...]:
    """Return the kept calls, each below the nearest of its callers that is kept."""
    places = {place: number for number, place in enumerate(kept)}
    nearest: list[int | None] = []  # of each span: itself if it is kept, else the nearest caller that is
    calls: list[ToolUse] = []
    for place, (span, caller) in enumerate(ordered):
        above = None if caller is None else nearest[caller]
        nearest.append(places.get(place, above))
        if place in places:
            calls.append(replace(span.call, parent=above))
    return tuple(calls)


def _usage_of(ordered: Sequence[tuple[_Span, int | None]]) -> Usage | None:
    """Return the tokens of all calls of models that no other one contains, else those of the outermost agents."""
    kinds: tuple[CallKind, CallKind] = ("model", "agent")
    for kind in kinds:
        total: Counter[str] = Counter()
        inside: list[bool] = []  # of each span: whether one of its kind contains it or is it
        for span, caller in ordered:
            is_inner = caller is not None and inside[caller]
            is_own = span.call.kind == kind
            inside.append(is_inner or is_own)
            if is_own and not is_inner:
                total.update(_counts_of(span.attributes))
        if total:
            return Usage(**total)
    return None


def _counts_of(attributes: Mapping[str, JsonValue]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for field, names in _COUNTS.items():
        count = next((_integer(attributes[name]) for name in names if name in attributes), None)
        if count is not None and 0 <= count <= 2**53:
            counts[field] = count
    return counts
