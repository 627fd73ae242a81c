"""Edits of cases with a data set: the case in the file is edited, and no filled-in text is written to it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.suites.loaded import pattern_error
from tui.documents.source_edits import NotEditable
from tui.model.suite import Suite
from tui.suites.edits import CheckPlace, add_case, change_checks, copy_case, places_of_check
from tui.suites.load import load_suite


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    """A suite with a case before and one behind a case with two rows."""
    plain = {"name": "n", "category": "c", "prompt": "p", "expectedPatterns": ["one", "same"]}
    rows = [{"x": "one"}, {"id": "second", "x": "two"}]
    case = {**plain, "id": "rows", "expectedPatterns": ["{{x}}", "same"], "vars": rows}
    cases = [{**plain, "id": "before"}, case, {**plain, "id": "behind"}]
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"name": "n", "description": "d", "models": ["m"], "testCases": cases}, indent=1))
    loaded = load_suite(path, pattern_error)
    assert loaded.suite is not None
    return loaded.suite


def cases_in(content: bytes) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(content)["testCases"]
    return cases


def content_of(suite: Suite) -> bytes:
    return Path(suite.path).read_bytes()


def test_a_check_of_all_rows_is_changed_in_the_case_of_the_file(suite: Suite) -> None:
    places = places_of_check(suite, "expected_pattern", "same")
    assert len(places) == 4
    cases = cases_in(change_checks(suite, content_of(suite), places, "same", "new"))
    assert [case["expectedPatterns"] for case in cases] == [["one", "new"], ["{{x}}", "new"], ["one", "new"]]


def test_a_filled_in_check_is_not_written(suite: Suite) -> None:
    assert [place.case for place in places_of_check(suite, "expected_pattern", "one")] == ["before", "behind"]
    with pytest.raises(NotEditable):
        change_checks(suite, content_of(suite), [CheckPlace("rows.1", 0, 0)], "one", "new")


def test_a_case_behind_rows_is_found(suite: Suite) -> None:
    cases = cases_in(change_checks(suite, content_of(suite), [CheckPlace("behind", 0, 0)], "one", "new"))
    assert [case["expectedPatterns"][0] for case in cases] == ["one", "{{x}}", "new"]


def test_a_copy_of_a_row_is_a_copy_of_the_case_with_its_data(suite: Suite) -> None:
    added = copy_case(suite, content_of(suite), suite.cases[2])
    cases = cases_in(added.content)
    assert (added.case, [case["id"] for case in cases]) == (
        "rows-copy.second",
        ["before", "rows", "rows-copy", "behind"],
    )
    assert (cases[2]["prompt"], cases[2]["vars"]) == (cases[1]["prompt"], cases[1]["vars"])


def test_a_new_case_follows_the_case_of_the_row(suite: Suite) -> None:
    cases = cases_in(add_case(suite, content_of(suite), suite.cases[1]).content)
    assert [case["id"] for case in cases] == ["before", "rows", "new-case", "behind"]
