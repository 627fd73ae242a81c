"""The calls of an answer as lines of a tree."""

from tui.model.call_tree import call_lines
from tui.model.results import ToolUse


def test_calls_are_shown_below_the_call_that_made_them() -> None:
    calls = [
        ToolUse("invoke_agent Travel", duration_ms=2_000.4, kind="agent"),
        ToolUse("chat gpt", duration_ms=800, kind="model", parent=0, result="call search"),
        ToolUse("search", '{"to": "Rome"}', "2 flights\nfound", 1_204.4, parent=0),
        ToolUse("fetch", duration_ms=3, parent=2),
        ToolUse("end"),
    ]
    assert call_lines(calls) == [
        "invoke_agent Travel · 2,000 ms",
        "├ chat gpt · 800 ms",
        "│ └ result: call search",
        "└ search · 1,204 ms",
        '  ├ arguments: {"to": "Rome"}',
        "  ├ result: 2 flights",
        "  │   found",
        "  └ fetch · 3 ms",
        "end",
    ]


def test_each_call_is_shown_once_whatever_its_parent_says() -> None:
    parents = [0, 2, 1, -1, 99, None, 5]
    calls = [ToolUse(f"call {place}", parent=parent) for place, parent in enumerate(parents)]
    lines = call_lines(calls)
    assert sorted(line.rpartition("call ")[2] for line in lines) == list("0123456")
    assert lines[-1] == "└ call 6"


def test_a_long_chain_is_indented_up_to_a_limit() -> None:
    lines = call_lines([ToolUse("call", parent=place - 1 if place else None) for place in range(20_000)])
    assert len(lines) == 20_000
    assert max(map(len, lines)) < 60
