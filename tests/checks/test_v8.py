"""Patterns mean what they mean in V8: as recorded, and, where `node` is installed, compared with a fresh seed."""

import shutil
from collections import defaultdict
from random import SystemRandom

import pytest

from tests.checks.v8.comparison import Answer, answers_of_v8, differences
from tests.checks.v8.pairs import make_class_pairs, make_pairs
from tests.checks.v8.record import recorded
from tui.checks.checker import Answer as Text
from tui.checks.checker import Checker
from tui.checks.engine import Engine
from tui.model.results import Span
from tui.model.suite import Check

NODE = shutil.which("node")


def widened(text: str, answer: list[int]) -> tuple[Span, ...]:
    """Spans in UTF-16 units as spans of whole characters."""
    points = [point for point, sign in enumerate(text) for _ in range(1 + (ord(sign) > 0xFFFF))] + [len(text)]
    pairs = zip(answer[::2], answer[1::2], strict=True)
    return tuple((points[start], points[end - 1] + 1 if end else 0) for start, end in pairs)


def test_the_engine_agrees_with_v8() -> None:
    pairs, answers = zip(*recorded(), strict=True)
    assert len(set(pairs)) == len(pairs) > 5_000
    assert answers.count(None) > 500
    assert list(differences(Engine(), pairs, answers)) == []


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
async def test_a_check_agrees_with_v8(checker: Checker, step: int) -> None:
    by_text: defaultdict[str, list[tuple[str, Answer]]] = defaultdict(list)
    for (pattern, text), answer in list(recorded())[::step]:
        if answer != "slow":
            by_text[text].append((pattern, answer))
    seen = 0
    for text, asked in by_text.items():
        checks = [Check("expected_pattern", pattern) for pattern, _ in asked]
        for result, (pattern, answer) in zip(await checker.decide(checks, Text(text)), asked, strict=True):
            if isinstance(answer, list) and result.state != "timed_out":
                assert result.spans == widened(text, answer), (pattern, text)
                assert result.state == ("passed" if answer else "failed"), (pattern, text)
                seen += 1
    assert seen > 4_000 // step


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("number", [1_500, pytest.param(5_000, marks=pytest.mark.long)])
def test_random_patterns_find_what_v8_finds(number: int) -> None:
    assert NODE is not None
    seed = SystemRandom().randrange(1 << 32)
    pairs = list(make_pairs(seed, number))
    answers = answers_of_v8(NODE, pairs)
    assert sum(bool(answer) for answer in answers) > number // 5
    assert sum(answer is None for answer in answers) > number // 50
    assert list(differences(Engine(), pairs, answers)) == [], f"seed {seed}"


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_dashes_in_a_class_mean_what_they_mean_in_v8() -> None:
    assert NODE is not None
    seed = SystemRandom().randrange(1 << 32)
    pairs = list(make_class_pairs(seed, 1_500))
    answers = answers_of_v8(NODE, pairs)
    assert sum(answer is None for answer in answers) > 20
    assert list(differences(Engine(), pairs, answers)) == [], f"seed {seed}"
