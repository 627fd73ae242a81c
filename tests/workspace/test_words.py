"""Which words of a line changed."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.workspace.words import changed_words


def marked(old: str, new: str) -> tuple[list[str], list[str]]:
    before, after = changed_words(old, new)
    return [old[low:high] for low, high in before], [new[low:high] for low, high in after]


@pytest.mark.parametrize(
    ("old", "new", "removed", "added"),
    [
        ("same", "same", [], []),
        ("", "new", [], ["new"]),
        ("old", "", ["old"], []),
        ("return foo(bar) + 1", "return foo(baz) + 2", ["bar", "1"], ["baz", "2"]),
        ("f(a: int)", "f(a: int, b: str)", [], [", b: str"]),
        ("one two three", "one four five three", ["two"], ["four five"]),
        ("x = 日本", "x = 日光", ["日本"], ["日光"]),
        ("a😀b", "a😁b", ["😀"], ["😁"]),
        ("\tif x:", "    if x:", ["\t"], ["    "]),
        ("a", "b", ["a"], ["b"]),
    ],
)
def test_changed_words_are_marked(old: str, new: str, removed: list[str], added: list[str]) -> None:
    assert marked(old, new) == (removed, added)


def test_a_very_long_line_is_marked_from_first_to_last_difference() -> None:
    old = "a" * 5_000 + "1" + "b" * 5_000
    assert changed_words(old, old.replace("1", "22")) == (((5_000, 5_001),), ((5_000, 5_002),))


def test_the_number_of_edits_limits_the_search_for_common_words() -> None:
    old, new = "a x " * 7, "a y " * 7
    assert changed_words(old, new) == (((2, 27),), ((2, 27),))
    before, after = changed_words(old, new, most_edits=14)
    assert before == after == tuple((at, at + 1) for at in range(2, 28, 4))


@given(st.text(alphabet="ab (.)", max_size=40), st.text(alphabet="ab (.)", max_size=40))
def test_what_is_not_marked_is_the_same_in_both(old: str, new: str) -> None:
    before, after = changed_words(old, new)
    for text, spans in ((old, before), (new, after)):
        places = [place for span in spans for place in span]
        assert places == sorted(set(places)) or all(low < high for low, high in spans)
        assert all(0 <= low < high <= len(text) for low, high in spans)

    def rest(text: str, spans: tuple[tuple[int, int], ...]) -> str:
        kept = [
            text[low:high]
            for low, high in zip([0, *(s[1] for s in spans)], [*(s[0] for s in spans), None], strict=True)
        ]
        return "".join("".join(kept).split())

    assert rest(old, before) == rest(new, after)
    if old != new:
        assert before or after


@given(st.lists(st.sampled_from("xyz"), max_size=5), st.lists(st.sampled_from("xyz"), max_size=5))
def test_no_more_is_marked_than_has_to_be(old: list[str], new: list[str]) -> None:
    before, _ = changed_words("|".join(old), "|".join(new))
    best = difflib.SequenceMatcher(None, "|".join(old), "|".join(new), autojunk=False)
    kept = sum(block.size for block in best.get_matching_blocks())
    assert len("|".join(old)) - sum(high - low for low, high in before) >= kept
