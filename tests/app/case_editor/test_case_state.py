"""The value of a case in the form: only what was changed differs, and faults are found at their field or check."""

import json
from copy import deepcopy
from typing import Any

import pytest

from tui.app.case_editor.case_state import KIND_NOTES, CaseState, CheckEntry, check_line
from tui.app.presentation.pieces import text_of
from tui.model.values import JsonObject, JsonValue

CASE: JsonObject = {
    "id": "a",
    "name": "A",
    "category": "C",
    "prompt": "one\ntwo\n",
    "tags": ["x", "y, z"],
    "codeContext": [
        {"filePath": "a.py", "language": "python"},
        {"filePath": "b.py", "lineRange": {"start": 1, "end": 9}, "content": "b"},
    ],
    "expectedPatterns": ["one", "two"],
    "assertions": [{"type": "latency", "threshold": 5}, {"type": "equals", "value": {"a": 1}}],
    "minPassRate": 0.5,
}
TEST: JsonObject = {
    "description": "T",
    "steps": [
        {"input": "i", "assert": {"output.includes": "x", "tools_used": ["a"]}},
        {"input": "j", "expected": {"output": "k"}},
    ],
}


def texts_of(state: CaseState) -> dict[str, str]:
    return {field.name: state.text_of(field) for field in state.fields}


@pytest.mark.parametrize("value", [CASE, TEST])
def test_without_a_change_the_value_is_that_of_the_file(value: JsonObject) -> None:
    state = CaseState("schema-1.0.0" if value is CASE else "testhaven", deepcopy(value))
    assert state.value_with(texts_of(state)) == value
    state.checks[0] = state.changed_check(state.checks[0], state.checks[0].kind, "other", "")
    state.checks[0] = state.changed_check(state.checks[0], state.checks[0].kind, state.first_checks[0].text, "")
    assert state.value_with(texts_of(state)) == value


@pytest.mark.parametrize(
    ("name", "text", "key", "expected"),
    [
        ("prompt", "three", "prompt", "three"),
        ("prompt", "", "prompt", ""),
        ("expectedBehavior", "good", "expectedBehavior", "good"),
        ("tags", 'x, "y, z", w', "tags", ["x", "y, z", "w"]),
        ("tags", "", "tags", None),
        ("codeContext", "c.py\nb.py:1-9", "codeContext", [{"filePath": "c.py", "language": "python"}, "B"]),
        ("codeContext", "b.py:1-9", "codeContext", ["B"]),
        ("codeContext", "b.py:1-9\nc.py:3-4\nd.py", "codeContext", ["B", "C", {"filePath": "d.py"}]),
    ],
)
def test_a_changed_text_changes_its_key(name: str, text: str, key: str, expected: Any) -> None:
    state = CaseState("schema-1.0.0", deepcopy(CASE))
    value = state.value_with({**texts_of(state), name: text})
    files: Any = CASE["codeContext"]
    known = {"B": files[1], "C": {"filePath": "c.py", "lineRange": {"start": 3, "end": 4}}}
    if isinstance(expected, list):
        expected = [known.get(each, each) if isinstance(each, str) else each for each in expected]
    assert value.get(key) == expected
    assert {k: v for k, v in value.items() if k != key} == {k: v for k, v in CASE.items() if k != key}


OLD: JsonObject = {"filePath": "a.py", "content": "old"}
NEW: JsonObject = {"filePath": "a.py", "content": "new", "language": "python"}
SPACE: JsonObject = {"filePath": " b.py", "content": "b"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("c.py\na.py\na.py\n b.py", [{"filePath": "c.py"}, OLD, NEW, SPACE]),
        ("a.py\nb.py\na.py", [OLD, SPACE, NEW]),
        ("a.py\na.py\na.py\nb.py", [OLD, NEW, {"filePath": "a.py"}, SPACE]),
        ("a.py\nc.py\nb.py", [OLD, {**NEW, "filePath": "c.py"}, SPACE]),
        ("c.py\na.py\nb.py", [{**OLD, "filePath": "c.py"}, NEW, SPACE]),
        ("b.py\na.py\na.py", [SPACE, OLD, NEW]),
        ("b.py", [SPACE]),
        ("a.py\na.py", [OLD, NEW]),
    ],
)
def test_files_keep_what_the_form_does_not_show(text: str, expected: list[JsonValue]) -> None:
    state = CaseState("schema-1.0.0", {**CASE, "codeContext": [OLD, NEW, SPACE]})
    assert state.value_with({**texts_of(state), "codeContext": text})["codeContext"] == expected
    assert state.unclear_files({"codeContext": text}) == {}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("b.py\na.py", 1, "the suite file has different entries of this file"),
        ("a.py\na.py\nc.py\nd.py", 2, "in place of  b.py, with its content, or beside it"),
        ("b.py\na.py\nc.py", 2, "in place of a.py, with its content, or beside it"),
        ("c.py", 0, "in place of a.py, with its content, or beside it"),
    ],
)
def test_an_edit_that_would_lose_what_the_form_does_not_show_is_unclear(text: str, line: int, what: str) -> None:
    state = CaseState("schema-1.0.0", {**CASE, "codeContext": [OLD, NEW, SPACE]})
    ((path, found),) = state.unclear_files({"codeContext": text}).items()
    assert path == ("codeContext", line)
    assert what in found
    assert state.unclear_files(texts_of(state)) == {}


