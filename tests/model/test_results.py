"""Which attempt of a trial has the current answer."""

import pytest

from tests.support.kept_runs import make_step
from tui.model.results import Attempt, TrialKey, TrialResult, Verdict, current_attempt

KEY = TrialKey("c", "m")


def attempt(number: int, asking: int, verdict: Verdict, text: str) -> Attempt:
    return Attempt(number, verdict, None, (make_step(text),), asking=asking)


@pytest.mark.parametrize(
    ("runs", "current"),
    [
        ([("passed", "yes")], 1),
        ([("failed", "no"), ("passed", "yes")], 2),
        ([("passed", "yes"), ("failed", "no")], 2),
        ([("failed", "no"), ("error", "")], 1),
        ([("failed", "no"), ("error", "a beg")], 1),
        ([("failed", "no"), ("cancelled", "a beg")], 1),
        ([("unchecked", "no"), ("timed_out", "")], 1),
        ([("failed", "no"), ("incomplete", "a beg")], 1),
        ([("failed", "no"), ("passed", "yes"), ("error", "")], 2),
        ([("failed", "no"), ("passed", ""), ("error", "a beg")], 2),
        ([("incomplete", "a beg"), ("error", "another beg")], 1),
        ([("incomplete", "a beg"), ("incomplete", "another beg")], 2),
        ([("incomplete", "a beg"), ("failed", "no")], 2),
        ([("error", "a beg"), ("error", "")], 1),
        ([("error", "a beg"), ("error", "another beg")], 2),
        ([("error", ""), ("error", " ")], 2),
    ],
)
def test_a_rerun_replaces_an_answer_only_by_one_that_is_as_complete(
    runs: list[tuple[Verdict, str]], current: int
) -> None:
    attempts = [attempt(number + 1, number, *run) for number, run in enumerate(runs)]
    found = current_attempt(attempts)
    assert found is attempts[current - 1]


def test_the_last_attempt_of_a_run_replaces_the_earlier_ones_of_the_same_run() -> None:
    attempts = (attempt(1, 0, "failed", "no"), attempt(2, 0, "error", ""))
    assert current_attempt(attempts) is attempts[1]
    rerun = (*attempts, attempt(3, 1, "failed", "no"), attempt(4, 1, "passed", "yes"), attempt(5, 2, "cancelled", ""))
    assert current_attempt(rerun) is rerun[3]


def test_without_attempts_there_is_no_answer() -> None:
    assert current_attempt(()) is None
    result = TrialResult(KEY, "error", False, "no", ())
    assert (result.current_attempt, result.current_steps, result.has_answer) == (None, (), False)
