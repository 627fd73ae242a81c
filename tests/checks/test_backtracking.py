"""Exponential patterns are warned of, ordinary ones are not."""

import json
from pathlib import Path

import pytest

from tests.checks.v8.pairs import make_pairs
from tui.checks.backtracking import PatternWarnings, pattern_warning
from tui.model.shipped import shipped_folder
from tui.session.session import list_suite_files, open_suite


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "^(a+)+$",
            "(a|a)*b",
            r"(\w+\s?)*$",
            r"(?:\s*(\w*)?)*;",
            "(x+x+)+y",
            "foo(a|aa)+$",
            "^([^,]+)+$",
            r"(.|\s)*x!",
        ),
        *(r"^(([a-z])+.)+[A-Z]([a-z])+$", r"([\s\S]|x)*?end", r"^(?:\d+\.?)+$", r"^(\d|\w)*$", "(?<n>(?:b|b)+)+c"),
        *("(a|b|ab)*c", "^(?=(a+)+b)", r"(?:(?:\w+){1,2}|x)+?1"),
    ],
)
def test_an_exponential_pattern_is_warned_of(pattern: str) -> None:
    warning = pattern_warning("forbidden_pattern", pattern)
    assert warning is not None
    assert warning.startswith("needs exponential time on an answer such as '")
    assert pattern_warning("output.matches", pattern) == warning
    assert pattern_warning("output.includes", pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [
        *(
            "(?:foo|bar)+",
            "(ab)+c",
            r"(?:\d{3}-)+\d",
            r"^(?:[a-z]+,)*[a-z]+$",
            r"(?:\s+\w+)*;",
            r"(\w+\.)+com",
            "(a|b)*c",
        ),
        *(r'(?:[^"\\]|\\.)*"', r"(?:\r?\n)+", r"(?:[\s\S]*?end){2}", "(?:a{1,3}b)+", r"^(?:\w+\s)*\w+$", r"(.*,){3}x"),
        *(
            r"(?:\w+\s+){3,}x",
            r"(?:.*\n)*end",
            r"\{(?:[^{}]|\{[^{}]*\})*\}",
            r"(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?",
            "(",
            ")*",
        ),
        *("[(a+)+]", r"\(a+\)+", "(?:" * 350 + "a" + ")" * 350 + "(b)*", "", "()*", "(|)*", "(?<!a)*", "[]*(a)+"),
    ],
)
def test_an_ordinary_pattern_is_not(pattern: str) -> None:
    assert pattern_warning("expected_pattern", pattern) is None


def test_the_patterns_of_a_suite_are_tried_for_a_limited_time() -> None:
    warnings = PatternWarnings(0.0)
    patterns = ("x", "^(a+)+0$", "^(a+)+1$", "^(a+)+2$")
    for _ in range(2):
        first, found, untried, rest = (warnings.warning("expected_pattern", pattern) for pattern in patterns)
        assert (first, found, rest) == (None, pattern_warning("expected_pattern", patterns[1]), None)
        assert untried is not None
        assert untried.startswith("was not tried for exponential time")


def test_a_suite_of_slow_patterns_is_read_with_most_of_them_untried(tmp_path: Path) -> None:
    case = {"id": "a", "name": "a", "category": "c", "prompt": "p"}
    patterns = [f"^(b+)+{number}$" for number in range(200)]
    suite = {"name": "n", "description": "d", "models": ["m"], "testCases": [{**case, "expectedPatterns": patterns}]}
    (tmp_path / "suite.json").write_text(json.dumps(suite))
    loaded = open_suite(tmp_path / "suite.json")
    whats = [problem.what for problem in loaded.problems]
    assert sum("was not tried" in what for what in whats) == 1, whats
    assert 0 < sum("needs exponential time" in what for what in whats) < 200


def test_any_pattern_can_be_tried() -> None:
    warned = {pattern for pattern, _ in make_pairs(5, 1_000) if pattern_warning("expected_pattern", pattern)}
    assert len(warned) < 20


def test_the_patterns_of_the_bundled_suites_are_not() -> None:
    seen = 0
    for path in list_suite_files(shipped_folder("test-suites")):
        suite = open_suite(path).suite
        assert suite is not None
        for check in (check for case in suite.cases for step in case.steps for check in step.checks):
            assert pattern_warning(check.kind, check.target) is None
            seen += 1
    assert seen > 100