def test_white_space_at_the_ends_of_a_text_is_a_part_of_it() -> None:
    state = CaseState("schema-1.0.0", {**CASE, "prompt": "keep\n\n\n"})
    assert state.value_with({**texts_of(state), "prompt": "  keep\n"})["prompt"] == "  keep\n"


def test_checks_are_added_changed_and_removed() -> None:
    state = CaseState("schema-1.0.0", deepcopy(CASE))
    first, _, latency, equals = state.checks
    state.checks = [
        state.changed_check(first, "forbidden", "one", ""),
        CheckEntry("word-count", '{"max": 9}'),
        state.changed_check(latency, "latency", "", "2.5"),
        state.changed_check(equals, "equals", '{"a": 2}', ""),
    ]
    value = state.value_with(texts_of(state))
    assert "expectedPatterns" not in value
    assert value["forbiddenPatterns"] == ["one"]
    assert value["assertions"] == [
        {"type": "word-count", "value": {"max": 9}},
        {"type": "latency", "threshold": 2.5},
        {"type": "equals", "value": {"a": 2}},
    ]


def test_checks_of_a_step_have_keys_of_their_own() -> None:
    state = CaseState("testhaven", deepcopy(TEST))
    state.checks.insert(1, CheckEntry("output.includes", "y"))
    state.checks[2] = state.changed_check(state.checks[2], "tools_used", '["b"]', "")
    value: Any = state.value_with({**texts_of(state), "input 2": "k"})
    assert value["steps"][0]["assert"] == {"output.includes": "x", "output.includes.2": "y", "tools_used": ["b"]}
    assert value["steps"][1] == {"input": "k", "expected": {"output": "k"}}


def test_a_fault_is_at_its_field_or_check() -> None:
    state = CaseState("schema-1.0.0", deepcopy(CASE))
    assert state.place_of(("prompt",)) == "prompt"
    assert state.place_of(("codeContext", 1, "filePath")) == "codeContext"
    assert state.place_of(("expectedPatterns", 1)) == 1
    assert state.place_of(("assertions", 1, "value")) == 3
    assert state.place_of(("data",)) == ""
    assert CaseState("testhaven", deepcopy(TEST)).place_of(("steps", 0, "assert", "tools_used")) == 1
    assert text_of(check_line(state.checks[2], "", 80)).split() == ["latency", "limit", "5"]
    assert "is wrong" in text_of(check_line(state.checks[2], "is wrong", 80))


def test_a_field_that_cannot_be_displayed_is_refused() -> None:
    state = CaseState("schema-1.0.0", {**CASE, "name": "a\nb", "prompt": "a\u200bb", "category": "C" * 30_000})
    refused = [field.name for field in state.fields if state.refusal(field)]
    assert refused == ["name", "category", "prompt"]


def test_the_checks_of_the_file_are_adopted_and_other_edits_stay() -> None:
    state = CaseState("schema-1.0.0", deepcopy(CASE))
    state.checks.append(CheckEntry("expected", "new"))
    now: JsonObject = {**json.loads(json.dumps(CASE)), "expectedPatterns": ["1", "two"], "name": "B"}
    state.adopt_checks(now)
    assert [entry.text for entry in state.checks][:2] == ["1", "two"]
    assert state.checks[-1].text == "new"
    assert state.base["name"] == "A"
    assert state.value_with(texts_of(state))["expectedPatterns"] == ["1", "two", "new"]
    assert state.other_keys() == ["minPassRate"]


def test_one_of_two_equal_checks_is_adopted_in_its_place() -> None:
    case: JsonObject = {**json.loads(json.dumps(CASE)), "expectedPatterns": ["ok", "ok"]}
    state = CaseState("schema-1.0.0", case)
    assert [state.place_in_file(entry) for entry in state.checks[:2]] == [0, 1]
    state.adopt_checks({**case, "expectedPatterns": ["ok", "okX"]})
    assert [entry.text for entry in state.checks[:2]] == ["ok", "okX"]


@pytest.mark.parametrize("value", [CASE, TEST])
def test_every_kind_of_check_is_described(value: JsonObject) -> None:
    state = CaseState("testhaven" if value is TEST else "schema-1.0.0", value)
    kinds = {*state.kinds, *(check.kind for check in state.checks)}
    assert kinds <= set(KIND_NOTES)
