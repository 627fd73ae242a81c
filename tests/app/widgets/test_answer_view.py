"""The answer's view in a real terminal: text that streams in, marks, notes, keys, the mouse."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.support.terminal import Screen, Terminal, run_here
from tui.app.theme.palette import DARK_DEFAULT

Start = Callable[..., AbstractContextManager[Terminal]]
LINES = "\n".join(f"line {number}" for number in range(100))
CODE = 'So:\n\n```python\ndef reverse(text):\n    return text[::-1]  # "eval("\n```\n'


@pytest.fixture
def start(tmp_path: Path) -> Start:
    @contextmanager
    def started(*steps: list[object], size: tuple[int, int] = (44, 14), **environment: str) -> Iterator[Terminal]:
        path = tmp_path / "steps.json"
        path.write_text(json.dumps(steps))
        command = run_here("-m", "tests.app.widgets.answer_app", path)
        with Terminal(command, size=size, cwd=Path(__file__).parents[3], env=environment) as terminal:
            terminal.wait_for("step 0")
            yield terminal

    return started


def do(terminal: Terminal, *numbers: int) -> Screen:
    for number in numbers:
        terminal.press("x")
        terminal.wait_for(f"step {number}")
    return terminal.screen


def lines_begin(*beginnings: str) -> Callable[[Screen], bool]:
    """Whether the rows in the border begin with these."""
    return lambda screen: (
        [line[1 : len(text) + 1] for line, text in zip(screen.lines[1:], beginnings, strict=False)] == [*beginnings]
    )


def is_current(place: str, screen: Screen) -> bool:
    return place in screen and screen.cell_of(place).back == colour("match-current-background")


def colour(name: str) -> str:
    return DARK_DEFAULT[name][1:]


def test_text_streams_in_with_a_cursor_and_line_ends_that_were_split(start: Start) -> None:
    steps = [
        ["streaming", True],
        ["append", "Hello wor"],
        ["append", "ld\r"],
        ["append", "\nsecond"],
        ["streaming", False],
    ]
    with start(*steps) as terminal:
        for number, shown in enumerate(("▌", "Hello wor▌", "Hello world▌"), 1):
            do(terminal, number)
            terminal.wait_until(lines_begin(shown), shown)
        do(terminal, 4)
        screen = terminal.wait_until(lines_begin("Hello world ", "second▌"), "two lines")
        assert screen.cell_of("▌").front == colour("accent")
        do(terminal, 5)
        terminal.wait_while("▌")


def test_the_end_is_followed_until_the_person_scrolls_up(start: Start) -> None:
    steps = [
        ["streaming", True],
        ["append", LINES],
        ["append", "\nmore"],
        ["append", "\nlast"],
        ["append", "\nvery last"],
    ]
    with start(*steps) as terminal:
        do(terminal, 1, 2)
        assert "▐" in terminal.wait_for("line 99")
        terminal.press("up", "up")
        terminal.wait_while("line 99")
        screen = do(terminal, 3, 4)
        assert "line 98" in screen
        assert "more" not in screen
        terminal.press("end")
        terminal.wait_for("last")
        do(terminal, 5)
        terminal.wait_for("very last")
        terminal.press("home")
        terminal.wait_for("line 0")
        terminal.press("pagedown")
        terminal.wait_for("line 20")
        terminal.mouse(5, 5, kind="scroll_up")
        terminal.wait_until(lambda screen: screen.lines[1].startswith("│line 8"), "two rows further up")
        terminal.mouse(42, 11, kind="press")
        terminal.wait_for("very last")


def test_a_finished_answer_is_shown_from_its_beginning(start: Start) -> None:
    with start(["show", LINES], ["show", "short"]) as terminal:
        do(terminal, 1)
        terminal.wait_until(lines_begin("line 0 "), "the first line")
        do(terminal, 2)
        assert "▐" not in terminal.wait_until(lines_begin("short   "), "the other text")


def test_matches_are_marked_and_jumped_to(start: Start) -> None:
    text = CODE + LINES
    marks: list[object] = [[text.index("return"), text.index("return") + 6, "expected"]]
    marks += [[text.index("eval("), text.index("eval(") + 5, "forbidden"], [len(text) - 7, len(text), "expected"]]
    with start(["show", text], ["mark", *marks], ["mark", marks[0]]) as terminal:
        do(terminal, 1, 2)
        screen = terminal.wait_until(
            lambda screen: screen.cell_of("return").back == colour("match-expected-background"), "marks"
        )
        for found, name in (("return", "match-expected"), ("eval(", "match-forbidden")):
            assert screen.cell_of(found)[1:3] == (colour(name), colour(f"{name}-background"))
        for key, expected, place in (
            ("n", "match 1 of 3, 3 in all", "return"),
            ("n", "match 2 of 3", "eval("),
            ("n", "match 3 of 3", "line 99"),
            ("n", "match 1 of 3", "return"),
            ("N", "match 3 of 3", "line 99"),
        ):
            terminal.press(key)
            screen = terminal.wait_for(expected)
            terminal.wait_until(partial(is_current, place), f"{place} as the current match")
        terminal.press("x")
        terminal.wait_until(lambda screen: screen.cell_of("line 99").back == colour("background"), "no mark there now")


def test_code_is_coloured_when_its_lexer_is_there(start: Start) -> None:
    with start(["show", CODE]) as terminal:
        do(terminal, 1)
        terminal.wait_until(lambda screen: screen.cell_of("def").front == colour("code-keyword"), "colours")
        assert terminal.screen.cell_of("reverse").front == colour("code-function")
        assert terminal.screen.cell_of("```").front == colour("dim")


def test_a_note_is_under_the_text_and_moves_nothing(start: Start) -> None:
    steps: list[list[object]] = [
        ["streaming", True],
        ["append", LINES],
        ["note", "waiting 1.0 s, then asks again (429)"],
        ["note", ""],
    ]
    with start(*steps) as terminal:
        do(terminal, 1, 2)
        before = terminal.wait_for("line 99").lines[1:11]
        do(terminal, 3)
        screen = terminal.wait_for("asks again (429)")
        assert screen.lines[1:11] == before
        assert screen.cell_of("waiting").front == colour("dim")
        do(terminal, 4)
        assert terminal.wait_while("asks").lines[1:11] == before


def test_what_was_thought_aloud_folds_when_the_answer_begins(start: Start) -> None:
    with start(
        ["streaming", True], ["append_reasoning", "first this\nthen that"], ["append", "The answer."]
    ) as terminal:
        do(terminal, 1, 2)
        assert terminal.wait_for("then that").cell_of("then that").front == colour("dim")
        do(terminal, 3)
        assert "then that" not in terminal.wait_for("▸ thinking · 2 lines")
        terminal.press("t")
        terminal.wait_for("then that")
        terminal.mouse(3, 1)
        terminal.wait_while("then that")


def test_selected_text_is_copied_as_it_was_written(start: Start) -> None:
    text = "one two three four five six seven eight nine ten\n\televen 日本 twelve"
    with start(["show", text]) as terminal:
        do(terminal, 1)
        row = terminal.wait_for("one two").row_of("one two")
        terminal.mouse(5, row, kind="press")
        terminal.mouse(6, row, kind="drag")
        terminal.mouse(12, row + 2, kind="drag")
        terminal.wait_until(lambda screen: screen.cell(6, row).back == colour("selected"), "a selection")
        terminal.mouse(12, row + 2, kind="release")
        terminal.press("ctrl+c")
        terminal.wait_until(lambda _: b"\x1b]52;c;" in terminal.raw, "something in the clipboard")
    copied = re.search(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)", terminal.raw)
    assert copied
    assert base64.b64decode(copied[1]).decode() == "two three four five six seven eight nine ten\n\televen 日"


def test_nothing_hostile_reaches_the_terminal(start: Start) -> None:
    hostile = "\x1b]0;owned\x07 \x1b[2J \x9b31m \u202eevil\u202c \u200b [red]x[/red] [/foo] \x00 \x7f end\ud800"
    steps: list[list[object]] = [
        ["streaming", True], ["append", hostile[:1]], ["append", hostile[1:]], ["append_reasoning", hostile],
        ["note", hostile], ["show", f"```python\n{hostile}\n```\n", hostile],
    ]  # fmt: skip
    with start(*steps) as terminal:
        begin = len(terminal.raw)
        do(terminal, 1, 2, 3, 4, 5, 6)
        terminal.wait_for("[/foo]")
        out = bytes(terminal.raw[begin:])
    for pattern in ("\x1b]0;owned", "\x07", "\x1b[2J", "\x9b", "\u202e", "\u202c", "\u200b", "\x00", "\x7f"):
        assert pattern.encode() not in out, pattern


def test_another_width_keeps_the_place_and_another_theme_the_text(start: Start) -> None:
    text = "\n".join(f"paragraph {number} " + "word " * 20 for number in range(40))
    with start(["show", text]) as terminal:
        do(terminal, 1)
        terminal.press(*["pagedown"] * 3)
        top = terminal.wait_until(lambda screen: "paragraph 10" in screen.lines[1], "the eleventh on top").lines[1]
        terminal.resize(80, 14)
        terminal.wait_until(
            lambda screen: screen.lines[1].startswith(top[:14]) and len(screen.lines[1]) == 80, "the same"
        )
        terminal.press("T")
        terminal.wait_until(lambda screen: screen.cell_of("paragraph").back == "f7f7f4", "a light ground")
        terminal.resize(3, 3)
        terminal.resize(1, 1)
        terminal.resize(60, 20)
        terminal.wait_for("paragraph")


def test_without_colours_marks_are_bold_and_underlined(start: Start) -> None:
    steps: list[list[object]] = [["show", "good bad"], ["mark", [0, 4, "expected"], [5, 8, "forbidden"]]]
    with start(*steps, NO_COLOR="1") as terminal:
        do(terminal, 1, 2)
        screen = terminal.wait_until(lambda screen: "good" in screen and screen.cell_of("good").bold, "marks")
        assert (screen.cell_of("good").bold, screen.cell_of("good").underlined) == (True, False)
        assert screen.cell_of("bad").underlined
        assert {screen.cell_of(word).front[:2] * 3 == screen.cell_of(word).front for word in ("good", "bad")} == {True}


def test_a_megabyte_in_a_line_is_no_matter(start: Start) -> None:
    with start(["show", "é" + "word 漢字 " * 125_000], size=(60, 12)) as terminal:
        do(terminal, 1)
        terminal.wait_for("word 漢字")
        terminal.press("end")
        terminal.wait_until(lambda screen: screen.lines[9].split() == ["│漢字", "word", "漢字", "▐│"], "the end")


def test_a_match_at_the_end_of_a_long_answer_is_gone_to_and_stays_in_another_width(start: Start) -> None:
    text = "漢字と words \n" * 40_000
    steps = [["show", f"{text}needle"], ["mark", [len(text), len(text) + 6, "expected"]]]
    with start(*steps) as terminal:
        do(terminal, 1, 2)
        terminal.press("n")
        terminal.wait_until(partial(is_current, "needle"))
        terminal.resize(50, 14)
        terminal.wait_until(lambda screen: is_current("needle", screen) and screen.lines[0].rstrip().endswith("╮"))
