"""Hostile pastes: what Textual's parser gets of them, and the app in a real terminal after them."""

from pathlib import Path

import pytest
from textual.events import Key, MouseEvent, Paste
from textual.message import Message

from tests.support.terminal import Terminal, run_here
from tui.app.terminal_input import MAX_CELLS, MAX_PASTE, MAX_TYPED, InputParser, PasteFilter

START, END = "\x1b[200~", "\x1b[201~"
MEGABYTE = 1 << 20
READ = 4096


def read_in_pieces(text: str, size: int = READ) -> list[Message]:
    """The messages of a text that is read in pieces."""
    parser, data = InputParser(), text.encode(errors="surrogateescape")
    messages = [message for at in range(0, len(data), size) for message in parser.feed(data[at : at + size])]
    return [*messages, *parser.idle()]


def steps_for(text: str) -> int:
    """How many characters the parser gets, one step for each."""
    paste = PasteFilter()
    return sum(len(paste.feed(text[at : at + READ])) for at in range(0, len(text), READ)) + len(paste.idle())


def keys_of(messages: list[Message]) -> list[str]:
    return [message.key for message in messages if isinstance(message, Key)]


def pastes_of(messages: list[Message]) -> list[str]:
    return [message.text for message in messages if isinstance(message, Paste)]


@pytest.mark.parametrize("size", [1, 7, READ])
def test_a_paste_is_one_paste(size: int) -> None:
    messages = read_in_pieces(f"a{START}some\ttext\r\n日本 \U0001f600{END}b", size)
    assert keys_of(messages) == ["a", "b"]
    assert pastes_of(messages) == ["some\ttext\r\n日本 \U0001f600"]


@pytest.mark.parametrize("size", [1, 5, 6, 7, READ])
@pytest.mark.parametrize(
    "pasted",
    [
        "\x1b",
        "\x1bq",
        "\x1b[A",
        "\x1b[13~x",
        "\x1b" * 40,
        "\x1b[20",
        "\x1b[200~",
        "\x1b[99999999999999999999u",
        "\x9b201~",
        "\x03",
    ],
)
def test_no_control_sequence_of_a_paste_presses_a_key(pasted: str, size: int) -> None:
    messages = read_in_pieces(f"{START}one{pasted}two{END}b", size)
    assert keys_of(messages) == ["b"]
    (text,) = pastes_of(messages)
    assert (text[:3], text[-3:]) == ("one", "two")
    assert text.isprintable()


def test_a_paste_is_capped() -> None:
    pasted = f"{START}{'x' * (2 * MEGABYTE)}{END}q"
    messages = read_in_pieces(pasted)
    assert pastes_of(messages) == ["x" * MAX_PASTE]
    assert keys_of(messages) == ["q"]
    assert steps_for(pasted) < MAX_PASTE + 100


@pytest.mark.parametrize("begin", [START, ""])
@pytest.mark.parametrize(
    "unit",
    ["\x1b[A", *(pytest.param(unit, marks=pytest.mark.long) for unit in ("\x1b", "\x1b]0;x\x07", "\x1b[", "\x1bq"))],
)
def test_a_megabyte_of_escapes_takes_few_steps(unit: str, begin: str) -> None:
    flood = unit * (MEGABYTE // len(unit))
    pasted = f"{begin}{flood}{END if begin else ''}"
    messages = read_in_pieces(pasted)
    assert keys_of(messages) == []
    assert len(messages) == 1
    assert steps_for(pasted) <= sum(char.isprintable() for char in flood) + 100


def test_a_flood_without_a_mark_is_a_paste_until_it_ends() -> None:
    messages = read_in_pieces("ls -l\r" * 10_000)
    assert keys_of(messages) == []
    assert pastes_of(messages) == ["ls -l\r" * 10_000]
    assert keys_of(read_in_pieces("q" * MAX_TYPED)) == ["q"] * MAX_TYPED


def test_keys_are_read_again_after_a_flood() -> None:
    parser = InputParser()
    assert list(parser.feed(b"q" * READ)) == []
    assert [message.text for message in parser.idle() if isinstance(message, Paste)] == ["q" * READ]
    assert keys_of(list(parser.feed(b"q"))) == ["q"]


def test_a_moving_mouse_is_no_flood() -> None:
    messages = read_in_pieces("".join(f"\x1b[<35;{1 + step % 80};7M" for step in range(2000)))
    assert sum(isinstance(message, MouseEvent) for message in messages) == 2000


def test_a_held_escape_key_is_every_time_a_key() -> None:
    parser = PasteFilter()
    assert [parser.feed("\x1b") for _ in range(5)] == ["\x1b"] * 5


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[99999999999999999999u", "\x1b[1114112u", "\x1b[97;5;9999999999u", f"\x1b[48;{MAX_CELLS + 1};9;9;9t",
        "\x1b[48;9;99999999;9;9t", "\x1b[<99999999999;1;1M", f"\x1b[<0;{'9' * 20};1M", "\udcff", "\udcc3(",
    ],
)  # fmt: skip
def test_input_that_cannot_be_parsed_does_no_harm(sequence: str) -> None:
    messages = read_in_pieces(f"a{sequence}b")
    assert keys_of(messages)[0] == "a"
    messages = read_in_pieces(f"{sequence}\x1b[48;24;80;480;800tb", 1)
    assert keys_of(messages)[-1:] == ["b"]


def test_the_mouse_works_after_input_that_cannot_be_parsed() -> None:
    parser = InputParser()
    list(parser.feed(b"\x1b[48;24;80;480;800t"))
    list(parser.feed(b"\x1b[9999999999999u"))
    (moved,) = [message for message in parser.feed(b"\x1b[<35;100;100M") if isinstance(message, MouseEvent)]
    assert moved.x < 10  # in pixels: the terminal reports them still


@pytest.mark.parametrize("marked", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_app_answers_a_key_after_a_megabyte_of_escapes(marked: bool) -> None:
    command = run_here("-m", "tests.app.input_app")
    with Terminal(command, size=(60, 20), cwd=Path(__file__).parents[2]) as terminal:
        terminal.wait_for("keys 0")
        terminal.send("\x1b[200~" * marked + "\x1b" * MEGABYTE + "\x1b[201~" * marked)
        terminal.wait_for("pastes 1")
        terminal.press("x")
        terminal.wait_for("last x")
        assert "keys 1," in terminal.screen
        terminal.send("\x1b[200~two\nlines\x1b[201~")
        terminal.wait_for("pastes 2")
        assert "'two\\nlines'" in terminal.screen
