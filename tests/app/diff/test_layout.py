"""Diffs in rows: nothing is lost, every row has its width, places stay."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.app.diff.diffs import LINES, LOOKS, drawn, file_of, pen
from tui.app.diff.layout import Document, Look
from tui.app.diff.render import draw_row
from tui.app.diff.rows import LineEntry
from tui.model.diffs import FileDiff
from tui.model.results import NotApplied
from tui.model.sanitize import sanitize_text

OLD = "def one():\n    return 1\n\n\ndef two():\n    return 2\n"
NEW = "def one():\n    return 10\n\n\ndef two():\n    return 2\n    # more\n"


def text_of(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@settings(max_examples=150)
@given(LINES, LINES, LOOKS, st.integers(0, 40))
def test_every_row_has_its_width_and_shows_nothing_that_is_obeyed(
    old: list[str], new: list[str], look: Look, shift: int
) -> None:
    document = Document([file_of(text_of(old), text_of(new))], [NotApplied(0, "a\x1b", None, "why\n" * 40)], look)
    for row in drawn(document, 0 if look.wrap else shift):
        assert cell_len(row) == look.width
        assert sanitize_text(row) == row
        assert "\t" not in row


@given(LINES, LINES, LOOKS)
def test_all_lines_of_both_sides_are_there_once_and_in_order(old: list[str], new: list[str], look: Look) -> None:
    file = file_of(text_of(old), text_of(new))
    (section,) = Document([file], (), replace(look, ignore_space=False)).sections
    entries = [entry for entry in section.entries if isinstance(entry, LineEntry)]
    sides = [[line for line in (getattr(entry, side) for entry in entries) if line] for side in ("old", "new")]
    for kind, shown in zip(("removed", "added"), sides, strict=True):
        assert shown == [line for hunk in file.hunks for line in hunk.lines if line.kind in ("context", kind)]


@given(LINES, LINES, st.integers(1, 40))
def test_a_wrapped_line_is_whole(old: list[str], new: list[str], width: int) -> None:
    (section,) = Document([file_of(text_of(old), text_of(new))], (), Look(width=width)).sections
    for number, entry in enumerate(section.entries):
        if isinstance(entry, LineEntry):
            side = 1 if entry.new else 0
            parts = [section.part(number, side, sub) for sub in range(section.entry_rows(number))]
            assert (
                "".join(section.texts[number][side][slice(*part)] for part in parts if part)
                == section.texts[number][side]
            )


@settings(max_examples=100)
@given(LINES, LINES, LOOKS, LOOKS, st.integers(0, 200))
def test_a_line_is_found_again_in_another_layout(
    old: list[str], new: list[str], look: Look, other: Look, row: int
) -> None:
    file = file_of(text_of(old), text_of(new))
    before, after = (Document([file], (), replace(each, ignore_space=False)) for each in (look, other))
    if not before.row_count:
        return
    row = min(row, before.row_count - 1)
    anchor = before.anchor_at(row)
    assert anchor is not None
    again = after.anchor_at(after.row_at(anchor))
    assert again is not None
    if anchor.new is not None and again.new is not None and not anchor.above:
        assert again.new == anchor.new
    assert before.row_at(before.anchor_at(before.row_at(anchor))) == before.row_at(anchor)


def test_what_is_at_the_top_stays_there() -> None:
    lines = "".join(f"line {n}\n" for n in range(40))
    files = [file_of("a\n", "b\n"), file_of(lines, lines.replace("line 30\n", "LINE\n"), "b.py")]
    one, other = Document(files, (), Look(width=50)), Document(files, (), Look(width=20, beside=True))
    for row in (0, 2, 3, 4):
        assert other.row_at(one.anchor_at(row)) == row - (1 if row >= 2 else 0), row


def test_unified_rows_read_like_a_diff() -> None:
    assert [row.rstrip() for row in drawn(Document([file_of(OLD, NEW)], (), Look(width=30)))] == [
        "  1  1   def one():",
        "  2    -     return 1",
        "     2 +     return 10",
        "  3  3",
        "  4  4",
        "  5  5   def two():",
        "  6  6       return 2",
        "     7 +     # more",
    ]


def test_split_rows_put_what_belongs_together_beside_each_other() -> None:
    rows = drawn(Document([file_of(OLD, NEW)], (), Look(width=43, beside=True)))
    assert [row.rstrip() for row in rows][:3] == [
        "  1   def one():     │  1   def one():",
        "  2 -     return 1   │  2 +     return 10",
        "  3                  │  3",
    ]
    assert rows[-1].rstrip() == f"{'':21}│  7 +     # more"


def test_what_is_left_out_is_counted_and_files_have_their_names() -> None:
    lines = "".join(f"line {n}\n" for n in range(40))
    file = file_of(lines, lines.replace("line 3\n", "LINE\n").replace("line 30\n", "LINE\n"), "a.txt")
    gone = FileDiff("old name.txt", "renamed", (), "b.txt")
    picture = FileDiff("p.png", "modified", (), "p.png", binary=True)
    document = Document([file, gone, picture], [NotApplied(3, None, "bash", "names no file")], Look(width=60))
    rows = "\n".join(row.rstrip() for row in drawn(document))
    assert "⋯ 20 lines" in rows
    assert "b.txt → old name.txt  renamed" in rows
    assert "File renamed without changes." in rows
    assert "Binary file: changes cannot be displayed." in rows
    assert "1 block not applied" in rows
    assert "block 4 · bash: names no file" in rows
    assert document.hunk_count == 2
    assert [document.section_of_hunk(hunk) for hunk in range(2)] == [0, 0]
    assert document.hunk_of_row(document.row_of_hunk(1)) == 1


def test_lines_without_an_end_say_so() -> None:
    rows = [row.strip() for row in drawn(Document([file_of("a\nb", "a\nc\n")], (), Look(width=60)))]
    assert rows[1:4] == ["2    - b", "no newline at end of file", "2 + c"]


def test_returns_are_shown_only_where_lines_differ_in_them() -> None:
    same = Document([file_of("a\r\nb\r\n", "a\r\nc\r\n")], (), Look(width=30))
    assert same.sections[0].hidden_returns
    assert not any("␍" in row for row in drawn(same))
    mixed = drawn(Document([file_of("a\r\nb\r\n", "a\nb\r\n")], (), Look(width=30)))
    assert [row.strip() for row in mixed] == ["1    - a␍", "1 + a", "2  2   b␍"]


def test_white_space_can_be_left_out() -> None:
    file = file_of("if a:\n  b = 1\nc = 2\n", "if a:\n    b = 1\nc = 3\n")
    rows = [row.strip() for row in drawn(Document([file], (), Look(width=40, ignore_space=True)))]
    assert rows == ["1  1   if a:", "2  2       b = 1", "3    - c = 2", "3 + c = 3"]
    file = file_of("a\n", " a\n")
    assert "Only whitespace changed." in drawn(Document([file], (), Look(width=40, ignore_space=True)))[0]


def test_words_that_changed_are_marked() -> None:
    document = Document([file_of("x = old_name + 1\n", "x = new_name + 1\n")], (), Look(width=40))
    for row, ground, word in ((0, "removed-word", "old_name"), (1, "added-word", "new_name")):
        runs = draw_row(document.sections[0], row, pen())
        assert [text for text, style in runs if style.ground == ground] == [word]


@pytest.mark.parametrize(("shift", "shown"), [(0, "abcdefghijklmnopqr›"), (10, "‹lmnopqrstuvwxyzAB›")])
def test_lines_that_are_cut_can_be_scrolled_to(shift: int, shown: str) -> None:
    text = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"
    look = Look(width=22, wrap=False, numbers=False)
    assert drawn(Document([file_of("", f"{text}\n")], (), look), shift)[0] == f" + {shown}"


def test_a_megabyte_in_a_line_is_no_matter() -> None:
    text = "word 漢字 " * 125_000
    for wrap in (True, False):
        document = Document([file_of("", f"{text}\n")], (), Look(width=60, wrap=wrap))
        assert cell_len("".join(t for t, _ in draw_row(document.sections[0], 0, pen()))) == 60


@pytest.mark.parametrize("beside", [True, False])
def test_searching_finds_every_place_once(beside: bool) -> None:
    document = Document([file_of(OLD, NEW), file_of("return\n", "go\n", "b.py")], (), Look(width=50, beside=beside))
    found = document.search("RETURN")
    assert found == []
    found = document.search("return")
    assert len(found) == 4
    rows = drawn(document)
    assert all("return" in rows[document.row_of_match(match)] for match in found)
    assert [document.row_of_match(match) for match in found] == sorted(document.row_of_match(match) for match in found)


def test_another_diff_of_one_file_leaves_the_others() -> None:
    lines = "".join(f"line {n}\n" for n in range(40))
    new = lines.replace("line 20\n", "LINE\n")
    document = Document([file_of(lines, new), file_of("a\n", "b\n", "b.py")], (), Look(width=50))
    wider = document.with_file(0, file_of(lines, new, context=10))
    assert wider.row_count == document.row_count + 14
    assert drawn(wider)[-4:] == drawn(document)[-4:]
