"""OpenTelemetry spans in an agent's answer. The files in `spans/` were recorded from SDKs, with a scripted server."""

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.work import is_linear
from tui.model.call_tree import call_lines
from tui.model.results import ToolUse, Usage
from tui.model.values import JsonValue
from tui.providers.agents.answers import read_answer
from tui.providers.agents.spans import MOST_CALLS, Trace, read_spans

RECORDED = Path(__file__).parent / "spans"


def recorded(name: str) -> JsonValue:
    found: JsonValue = json.loads((RECORDED / name).read_text())
    return found


def read(spans: Any) -> Trace:
    return read_spans(spans)


def span(name: str, id: str, parent: str = "", start: object = None, end: object = None, **attributes: Any) -> Any:
    """A span in OTLP/JSON; attributes are named with `_` for the last `.`."""
    pairs = [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in attributes.items()]
    made = {"traceId": "t", "spanId": id, "parentSpanId": parent, "name": name, "attributes": pairs}
    return {**made, "startTimeUnixNano": start, "endTimeUnixNano": end}


def tool(name: str, id: str, parent: str = "") -> Any:
    return span("", id, parent, gen_ai__operation__name="execute_tool", gen_ai__tool__name=name)


def outline(calls: tuple[ToolUse, ...]) -> list[tuple[str, str, int | None]]:
    return [(call.kind, call.name, call.parent) for call in calls]


TRAVEL = [("model", "chat gpt-5.2", 0), ("tool", "search_flights", 0), ("model", "chat gpt-5.2", 0)]


@pytest.mark.parametrize(
    ("name", "agent", "usage"),
    [
        ("openai.json", "invoke_agent Travel", Usage(200, 24)),
        ("pydantic.json", "invoke_agent travel", Usage(200, 24, None, 32)),
        ("sdk.json", "invoke_agent travel", Usage(200, 24, None, 32)),
    ],
)
def test_recorded_spans_are_the_calls_of_the_agent(name: str, agent: str, usage: Usage) -> None:
    trace = read(recorded(name))
    assert outline(trace.calls) == [("agent", agent, None), *TRAVEL]
    assert (trace.usage, trace.notes) == (usage, ())
    search = trace.calls[2]
    assert (json.loads(search.arguments), json.loads(search.result)) == ({"to": "Rome"}, ["AZ 204"])
    durations = [call.duration_ms or 0 for call in trace.calls]
    assert durations[0] >= max(durations[1:]) > 0


def test_messages_of_models_are_kept_where_they_were_recorded() -> None:
    _, first, _, last = read(recorded("pydantic.json")).calls
    assert "A flight to Rome, please." in first.arguments
    assert "AZ 204 leaves at 9:40." in last.result


def test_openinference_is_read_too() -> None:
    trace = read(recorded("openinference.json"))
    assert outline(trace.calls) == [("model", "ChatCompletion", None)]
    assert trace.usage == Usage(80, 12, None, 16)
    assert "gpt-5.2" in trace.calls[0].arguments


def test_an_answer_has_the_spans_and_the_tools_that_no_span_records() -> None:
    tools: list[JsonValue] = [
        "search_flights",
        {"name": "search_flights", "arguments": "again"},
        {"name": "book", "result": "ok"},
        "pay",
    ]
    answer = read_answer({"output": "o", "tools_used": tools, "spans": recorded("openai.json")})
    assert [each.name for each in answer.tools] == ["search_flights", "search_flights", "book", "pay"]
    assert answer.calls[4:] == (ToolUse("search_flights", "again"), ToolUse("book", result="ok"))
    assert answer.usage == Usage(200, 24)


def test_spans_are_no_tools_that_the_agent_says_it_used() -> None:
    assert read_answer({"output": "o", "spans": recorded("openai.json")}).tools == ()


def test_the_agents_own_usage_counts() -> None:
    usage: JsonValue = {"input_tokens": 1, "output_tokens": True, "reasoning_tokens": -1, "cached_tokens": "9", "x": 2}
    assert read_answer({"output": "o", "usage": usage, "spans": recorded("openai.json")}).usage == Usage(1)
    nothings: list[JsonValue] = [None, 7, [], {}, {"input_tokens": "many"}]
    for nothing in nothings:
        answer = read_answer({"output": "o", "usage": nothing, "spans": recorded("openai.json")})
        assert answer.usage == Usage(200, 24)
    assert read_answer({"output": "o"}).usage is None


