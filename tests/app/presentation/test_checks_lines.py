"""The Checks table as text."""

from pathlib import Path

import pytest

from tests.support.scripted_session import case_of, prompt_of, step_of, suite_of
from tui.app.presentation.checks_lines import (
    Columns,
    cell_line,
    check_rows,
    columns,
    detail_lines,
    head_line,
    is_cut,
    row_line,
)
from tui.app.presentation.pieces import text_of, width_of
from tui.checks.messages import words_for_matches
from tui.checks.protocol import TOO_LARGE, TOO_LONG, TOO_LONG_TOGETHER, Matches
from tui.model.events import (
    AttemptStarted,
    CheckMoved,
    Event,
    RunStarted,
    StepFinished,
    StepStarted,
    TextArrived,
)
from tui.model.progress import TrialProgress
from tui.model.results import MOST_SPANS, RAN_UNCHANGED, CheckResult, TrialKey
from tui.model.state import RunState
from tui.model.suite import Case, Check, CheckKind, Step

A = TrialKey("one", "mock-a")
CASE = case_of("one", expects=["def", "empty"], forbids=["eval"])


def trial_after(*events: Event) -> TrialProgress:
    state = RunState()
    for event in (RunStarted("r", (A,), "t"), AttemptStarted(A, 1, 1), StepStarted(A, 1, 0, prompt_of()), *events):
        state.take(event)
    return state.trials[A]


def cells(trial: TrialProgress | None) -> list[str]:
    return [text_of(cell_line(row, trial)) for row in check_rows(CASE)]


def test_cells_move_while_text_arrives() -> None:
    assert cells(None) == ["·", "·", "·"]
    assert cells(trial_after()) == ["… waiting", "… waiting", "… none so far"]
    slow = trial_after(CheckMoved(A, 1, 0, 0, "timed_out", ()))
    assert cells(slow)[0] == "… too long so far"
    moved = trial_after(
        TextArrived(A, 1, 0, "x\ndef eval"),
        CheckMoved(A, 1, 0, 0, "found", ((2, 5),)),
        CheckMoved(A, 1, 0, 2, "forbidden", ((6, 10),)),
    )
    assert cells(moved) == ["… 1 so far  line 2", "… waiting", "… found so far  line 2"]


def test_cells_are_decided_at_the_end() -> None:
    checks = (
        CheckResult("expected_pattern", "def", "passed", spans=((0, 3), (4, 7))),
        CheckResult("expected_pattern", "empty", "failed"),
        CheckResult("forbidden_pattern", "eval", "passed"),
    )
    assert cells(trial_after(StepFinished(A, 1, 0, step_of("def def", *checks)))) == [
        "✓ 2  line 1",
        "✗ missing",
        "✓ none",
    ]
    many = CheckResult("expected_pattern", "def", "passed", spans=((0, 3),) * MOST_SPANS)
    assert cells(trial_after(StepFinished(A, 1, 0, step_of("def", many))))[0] == "✓ 1000+  line 1"
    late = CheckResult("forbidden_pattern", "eval", "timed_out", words_for_matches(Matches(failure=TOO_LONG), "x"))
    assert cells(trial_after(StepFinished(A, 1, 0, step_of("x", *checks[:2], late))))[2] == "! pattern ran too long"


@pytest.mark.parametrize(
    ("kind", "failure", "words", "short"),
    [
        ("output.matches", TOO_LONG_TOGETHER, "! pattern ran too long", "! too long   "),
        ("expected_pattern", TOO_LARGE, "! not evaluated", "! no result  "),
        ("assert.cost", "the cost of the answer is unknown", "! not evaluated", "! no result  "),
        ("assert.rouge-n", TOO_LONG.replace("pattern", "assertion"), "! not evaluated", "! no result  "),
        ("recorded", "this check was evaluated by another tool", "! cannot be repeated", "!            "),
    ],
)
def test_a_check_that_could_not_be_evaluated_says_so(kind: CheckKind, failure: str, words: str, short: str) -> None:
    case = case_of("one", steps=[Step("in", (Check(kind, "x"),))])
    result = CheckResult(kind, "x", "timed_out", f"could not be evaluated: {failure}")
    trial = trial_after(StepFinished(A, 1, 0, step_of("x", result)))
    (row,) = check_rows(case)
    assert text_of(cell_line(row, trial)) == words
    assert text_of(row_line(row, [trial], Columns(8, 3, 13, 1), 1)).endswith(f" {short}")


def test_a_command_that_ran_on_the_unchanged_repository_says_so() -> None:
    case = case_of("one", steps=[Step("in", (Check("command", "make test"),))])
    detail = f"exit status 0\n12 tests passed\n{RAN_UNCHANGED}"
    trial = trial_after(StepFinished(A, 1, 0, step_of("x", CheckResult("command", "make test", "passed", detail))))
    (row,) = check_rows(case)
    assert text_of(cell_line(row, trial)) == "✓ no change"
    assert [text_of(line) for line in detail_lines(row, [("mock-a", trial)])] == [RAN_UNCHANGED]
    applied = CheckResult("command", "make test", "passed", detail.partition("\n")[0])
    trial = trial_after(StepFinished(A, 1, 0, step_of("x", applied)))
    assert (text_of(cell_line(row, trial)), detail_lines(row, [("mock-a", trial)])) == ("✓", [])


