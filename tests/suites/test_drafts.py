"""A case that is edited has the problems that `assay check` would report of its file."""

from pathlib import Path
from typing import Any

import pytest

from tests.suites.loaded import pattern_error, suite_of
from tui.checks.backtracking import pattern_warning
from tui.suites.drafts import draft_faults

SUITE = """\
name: S
description: Two cases
models: [m]
testCases:
  - {id: a, name: A, category: C, prompt: p}
  - {id: b, name: B, category: C, prompt: p}
"""
CASE: dict[str, Any] = {"id": "a", "name": "A", "category": "C", "prompt": "p"}


@pytest.mark.parametrize(
    ("changes", "path", "what"),
    [
        ({"name": " "}, ("name",), "is empty; add text"),
        ({"id": "a b"}, ("id",), "has a character that is not allowed"),
        ({"id": "b"}, ("id",), "duplicate id `b`"),
        ({"testType": "bugfix"}, ("testType",), "did you mean `bug-fix`?"),
        ({"expectedPatterns": ["x", "("]}, ("expectedPatterns", 1), "is not a valid JavaScript pattern"),
        ({"forbiddenPatterns": ["(a+)+$"]}, ("forbiddenPatterns", 0), "do not repeat a group"),
        ({"codeContext": [{"filePath": "../x"}]}, ("codeContext", 0, "filePath"), "is not allowed"),
        ({"codeContext": [{"filePath": "x"}]}, ("codeContext", 0, "filePath"), "does not exist"),
        ({"assertions": [{"type": "latency"}]}, ("assertions", 0, "threshold"), "is missing"),
    ],
)
def test_a_fault_is_found_at_its_path(tmp_path: Path, changes: Any, path: Any, what: str) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    draft = {**CASE, **changes}
    faults = draft_faults(suite, draft, "a", pattern_error, pattern_warning)
    assert list(faults) == [path]
    assert what in faults[path].what
    assert draft == {**CASE, **changes}


def test_a_case_without_faults_has_none(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "s.yaml", SUITE)
    draft = {**CASE, "assertions": [{"type": "contains", "value": "x"}]}
    assert draft_faults(suite, draft, "a", pattern_error, pattern_warning) == {}
    assert list(draft_faults(suite, draft, None, pattern_error, pattern_warning)) == [("id",)]


def test_a_test_of_testhaven_is_validated(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "t.yaml", "description: T\ninput: i\nassert: {output.includes: x}\n")
    faults = draft_faults(suite, {"input": 1, "assert": {"output.matches": "("}}, None, pattern_error, pattern_warning)
    assert list(faults) == [("input",), ("assert", "output.matches")]
