"""Patterns find what they find in JavaScript, through the worker process."""

from math import ceil, floor

from tests.checks.javascript_cases import HALVES, SAME
from tui.checks.checker import Answer, Checker
from tui.model.results import Span
from tui.model.suite import Check


async def spans_of(checker: Checker, pattern: str, text: str) -> tuple[Span, ...]:
    (result,) = await checker.decide([Check("expected_pattern", pattern)], Answer(text))
    assert result.state == ("passed" if result.spans else "failed"), result
    return result.spans


def widened(start: float, end: float) -> Span:
    """The whole character where a span begins or ends inside one."""
    return floor(start), ceil(end)


async def test_patterns_find_what_they_find_in_javascript(checker: Checker) -> None:
    found = [(pattern, text, await spans_of(checker, pattern, text)) for pattern, text, _ in SAME]
    assert len(found) > 190
    assert found == list(SAME)


async def test_a_match_of_half_a_character_is_widened_to_the_whole(checker: Checker) -> None:
    for pattern, text, javascript in HALVES:
        expected = tuple(widened(start, end) for start, end in javascript)
        assert await spans_of(checker, pattern, text) == expected, (pattern, text)


async def test_one_answer_has_its_spans_in_code_points_for_every_pattern(checker: Checker) -> None:
    text = "a😀b\n🎉😀c é" + "😀" * 50 + "end"
    patterns = ["b", "c é", "end$", r"\ud83d", r"\n", "[^a]c", "😀end", "zz+"]
    results = await checker.decide([Check("expected_pattern", pattern) for pattern in patterns], Answer(text))
    for pattern, result in zip(patterns[:3], results, strict=False):
        assert [text[start:end] for start, end in result.spans] == [pattern.rstrip("$")]
    assert results[3].spans[:2] == ((1, 2), (5, 6))
    assert [text[start:end] for start, end in results[5].spans] == ["😀c"]
    assert [text[start:end] for start, end in results[6].spans] == ["😀end"]
    assert results[7].state == "failed"
