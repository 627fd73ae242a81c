"""The parts of the diff viewer: pairs, white space, colours, grounds, pieces."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.app.diff.diffs import file_of
from tests.app.diff.samples import SERVICE
from tui.app.diff import highlight
from tui.app.diff.highlight import FileColours, Shades, SideColours, language_of
from tui.app.diff.layout import MOST_FOUND, Document, Look
from tui.app.diff.lines import place_line
from tui.app.diff.render import DiffStyle, fit, grounds, skip
from tui.app.diff.rows import Sides, hides_returns, ignore_spacing
from tui.app.diff.view import DiffStyles
from tui.app.diff.word_diff import ChangedWords, changed_spans, pair_lines
from tui.app.presentation.pieces import text_of
from tui.app.text.highlight import load_lexer
from tui.app.theme.palette import DEFAULT_PALETTE, Palette, contrast
from tui.app.theme.theme_files import ThemeFiles
from tui.model.diffs import DiffLine, LineKind
from tui.model.shipped import shipped_folder

PALETTES = (*ThemeFiles([shipped_folder("themes")]).read_changed().palettes, DEFAULT_PALETTE)


def lines(kind: LineKind, *texts: str) -> list[DiffLine]:
    return [DiffLine(kind, text, *((n, None) if kind == "removed" else (None, n))) for n, text in enumerate(texts, 1)]


def test_the_likeliest_lines_are_paired() -> None:
    old = lines("removed", "total = 0", "return total + count")
    new = lines("added", "check(count)", "log('adding')", "return total + count + 1")
    assert [(a.text if a else "", b.text if b else "") for a, b in pair_lines(old, new)] == [
        ("total = 0", ""),
        ("", "check(count)"),
        ("", "log('adding')"),
        ("return total + count", "return total + count + 1"),
    ]


@given(
    st.lists(st.sampled_from(["a b", "a c", "x", ""]), max_size=9),
    st.lists(st.sampled_from(["a b", "a c", "y"]), max_size=9),
)
def test_pairs_hold_every_line_once_in_order(old: list[str], new: list[str]) -> None:
    removed, added = lines("removed", *old), lines("added", *new)
    pairs = pair_lines(removed, added)
    assert [a for a, _ in pairs if a] == removed
    assert [b for _, b in pairs if b] == added


def test_lines_that_have_little_in_common_are_not_marked() -> None:
    assert changed_spans("return hashlib.md5(x)", "salt = token(16)") == ((), ())
    assert changed_spans("value = 1", "value = 2") == (((8, 9),), ((8, 9),))


@pytest.mark.parametrize(
    ("old", "new", "is_hidden"),
    [
        ("x", "y", False),
        ("", "y", False),
        ("a\r\nx", "a\r\ny", True),
        ("x", "y\r\n", True),
        ("a\r\n", "b\n", False),
        ("a\nx\r", "a\ny\r", False),
    ],
)
def test_returns_are_hidden_where_every_line_that_ends_has_one(old: str, new: str, is_hidden: bool) -> None:
    assert hides_returns(file_of(old, new)) is is_hidden


@given(
    st.lists(st.sampled_from(["a", " a", "a ", "b", "\tb", "c d", "cd"]), max_size=12),
    st.lists(st.sampled_from(["a", " a", "a ", "b", "\tb", "c d", "cd"]), max_size=12),
)
def test_without_white_space_nothing_else_is_lost(old: list[str], new: list[str]) -> None:
    file = file_of("".join(f"{x}\n" for x in old), "".join(f"{x}\n" for x in new), context=100)
    if not file.hunks:
        return
    ignored = ignore_spacing(file)
    shown = [line for hunk in ignored.hunks for line in hunk.lines]
    if not shown:
        assert ["".join(x.split()) for x in old] == ["".join(x.split()) for x in new]
        return
    assert [line.new for line in shown if line.new] == [*range(1, len(new) + 1)]
    assert [line.old for line in shown if line.old] == [*range(1, len(old) + 1)]
    assert ignored.added <= file.added


def coloured(side: SideColours, first: int, last: int, most: int = 10_000) -> int:
    for slices in range(most):
        if side.work(first, last) is None:
            return slices
    raise AssertionError("there is no end to it")


def whole(code: Sequence[str]) -> list[object]:
    return list(load_lexer("python").colours(code, ())[0])


def test_colours_far_down_are_those_of_the_whole_file() -> None:
    code = SERVICE.split("\n") * 8
    side = SideColours(load_lexer("python"), code)
    coloured(side, 350, 390)
    assert [side.at(n) for n in range(350, 391)] == whole(code)[350:391]
    coloured(side, 0, 40)
    assert [side.at(n) for n in range(41)] == whole(code)[:41]


def test_a_long_text_from_far_above_is_guessed_and_then_put_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlight, "lexing_deadline", lambda *_: math.inf)  # a collection of garbage may take as long
    code = ["x = 1", 'text = """', *["for a in b: pass"] * 900, '"""', "y = 2"]
    side = SideColours(load_lexer("python"), code)
    side.work(500, 520)
    assert side.at(500)[0].role == "keyword"
    coloured(side, 500, 520)
    assert {span.role for n in range(500, 521) for span in side.at(n)} == {"string"}


async def test_a_file_that_is_slow_to_highlight_is_plain_and_the_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [file_of("", "return 1\n", path) for path in ("slow.java", "a.py")]
    document = Document(files, (), Look(80))
    slow = load_lexer("java")
    colours = slow.colours
    monkeypatch.setattr(slow, "colours", lambda lines, state, _: colours(lines, state, -1.0))
    shades = Shades()
    assert shades.wants(document, 0, document.row_count, 0)
    assert [changed async for changed in shades.work()] == [True, True]
    lines = [file.hunks[0].lines[0] for file in files]
    assert [bool(shades.at(section, line, 1)) for section, line in enumerate(lines)] == [False, True]


@pytest.mark.parametrize("sides", [True, False])
def test_the_colours_of_a_diff_are_those_of_its_sides(sides: bool) -> None:
    old = SERVICE
    new = SERVICE.replace("json.dumps", "repr").replace("sums of floats", "their sums")
    file = file_of(old, new)
    both = Sides(old.split("\n"), new.split("\n")) if sides else None
    colours = FileColours(file, both, load_lexer("python"))
    for side in (0, 1):
        while colours.work(side, 1, 60) is not None:
            pass
    line = next(line for hunk in file.hunks for line in hunk.lines if "their sums" in line.text)
    expected = [(0, len(line.text), "comment")] if sides else None
    found = [tuple(span) for span in colours.at(line, 1)]
    assert (found == expected) if sides else found
    last = file.hunks[-1].lines[-1]
    assert [tuple(span)[2] for span in colours.at(last, 1)][:1] == ["keyword"]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "py"),
        ("Dockerfile", "dockerfile"),
        ("x.TS", "ts"),
        ("Makefile", "makefile"),
        (".env", None),
        ("a", None),
    ],
)
def test_the_language_is_known_by_the_name(path: str, language: str | None) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize("palette", PALETTES, ids=lambda palette: palette.name)
def test_code_can_be_read_on_every_ground(palette: Palette) -> None:
    variables = dict(palette.colours)
    styles = DiffStyles(variables)
    least = 7.0 if palette.name.startswith("beacon") else 4.5
    for ground in ("added", "removed", "added-word", "removed-word"):
        for front in (
            "text",
            "keyword",
            "function",
            "type",
            "string",
            "number",
            "operator",
            "comment",
            "added",
            "removed",
        ):
            style = styles.style(DiffStyle(front, ground))
            assert style.color is not None
            assert style.bgcolor is not None
            shown = contrast(style.color.name, style.bgcolor.name)
            assert shown >= (least if "word" not in ground else 4.5), (front, ground, shown)
    made = grounds(variables)
    assert len({made[ground] for ground in ("plain", "added", "removed", "added-word", "removed-word")}) == 5


@given(st.lists(st.text(alphabet="ab日🙂\u0301", max_size=8), max_size=5), st.integers(0, 30), st.integers(0, 30))
def test_pieces_fit_and_can_be_skipped(texts: list[str], width: int, cells: int) -> None:
    runs = [(text, DiffStyle()) for text in texts]
    assert sum(cell_len(text) for text, _ in fit(runs, width, "plain")) == width
    whole = sum(cell_len(text) for text, _ in runs)
    assert sum(cell_len(text) for text, _ in skip(runs, cells)) == max(0, whole - cells)


def test_a_paint_compares_so_many_words() -> None:
    words = ChangedWords()
    lines = [(f"value {number} " + "word " * 300, f"value {-number} " + "word " * 300) for number in range(1, 31)]
    found = [words.find(old, new, False) for old, new in lines]
    assert found[0] == changed_spans(*lines[0])
    assert found[0] != ((), ())
    assert found[-1] == ((), ()), "a line beyond the limit is marked as a whole"
    words.compare_rest()
    assert [words.find(old, new, False) for old, new in lines] == [changed_spans(*line) for line in lines]
    words.begin_paint()
    assert words.find("a b " * 2_000, "a c " * 2_000, True) == ((), ()), "a long paragraph is compared in a thread"
    assert words.has_rest


def test_a_search_with_more_matches_than_are_looked_for_says_so() -> None:
    for total, words in ((1, "1/1 found"), (MOST_FOUND - 1, "1/9999 found"), (MOST_FOUND, "1/10000+ found")):
        assert words in text_of(place_line(None, "m", Look(), (0, 0), (1, total), "", 80))
