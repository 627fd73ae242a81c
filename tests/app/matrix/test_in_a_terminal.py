"""The matrix in a real pseudo-terminal: opened, live, left; with hostile text wherever text can be."""

from pathlib import Path

import pytest

from tests.app.test_in_a_terminal import app_in, hostile_bytes, restored
from tests.support.terminal import Terminal, run_here


@pytest.mark.long
def test_a_run_is_started_from_it_and_a_case_opened(tmp_path: Path) -> None:
    with app_in(tmp_path) as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("m")
        terminal.wait_for("2 cases × 2 models")
        terminal.press("R")
        terminal.wait_for("! 4 errors")
        terminal.wait_for("at least 6 needed")
        terminal.press("down", "enter")
        terminal.wait_for("Checks")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert restored(terminal)


@pytest.mark.long
def test_leaving_from_it_while_it_runs_asks_and_interrupts(tmp_path: Path) -> None:
    with app_in(tmp_path, "endless") as terminal:
        terminal.wait_for("Not run yet")
        terminal.press("m")
        terminal.wait_for("2 cases × 2 models")
        terminal.press("R")
        terminal.wait_until(lambda screen: any(mark in screen.text for mark in "∙•●"), "a mark moves")
        terminal.press("q")
        terminal.wait_for("Quit?")
        terminal.press("y")
        assert terminal.wait_exit() == 0
        assert (tmp_path / "ended").read_text() == "interrupted"


@pytest.mark.long
def test_nothing_hostile_comes_out_of_the_matrix(tmp_path: Path) -> None:
    with app_in(tmp_path, "hostile", (160, 48)) as terminal:
        terminal.wait_for("canary")
        terminal.press("r")
        terminal.wait_for("■ 1/1")
        terminal.press("m")
        terminal.wait_for("2 cases × 2 models")
        terminal.wait_for("! error")
        for key, text in {"s": "Sort rows", "?": "Focused place", "ctrl+p": "Search for commands"}.items():
            terminal.press(key)
            terminal.wait_for(text)
            terminal.press("escape")
            terminal.wait_while(text)
        for key in ("G", "o", "d", "d", "n", "home", "end", "right"):
            terminal.press(key)
        terminal.press("m")
        terminal.wait_for("Checks")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []


@pytest.mark.long
def test_hostile_names_of_two_models_are_compared() -> None:
    command = run_here("-m", "tests.app.matrix.matrix_app", "hostile")
    with Terminal(command, size=(120, 40), cwd=Path(__file__).parents[3]) as terminal:
        terminal.wait_for("! error")
        terminal.wait_for("McNemar")
        terminal.press("I")
        terminal.wait_for("Statistics")
        terminal.press("escape")
        terminal.wait_while("Statistics")
        terminal.press("b")
        terminal.wait_for("Compare with")
        terminal.press("escape")
        terminal.wait_while("Compare with")
        terminal.press("q")
        assert terminal.wait_exit() == 0
        assert hostile_bytes(bytes(terminal.raw)) == []
