"""Compare the engine with V8, answer by answer."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.checks.v8.pairs import Pair
from tui.checks.engine import Engine

_SCRIPT = Path(__file__).with_name("answers.mjs")
_SECONDS = 0.25
# What is found in UTF-16 units as [start, end, start, …]; None for no pattern, "slow" for one that took too long.
Answer = list[int] | str | None


def answers_of_v8(node: str, pairs: Sequence[Pair]) -> list[Answer]:
    """Return what V8 says of each pair; `node` is the program."""
    lines = "".join(json.dumps(pair) + "\n" for pair in pairs)
    done = subprocess.run([node, str(_SCRIPT)], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def answer_of_ours(engine: Engine, pair: Pair) -> Answer:
    """Return what our engine says of a pair."""
    pattern, text = pair
    if engine.fault(pattern):
        return None
    ((found,),) = engine.search(text, [(pattern, 0)], lambda: _SECONDS)
    return "slow" if found.end else found.offsets


Difference = tuple[Pair, Answer, Answer]


def differences(engine: Engine, pairs: Iterable[Pair], answers: Iterable[Answer]) -> Iterator[Difference]:
    """Yield each pair that the two answer differently, V8's answer and ours. A pattern that is too slow in one of them
    is no difference: it has no verdict here."""
    for pair, theirs in zip(pairs, answers, strict=True):
        ours = answer_of_ours(engine, pair)
        if ours != theirs and "slow" not in (ours, theirs):
            yield pair, theirs, ours
