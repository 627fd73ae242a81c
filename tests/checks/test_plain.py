"""Plain words are found as the engine finds them, only sooner."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks.finding import find
from tui.checks.patterns import find_plain
from tui.checks.protocol import Search

PLAIN = string.ascii_letters[:4] + "ABsSkKiI09 _@#%&=:;,'\"!<>/~`-"
TEXTS = st.text(st.sampled_from(PLAIN + "\u017f\u0131\u212a\u0130é日🎉\n\r\u2028."), max_size=60)


@given(TEXTS, st.text(st.sampled_from(PLAIN), min_size=1, max_size=3), st.integers(0, 60))
def test_what_is_found_here_is_what_the_engine_finds(text: str, pattern: str, start: int) -> None:
    search = Search("javascript", pattern, min(start, len(text)))
    assert find_plain(text, search) == find(text, search)


@given(TEXTS, st.data())
def test_words_of_the_text_itself_are_found(text: str, data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(text)))
    words = text[begin : begin + 5]
    search = Search("javascript", words)
    found = find_plain(text, search)
    assert found is None or (found.count > 0 and found == find(text, search))


@pytest.mark.parametrize(
    "pattern", ["a.b", "a+", "^a", "a$", "(a)", "a|b", "[a]", "a?", "a*", r"\d", "a{2}", "é", "", "]", "}"]
)
def test_everything_else_is_left_to_the_engine(pattern: str) -> None:
    assert find_plain("aaa", Search("javascript", pattern)) is None


def test_long_texts_and_python_patterns_are_left_to_a_worker() -> None:
    assert find_plain("a" * 300_000, Search("javascript", "a")) is None
    assert find_plain("a", Search("python", "a")) is None


def test_only_the_first_thousand_spans_are_kept() -> None:
    found = find_plain("a" * 2_000, Search("javascript", "a"))
    assert found is not None
    assert (found.count, len(found.spans)) == (2_000, 1_000)