@pytest.mark.parametrize("key", ["spans", "resourceSpans"])
def test_every_arrangement_of_spans_is_read(key: str) -> None:
    flat = [tool("b", "2", "1"), tool("a", "1")]
    scopes = [{"scope": {"name": "s"}, "spans": flat[:1]}, {"spans": flat[1:]}]
    documents: list[Any] = [flat, scopes, [{"scopeSpans": scopes}], {"resourceSpans": [{"scopeSpans": scopes}]}]
    for document in (*documents, [documents[3]]):
        answer = read_answer({"output": "o", key: document})
        assert outline(answer.calls) == [("tool", "a", None), ("tool", "b", 0)]
        assert answer.notes == ()


@pytest.mark.parametrize("nothing", [None, [], {}, {"resourceSpans": []}, [{"scopeSpans": []}], "", 0, False])
def test_no_spans_are_none(nothing: JsonValue) -> None:
    answer = read_answer({"output": "o", "spans": nothing})
    assert (answer.calls, answer.usage, answer.notes) == ((), None, ())


def test_what_is_no_span_is_left_out_with_a_note() -> None:
    broken: list[Any] = [7, "x", None, {"name": "no id"}, {"spanId": 5}, {"spanId": "0" * 16}, {"spanId": ""}]
    trace = read([*broken, tool("a", "1")])
    assert outline(trace.calls) == [("tool", "a", None)]
    assert trace.notes == ("7 spans of the agent could not be read",)
    assert read("spans").notes == ("1 span of the agent could not be read",)


def test_parents_that_are_missing_or_go_in_a_circle_make_roots() -> None:
    trace = read(
        [
            tool("lost", "1", "99"),
            tool("own", "2", "2"),
            tool("round", "3", "5"),
            tool("and", "4", "3"),
            tool("round again", "5", "4"),
            {**tool("other trace", "6", "1"), "traceId": "u"},
        ]
    )
    assert outline(trace.calls) == [
        ("tool", "lost", None),
        ("tool", "own", None),
        ("tool", "other trace", None),
        ("tool", "round", None),
        ("tool", "and", 3),
        ("tool", "round again", 4),
    ]


def test_ids_are_the_same_in_each_spelling() -> None:
    parent = {"name": "p", "context": {"trace_id": "0xAB", "span_id": "0x00CD"}, "parent_id": None}
    child = {"name": "c", "traceId": "ab", "spanId": "1", "parentSpanId": "00cd"}
    assert outline(read([child, parent]).calls) == [("other", "p", None), ("other", "c", 0)]


@pytest.mark.parametrize(
    ("start", "end", "duration"),
    [
        ("1544712660000000000", "1544712661500000000", 1_500.0),
        (1544712660000000000, 1544712660000250000, 0.25),
        (1.5e18, 1.5e18, 0.0),
        ("2026-11-22T10:00:00.000000Z", "2026-11-22T12:00:00.250000+02:00", 250.0),
        ("2", "1", None),  # ends before it starts
        ("0", "1", None),
        (-5, 5, None),
        ("1", "18446744073709551616", None),  # 2^64
        ("1", "9" * 5_000, None),
        ("1", "٣", None),
        (True, 5, None),
        ("1", float("inf"), None),
        ("1", "0001-01-01T00:00:00+23:59", None),
        ("yesterday", "2026-11-22", None),
        ([], {}, None),
        (None, None, None),
    ],
)
def test_durations_come_from_times_that_are_possible(start: object, end: object, duration: float | None) -> None:
    [call] = read([span("a", "1", start=start, end=end)]).calls
    assert call.duration_ms == duration


def test_siblings_are_in_the_order_of_their_start() -> None:
    spans = [span("c", "1"), span("b", "2", start="9"), span("a", "3", start=8)]
    assert [call.name for call in read(spans).calls] == ["a", "b", "c"]


