"""Patterns find what they find in JavaScript."""

import pytest

from tests.checks.javascript_cases import DIFFERENT, SAME
from tui.checks.checker import Answer, Checker
from tui.checks.javascript import shape_of
from tui.model.suite import Check
from tui.model.trials import Span


async def spans_of(checker: Checker, pattern: str, text: str) -> tuple[Span, ...]:
    (result,) = await checker.decide([Check("expected_pattern", pattern)], Answer(text))
    assert result.state == ("passed" if result.spans else "failed"), result
    return result.spans


async def test_patterns_find_what_they_find_in_javascript(checker: Checker) -> None:
    found = [(pattern, text, await spans_of(checker, pattern, text)) for pattern, text, _ in SAME]
    assert len(found) > 190
    assert found == list(SAME)


async def test_where_we_differ_from_javascript_is_known(checker: Checker) -> None:
    for pattern, text, javascript, ours in DIFFERENT:
        assert await spans_of(checker, pattern, text) == ours, (pattern, text)
        assert javascript != ours


@pytest.mark.parametrize(
    ("pattern", "inner", "context"),
    [
        ("foo", "foo", 0),
        ("^foo", "(?!)foo", 0),
        ("(?:^|,)x", "(?:(?!)|,)x", 0),
        ("[^a]", "[^a]", 0),
        ("[]^]", "[](?!)]", 0),
        (r"\^a", r"\^a", 0),
        (r"\bfoo", r"\bfoo", 1),
        (r"\\bfoo", r"\\bfoo", 0),
        (r"[\b]", r"[\b]", 0),
        ("(?<=a)b", "(?<=a)b", 256),
        ("(?<!a)b", "(?<!a)b", 256),
        (r"\(?<=a", r"\(?<=a", 0),
        ("(?<name>a)", "(?<name>a)", 0),
        ("[(?<=]", "[(?<=]", 0),
        (r"\u{41}", "u{41}", 0),
        (r"\\u{41}", r"\\u{41}", 0),
        (r"[\u{41}\\u{2}]^", r"[u{41}\\u{2}](?!)", 0),
    ],
)
def test_a_pattern_is_taken_apart(pattern: str, inner: str, context: int) -> None:
    shape = shape_of(pattern)
    assert (shape.inner, shape.context) == (inner, context)


def test_alternatives_are_counted_outside_classes_and_escapes() -> None:
    assert shape_of(r"a|b\|c|[|]").alternatives == 3
