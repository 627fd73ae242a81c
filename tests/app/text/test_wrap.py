"""Where lines are broken: at words, within the width, the same however the text arrived."""

import re
from itertools import pairwise
from unicodedata import category, east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len, get_character_cell_size

from tests.app.text.texts import raw_pieces, raw_texts
from tui.app.text import wrap
from tui.app.text.wrap import Row, WrappedText, drawn_at, kind_of, offset_at, row_cells, row_starts, whole_characters
from tui.model.sanitize import sanitize_text


def rows_of(line: str, width: int) -> list[str]:
    starts = [0, *row_starts(line, 0, width, kind_of(line)), len(line)]
    return [line[start:end] for start, end in pairwise(starts)]


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("", 5, [""]),
        ("one two three", 7, ["one two ", "three"]),
        ("one two three", 8, ["one two ", "three"]),
        ("one two", 3, ["one ", "two"]),
        ("one    two", 4, ["one    ", "two"]),
        ("one two     ", 7, ["one two     "]),
        ("abcdefgh", 3, ["abc", "def", "gh"]),
        ("a abcdefgh", 4, ["a ", "abcd", "efgh"]),
        ("    abcdef", 6, ["    ab", "cdef"]),
        ("      ab", 4, ["      ", "ab"]),
        ("日本語の文章", 5, ["日本", "語の", "文章"]),
        ("ab日本語", 4, ["ab日", "本語"]),
        ("word 日本", 7, ["word 日", "本"]),
        ("a\tb\tc", 5, ["a\tb\t", "c"]),
        ("\treturn x", 7, ["\tret", "urn x"]),
        ("🎉🎉🎉", 4, ["🎉🎉", "🎉"]),
        ("e\u0301e\u0301e\u0301 a", 2, ["e\u0301e\u0301", "e\u0301 ", "a"]),
        ("👩\u200d💻👩\u200d💻", 3, ["👩\u200d💻", "👩\u200d💻"]),
        ("x❤\ufe0fy", 2, ["x", "❤\ufe0f", "y"]),
        ("日本", 1, ["日", "本"]),
    ],
)
def test_examples(line: str, width: int, rows: list[str]) -> None:
    assert rows_of(line, width) == rows


def test_the_ranges_of_known_width_are_those_of_the_tables() -> None:
    one, two = re.compile(f"[{wrap._ONE}]"), re.compile(f"[{wrap._TWO}]")
    known = [chr(code) for code in range(0x20, 0x30000) if not 0xD800 <= code < 0xE000]
    wrong = [
        hex(ord(sign))
        for sign in known
        if (one.match(sign) and get_character_cell_size(sign) != 1)
        or (two.match(sign) and get_character_cell_size(sign) != 2)
    ]
    assert wrong == []


@given(raw_texts, st.integers(1, 12))
def test_rows_make_up_the_line_and_fit(text: str, width: int) -> None:
    for line in sanitize_text(text).split("\n"):
        rows = rows_of(line, width)
        assert "".join(rows) == line
        for row in rows:
            assert row or not line
            seen = row_cells(row.rstrip(" \t"))
            # A single character may be wider than a row of one cell.
            assert cell_len(seen) <= max(width, 2) or whole_characters(seen, 0, 1) == (0, len(seen)), (row, width)


@given(raw_pieces, st.integers(1, 12), st.integers(1, 30))
def test_text_that_arrives_in_pieces_is_laid_out_as_in_one_go(pieces: list[str], width: int, other: int) -> None:
    whole = "".join(sanitize_text(piece) for piece in pieces)
    at_once, in_pieces, resized = WrappedText(width), WrappedText(width), WrappedText(other)
    at_once.append(whole)
    for piece in pieces:
        before = [in_pieces.row(row) for row in range(in_pieces.row_count)]
        in_pieces.append(sanitize_text(piece))
        assert [in_pieces.row(row) for row in range(len(before) - 1)] == before[:-1], "rows before the last one stay"
        resized.append(sanitize_text(piece))
    resized.set_width(width)
    everything = [[text.row(row) for row in range(text.row_count)] for text in (at_once, in_pieces, resized)]
    assert everything[0] == everything[1] == everything[2]
    assert in_pieces.lines == whole.split("\n")


