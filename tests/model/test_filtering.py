"""The filter language, word by word."""

from collections.abc import Mapping

import pytest

from tests.support.scripted_desk import case_of
from tui.model.filtering import StatusWord, parse_filter, severity_of
from tui.model.suite import Case, RiskCriterion, Step

CASE = Case(
    "sql-1",
    "Query by e-mail",
    "Bug Fixing",
    (Step("Write an SQL query."), Step("Now for users.")),
    tags=("security", "database"),
    test_type="bug-fix",
    risk_criteria=(RiskCriterion("Injection", "", "critical"), RiskCriterion("Style", "", "low")),
)
STATUSES: Mapping[str, StatusWord] = {"gpt-5.2": "failed", "gpt-mini": "passed", "claude": "timed_out"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", True),
        ("sql", True),
        ("SQL users", True),
        ('"sql query"', True),
        ('"query sql"', False),
        ("mail", True),
        ("nothing", False),
        ("!nothing", True),
        ("!sql", False),
        ("tag:security", True),
        ("tag:secur*", True),
        ("tag:web", False),
        ("!tag:security", False),
        ("sev:critical", True),
        ("sev:crit", True),
        ("severity:high", False),
        ("type:bug-fix", True),
        ("type:bug*", True),
        ("type:refactoring", False),
        ('cat:"Bug Fixing"', True),
        ('category:"bug fix', True),
        ("cat:Security", False),
        ("id:sql-*", True),
        ("id:py", False),
        ("status:fail", True),
        ("status:failed", True),
        ("status:error", False),
        ("status:timeout", True),
        ("status:timed-out", True),
        ("!status:fail", False),
        ("!status:error", True),
        ("model:gpt* status:pass", True),
        ("model:claude status:pass", False),
        ("model:claude !status:pass", True),
        ("!model:gpt* status:fail", False),
        ("model:other", False),
        ("tag:security sql status:fail", True),
        ("tag:security sql status:running", False),
        ("status:", True),
        ("tag:", True),
    ],
)
def test_words_say_which_cases_are_wanted(text: str, wanted: bool) -> None:
    assert parse_filter(text).matches(CASE, STATUSES) is wanted


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tags:x", "no tags: here; did you mean tag:?"),
        ("zzz:x", "no zzz: here; there are status: tag: sev: model: type: cat: id:"),
        ("sev:severe", "no severity severe; there are low, medium, high, critical"),
        ("status:", ""),
        ("stat", ""),
    ],
)
def test_what_makes_no_sense_is_hinted_at(text: str, hint: str) -> None:
    assert parse_filter(text).hint == hint


def test_a_status_that_is_none_names_those_there_are() -> None:
    assert parse_filter("status:green").hint.startswith("no status green; there are passed, failed")


def test_an_unknown_key_is_looked_for_as_it_stands() -> None:
    case = case_of("web", prompt="Fetch http://x")
    assert parse_filter("http://x").matches(case, {})
    assert not parse_filter("ftp://x").matches(case, {})


def test_a_case_is_as_severe_as_its_worst_criterion() -> None:
    assert severity_of(CASE) == "critical"
    assert severity_of(case_of("plain")) is None
