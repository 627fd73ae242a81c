"""Which trials a plan holds."""

from tests.support.plans import case_of, subject_of, suite_of
from tui.model.results import TrialKey
from tui.runner.plan import Overrides, make_plan


class _Iterated(list[TrialKey]):
    """Asking this for each of many trials would take half a minute."""

    def __contains__(self, key: object) -> bool:
        raise AssertionError(f"{key} was looked for one by one")


def test_a_plan_holds_the_trials_that_were_asked_for_in_the_suites_order() -> None:
    suite = suite_of(case_of("one", "a"), case_of("two", "b"), models=("m", "n"))
    asked = _Iterated([TrialKey("two", "m"), TrialKey("one", "n"), TrialKey("no such case", "m")])
    plan = make_plan(suite, [subject_of("m"), subject_of("n")], Overrides(), only=asked)
    assert plan.trials == (TrialKey("two", "m"), TrialKey("one", "n"))
