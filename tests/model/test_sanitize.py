"""The funnel: nothing passes that a terminal, a browser or an eye could obey or overlook."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.model.sanitize import remove_unseen, sanitize_line, sanitize_text

BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a␍b"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
        ("\x00\x7f", "␀␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("\u202egnp.exe", "<U+202E>gnp.exe"),
        ("a\u200bb\u2060c\ufeff", "a<U+200B>b<U+2060>c<U+FEFF>"),
        ("\u2028\u2029", "<U+2028><U+2029>"),
        ("\ud800", "<U+D800>"),
        ("\U000e0041", "<U+E0041>"),
        ("日本語 émoji 🎉", "日本語 émoji 🎉"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("a\u200db", "a<U+200D>b"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert sanitize_text(text) == shown


@given(st.text(st.characters()))
def test_nothing_hostile_ever_passes(text: str) -> None:
    for character in sanitize_text(text):
        assert character in "\t\n\u200d" or unicodedata.category(character) not in ("Cc", "Cs")
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )


@given(st.text(st.characters()))
def test_showing_twice_changes_nothing_more(text: str) -> None:
    assert sanitize_text(sanitize_text(text)) == sanitize_text(text)


@given(st.text(st.characters()), st.integers(1, 50))
def test_a_line_is_one_line_and_short(text: str, limit: int) -> None:
    line = sanitize_line(text, limit)
    assert "\n" not in line
    assert "\t" not in line
    assert len(line) <= limit


def test_what_is_not_shown_is_removed_from_input() -> None:
    emoji = "\U0001f469\u200d\U0001f4bb"
    assert remove_unseen(f"a\x1b[31m\u202eb\u200b\U000e0041\ud800 {emoji}\n") == f"a[31mb {emoji}\n"
