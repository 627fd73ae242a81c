"""Fuzzy search: what matches, and what is better than what."""

import pytest

from tui.app.presentation.fuzzy import Kind, fold_case, match_word, matching_places, rank_entries


@pytest.mark.parametrize(
    ("word", "text", "kind", "places"),
    [
        ("query", "query", Kind.WHOLE, "01234"),
        ("que", "query by mail", Kind.START, "012"),
        ("by", "query by mail", Kind.WORD_STARTS, "67"),
        ("qbm", "query by mail", Kind.WORD_STARTS, "069"),
        ("qumail", "query by mail", Kind.WORD_STARTS, (0, 1, 9, 10, 11, 12)),
        ("er", "query by mail", Kind.INSIDE, "23"),
        ("qil", "query by mail", Kind.SCATTERED, (0, 11, 12)),
        ("two", "one_two-three", Kind.WORD_STARTS, "456"),
    ],
)
def test_a_word_matches_in_the_best_way(word: str, text: str, kind: Kind, places: str | tuple[int, ...]) -> None:
    match = match_word(word, text)
    assert match is not None
    assert (match.kind, tuple(match.places)) == (kind, tuple(map(int, places)))


@pytest.mark.parametrize(("word", "text"), [("liam", "query by mail"), ("x", ""), ("aab", "aba")])
def test_letters_have_to_be_there_in_their_order(word: str, text: str) -> None:
    assert match_word(word, text) is None


def test_the_start_is_better_than_starts_of_words_and_those_than_scattered_letters() -> None:
    names = ["a safe query", "solar eclipse quiz", "base quay", "sequel", "sequence diagram", "seq"]
    ranked = rank_entries("seq", names, lambda name: (name,))
    assert ranked == ["seq", "sequel", "sequence diagram", "solar eclipse quiz", "base quay", "a safe query"]


def test_every_word_has_to_match_in_some_field_and_the_first_field_counts_most() -> None:
    """Equally good matches: the shorter text first."""
    entries = [("hash a password", "security"), ("security review", "web"), ("sort a list", "security")]
    assert [entry[0] for entry in rank_entries("secur", entries, lambda entry: entry)] == [
        "security review",
        "sort a list",
        "hash a password",
    ]
    assert [entry[0] for entry in rank_entries("sec pass", entries, lambda entry: entry)] == ["hash a password"]
    assert rank_entries("sec nothing", entries, lambda entry: entry) == []


def test_a_query_of_several_words_that_starts_a_text_is_the_best() -> None:
    names = ["by hash", "hash by", "hash a password by mail"]
    assert rank_entries("hash a", names, lambda name: (name,))[0] == "hash a password by mail"


def test_lower_case_keeps_the_places() -> None:
    assert fold_case("İstanbul ẞ") == "İstanbul ß"
    assert len(fold_case("x" * 1000)) == 300


def test_no_text_takes_long() -> None:
    """A matcher that tries every placement would need years: the test would not end."""
    assert match_word("a" * 40 + "b", "a " * 150) is None
    assert match_word("ax" * 20, "aaax " * 60) is not None


def test_the_letters_of_each_word_are_marked_in_its_field() -> None:
    assert matching_places("ha SEC", ("hash it", "security")) == [{0, 1}, {0, 1, 2}]
    assert matching_places("", ("hash it",)) == [frozenset()]
