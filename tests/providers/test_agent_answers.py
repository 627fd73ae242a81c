"""What an agent answered, read strictly."""

import json

import pytest

from tui.model.results import ToolUse
from tui.providers.agents.answers import AgentAnswer, InvalidAnswer, parse_json, read_answer


def test_everything_is_read() -> None:
    tools = ["A", {"name": "B", "id": 1}, {"name": "C", "arguments": "raw"}, {"name": "D", "arguments": [1]}]
    given = json.dumps({"output": "o", "tools_used": tools, "memory": {"a": {"b": [None, 1.5]}}, "more": 1})
    assert read_answer(parse_json(given)) == AgentAnswer(
        "o", (ToolUse("A"), ToolUse("B"), ToolUse("C", "raw"), ToolUse("D", "[1]")), {"a": {"b": [None, 1.5]}}
    )


def test_tools_as_text_are_a_list_of_it() -> None:
    assert read_answer({"output": "o", "tools_used": "Search"}) == AgentAnswer("o", (ToolUse("Search"),), None)


@pytest.mark.parametrize("given", [{"output": ""}, {"output": "", "tools_used": None, "memory": None}])
def test_what_is_omitted_is_empty_or_none(given: dict[str, None]) -> None:
    assert read_answer(dict(given)) == AgentAnswer("", (), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is not JSON: "),
        ("hello\x1b[2J", "it is not JSON: hello␛[2J"),
        (b"\xff\xfe", "it is not JSON: "),
        ('{"output": NaN}', "it contains NaN, which is not JSON"),
        ('{"output": -Infinity}', "it contains -Infinity, which is not JSON"),
        ('{"n": 1e999}', "it contains a number that is too large: 1e999"),
        ('{"n": ' + "9" * 5000 + "}", "4300"),
        ("[" + "{}," * 500_001 + "0]", "it contains more than 500,000 values"),
        ("[" * 65 + "]" * 65, "it is nested too deeply"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"a":' * 65 + "1" + "}" * 65, "it is nested too deeply"),
    ],
)
def test_what_is_no_json_is_an_invalid_answer(text: str | bytes, message: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        parse_json(text)
    assert message in str(caught.value)


def test_sixty_four_levels_are_fine() -> None:
    assert parse_json("[" * 64 + "]" * 64)


def test_lone_surrogates_are_replaced_and_pairs_joined() -> None:
    value = parse_json(rb'{"\ud800": ["\uDFFF", "\ud83d\ude00", "\\ud800"]}')
    assert value == {"?": ["?", "\U0001f600", "\\ud800"]}
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "expected an object with output, tools_used and memory, got null"),
        ("text", "got text"),
        (True, "got true or false"),
        ({}, "it has no output"),
        ({"error": "no flights"}, "it has an error instead of an output: no flights"),
        ({"output": None}, "output: expected a string, got null"),
        ({"output": ["a"]}, "output: expected a string, got a list"),
        ({"output": "", "memory": "m"}, "memory: expected an object, got text"),
        ({"output": "", "tools_used": {"name": "A"}}, "tools_used expected a list, got an object"),
        ({"output": "", "tools_used": [{}]}, "tools_used: expected names or objects with a name, got an object"),
        ({"output": "", "tools_used": [{"name": 1}]}, "got an object"),
        ({"output": "", "tools_used": [None]}, "got null"),
    ],
)
def test_an_answer_of_another_shape_is_invalid(value: object, message: str) -> None:
    with pytest.raises(InvalidAnswer) as caught:
        read_answer(value)  # type: ignore[arg-type]
    assert message in str(caught.value)
