"""Two answers' changes to the same files, side by side."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.app.diff.diffs import drawn, file_of, pen
from tests.support.kept_runs import HOSTILE
from tui.app.diff.layout import DiffSearch, Document, Look
from tui.app.diff.lines import pair_heads_line, pair_line
from tui.app.diff.pairs import FilePair, have_other_originals, pair_files
from tui.app.diff.render import draw_row
from tui.app.diff.rows import PairEntry, SayEntry
from tui.app.presentation.pieces import text_of
from tui.model.diffs import FileDiff

NAMES = ("one", "other")
BASE = "".join(f"line {number}\n" for number in range(1, 13))
LEFT = BASE.replace("line 4\n", "LINE 4\nextra\n")
RIGHT = BASE.replace("line 4\n", "").replace("line 11\n", "line eleven\n")


def pair_of(left: str, right: str, base: str = BASE) -> FilePair:
    return FilePair(file_of(base, left), file_of(base, right), NAMES)


def rows(pair: FilePair, width: int = 60, **look: bool) -> list[str]:
    return [row.rstrip() for row in drawn(Document([pair], (), Look(width, numbers=True, **look)))]


def test_a_line_of_the_base_is_on_one_row() -> None:
    shown = rows(pair_of(LEFT, RIGHT))
    assert shown[0].split() == ["1", "line", "1", "│", "1", "line", "1"]
    at = next(number for number, row in enumerate(shown) if "- line 4" in row)
    assert shown[at].split() == ["4", "-", "line", "4", "│", "4", "-", "line", "4"]
    assert shown[at + 1].split() == ["+", "LINE", "4", "│"]
    assert shown[at + 2].split() == ["+", "extra", "│"]
    assert shown[at + 3].split() == ["5", "line", "5", "│", "5", "line", "5"]


def test_lines_that_only_one_diff_shows_are_on_both_sides() -> None:
    shown = rows(pair_of(LEFT, RIGHT))
    at = next(number for number, row in enumerate(shown) if "- line 11" in row)
    assert shown[at].split() == ["11", "line", "11", "│", "11", "-", "line", "11"]
    assert shown[at + 1].split() == ["│", "+", "line", "eleven"]


def test_overlapping_hunks_are_one_change() -> None:
    far = BASE * 9
    left, right = far.replace("line 4\n", "a\n", 1), far.replace("line 5\n", "b\n", 1).removesuffix("line 12\n")
    document = Document([pair_of(left, right, far)], (), Look(60))
    assert document.hunk_count == 2
    assert any("⋯ 9" in row for row in drawn(document)), "the lines between both hunks are hidden"


def test_a_file_that_one_answer_changed_says_so() -> None:
    pair = FilePair(None, file_of(BASE, RIGHT), NAMES)
    shown = rows(pair)
    assert shown[0].strip() == "Not changed by one."
    at = next(number for number, row in enumerate(shown) if "- line 4" in row)
    assert shown[at].split() == ["4", "line", "4", "│", "4", "-", "line", "4"]
    added = FileDiff("new.py", "added", file_of("", "x = 1\n").hunks, "new.py", added=1)
    shown = rows(FilePair(added, None, NAMES))
    assert shown[0].strip() == "Not changed by other."
    assert shown[1].split() == ["+", "x", "=", "1", "│"]


def test_originals_are_the_same_if_one_id_begins_with_the_other() -> None:
    one = replace(file_of(BASE, LEFT), old_id="1234567")
    assert not have_other_originals([one], [replace(one, old_id="123456789")])
    assert not have_other_originals([one], [replace(one, old_id="")])
    assert not have_other_originals([one], [replace(one, path="b.py", old_path="b.py", old_id="89")])
    assert have_other_originals([one], [replace(one, old_id="1234568")])


def test_the_files_of_both_answers_are_paired() -> None:
    one, two, three = (file_of(BASE, LEFT, path) for path in ("a.py", "b.py", "c.py"))
    renamed = FileDiff("new.py", "renamed", (), "b.py")
    pairs = pair_files([one, renamed], [three, two], NAMES)
    assert [pair.sides for pair in pairs] == [(one, None), (renamed, two), (None, three)]
    assert text_of(pair_line(pairs[0], 30)).rstrip() == " M· a.py"
    assert text_of(pair_line(pairs[1], 30)).rstrip() == " RM new.py"
    heads = text_of(pair_heads_line(pairs[0], NAMES, 61))
    assert heads.split() == ["one", "+2", "-1", "│", "other", "not", "changed"]
    assert len(heads) == 61


def test_changed_words_are_marked_on_both_sides() -> None:
    base = "value = compute(1, flag=True)\n"
    document = Document([pair_of(base.replace("1", "22"), base.replace("True", "False"), base)], (), Look(100))
    section = document.sections[0]
    marked = [
        (text, style.ground)
        for row in range(document.row_count)
        for text, style in draw_row(section, row, pen())
        if style.ground.endswith("-word")
    ]
    assert marked == [
        ("1", "removed-word"), ("True", "removed-word"), ("22", "added-word"), ("False", "added-word"),
    ]  # fmt: skip


def test_search_and_changes_are_found() -> None:
    document = Document([pair_of(LEFT, RIGHT)], (), Look(60))
    search = DiffSearch()
    search.search(document, "line 11")
    assert [match.side for match in search.matches] == [0, 1], "it is changed on the right, and context on the left"
    search.search(document, "line 1")
    assert [match.side for match in search.matches][:1] == [1], "an unchanged line is found once"
    assert "line 1" in drawn(document)[document.row_of_match(search.matches[0])]
    assert "▌" in "".join(text for text, _ in draw_row(document.sections[0], 0, pen(), current=True))


def test_a_line_keeps_its_place_in_another_layout() -> None:
    pair = pair_of(LEFT, RIGHT)
    alone, both = Document([pair.shown], (), Look(60)), Document([pair], (), Look(60))
    row = next(number for number, text in enumerate(drawn(both)) if text.split()[-2:] == ["line", "5"])
    back = alone.row_at(both.anchor_at(row))
    assert "line 5" in drawn(alone)[back]
    assert both.row_at(alone.anchor_at(back)) == row


def test_white_space_may_be_ignored() -> None:
    pair = pair_of(BASE.replace("line 4", "line  4"), BASE.replace("line 6", "  line 6"))
    assert rows(pair, ignore_space=True)[0].strip() == "Only whitespace changed."


TEXTS = st.lists(st.sampled_from(["a", "b", "日本語\t", "🙂 x", "", "long " * 12]), max_size=9).map(
    lambda lines: "".join(f"{line}\n" for line in lines)
)


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 90), st.booleans(), st.booleans())
def test_every_pair_can_be_shown(base: str, left: str, right: str, width: int, wrap: bool, numbers: bool) -> None:
    pair = pair_of(left, right, base)
    document = Document([pair], (), Look(width, wrap=wrap, numbers=numbers))
    for row in range(document.row_count):
        assert cell_len("".join(text for text, _ in draw_row(document.sections[0], row, pen()))) == width
    entries = [entry for entry in document.sections[0].entries if isinstance(entry, PairEntry)]
    for side, change in enumerate(pair.sides):
        assert change is not None
        shown = [line for entry in entries if (line := entry.lines[side])]
        own = [line for line in shown if line.kind != "context" or line.new is not None]
        assert own == [line for hunk in change.hunks for line in hunk.lines]
    for entry in entries:
        numbers_in_base = {line.old for line in entry.lines if line is not None}
        assert len(numbers_in_base) == 1, "a row has one line of the base, or inserted lines"
    bases = [entry.base for entry in entries if entry.base is not None]
    assert bases == sorted(set(bases))


def test_notes_name_the_answer() -> None:
    binary = FileDiff("a.png", "modified", (), "a.png", binary=True)
    entries = Document([FilePair(binary, None, NAMES)], (), Look(60)).sections[0].entries
    assert entries == [
        SayEntry("", "one: Binary file: changes cannot be displayed."), SayEntry("", "Not changed by other."),
    ]  # fmt: skip


def test_nothing_hostile_is_displayed() -> None:
    base, left, right = (f"x{HOSTILE}{number}\n".encode(errors="replace").decode() for number in range(3))
    pair = FilePair(
        replace(file_of(base, left), path=HOSTILE), replace(file_of(base, right), old_path=HOSTILE), (HOSTILE, "b")
    )
    shown = [*drawn(Document([pair, FilePair(None, pair.right, pair.names)], (), Look(80)))]
    shown += [text_of(pair_line(pair, 40)), text_of(pair_heads_line(pair, pair.names, 80))]
    assert [character for row in shown for character in row if not character.isprintable()] == []
