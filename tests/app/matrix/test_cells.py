"""Cells: what repeats fold into, and what changed since a baseline."""

import pytest

from tests.app.matrix_samples import answered, result
from tui.app.matrix.baseline import Change, baseline_of, change_line, changes
from tui.app.matrix.cells import Cell, cell_line, fold
from tui.app.presentation.pieces import text_of
from tui.model.outcomes import outcome_of
from tui.model.progress import TrialProgress
from tui.model.state import RunState
from tui.model.trials import TrialKey


def trials(signs: str) -> list[TrialProgress]:
    """Repeats by their marks; `●` runs, `○` waits."""
    state = RunState()
    found = []
    for repeat, sign in enumerate(signs, 1):
        key = TrialKey("one", "a", repeat)
        if sign in "●○":
            found.append(TrialProgress(key, "running" if sign == "●" else "waiting"))
        else:
            state.take_results([result(key, sign, answered())])
            found.append(state.trials[key])
    return found


@pytest.mark.parametrize(
    ("signs", "text", "share"),
    [
        ("", "·", -1),
        ("✓", "✓", 1),
        ("✗", "✗", 0),
        ("◐", "◐ 2/3", 0),
        ("t", "! timed out", 0),
        ("!", "! error", 0),
        ("i", "! incomplete", 0),
        ("c", "- cancelled", 0),
        ("○", "○", -1),
        ("✓✓✓", "✓ 3/3", 1),
        ("✓✗✓", "◐ 2/3", 2 / 3),
        ("✗✗", "✗ 0/2", 0),
        ("✗!", "✗ 0/2", 0),
        ("!t", "! 0/2", 0),
        ("◐✗", "◐ 0/2", 0),
        ("✓○", "∙ 1/2", -1),
        ("○○", "○ 0/2", -1),
    ],
)
def test_repeats_fold_into_one_cell(signs: str, text: str, share: float) -> None:
    cell = fold(trials(signs), attempts=3)
    assert text_of(cell_line(cell)) == text
    assert cell.share == share


def test_the_mark_of_what_runs_moves() -> None:
    cell = fold(trials("●"))
    assert {text_of(cell_line(cell, beat)) for beat in range(4)} == {"∙", "•", "●"}


@pytest.mark.parametrize(
    ("before", "now", "said", "was"),
    [
        ("✗", "✓", "✓ fixed", "✓ was ✗"),
        ("✓", "✗", "✗ broke", "✗ was ✓"),
        ("✓", "!", "✗ broke", "! error was ✓"),
        ("✓", "◐", "◐ worse", "◐ 2/2 was ✓"),
        ("✗✗", "✓✗", "◐ better", "◐ 1/2 was ✗ 0/2"),
        ("✓", "✓", "", None),
        ("✗", "!", "", None),
        ("✓", "●", "", None),
        ("✓", "", "", None),
        ("", "✗", "", None),
    ],
)
def test_a_change_is_said_with_what_it_was(before: str, now: str, said: str, was: str | None) -> None:
    outcomes = [outcome_of(trial.result) for trial in trials(before) if trial.result]
    baseline, cell = baseline_of("run", outcomes), fold(trials(now))
    assert text_of(change_line(changes(baseline, "one", ["a"], [cell]))) == said
    earlier = baseline.before("one", "a", cell)
    assert (text_of(cell_line(cell, 0, earlier)) if earlier else None) == was


def test_several_changes_are_counted() -> None:
    assert text_of(change_line(Change(2, 0, 2, 0))) == "✓ 2 fixed"
    assert text_of(change_line(Change(2, 1, 2, 1))) == "+2 −1"
    assert change_line(Change()) == ()


def test_the_worst_come_first() -> None:
    signs = ["✗", "t", "◐", "c", "●", "○", "✓", ""]
    cells = [fold(trials(each)) for each in signs]
    assert sorted(cells, key=lambda cell: cell.rank) == cells
    assert Cell().rank > fold(trials("✓")).rank
