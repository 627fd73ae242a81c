"""Markdown rendered as rows: every construct, hostile text, and widths."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.app.text.markdown import MOST_CHARACTERS, markdown_rows
from tui.model.sanitize import sanitize_text


def drawn(text: str, width: int = 40) -> list[str]:
    return ["".join(part for part, _ in row).rstrip() for row in markdown_rows(text, width)]


def bases(text: str) -> dict[str, str]:
    return {part: style.base for row in markdown_rows(text, 80) for part, style in row}


def test_headings_paragraphs_and_rules() -> None:
    assert drawn("# One\n\ntwo\nlines\n\n---\n\n### Three", 12) == [
        "One", "═" * 12, "", "two lines", "", "─" * 12, "", "Three",
    ]  # fmt: skip


def test_lists_in_lists_and_quotes() -> None:
    assert drawn("- a\n- b\n  1. c\n  2. d\n\n> said\n> twice\n\nend") == [
        "• a", "• b", "  1. c", "  2. d", "", "│ said twice", "", "end",
    ]  # fmt: skip


def test_an_ordered_list_begins_at_its_number() -> None:
    assert drawn("9. nine\n10. ten") == ["9. nine", "10. ten"]


def test_long_items_hang_below_their_text() -> None:
    assert drawn("1. one two three four five", 12) == ["1. one two", "   three", "   four five"]


def test_a_table_has_aligned_columns() -> None:
    assert drawn("| a | long name |\n|---|---|\n| wide cell | b |\n| c |") == [
        "a         │ long name",
        "──────────┼──────────",
        "wide cell │ b",
        "c         │",
    ]


def test_a_wide_table_wraps_its_cells() -> None:
    rows = drawn("| id | text |\n|---|---|\n| 1 | one two three four five six |", 20)
    assert rows == ["id  │ text", "────┼───────────────", "1   │ one two three", "    │ four five six"]


def test_a_table_with_more_columns_than_cells_is_rows_of_text() -> None:
    head = "|" + " a |" * 30
    assert all(cell_len(row) <= 20 for row in drawn(f"{head}\n{'|-' * 30}|\n{head}", 20))


def test_code_is_highlighted_and_keeps_its_layout() -> None:
    text = "```python\ndef f():\n    return 1\n```"
    assert drawn(text) == ["▏ def f():", "▏     return 1"]
    assert bases(text)["def"] == "keyword"
    assert bases("```nolanguage\ndef\n```")["def"] == "text"


def test_spans_have_styles() -> None:
    found = bases("**bold** *leaning* `code` ~~gone~~ [name](https://x.org) ![alt](p.png)")
    assert (found["bold"], found["leaning"], found["code"], found["gone"]) == ("strong", "emphasis", "string", "dim")
    assert (found["name"], found[" (https://x.org)"], found["[image: alt]"]) == ("link", "dim", "dim")


def test_html_is_text() -> None:
    assert drawn("<b>x</b>\n\n<script>y</script>") == ["<b>x</b>", "", "<script>y</script>"]


@pytest.mark.parametrize("text", ["&#27;[31m", "`\x1b]52;c;x\x07`", "```\n\x1b[2J\n```", "[a](\x1b[1m)", "&#x202e;abc"])
def test_no_control_character_comes_through(text: str) -> None:
    rows = drawn(text, 80)
    assert all(sanitize_text(row) == row for row in rows)


def test_only_the_beginning_of_a_long_text_is_rendered() -> None:
    assert drawn("a " * MOST_CHARACTERS, 100)[-1] == "The first 50,000 characters are rendered."


@pytest.mark.parametrize(
    ("quotes", "lists"), [*((0, lists) for lists in range(9, 18)), (29, 1), (30, 1), (10, 11), (90, 90)]
)
def test_nothing_of_a_deeply_nested_text_is_left_out(quotes: int, lists: int) -> None:
    lines = [f"{'> ' * quotes}{'  ' * level}- n{level}" for level in range(lists)]
    rows = drawn("\n".join(lines) + "\n\n# End\n\nnot safe", 200)
    text = "\n".join(rows)
    assert all(f"n{level}" in text for level in range(lists))
    assert "not safe" in text
    is_plain = "The quotes and lists are nested too deeply to be rendered." in rows
    assert is_plain == (quotes + 2 * lists >= 32)


@settings(max_examples=300)
@given(st.text(st.sampled_from("a界 é\n\t-*_`#>|[]()!~1.:\\&;<\x1b"), max_size=200), st.integers(8, 40))
def test_any_text_fits_the_width(text: str, width: int) -> None:
    for row in markdown_rows(text, width):
        assert cell_len("".join(part for part, _ in row)) <= width
        assert all("\n" not in part and "\t" not in part for part, _ in row)