@pytest.mark.parametrize("text", ["\u0301", "e\u0301\u0301", "👩\u200d", " ", "\t ", "é ", "क्षि", "กำ"])
@pytest.mark.parametrize("start", ["", "x", "\t", "e\u0301 "])
def test_a_row_has_a_limit_of_code_points_however_the_text_arrives(start: str, text: str) -> None:
    line = start + text * 2_000
    at_once, in_pieces = WrappedText(20), WrappedText(20)
    at_once.append(line)
    for begin in range(0, len(line), 777):
        in_pieces.append(line[begin : begin + 777])
    rows = [at_once.row(row) for row in range(at_once.row_count)]
    assert rows == [in_pieces.row(row) for row in range(in_pieces.row_count)]
    assert max(row.end - row.start for row in rows) < 1_100
    assert "".join(map(at_once.text_of, rows)) == line


@pytest.mark.parametrize("text", ["e\u0301\u0301\u0301", "👨\u200d👩\u200d👧\u200d👦", "ก็", "क्षि", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
def test_rows_are_full_and_fit_where_a_terminal_draws_the_parts_of_a_character_side_by_side(text: str) -> None:
    def side_by_side(shown: str) -> int:
        signs = [sign for sign in shown if category(sign) not in ("Mn", "Me", "Cf")]
        return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in signs)

    text = sanitize_text(text)
    row = rows_of(text * 100, 20)[0]
    assert 20 - side_by_side(text) < side_by_side(row) <= 20


@pytest.mark.parametrize("text", ["👍🏽", "भारत की राजधानी नई दिल्ली है", "தமிழ் மொழி", "🇩🇪🇫🇷"])
def test_words_with_such_characters_break_at_blanks_only(text: str) -> None:
    line = f"{text} " * 20
    rows = rows_of(line, 40)
    assert "".join(rows) == line
    assert len(rows) > 1
    assert all(row.endswith(" ") for row in rows)


@given(raw_texts, st.integers(1, 12))
def test_each_offset_is_in_its_row(text: str, width: int) -> None:
    shown = sanitize_text(text)
    wrapped = WrappedText(width)
    wrapped.append(shown)
    assert wrapped.length == len(shown)
    seen = []
    for number in range(wrapped.row_count):
        row = wrapped.row(number)
        start = wrapped.offset_of(row.line) + row.start
        assert wrapped.text_of(row) == shown[start : start + row.end - row.start]
        seen += [number] * (row.end - row.start)
        if row.end == len(wrapped.lines[row.line]):
            seen.append(number)
    assert [wrapped.row_at(offset) for offset in range(len(shown) + 1)] == seen
    for start, end in ((0, len(shown)), (1, 3), (len(shown) // 2, len(shown)), (3, 1)):
        assert wrapped.slice(start, end) == shown[start:end]


@given(st.text("a\t é漢", max_size=12))
def test_places_are_found_again_in_what_is_drawn(text: str) -> None:
    drawn = row_cells(text)
    assert "\t" not in drawn
    for offset in range(len(text)):
        assert offset_at(text, drawn_at(text, offset)) == offset
        if text[offset] != "\t":
            assert drawn[drawn_at(text, offset)] == text[offset]
    assert offset_at(text, len(drawn) + 3) == len(text)


def test_a_character_is_taken_whole() -> None:
    text = "a👩\u200d💻e\u0301b"
    assert whole_characters(text, 2, 3) == (1, 4)
    assert whole_characters(text, 4, 5) == (4, 6)
    assert whole_characters(text, 6, 7) == (6, 7)


def test_a_megabyte_without_a_line_end_is_no_matter() -> None:
    wrapped = WrappedText(60)
    for _ in range(64):
        wrapped.append("word " * 3_277)
    assert wrapped.row_count == pytest.approx(64 * 3_277 * 5 / 60, rel=0.01)
    assert wrapped.row(9_000) == Row(0, 540_000, 540_060)
