"""Pages and sheets: what each row is drawn as, and what a selection of it says."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.app.text.texts import raw_pieces
from tests.support.work import count_lines
from tui.app.text import highlight
from tui.app.text.highlight import load_lexer
from tui.app.text.page import Mark, Page, Run, TextStyle, with_selection
from tui.app.text.sheet import Sheet
from tui.model.sanitize import sanitize_text


def drawn(page: Page | Sheet) -> list[str]:
    return ["".join(text for text, _ in page.runs(row)) for row in range(page.row_count)]


def page_of(text: str, width: int = 40) -> Page:
    page = Page(width)
    page.append(text)
    page.finish()
    return page


def marked(page: Page) -> list[tuple[str, str]]:
    rows = range(page.row_count)
    return [(text, style.mark) for row in rows for text, style in page.runs(row) if style.mark is not None]


def test_rows_are_drawn_without_tabs_and_hanging_blanks() -> None:
    assert drawn(page_of("a\tb\n\nwords    that hang", 5)) == ["a   b", "", "words", "that ", "hang"]


HARD = "漢字かな。and words 日本\te\u0301x\n```md\n\u202e"


def complete(page: Page) -> int:
    """Lay out the rest of a page, and return the greatest number of lines of code that one part took."""
    most = 0
    while page.is_behind:
        most = max(most, count_lines(page.lay_out_more))
    return most


def test_a_part_of_a_long_text_is_as_much_work_as_of_a_text_four_times_as_long() -> None:
    most: list[tuple[int, int]] = []
    for length in (2_000, 8_000):
        page = Page(40)
        begin = count_lines(partial(page.append, HARD.replace("```", "") * length))
        appended = max(begin, complete(page))
        most.append((appended, max(count_lines(partial(page.set_width, 50)), complete(page))))
    assert most[1][0] <= 1.2 * most[0][0]
    assert most[1][1] <= 1.2 * most[0][1]


def test_a_long_text_has_the_rows_of_the_same_text_in_small_pieces() -> None:
    text, small, large = HARD * 1_500, Page(40), Page(40)
    for at in range(0, len(text), 999):
        small.append(text[at : at + 999])
    small.finish()
    large.append(text)
    large.mark([Mark(len(text) - 4, len(text) - 1, "expected")])
    assert large.is_behind
    assert not large.has_laid_out(len(text))
    assert not large.finish()
    complete(large)
    assert large.has_laid_out(len(text))
    assert drawn(large) == drawn(small)
    assert [text for text, _ in marked(large)] == ["md"]
    before = large.row_count
    large.set_width(20)
    assert large.row_count == before, "the rows of the previous width are shown until all are wrapped"
    complete(large)
    small.set_width(20)
    complete(small)
    assert before < large.row_count
    assert drawn(large) == drawn(small)


def test_marks_are_places_of_the_raw_text() -> None:
    raw = "\x1b[1m ev\u202eal( \r\nreturn 日本 return"
    page = page_of(raw)
    page.mark(
        [Mark(raw.index("ev"), raw.index("( ") + 1, "forbidden"), Mark(raw.index("ret"), raw.index(" 日"), "expected")]
    )
    assert marked(page) == [("ev<U+202E>al(", "forbidden"), ("return", "expected")]


def test_a_mark_over_a_row_s_end_goes_on_in_the_next() -> None:
    page = page_of("one two three four", 8)
    page.mark([Mark(4, 13, "expected")])
    assert marked(page) == [("two ", "expected"), ("three", "expected")]
    assert page.rows_of_mark(0) == (0, 1)


def test_a_mark_takes_characters_whole_and_the_strongest_wins() -> None:
    page = page_of("ab👩\u200d💻e\u0301x")
    page.mark([Mark(3, 4, "expected"), Mark(5, 6, "forbidden"), Mark(0, 8, "expected")])
    assert marked(page) == [("ab", "expected"), ("👩\u200d💻", "expected"), ("e\u0301", "forbidden"), ("x", "expected")]
    page.step_mark(1, 0)
    assert {mark for _, mark in marked(page)} == {"current"}


def test_marks_may_come_before_their_text() -> None:
    page = Page(20)
    page.mark([Mark(4, 7, "expected")])
    page.append("one two")
    assert marked(page) == [("two", "expected")]


def test_code_has_colours_once_its_language_is_loaded_and_its_lines_are_complete() -> None:
    page = Page(30)
    page.append("so:\n```python\nreturn x\nreturn y")
    page.prepare(0, 3)
    assert page.missing_languages == {"python"}
    assert page.runs(2) == [("return x", TextStyle("text"))]
    page.add_lexer("python", load_lexer("python"))
    assert page.prepare(0, 3) == 2
    assert page.runs(2) == [("return", TextStyle("keyword")), (" x", TextStyle("text"))]
    assert page.runs(3) == [("return y", TextStyle("text"))]
    page.append("\n```")
    assert page.prepare(0, 4) == 3
    assert [page.runs(row)[0][1].base for row in (0, 1, 3, 4)] == ["text", "dim", "keyword", "dim"]


def test_code_that_is_slow_to_highlight_remains_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of("```python\nreturn x\n```\n", 40)
    page.add_lexer("python", load_lexer("python"))
    monkeypatch.setattr(highlight, "_MOST_S", -1.0)
    assert page.prepare(0, 2) == 0, "some rows may have colors"
    assert page.runs(1) == [("return x", TextStyle("text"))]
    monkeypatch.undo()
    assert page.prepare(0, 2) is None
    assert page.runs(1) == [("return x", TextStyle("text"))]


@pytest.mark.parametrize("quote", ["", "> "])
def test_the_cost_of_a_row_of_code_does_not_depend_on_the_length_of_its_block(quote: str) -> None:
    def cost(lines: int) -> int:
        page = page_of(f"{quote}```python\n" + f"{quote}return x\n" * lines, 40)
        page.add_lexer("python", load_lexer("python"))
        page.prepare(0, 1)
        return count_lines(lambda: page.prepare(300, 310))

    assert cost(4_000) < 1.2 * cost(1_000)


def test_a_block_that_is_closed_is_seen_for_what_it_is() -> None:
    page = page_of("", 40)
    page.add_lexer("html", load_lexer("html"))
    for line in ("```html", "<script>", "let a = 1;", "</script>", "```", "after"):
        page.append(line + "\n")
        page.prepare(0, page.row_count - 1)
    assert page.runs(2)[0] == ("let", TextStyle("keyword"))


@given(raw_pieces, st.integers(1, 20), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=5))
def test_rows_hold_the_text_and_fit_whatever_is_marked(
    pieces: list[str], width: int, places: list[tuple[int, int]]
) -> None:
    page = Page(width)
    page.add_lexer("python", load_lexer("python"))
    for piece in pieces:
        page.append(piece)
    page.finish()
    plain = drawn(page)
    page.mark([Mark(start, start + length, "expected") for start, length in places])
    page.prepare(0, page.row_count - 1)
    assert drawn(page) == plain, "marks and colours change no text"
    joined = "".join("".join(row.split()) for row in plain)
    assert joined == "".join(sanitize_text("".join(pieces)).split())
    for row in range(page.row_count):
        cells = sum(cell_len(text) for text, _ in page.runs(row))
        assert cells <= max(width, 2) or len(page.runs(row)[0][0]) < 40, "only single characters may be wider"


def test_selected_runs_are_split_and_marked() -> None:
    runs: list[Run] = [("one ", TextStyle("text")), ("two", TextStyle("keyword")), (" 👩\u200d💻", TextStyle("text"))]
    chosen = [(text, style.base) for text, style in with_selection(runs, 2, 5) if style.selected]
    assert chosen == [("e ", "text"), ("t", "keyword")]
    assert "".join(text for text, style in with_selection(runs, 9, -1) if style.selected) == "👩\u200d💻"
    assert "".join(text for text, _ in with_selection(runs, 3, 8)) == "one two 👩\u200d💻"


def test_a_sheet_has_thinking_above_and_a_note_below() -> None:
    sheet = Sheet(20)
    sheet.append_reasoning("first\nsecond")
    sheet.answer.append("the answer")
    sheet.set_note("wait\x07ing")
    assert drawn(sheet) == ["▾ thinking", "first", "second", "", "the answer", "wait␇ing"]
    sheet.folded = True
    assert drawn(sheet) == ["▸ thinking · 2 lines", "the answer", "wait␇ing"]
    sheet.set_note("")
    assert drawn(sheet) == ["▸ thinking · 2 lines", "the answer", ""], "the note's place stays"


def test_selected_text_is_unwrapped_and_keeps_its_tabs() -> None:
    sheet = Sheet(10)
    sheet.append_reasoning("thought")
    sheet.answer.append("one two three four\n\tif x:\r\n\nend")
    assert drawn(sheet) == ["▾ thinking", "thought", "", "one two ", "three four", "    if x:", "", "end"]
    assert sheet.text_between((3, 4), (4, 5)) == "two three"
    assert sheet.text_between((4, 6), (5, 6)) == "four\n\tif"
    assert sheet.text_between((1, 2), (3, 3)) == "ought\none"
    assert sheet.text_between(None, None) == "thought\none two three four\n\tif x:\n\nend"
    assert sheet.text_between((7, 1), None) == "nd"
    assert sheet.text_between((5, 4), (6, 0)) == "if x:\n"


def test_a_place_is_found_again_at_another_width() -> None:
    sheet = Sheet(10)
    sheet.answer.append("one two three four\nfive six seven eight\nnine")
    place = sheet.position_at(3)
    sheet.set_width(80)
    assert drawn(sheet)[sheet.row_of(place)] == "five six seven eight"


def inks(page: Page) -> list[tuple[str, str]]:
    """The text of each row with the styles that it has, in order."""
    rows = range(page.row_count)
    page.prepare(0, page.row_count - 1)
    return [
        ("".join(text for text, _ in page.runs(row)), " ".join(style.base for _, style in page.runs(row)))
        for row in rows
    ]


def test_prose_after_a_quoted_block_is_not_code() -> None:
    page = Page(40)
    page.add_lexer("python", load_lexer("python"))
    page.append("> ```python\n> return 1\n> ```\nreturn it to us\n\n> ```python\n> return 1\nreturn it again")
    page.finish()
    assert inks(page) == [
        ("> ```python", "dim"),
        ("> return 1", "text keyword text number"),
        ("> ```", "dim"),
        ("return it to us", "text"),
        ("", ""),
        ("> ```python", "dim"),
        ("> return 1", "text keyword text number"),
        ("return it again", "text"),
    ]


def test_a_block_inside_markdown_that_is_never_closed_ends_it_when_the_text_ends() -> None:
    page = Page(40)
    page.add_lexer("python", load_lexer("python"))
    page.append("```md\n```python\nx\n```\n```python\nreturn\n```\nprose")
    assert inks(page)[5] == ("return", "text")
    assert page.finish()
    assert inks(page)[3:6] == [("```", "dim"), ("```python", "dim"), ("return", "keyword")]
    page.append(" and more\n```python\nreturn\n")
    assert inks(page)[-2] == ("return", "text")
