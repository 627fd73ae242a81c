"""Can a pattern be compiled, and what is said if not."""

import subprocess
import sys
import time
import warnings

import pytest

from tui.checks.patterns import pattern_error

JAVASCRIPT = "not a JavaScript regular expression: "
PYTHON = "not a Python regular expression: "


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("(", JAVASCRIPT + r"unbalanced parenthesis; write \( or \) for the character itself"),
        ("a)", JAVASCRIPT + r"unbalanced parenthesis; write \( or \) for the character itself"),
        ("[", JAVASCRIPT + r"unbalanced bracket; write \[ for the character itself"),
        ("*", JAVASCRIPT + r"nothing to repeat before *, + or ?; write \*, \+ or \? for the character itself"),
        ("a++", JAVASCRIPT + r"nothing to repeat before *, + or ?; write \*, \+ or \? for the character itself"),
        ("\\", JAVASCRIPT + r"it ends in a single \; write \\ for the character itself"),
        ("a{2,1}", JAVASCRIPT + "invalid quantifier"),
        (r"\b*", JAVASCRIPT + r"nothing to repeat after \b"),
        (r"a\B{2}", JAVASCRIPT + r"nothing to repeat after \B"),
        ("(?i)a", JAVASCRIPT + "invalid group modifier; leave (?i) out, patterns ignore case anyway"),
        ("(?P<n>a)", JAVASCRIPT + "invalid group modifier; JavaScript writes a named group as (?<name>…)"),
        ("(?>a)", JAVASCRIPT + "invalid group modifier; JavaScript has no atomic groups"),
        (r"[\u{41}-z]", JAVASCRIPT + "range values reversed, start char code is greater than end char code"),
        ("(" * 20_000 + ")" * 1, JAVASCRIPT + "regular expression is too deeply nested"),
        ("\ud800", JAVASCRIPT + "it holds half of a surrogate pair, which no text can contain"),
        ("(" * 100_000, "the pattern is longer than 32,768 characters; split it"),
        ("a|" * 5_001, "the pattern has more than 5,000 alternatives; split it"),
    ],
)
def test_a_javascript_pattern_that_cannot_be_compiled(pattern: str, error: str) -> None:
    assert pattern_error("expected_pattern", pattern) == error
    assert pattern_error("forbidden_pattern", pattern) == error


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "'\\+", "a{,5}", "{", "]", "}", r"\k<a>", r"\1", r"\p{L}", "[]", "[^]", "(?<n>a)", r"\\b*", r"[\b]*"),
        *("(?=a)*", "|".join(["[|]"] * 5_000), "a|" * 4_999, r"\uD83D\uDE00", "😀"),
    ],
)
def test_a_javascript_pattern_that_can_be_compiled(pattern: str) -> None:
    assert pattern_error("expected_pattern", pattern) is None


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("(", PYTHON + "missing ), unterminated subpattern at position 0"),
        ("*", PYTHON + "nothing to repeat at position 0"),
        ("a{99999999999999999999}", PYTHON + "the repetition number is too large"),
        ("(?<=a*)b", PYTHON + "look-behind requires fixed-width pattern"),
        ("(" * 30_000 + ")" * 1, PYTHON + "it is nested too deeply"),
        ("x" * 40_000, "the pattern is longer than 32,768 characters; split it"),
    ],
)
def test_a_python_pattern_that_cannot_be_compiled(pattern: str, error: str) -> None:
    assert pattern_error("output.matches", pattern) == error


def test_a_python_pattern_that_can_be_compiled_warns_nobody() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert pattern_error("output.matches", "(?P<n>[[a]x&&y]+)") is None
    assert caught == []


def test_kinds_without_a_pattern_have_no_error() -> None:
    assert pattern_error("output.includes", "(") is None
    assert pattern_error("command", "(") is None


def test_ten_thousand_patterns_cost_little() -> None:
    started = time.process_time()
    assert not any(pattern_error("expected_pattern", rf"case{number}\s*\((?:foo|bar)") for number in range(10_000))
    assert time.process_time() - started < 1.5


def test_the_engine_is_loaded_on_first_use_only() -> None:
    code = "import sys, tui.checks.checker, tui.checks.patterns; print('regress' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
