"""Patterns mean what they mean in V8; where `node` is installed they are compared, with a fresh seed each time."""

import shutil
from random import SystemRandom

import pytest

from tests.checks.v8.comparison import answers_of_v8, differences
from tests.checks.v8.pairs import make_pairs
from tui.checks.engine import Engine

NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_random_patterns_find_what_v8_finds() -> None:
    assert NODE is not None
    seed = SystemRandom().randrange(1 << 32)
    pairs = list(make_pairs(seed, 5_000))
    answers = answers_of_v8(NODE, pairs)
    assert sum(bool(answer) for answer in answers) > 1_000
    assert sum(answer is None for answer in answers) > 100
    assert list(differences(Engine(), pairs, answers)) == [], f"seed {seed}"
