"""What all imported runs have in common."""

from dataclasses import replace

import pytest

from tests.support.kept_runs import make_case, make_result
from tui.imports import imported
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


def test_the_checks_that_many_cases_get_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imported, "_MOST_COMMON_CHECKS", 20)
    checks = tuple(Check("recorded", f"score {number}") for number in range(30))
    judged = replace(make_case("judged"), steps=(Step("Ask.", checks),))
    for others, most in ((4, 4), (40, 1)):
        failed = [replace(make_case(f"failed-{number}"), steps=(Step("Ask."),)) for number in range(others)]
        results = [make_result(TrialKey("judged", "m", 1))]
        results += [make_result(TrialKey(case.id, "m", 1), "error") for case in failed]
        first, *found = with_common_checks([judged, *failed], results)
        assert first == judged
        assert {case.steps[0].checks for case in found} == {checks[:most]}
