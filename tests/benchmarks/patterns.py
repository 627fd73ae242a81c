"""What a JavaScript pattern costs on an answer of 2,300 characters, in the engine that the workers use."""

import time
from statistics import median

from tests.benchmarks.registry import Figure, benchmark
from tui.checks.engine import Engine
from tui.checks.protocol import Search
from tui.checks.worker import find_javascript

ANSWER = ("The quick brown fox jumps over the lazy dog. def month_12(x): return x # née\n" * 40)[:2_300]
# None of these is plain words, which need no engine.
PATTERNS = (
    *(r"def\s+\w+", r"\beval\s*\(", r"password\s*=\s*['\"]", "TODO|FIXME", r"^\s*import\s", r"https?://\S+", r"\$\{"),
    *(r"console\.log\(", r"(?:a|b)+x", r"<script[^>]*>"),
)
ROUNDS, TIMES = 15, 40


@benchmark("patterns")
def measure_patterns() -> list[Figure]:
    """Ten patterns of one answer, together."""
    engine, searches = Engine(), [Search("javascript", pattern) for pattern in PATTERNS]
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(TIMES):
            list(find_javascript(engine, ANSWER, searches))
        rounds.append((time.process_time() - began) / TIMES / len(PATTERNS) * 1e6)
    return [Figure("a pattern on 2,300 characters, of ten together", "CPU µs", median(rounds), None, 50)]
