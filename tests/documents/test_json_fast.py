"""The fast reader of JSON: positions of some values, and texts that it leaves to the exact reader."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tui.documents.json_fast import read_quickly, tree_at
from tui.documents.json_reader import ExactJson
from tui.documents.positions import Path, offset_of
from tui.documents.problems import MOST_DEPTH, MOST_VALUES

VALUE: Any = {
    "a": [1, {"b": None, "": [], "c\\": {"d": ']}"'}}, [], [[{"e": 0.5}]]],
    "text: {": "é\u2028",
    "testCases": [{"id": str(number), "vars": [{"x": "1"}, {}]} for number in range(5)],
}


def paths(value: Any, at: Path = ()) -> Iterator[Path]:
    yield at
    for step, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from paths(item, (*at, step))


@pytest.mark.parametrize("indent", [None, 2, "\t"])
@pytest.mark.parametrize("seed", range(20))
def test_positions_are_those_of_the_exact_reader(indent: int | str | None, seed: int) -> None:
    text = f" \n{json.dumps(VALUE, indent=indent, ensure_ascii=False)}\r\n"
    exact = ExactJson(text)
    assert exact.read()
    chance = random.Random(seed)
    missing: list[Path] = [("a", 9), ("a", "b"), ("none",), ("testCases", 1, "name"), ("text: {", 0)]
    some = chance.sample([*paths(VALUE), *missing], chance.randint(1, 12))
    tree = tree_at(text, some)
    for path in some:
        for at_key in (False, True):
            assert offset_of(tree, path, at_key) == offset_of(exact.tree, path, at_key), path


def nested(levels: int) -> str:
    return '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


def test_a_text_with_too_many_values_is_not_parsed() -> None:
    text = '{"testCases": [' + "{}," * MOST_VALUES + "{}]}"
    assert read_quickly(text.encode()) is None
    exact = ExactJson(text)
    assert not exact.read()
    assert [finding.what for finding in exact.findings] == ["contains more than 500,000 values; split the file"]


@pytest.mark.parametrize(
    ("text", "is_regular"),
    [
        (json.dumps(VALUE), True),
        ('{"a": 1, "b": {"a": 1}}', True),
        ('{"a": ":", "b\\\\": "x\\": 1"}', True),
        ('{"a": 1, "a": 1}', False),
        ('{"a": [{"b": 1, "b": 2}]}', False),
        ('{"a": 1.5, "b": 1e999}', False),
        (nested(MOST_DEPTH), True),
        (nested(MOST_DEPTH + 1), False),
        pytest.param(json.dumps({"a": [0] * (MOST_VALUES - 2)}), True, marks=pytest.mark.long),
        (json.dumps({"a": [0] * (MOST_VALUES - 1)}), False),
    ],
    ids=range(10),
)
def test_what_the_exact_reader_refuses_is_not_regular(text: str, is_regular: bool) -> None:
    quick = read_quickly(text.encode())
    assert quick is not None
    assert quick.is_regular() == is_regular
    exact = ExactJson(text)
    assert (exact.read() and not exact.findings) == is_regular
