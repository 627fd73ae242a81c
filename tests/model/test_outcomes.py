"""An outcome sums up the last attempt."""

from dataclasses import replace

import pytest

from tests.support.kept_runs import make_result, make_step
from tui.model.outcomes import Outcome, outcome_of
from tui.model.results import MOST_TOKENS, Attempt, Retry, StepResult, TrialKey, TrialResult, Usage


def test_the_last_attempts_steps_are_taken_together() -> None:
    key = TrialKey("case", "model", 2)
    first, last = make_result(key, flaky=True).attempts
    more = replace(make_step(duration_ms=300.0), usage=Usage(None, 5, 7), retries=(Retry("429", 1000),))
    result = TrialResult(key, "passed", True, None, (first, replace(last, steps=(*last.steps, more))))
    assert outcome_of(result) == Outcome(
        key,
        "passed",
        "passed",
        True,
        0,
        None,
        2,
        150.0,
        1500.0,
        None,
        85,
        7,
        1,
        least_input_tokens=40,
        least_output_tokens=85,
    )


def test_what_nobody_counted_stays_unknown() -> None:
    key = TrialKey("case", "model")
    step = replace(make_step(), usage=Usage())
    result = TrialResult(key, "passed", False, None, (Attempt(1, "passed", None, (step,)),))
    assert outcome_of(result).input_tokens is None
    assert outcome_of(TrialResult(key, "cancelled", False, "stopped", ())) == Outcome(
        key, "cancelled", "cancelled", False, 0, "stopped", 0, None, 0, None, None, None, 0
    )


@pytest.mark.parametrize("count", [-1, 2**53 + 1, 10**400])
def test_an_impossible_count_of_tokens_is_unknown(count: int) -> None:
    assert Usage(count, 7, count, 0, count) == Usage(None, 7, None, 0, None)


def test_tokens_of_many_steps_stay_in_the_range_of_a_count() -> None:
    key = TrialKey("case", "model")
    step = replace(make_step(), usage=Usage(MOST_TOKENS, 1))
    outcome = outcome_of(TrialResult(key, "passed", False, None, (Attempt(1, "passed", None, (step, step)),)))
    assert (outcome.input_tokens, outcome.output_tokens) == (None, 2)


def test_tokens_of_every_attempt_count_and_one_unknown_leaves_a_lower_bound() -> None:
    key = TrialKey("case", "model")
    counted, unknown = (replace(make_step(), usage=usage) for usage in (Usage(10, 5), Usage(None, None)))
    for first, last, total, least in (
        (counted, counted, 20, 20),
        (counted, unknown, None, 10),
        (unknown, counted, None, 10),
        (unknown, unknown, None, None),
    ):
        attempts = (Attempt(1, "failed", None, (first,)), Attempt(2, "failed", None, (last,)))
        outcome = outcome_of(TrialResult(key, "failed", False, None, attempts))
        assert (outcome.input_tokens, outcome.output_tokens) == (total, total and total // 2)
        assert (outcome.least_input_tokens, outcome.least_output_tokens) == (least, least and least // 2)


def test_every_attempt_was_paid_for_and_one_unknown_leaves_a_lower_bound() -> None:
    key = TrialKey("case", "model")
    paid, unknown = replace(make_step(), cost_usd=0.25), make_step()

    def costs_of(*attempts: tuple[StepResult, ...]) -> tuple[float | None, float | None]:
        tries = tuple(Attempt(number, "failed", None, steps) for number, steps in enumerate(attempts, 1))
        outcome = outcome_of(TrialResult(key, "failed", False, None, tries))
        return outcome.cost_usd, outcome.least_cost_usd

    assert costs_of((paid, paid), (paid,)) == (0.75, 0.75)
    assert costs_of((paid,), (unknown,)) == (None, 0.25)
    assert costs_of((unknown, paid), (paid,)) == (None, 0.5)
    assert costs_of((unknown,)) == (None, None)
    assert costs_of(()) == (None, None)
    assert costs_of((replace(paid, cost_usd=0.0),)) == (0.0, 0.0)
