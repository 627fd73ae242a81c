"""What all imported runs have in common."""

from dataclasses import replace

from tests.support.kept_runs import make_case, make_result
from tui.imports.imported import with_common_checks
from tui.model.results import TrialKey, Verdict
from tui.model.suite import Check, Step


def test_cases_that_only_ended_in_errors_have_the_checks_of_the_others() -> None:
    check = Check("recorded", "match")
    free = [replace(make_case(name), steps=(Step("Ask."),)) for name in ("failed", "free")]
    cases = [replace(make_case("judged"), steps=(Step("Ask.", (check,)),)), *free]
    verdicts: dict[str, Verdict] = {"judged": "passed", "failed": "error", "free": "unchecked"}
    results = [make_result(TrialKey(case, "m", 1), verdict) for case, verdict in verdicts.items()]
    judged, failed, unchecked = with_common_checks(cases, results)
    assert [case.steps[0].checks for case in (judged, failed, unchecked)] == [(check,), (check,), ()]
