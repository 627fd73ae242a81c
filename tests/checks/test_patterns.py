"""Can a pattern be compiled, and what is said if not."""

import subprocess
import sys
import warnings

import pytest

from tui.checks.patterns import pattern_error

MODIFIER = "group modifiers such as (?i:…) are not in every version of JavaScript"
REPEAT = r"nothing to repeat before *, +, ? or {}; write \*, \+, \? or \{ for a literal character"


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("(", r"unbalanced parenthesis; write \( or \) for a literal parenthesis"),
        ("a)", r"unbalanced parenthesis; write \( or \) for a literal parenthesis"),
        ("[", r"unbalanced bracket; write \[ for a literal bracket"),
        ("*", REPEAT),
        ("a++", REPEAT),
        ("\\", r"ends with a single \; write \\ for a literal backslash"),
        ("a{2,1}", "invalid quantifier: the numbers in {} are out of order"),
        (r"\b*", REPEAT),
        (r"a\B{2}", REPEAT),
        ("(?i)a", "invalid group; remove (?i): patterns always ignore case"),
        ("(?P<n>a)", "invalid group; JavaScript writes a named group as (?<name>…)"),
        ("(?>a)", "invalid group; JavaScript has no atomic groups"),
        (r"[\u{41}-z]", "a range of characters in [] is out of order"),
        ("a\\\\\\", r"ends with a single \; write \\ for a literal backslash"),
        ("[\\]", r"unbalanced bracket; write \[ for a literal bracket"),
        (r"(?<n>a)\k<m>", "group name not defined"),
        ("(?i:a)b", f"{MODIFIER}; remove (?i): patterns always ignore case"),
        ("(?s-m:a)", MODIFIER),
        ("(?<n>a)(?<n>b)", "two groups have the same name; rename one"),
        ("(?<n>a)|(?<n>b)", "two groups have the same name; rename one"),
        (r"(?<\u006e>a)|(?<n>[)])", "two groups have the same name; rename one"),
        (r"(?<n>a)[\\\k]", r"\k is not allowed in [] if a group has a name; remove the \ before k"),
        ("()" * 255, "more than 254 groups; write (?:…) for groups that need no number"),
        ("(?:" * 10_000, "nested too deeply"),
        ("(?:" * 2_000 + "a" + "){1,2}" * 2_000, "nested too deeply"),
        ("\ud800", r"contains half of a surrogate pair; write it as an escape, such as \ud83d"),
        ("(" * 100_000, "the pattern is longer than 32,768 characters; split it"),
    ],
)
def test_a_javascript_pattern_that_cannot_be_compiled(pattern: str, error: str) -> None:
    assert pattern_error("expected_pattern", pattern) == error
    assert pattern_error("forbidden_pattern", pattern) == error


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "'\\+", "a{,5}", "{", "]", "}", r"\k<a>", r"\1", r"\p{L}", "[]", "[^]", "(?<n>a)", r"\\b*", r"[\b]*"),
        *("(?=a)*", "|".join(["[|]"] * 5_000), "a|" * 16_000, r"\uD83D\uDE00", "😀", r"\ud83d"),
        *("()" * 254, r"\(?i:a", "[(?i:]"),
        *(r"(\(?<00)", r"(\d?i:a)", r"[\k]", r"(?<a>x)[\\k]", r"(?<a>x)\[\k<a>"),
        *("(?<a>x)|(?<b>x)", r"(?<a>x)|[(?<a>]|\(?<a>", "(?<a>x)(?<=a)(?<!a)"),
    ],
)
def test_a_javascript_pattern_that_can_be_compiled(pattern: str) -> None:
    assert pattern_error("expected_pattern", pattern) is None


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("(", "missing ), unterminated subpattern at position 0"),
        ("*", "nothing to repeat at position 0"),
        ("a{99999999999999999999}", "the repetition number is too large"),
        ("(?<=a*)b", "look-behind requires fixed-width pattern"),
        ("(" * 30_000 + ")" * 1, "nested too deeply"),
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


def test_the_engine_is_loaded_on_first_use_only() -> None:
    code = "import sys, tui.checks.checker, tui.checks.patterns; print('_quickjs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