def test_an_assertion_that_failed_says_what_came_instead_and_in_full_when_it_is_selected() -> None:
    case = case_of("one", steps=[Step("in", (Check("memory", "booking.city", "Berlin"),))])
    detail = 'expected: "Berlin"\ngot: "Paris"\n- Berlin\n+ Paris'
    result = CheckResult("memory", "booking.city", "failed", detail)
    trial = trial_after(StepFinished(A, 1, 0, step_of("x", result)))
    row = check_rows(case)[0]
    assert text_of(cell_line(row, trial)) == '✗ got: "Paris"'
    named = [("mock-a", trial), ("mock-b", None), ("mock-c", trial)]
    texts = [text_of(line) for line in detail_lines(row, named, whole=True)]
    part = detail.splitlines()
    assert texts == ['memory  booking.city = "Berlin"', "", "mock-a", *part, "", "mock-c", *part]
    assert [text_of(line) for line in detail_lines(row, named[:1])] == part
    assert detail_lines(row, [("mock-a", None)]) == []
    assert len(detail_lines(row, [("mock-a", None)], whole=True)) == 1


def test_rows_line_up_below_their_heads() -> None:
    rows = check_rows(CASE)
    widths = columns(rows, 2, 80)
    lines = [head_line(["mock-a", "mock-b"], widths), *(row_line(row, [None, None], widths, 1) for row in rows)]
    assert {width_of(text_of(line)) for line in lines} == {width_of(text_of(lines[0]))}
    assert width_of(text_of(lines[0])) <= 80
    assert text_of(lines[0]).index("mock-a") == text_of(lines[1]).index("·")


@pytest.mark.parametrize("width", range(26, 160))
def test_every_model_has_a_column_however_narrow_it_is(width: int) -> None:
    rows = check_rows(CASE)
    live = trial_after(CheckMoved(A, 1, 0, 0, "found", ((2, 5),)), CheckMoved(A, 1, 0, 2, "forbidden", ((6, 10),)))
    results = (
        CheckResult("expected_pattern", "def", "passed", spans=((2, 5),)),
        CheckResult("expected_pattern", "empty", "failed"),
        CheckResult("forbidden_pattern", "eval", "failed", spans=((6, 10),)),
    )
    decided = trial_after(StepFinished(A, 1, 0, step_of("x def eval", *results)))
    widths = columns(rows, 4, width)
    for trial, marks in ((live, "………"), (decided, "✓✗✗")):
        lines = [text_of(row_line(row, [trial] * 4, widths, 1)) for row in rows]
        assert [line.count(mark) for line, mark in zip(lines, marks, strict=True)] == [4, 4, 4]
        assert not any(mark in line for line in lines for mark in "✓✗" if trial is live)
    assert all(width_of(line) <= width for line in lines)
    head = text_of(head_line(["openai/mock-a", "openai/mock-b", "openai/mock-c", "openai/mock-d"], widths))
    assert len(head.split()) == 4
    assert width_of(head) == width_of(lines[0])


def test_a_cell_says_less_where_there_is_less_room_and_is_never_cut_in_mid_word() -> None:
    rows, trial = check_rows(CASE), trial_after()
    shown = {
        text_of(row_line(rows[2], [trial] * 2, columns(rows, 2, width), 1)).split("eval")[1] for width in range(20, 90)
    }
    assert {" ".join(text.split()) for text in shown} == {"… none so far … none so far", "… none … none", "… …"}


def test_what_the_table_cuts_is_whole_in_the_details() -> None:
    rows = check_rows(case_of("one", expects=["x" * 100, "short"]))
    widths = columns(rows, 2, 80)
    assert [is_cut(row, widths) for row in rows] == [True, False]
    assert "x" * 100 in text_of(detail_lines(rows[0], [], whole=True)[0])


def _run_as(case: Case, *checks: CheckResult) -> TrialProgress:
    """Return the finished trial of a case as it was then."""
    state = RunState()
    state.prepare(suite_of(Path("suite.yaml"), case))
    for event in (RunStarted("r", (A,), "t"), AttemptStarted(A, 1, 1), StepStarted(A, 1, 0, prompt_of())):
        state.take(event)
    state.take(StepFinished(A, 1, 0, step_of("It is Paris.", *checks)))
    return state.trials[A]


def test_a_check_that_was_changed_after_a_run_has_no_result_of_another_one() -> None:
    earlier = case_of("one", expects=["Paris"])
    trial = _run_as(earlier, CheckResult("expected_pattern", "Paris", "passed", spans=((6, 11),)))
    for now, expected in (
        (case_of("one", expects=["zebra", "Paris"]), [("zebra", "not evaluated"), ("Paris", "✓ 1  line 1")]),
        (case_of("one", forbids=["Paris"]), [("Paris", "not evaluated"), ("Paris", "✓ 1  line 1")]),
        (case_of("one"), [("Paris", "✓ 1  line 1")]),
        (earlier, [("Paris", "✓ 1  line 1")]),
    ):
        rows = check_rows(now, [None, trial])
        assert [(row.check.target, text_of(cell_line(row, trial))) for row in rows] == expected
        assert [row.earlier for row in rows] == [row.check not in now.steps[0].checks for row in rows]
    row = check_rows(case_of("one"), [trial])[0]
    assert text_of(row_line(row, [trial], columns([row], 1, 60), 1)).startswith("earlier expected")
    assert text_of(cell_line(row, trial_after())) == "not evaluated", "another model was not run with it"


def test_an_expected_value_that_was_changed_is_another_check() -> None:
    def booked(city: str) -> Case:
        return case_of("one", steps=[Step("in", (Check("memory", "booking.city", city),))])

    trial = _run_as(booked("Berlin"), CheckResult("memory", "booking.city", "passed", 'got "Berlin"'))
    rows = check_rows(booked("Paris"), [trial])
    assert [(row.check.expected, text_of(cell_line(row, trial)), row.earlier) for row in rows] == [
        ("Paris", "not evaluated", False),
        ("Berlin", "✓", True),
    ]
