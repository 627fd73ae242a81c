"""Where a search begins, and what it sees of the text before that."""

import pytest

from tests.checks.finding import find
from tui.checks.engine import Engine
from tui.checks.protocol import TOO_LARGE, TOO_LONG_TOGETHER, Matches, Search
from tui.checks.worker import find_javascript, find_python
from tui.model.results import Span


@pytest.mark.parametrize(
    ("search", "text", "spans"),
    [
        (Search("javascript", r"\bfoo", 4), "foo foo", ((4, 7),)),
        (Search("javascript", r"\bfoo", 3), "xfoofoo", ()),
        (Search("javascript", "(?<=é)foo", 2), "éfoo éfoo", ((6, 9),)),
        (Search("javascript", "(?<=é)foo", 6), "éfoo éfoo", ((6, 9),)),
        (Search("javascript", "(?<=é)foo", 7), "éfoo éfoo", ()),
        (Search("javascript", "foo", 1), "foo 😀 foo", ((6, 9),)),
        (Search("python", r"\bfoo", 3), "xfoofoo foo", ((8, 11),)),
        (Search("python", "(?<=é)foo", 6), "éfoo éfoo", ((6, 9),)),
        (Search("javascript", "^foo", 3), "foofoo", ()),
        (Search("javascript", "foo", 2), "😀foo 🎉foo", ((6, 9),)),
        (Search("javascript", "b|.", 2), "a😀b", ((2, 3),)),
        (Search("python", "^foo", 3), "foofoo", ()),
        (Search("python", "", 1), "ab", ((1, 1), (2, 2))),
    ],
)
def test_a_search_begins_at_its_place_and_sees_what_is_before(
    search: Search, text: str, spans: tuple[Span, ...]
) -> None:
    assert find(text, search) == Matches(len(spans), spans)


def test_the_first_match_is_reported_before_the_others_are_searched_for() -> None:
    first: list[Span] = []
    find_python("a b", Search("python", "[ab]"), lambda start, end: first.append((start, end)))
    assert first == [(0, 1)]


def test_what_cannot_be_compiled_is_a_failure() -> None:
    for search in (Search("javascript", "("), Search("python", "(")):
        assert find("a", search).failure.startswith("invalid pattern: ")


def test_half_a_character_in_the_text_is_what_it_is() -> None:
    assert find("\ud83dx", Search("javascript", r"\ufffd")).count == 0
    assert find("\ud83dx\ude00", Search("javascript", r"[\ud83d\ude00]")).spans == ((0, 1), (2, 3))


def test_a_batch_ends_with_a_pattern_that_is_too_slow_and_the_engine_goes_on() -> None:
    searches = [Search("javascript", pattern) for pattern in ("a+!", "(a+)+$", "!", "a|(a+)+$")]
    text = "a" * 30 + "!"
    batches = list(find_javascript(Engine(), text, searches, lambda: 0.05))
    assert [each.count for batch in batches for each in batch] == [1, 0, 1, 30]
    assert [batch[-1].failure for batch in batches] == [TOO_LONG_TOGETHER, ""]
    (found,) = next(find_javascript(Engine(), "ok" + text, [Search("javascript", "ok|(a+)+$")], lambda: 0.05))
    assert found == Matches(1, ((0, 2),), counted=False)


def test_an_engine_that_ran_out_of_memory_is_still_usable() -> None:
    engine = Engine()
    searches = [Search("javascript", "(a|b)*c"), Search("javascript", "b$")]
    found = [each for batch in find_javascript(engine, "ab" * 3_000_000, searches) for each in batch]
    assert found == [Matches(failure=TOO_LARGE), Matches(1, ((5_999_999, 6_000_000),))]


def test_a_pattern_that_ends_as_its_time_does_is_found_or_slow_and_the_next_is_not_blamed() -> None:
    engine, text = Engine(), "a" * 30 + "!"
    for length in range(10, 20):
        searches = [Search("javascript", f"(a+)+{'a' * (30 - length)}b"), Search("javascript", "a+!")]
        batches = list(find_javascript(engine, text, searches, lambda: 0.0))
        found = [each for batch in batches for each in batch]
        assert len(found) == 2
        assert found[1] == Matches(1, ((0, 31),))
