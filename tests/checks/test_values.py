"""Dotted paths into memory, and equality of JSON values."""

import pytest

from tui.checks.values import MISSING, same, value_at
from tui.model.values import JsonValue

MEMORY: JsonValue = {
    "a": {"b": {"c": 1}, "n": None},
    "a.b": {"d": 2, "c": "never"},
    "x.y": {"z.w": True},
    "items": [{"name": "first"}, ["deep"]],
    "": "empty",
    "end.": 3,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b.c", 1),
        ("a.b.d", 2),
        ("a.b", {"c": 1}),
        ("a.n", None),
        ("x.y.z.w", True),
        ("items.0.name", "first"),
        ("items.1.0", "deep"),
        ("", "empty"),
        ("end.", 3),
    ],
)
def test_a_path_leads_to_its_value(path: str, value: JsonValue) -> None:
    assert value_at(MEMORY, path) == value


@pytest.mark.parametrize(
    "path", ["q", "a.q", "a.b.c.d", "a.n.x", "items.2", "items.-1", "items.x", "items.٠", "items.0.name.0", "a..b", "."]
)
def test_a_path_that_leads_nowhere_is_missing(path: str) -> None:
    assert value_at(MEMORY, path) is MISSING


@pytest.mark.parametrize("memory", [None, 1, "text", [], {}])
def test_there_is_nothing_in_what_is_no_object(memory: JsonValue) -> None:
    assert value_at(memory, "a") is MISSING


def test_a_path_with_many_readings_is_found_missing_at_once() -> None:
    memory: JsonValue = None
    for _ in range(40):
        memory = {"a": memory, "a.a": memory}
    assert value_at(memory, ".".join(["a"] * 60 + ["b"])) is MISSING


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, None),
        (1, 1.0),
        ("é", "é"),
        ([], []),
        ({"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1}),
        (10**30, 10**30),
        (0.0, -0.0),
    ],
)
def test_equal_values(one: JsonValue, other: JsonValue) -> None:
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, 1),
        (False, 0),
        (False, None),
        (0, None),
        ("", None),
        ("1", 1),
        ([], {}),
        ([1, 2], [2, 1]),
        ([1], [1, 1]),
        ({"a": None}, {}),
        ({"a": [1]}, {"a": [True]}),
        ("é", "e\u0301"),
    ],
)
def test_unequal_values(one: JsonValue, other: JsonValue) -> None:
    assert not same(one, other)
    assert not same(other, one)


def test_what_is_missing_equals_null_and_nothing_else() -> None:
    assert same(MISSING, None)
    others: list[JsonValue] = [False, 0, "", [], {}]
    assert not any(same(MISSING, value) for value in others)


def test_deep_values_are_compared() -> None:
    one: JsonValue = 1
    other: JsonValue = 1
    for _ in range(100_000):
        one, other = [one], [other]
    assert same(one, other)