def test_attributes_may_have_any_type() -> None:
    values = [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {
            "key": "gen_ai.tool.call.arguments",
            "value": {
                "kvlistValue": {
                    "values": [
                        {
                            "key": "a",
                            "value": {"arrayValue": {"values": [{"intValue": "7"}, {"boolValue": False}, {}]}},
                        },
                        {"key": "b", "value": {"doubleValue": 0.5}},
                        {"key": "c", "value": {"intValue": "many"}},
                        7,
                    ]
                }
            },
        },
        {"key": "gen_ai.tool.call.result", "value": {"bytesValue": "AA=="}},
    ]
    [call] = read([{"spanId": "1", "name": "execute_tool look", "attributes": values}]).calls
    assert (call.kind, call.name, call.result) == ("tool", "execute_tool look", "AA==")
    assert json.loads(call.arguments) == {"a": [7, False, None], "b": 0.5, "c": "many"}
    for attributes in (None, 7, "x", [7, {"key": "a"}, {}], {"gen_ai.operation.name": ["chat"]}):
        assert outline(read([{"spanId": "1", "attributes": attributes}]).calls) == [("other", "unnamed", None)]


@pytest.mark.parametrize(
    ("status", "result"),
    [
        ({"code": 2, "message": "timed out"}, "error: timed out"),
        ({"code": "STATUS_CODE_ERROR"}, "error: ValueError"),
        ({"status_code": "ERROR", "description": "no"}, "error: no"),
        ({"code": 1, "message": "fine"}, ""),
        ({}, ""),
        (7, ""),
        (None, ""),
    ],
)
def test_a_failed_span_says_so(status: object, result: str) -> None:
    [call] = read([{**span("a", "1", error__type="ValueError"), "status": status}]).calls
    assert call.result == result


def test_calls_of_models_tools_and_agents_are_kept_first() -> None:
    spans = [span(f"GET {number}", str(number), str(number - 1) if number else "") for number in range(300)]
    spans += [tool(f"tool {number}", f"a{number}", "299") for number in range(MOST_CALLS - 1)]
    spans += [tool("inner", "b", "a3"), tool("last", "c")]
    trace = read(spans)
    assert len(trace.calls) == MOST_CALLS
    assert all(call.kind == "tool" for call in trace.calls)
    assert trace.notes == ("301 spans of the agent left out; at most 200 are saved",)
    by_name = {call.name: call for call in trace.calls}
    assert by_name["inner"].parent == trace.calls.index(by_name["tool 3"])
    others = read(spans[:300])
    assert (len(others.calls), others.notes) == (200, ("100 spans of the agent left out; at most 200 are saved",))


def test_usage_is_of_the_outermost_calls_of_models_else_of_agents() -> None:
    def used(id: str, parent: str, operation: str, tokens: object) -> Any:
        count = {"key": "gen_ai.usage.input_tokens", "value": {"intValue": tokens}}
        kind = {"key": "gen_ai.operation.name", "value": {"stringValue": operation}}
        return {"spanId": id, "parentSpanId": parent, "attributes": [kind, count]}

    spans = [
        used("1", "", "invoke_agent", "100"),
        used("2", "1", "chat", "30"),
        used("3", "2", "chat", "30"),  # the client of the same request
        used("4", "1", "generate_content", 5),
        used("5", "1", "chat", "-7"),
        used("6", "1", "embeddings", "70"),
    ]
    assert read(spans).usage == Usage(35)
    assert read([spans[0], used("7", "1", "invoke_agent", "40")]).usage == Usage(100)
    assert read([used("1", "", "chat", str(2**53)), used("2", "", "chat", "1")]).usage == Usage()
    assert read([tool("a", "1")]).usage is None


def test_random_documents_are_read_without_an_error() -> None:
    chance = random.Random(7)
    scraps: list[Any] = [None, True, -1, 1e308, "", "x", "0x1", "1", [], {}, "\x1b[2J", 2**70]
    keys = (
        "spans scopeSpans spanId parentSpanId traceId context name attributes key value intValue status code start_time"
    )

    def document(depth: int) -> Any:
        if depth == 0 or chance.random() < 0.2:
            return chance.choice(scraps)
        if chance.random() < 0.5:
            return [document(depth - 1) for _ in range(chance.randrange(4))]
        return {key: document(depth - 1) for key in chance.sample(keys.split(), 5)}

    for _ in range(2_000):
        trace = read(document(6))
        assert all(call.parent is None or call.parent < place for place, call in enumerate(trace.calls))
        call_lines(trace.calls)


def test_the_cost_is_linear_in_the_number_of_spans() -> None:
    def chain(count: int) -> Any:
        return [tool(f"t{number}", str(number), str(number - 1)) for number in range(count)]

    assert is_linear(lambda count: partial(read, chain(count)), 500)
