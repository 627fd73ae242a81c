"""Where a search begins, and what it sees of the text before that."""

import pytest

from tui.checks.matching import find_matches
from tui.checks.searches import Matches, Search
from tui.model.trials import Span


@pytest.mark.parametrize(
    ("search", "text", "spans"),
    [
        (Search("javascript", r"\bfoo", 4, 1), "foo foo", ((4, 7),)),
        (Search("javascript", r"\bfoo", 3, 1), "xfoofoo", ()),
        (Search("javascript", "(?<=é)foo", 2, 256), "éfoo éfoo", ((6, 9),)),
        (Search("javascript", "(?<=é)foo", 6, 256), "éfoo éfoo", ((6, 9),)),
        (Search("javascript", "(?<=é)foo", 7, 256), "éfoo éfoo", ()),
        (Search("javascript", "foo", 1), "foo 😀 foo", ((6, 9),)),
        (Search("python", r"\bfoo", 3, 256), "xfoofoo foo", ((8, 11),)),
        (Search("python", "(?<=é)foo", 6, 3), "éfoo éfoo", ((6, 9),)),
        (Search("python", "^foo", 3, 256), "foofoo", ()),
        (Search("python", "", 1, 256), "ab", ((1, 1), (2, 2))),
    ],
)
def test_a_search_begins_at_its_place_and_sees_what_is_before(
    search: Search, text: str, spans: tuple[Span, ...]
) -> None:
    first: list[Span] = []
    found = find_matches(text, search, lambda start, end: first.append((start, end)))
    assert found == Matches(len(spans), spans)
    assert tuple(first) in (spans[:1], ())


def test_what_cannot_be_compiled_is_a_failure() -> None:
    for search in (Search("javascript", "("), Search("python", "(")):
        assert find_matches("a", search, lambda *_: None).failure.startswith("the pattern cannot be compiled: ")
