"""Diffs and quotes stay readable and bounded, whatever comes."""

from hypothesis import given
from hypothesis import strategies as st

from tui.checks.messages import diff_lines, quote, words_for_values
from tui.checks.values import MISSING
from tui.model.values import JsonValue


def test_structures_are_shown_as_a_diff_of_their_json() -> None:
    got: JsonValue = {"b": [1, 2], "a": {"x": "é"}}
    expected: JsonValue = {"a": {"x": "é", "y": None}, "b": [1, 2]}
    assert words_for_values(expected, got).split("\n") == [
        'expected {"a": {"x": "é", "y": null}, "b": [1, 2]}',
        'got {"b": [1, 2], "a": {"x": "é"}}',
        "--- got",
        "+++ expected",
        "@@ -1,6 +1,7 @@",
        " {",
        '   "a": {',
        '-    "x": "é"',
        '+    "x": "é",',
        '+    "y": null',
        "   },",
        '   "b": [',
        "     1,",
    ]


def test_a_structure_that_is_missing_is_all_added() -> None:
    lines = words_for_values({"a": 1, "b": 2}, MISSING).split("\n")
    assert lines[:5] == ['expected {"a": 1, "b": 2}', "got missing", "--- got", "+++ expected", "@@ -0,0 +1,4 @@"]


def test_long_values_are_cut_on_their_line() -> None:
    assert quote("x" * 1_000_000) == '"' + "x" * 198 + "…"
    assert quote({"a": "y" * 500})[-1] == "…"
    assert len(quote({"a": "y" * 500})) == 200


def test_a_long_line_shows_the_part_that_differs() -> None:
    words = words_for_values("a" * 3_000 + "b", "a" * 3_000 + "c")
    assert "\n-…c\n+…b" in words
    assert len(words) < 2_500


def test_a_value_that_is_not_json_is_reported() -> None:
    deep: JsonValue = 1
    for _ in range(100_000):
        deep = [deep]
    assert "too deeply nested" in words_for_values(deep, 10**5_000)


def test_the_difference_may_lie_far_down() -> None:
    got = [str(number) for number in range(50_000)]
    lines = diff_lines(got, [*got[:40_000], "new", *got[40_000:]])
    assert lines[2] == "@@ -39998,6 +39998,7 @@"
    assert lines[3:] == [" 39997", " 39998", " 39999", "+new", " 40000", " 40001", " 40002"]


def test_texts_made_to_be_slow_to_compare() -> None:
    diff = words_for_values("\n".join(["a", "b"] * 500_000), "\n".join(["b", "a", "a"] * 500_000))
    assert len(diff) < 3_000
    assert "more lines" in diff


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.sampled_from("abc"), max_size=30))
def test_a_diff_turns_what_came_into_what_was_expected(got: list[str], expected: list[str]) -> None:
    rebuilt: list[str] = []
    at = 0
    for line in diff_lines(got, expected)[2:]:
        if line.startswith("@@"):
            start, _, size = line.split()[1][1:].partition(",")
            first = int(start) - (size != "0")
            rebuilt += got[at:first]
            at = first
        elif line.startswith("+"):
            rebuilt.append(line[1:])
        else:
            assert got[at] == line[1:]
            rebuilt += [got[at]] if line.startswith(" ") else []
            at += 1
    assert rebuilt + got[at:] == expected
