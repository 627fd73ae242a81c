"""The funnel: nothing passes that a terminal, a browser or an eye could obey or overlook."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.model.sanitize import escape_unseen, remove_unseen, sanitize_line, sanitize_measurable, sanitize_text

NONCHARACTERS = (
    *range(0xFDD0, 0xFDF0),
    *(plane * 0x10000 + low for plane in range(17) for low in (0xFFFE, 0xFFFF)),
)
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
        ("\ufdd0\ufffe\uffff\U0001fffe\U0010ffff", "<U+FDD0><U+FFFE><U+FFFF><U+1FFFE><U+10FFFF>"),
        ("❤\ufe0f ☎\ufe0e ©\ufe0f 1\ufe0f\u20e3", "❤\ufe0f ☎\ufe0e ©\ufe0f 1\ufe0f\u20e3"),
        ("🏳\ufe0f\u200d🌈 🐦\u200d⬛ 🙂\u200d↔\ufe0f", "🏳\ufe0f\u200d🌈 🐦\u200d⬛ 🙂\u200d↔\ufe0f"),
        ("a\ufe0f 1\ufe0f ❤\ufe00 ❤\ufe0f\ufe0f", "a<U+FE0F> 1<U+FE0F> ❤<U+FE00> ❤\ufe0f<U+FE0F>"),
        ("a\ufe0f\u200d🔥", "a<U+FE0F><U+200D>🔥"),
        ("🏴\U000e0067\U000e007f 葛\U000e0100", "🏴<U+E0067><U+E007F> 葛<U+E0100>"),
        ("\ufff0", "<U+FFF0>"),
        ("\U00020000 \U000f0001 \U00100000 \ufffd", "\U00020000 \U000f0001 \U00100000 \ufffd"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    assert sanitize_text(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("sh -c 'é' → «x»\n日本語 각 €5 👍 Ж …", "sh -c 'é' <U+2192> «x»\n日本語 각 €5 👍 Ж …"),
        ("2 × 3 · ±1°", "2 × 3 · ±1°"),
        ("\x00\x7f\t␊", "␀␡␉␊"),
        ("👍🏽", "👍<U+1F3FD>"),
        ("👩\u200d🔬 ❤\ufe0f", "👩<U+200D>🔬 <U+2764><U+FE0F>"),
        ("🇩🇪", "<U+1F1E9><U+1F1EA>"),
        ("e\u0301 \u1100\u1161\u11a8", "e<U+0301> \u1100<U+1161><U+11A8>"),
        ("a\u00a0b\u3000c\ue000\u0378", "a<U+00A0>b<U+3000>c<U+E000><U+0378>"),
    ],
)
def test_what_is_shown_where_no_row_may_lose_its_end(text: str, shown: str) -> None:
    assert sanitize_measurable(text) == shown


def test_every_terminal_draws_a_measurable_text_as_wide_as_it_is_measured() -> None:
    for code in (*range(0x20, 0xD800), *range(0xE000, 0x110000)):
        if len(shown := sanitize_measurable(chr(code))) == 1:
            width = 2 if unicodedata.east_asian_width(shown) in "WF" else 1
            assert cell_len(shown) >= width, f"{code:x}"
            assert cell_len(f"a{shown}{shown}👍{shown}a") == 3 * cell_len(shown) + 4, f"{code:x}"


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


def test_no_invisible_character_and_no_noncharacter_passes_alone() -> None:
    for code in (*NONCHARACTERS, *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)):
        assert sanitize_text(f"a{chr(code)}b") == f"a<U+{code:04X}>b"


def test_what_is_not_shown_is_removed_from_input() -> None:
    emoji = "\U0001f469\u200d\U0001f4bb"
    assert remove_unseen(f"a\x1b[31m\u202eb\u200b\U000e0041\ud800 {emoji}\n") == f"a[31mb {emoji}\n"


@given(st.text(st.characters()))
def test_json_text_is_escaped_without_a_change_of_its_value(text: str) -> None:
    escaped = escape_unseen(json.dumps(text, ensure_ascii=False))
    assert json.loads(escaped) == text
    assert sanitize_text(escaped) == escaped
