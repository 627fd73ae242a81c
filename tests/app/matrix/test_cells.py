"""Cells: what repeats fold into, and what changed since a baseline."""

from dataclasses import replace

import pytest

from tests.app.matrix.samples import answered, result
from tui.app.matrix.baseline import Change, baseline_of, change_line, changes
from tui.app.matrix.cells import cell_line, with_band
from tui.app.matrix.matrix import pair_to_compare
from tui.app.presentation.bands import band_letter, band_mark
from tui.app.presentation.cells import Cell, fold
from tui.app.presentation.pieces import text_of, width_of
from tui.model.outcomes import outcome_of
from tui.model.progress import TrialProgress
from tui.model.results import TrialKey
from tui.model.risk import BANDS, Band
from tui.model.state import RunState


def trials(signs: str) -> list[TrialProgress]:
    """Repeats by their marks; `●` runs, `◦` waits."""
    state = RunState()
    found = []
    for repeat, sign in enumerate(signs, 1):
        key = TrialKey("one", "a", repeat)
        if sign in "●◦":
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
        ("i", "◌ incomplete", 0),
        ("c", "- cancelled", 0),
        ("◦", "◦", -1),
        ("✓✓✓", "✓ 3/3", 1),
        ("✓✗✓", "◐ 2/3", 2 / 3),
        ("✗✗", "✗ 0/2", 0),
        ("✗!", "✗ 0/2", 0),
        ("!t", "! 0/2", 0),
        ("◐✗", "◐ 0/2", 0),
        ("✓◦", "∙ 1/2", -1),
        ("◦◦", "◦ 0/2", -1),
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
    ("before", "now", "text", "was"),
    [
        ("✗", "✓", "✓ fixed", "✓ was ✗"),
        ("✓", "✗", "✗ broke", "✗ was ✓"),
        ("✓", "!", "✗ broke", "! error was ✓"),
        ("✓", "◐", "◐ worse", "◐ 2/2 was ✓"),
        ("◐", "✓", "◐ better", "✓ was ◐"),
        ("✗✗", "✓✗", "◐ better", "◐ 1/2 was ✗ 0/2"),
        ("✓", "✓", "", None),
        ("✗", "!", "", None),
        ("✓", "●", "", None),
        ("✓", "", "", None),
        ("", "✗", "", None),
    ],
)
def test_a_change_is_reported_with_what_it_was(before: str, now: str, text: str, was: str | None) -> None:
    outcomes = [outcome_of(trial.result) for trial in trials(before) if trial.result]
    baseline, cell = baseline_of("run", outcomes), fold(trials(now))
    assert text_of(change_line(changes(baseline, "one", ["a"], [cell]))) == text
    earlier = baseline.before("one", "a", cell)
    assert (text_of(cell_line(cell, 0, earlier)) if earlier else None) == was


@pytest.mark.parametrize(
    ("signs", "band", "width", "text"),
    [
        ("✗", "high", 26, "✗            ◕ high"),
        ("i", "negligible", 26, "◌ incomplete ○ negligible"),
        ("✓✗✓", "critical", 26, "◐ 2/3        ● critical"),
        ("✗", "high", 17, "✗            ◕ H"),
        ("i", "critical", 17, "◌ incomplete ● C"),
        ("●", "low", 17, "∙            ◔ L"),
        ("", "medium", 24, "·            ◑ M"),
        ("✓", None, 26, "✓"),
    ],
)
def test_a_band_has_its_mark_and_its_word_always_in_the_same_place(
    signs: str, band: Band | None, width: int, text: str
) -> None:
    assert text_of(with_band(cell_line(fold(trials(signs), 3)), band, width)) == text


@pytest.mark.parametrize("width", [17, 26])
@pytest.mark.parametrize("band", BANDS)
def test_a_band_is_the_last_to_be_cut(band: Band, width: int) -> None:
    line = with_band(cell_line(fold(trials("✗✗✓")), 0, fold(trials("✓✓✓"))), band, width)
    assert width_of(text_of(line)) < width
    mark, _ = band_mark(band)
    assert text_of(line).endswith((f" {mark} {band_letter(band)}", f" {mark} {band}"))
    assert text_of(with_band(cell_line(fold(trials("t"))), band, 8)).endswith(
        f"{band_mark(band)[0]} {band_letter(band)}"
    )


def test_no_two_bands_have_the_same_mark_or_letter() -> None:
    assert len({band_letter(band) for band in BANDS}) == len({band_mark(band)[0] for band in BANDS}) == len(BANDS)


@pytest.mark.parametrize(
    ("signs", "first", "two"),
    [
        (("✓", "✓", "✗"), 0, "ac"),
        (("✓", "✓", "✗"), 1, "bc"),
        (("✓", "✓", "✗"), 2, "ca"),
        (("✓", "✓", "✓"), 0, "ab"),
        (("✓", "✓", "✓"), 2, "ca"),
        (("✓✗✓", "✗✗✗", "✓✓✗"), 0, "ab"),
        (("✗", "✗", "✓"), 0, "ac"),
        (("✓", "", "✓"), 0, "ac"),
        (("", "✗", "✓"), 0, "bc"),
        (("✓", "", "●"), 0, "ab"),
        (("", "", ""), 1, "bc"),
        (("✓",), 0, None),
        ((), 0, None),
    ],
)
def test_the_two_that_differ_are_compared_from_the_first_in_sight_on(
    signs: tuple[str, ...], first: int, two: str | None
) -> None:
    cells = [fold(trials(each)) for each in signs]
    assert pair_to_compare("abc"[: len(signs)], cells, first) == (tuple(two) if two else None)
    assert pair_to_compare("abc"[: len(signs)], cells, first, ("x", "y")) == ("x", "y")


def test_several_changes_are_counted() -> None:
    assert text_of(change_line(Change(2, 0, 2, 0))) == "✓ 2 fixed"
    assert text_of(change_line(Change(2, 1, 2, 1))) == "+2 −1"
    assert change_line(Change()) == ()


def test_the_worst_come_first() -> None:
    signs = ["✗", "t", "◐", "c", "●", "◦", "✓", ""]
    cells = [fold(trials(each)) for each in signs]
    assert sorted(cells, key=lambda cell: cell.rank) == cells
    assert Cell().rank > fold(trials("✓")).rank


@pytest.mark.parametrize(
    ("counts", "then", "text"),
    [("✗", "✓", "✗ ↻✓"), ("✗", "!", "✗ ↻!"), ("✗", "i", "✗ ↻◌"), ("✗", "✗", "✗"), ("✓", "✗", "✓ ↻✗"), ("✓", "✓", "✓")],
)
def test_a_cell_shows_the_verdict_that_counts_and_what_a_rerun_came_to(counts: str, then: str, text: str) -> None:
    key = TrialKey("one", "a")
    first, second = result(key, counts, answered()), result(key, then, answered())
    again = replace(second.attempts[-1], number=2, asking=1)
    state = RunState()
    state.take_results([replace(second, attempts=(*first.attempts, again))])
    cell = fold([state.trials[key]])
    shown = ("failed", 0, text) if counts == "✗" else ("passed", 1, text)
    assert (cell.status, cell.share, text_of(cell_line(cell))) == shown
