"""Figures have a fixed width, and are exact as soon as they can be."""

from dataclasses import replace

import pytest

from tests.support.scripted_session import result_of, step_of
from tui.app.explore.header_lines import Heading, header_line
from tui.app.presentation.figures import clock, count, figure_line, figures_of, seconds
from tui.app.presentation.pace import seconds_left
from tui.app.presentation.pieces import text_of, width_of
from tui.model.progress import AttemptProgress, StepProgress
from tui.model.results import OTHER_PROMPT, TrialKey
from tui.model.state import Counts, RunState

A = TrialKey("one", "mock-a")


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (None, "   –"),
        (0, " 0.0"),
        (900, " 0.9"),
        (996, " 1.0"),
        (12_340, "12.3"),
        (123_400, " 123"),
        (1_000_000, " 17m"),
    ],
)
def test_seconds_take_four_cells(milliseconds: float | None, shown: str) -> None:
    assert seconds(milliseconds) == shown


def test_a_first_token_is_reported_in_hundredths() -> None:
    assert seconds(150, digits=2) == "0.15"


@pytest.mark.parametrize(
    ("value", "approximate", "shown"),
    [
        (None, False, "   –"),
        (96, False, "  96"),
        (96, True, " ~96"),
        (1234, True, " ~1k"),
        (12_345, False, " 12k"),
        (4_000_000, False, "  4M"),
    ],
)
def test_counts_take_four_cells(value: int | None, approximate: bool, shown: str) -> None:
    assert count(value, 4, approximate) == shown


def test_tokens_are_estimated_from_pieces_while_they_come_and_exact_at_the_end() -> None:
    step = StepProgress(pieces=["a"] * 10, size=10, sent_at=1.0, first_at=1.5)
    live = figures_of(AttemptProgress(1, 1, [step], tokens_seen=10), 2.5)
    assert (live.duration_ms, live.first_token_ms, live.tokens, live.exact) == (1500, 500, 10, False)
    assert live.speed == pytest.approx(10.0)
    kept = RunState()
    kept.take_results([result_of(A, "passed", step_of("text", tokens=96))])
    over = figures_of(kept.trials[A].attempt, 99.0)
    assert (over.duration_ms, over.first_token_ms, over.tokens, over.exact) == (900, 150, 96, True)
    assert over.speed == pytest.approx(128.0)


def test_an_answer_in_one_piece_is_estimated_by_its_length() -> None:
    step = StepProgress(pieces=["a" * 400], size=400, sent_at=0.0, first_at=1.0)
    assert figures_of(AttemptProgress(1, 1, [step], tokens_seen=1), 2.0).tokens == 100


def test_a_pane_says_its_figures_on_one_line_and_less_where_there_is_less_room() -> None:
    state = RunState()
    state.take_results([result_of(A, "passed", step_of("text", tokens=96))])
    trial = state.trials[A]
    assert text_of(figure_line(trial, trial.attempt, 0.0, 60)) == "✓  0.9 s · TTFT 0.15 · 128 tok/s ·   96 tok"
    assert text_of(figure_line(trial, trial.attempt, 0.0, 40)) == "✓  0.9 s · 128 tok/s ·   96 tok"
    assert text_of(figure_line(trial, trial.attempt, 0.0, 20)) == "✓  0.9 s ·   96 tok"
    assert text_of(figure_line(trial, trial.attempt, 0.0, 10)) == "✓  0.9 s"
    assert text_of(figure_line(trial, trial.attempt, 0.0, 2)) == "✓"
    assert figure_line(None, None, 0.0, 60) == ()


def test_a_replayed_answer_to_another_prompt_is_called_so() -> None:
    state = RunState()
    step = replace(step_of("text"), notes=(OTHER_PROMPT,))
    state.take_results([result_of(A, "passed", step)])
    trial = state.trials[A]
    assert text_of(figure_line(trial, trial.attempt, 0.0, 60)).startswith("✓ answer to another prompt ·  0.9 s")


def test_a_known_cost_is_at_the_end_and_is_left_out_first() -> None:
    state = RunState()
    state.take_results([result_of(A, "passed", replace(step_of("text", tokens=96), cost_usd=0.0042))])
    trial = state.trials[A]
    assert text_of(figure_line(trial, trial.attempt, 0.0, 60)).endswith(" ·   96 tok · $0.0042")
    assert text_of(figure_line(trial, trial.attempt, 0.0, 50)).endswith(" · 128 tok/s ·   96 tok")


@pytest.mark.parametrize(("value", "shown"), [(14, "0:14"), (723, "12:03"), (3723, "1:02:03"), (-1, "0:00")])
def test_the_clock(value: float, shown: str) -> None:
    assert clock(value) == shown


def test_what_is_left_is_reported_once_something_is_over() -> None:
    assert seconds_left(14.0, Counts(trials=12)) is None
    assert seconds_left(14.0, Counts(trials=12, passed=4, failed=2, flaky=1)) == pytest.approx(10.0)
    assert seconds_left(14.0, Counts(trials=1, passed=1)) is None


@pytest.mark.parametrize("width", range(1, 200, 7))
def test_the_header_fits_and_keeps_what_matters(width: int) -> None:
    shown = Heading("quickstart", 6, 2, Counts(12, 4, 2, 1), True, 14.0, 1)
    line = header_line(shown, width)
    if width > 60:
        assert width_of(text_of(line)) <= width
        assert "▶  7/12" in text_of(line)
    if width > 120:
        assert "━" in text_of(line)
        assert "0:14 · about 0:10 left · 1 queued" in text_of(line)


def test_one_case_is_not_cases() -> None:
    assert "1 case × 1 model" in text_of(header_line(Heading("s", 1, 1), 100))
