"""What large inputs cost, and inputs that are made to be slow."""

import contextlib
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy

from tests.benchmarks.registry import Figure, benchmark
from tests.documents.test_limits import HOSTILE
from tests.imports.test_bad_results import write_rows
from tests.reports.test_risk_report import large_reviewed_report
from tests.risk.test_figures import scored_items
from tests.statistics.test_agreement import people
from tests.statistics.test_preferences import judged
from tests.suites.loaded import lines_of
from tests.support.kept_runs import large_run
from tests.workspace.answer.test_blocks import SLOW as SLOW_ANSWERS
from tests.workspace.context.test_globs import SLOW as SLOW_GLOBS
from tui.app.text.page import Page
from tui.checks.backtracking import pattern_warning
from tui.checks.messages import words_for_values
from tui.imports.promptfoo import read_promptfoo
from tui.model.risk import BandRule
from tui.model.secrets import Secrets
from tui.providers.http.sse import SseDecoder
from tui.reports.render import render_report
from tui.risk.figures import risk_figures
from tui.risk.score_lines import LineFault, parse_line
from tui.statistics.agreement import ordinal_alpha
from tui.statistics.preferences import rank_preferences
from tui.workspace.answer.blocks import find_blocks
from tui.workspace.context.globs import Selection
from tui.workspace.git.diff import diff_texts
from tui.workspace.words import changed_words

BEFORE, AFTER = "    return foo(bar, baz) + 1  # a comment", "    return foo(bar, qux) + 2  # a comment"
PATTERNS = [rf"case{number}\s*\((?:foo|bar)" for number in range(10_000)]
CUT_KEY = "sk-p/QZ+7Wv93kLm&NpX%y41"
CUTS = ("a…", "a&…", "aaaaaa…", "…NpX%y41", r"sk-p\/…", "…NpX%25y41")
NAMES = [f"c{number}" for number in range(45_000)]
TEXT = b"".join(b"line %d of the text\n" % number for number in range(100_000))


def _cpu_ms(*acts: Callable[[], object]) -> float:
    """Return the CPU milliseconds of the slowest of the calls."""
    slowest = 0.0
    for act in acts:
        began = time.process_time()
        act()
        slowest = max(slowest, (time.process_time() - began) * 1000)
    return slowest


def _compare_slow_lines() -> None:
    words_for_values("\n".join(["a", "b"] * 500_000), "\n".join(["b", "a", "a"] * 500_000))


def _repeat_keys() -> None:
    with contextlib.suppress(LineFault):
        parse_line(b"{%s}" % b",".join(b'"%s":0' % name.encode() for name in (*NAMES, NAMES[-1])))


@benchmark("hostile")
def measure_hostile() -> list[Figure]:
    """Inputs made to be slow: the slowest of each kind."""
    globs = (partial(Selection([pattern]).__contains__, path) for pattern, path in SLOW_GLOBS)
    answers = (partial(find_blocks, answer) for answer in SLOW_ANSWERS)
    secrets = Secrets([CUT_KEY])
    cuts = (partial(secrets.hide, cut * ((16 << 20) // len(cut.encode()))) for cut in CUTS)
    with tempfile.TemporaryDirectory() as folder:
        suites = _cpu_ms(*(partial(lines_of, Path(folder), name, make()) for name, make, _ in HOSTILE.values()))
    return [
        Figure("hostile suite files: the slowest", "CPU ms", suites, None, 2_000),
        Figure("hostile answers, their code blocks: the slowest", "CPU ms", _cpu_ms(*answers), None, 1_500),
        Figure("hostile path patterns: the slowest", "CPU ms", _cpu_ms(*globs), None, 50),
        Figure("45,000 keys of which the last is repeated", "CPU ms", _cpu_ms(_repeat_keys), None, 250),
        Figure("16 MiB of cuts that may divide a key: the slowest", "CPU ms", _cpu_ms(*cuts), None, 6_000),
        Figure("a million lines that are slow to compare", "CPU ms", _cpu_ms(_compare_slow_lines), None, 1_000),
    ]


@benchmark("large")
def measure_large() -> list[Figure]:
    """Large inputs, each handled once."""
    random = numpy.random.default_rng(4)
    units, preferences = people(random, 2_000, 5, 0.7), judged(random, 400, 3, 1.0, 0.3)
    items, board = scored_items(5_000)
    run, reviewed_report = large_run(2_000), large_reviewed_report(2_000)
    with tempfile.TemporaryDirectory() as folder:
        rows = _cpu_ms(partial(read_promptfoo, write_rows(Path(folder), 10_000)))
    acts: list[tuple[str, Callable[[], object], float]] = [
        ("agreement of 5 reviewers on 2,000 items", lambda: ordinal_alpha(units), 200),
        ("ranking from 3,600 preferences", lambda: rank_preferences(preferences), 500),
        ("risk figures of 40,000 items", lambda: risk_figures(items, board, BandRule()), 5_000),
        ("HTML report of 4,000 results", lambda: render_report(run, "html", responses=True, risk_analysis=True), 1_000),
        ("HTML report of 4,000 results with scores", reviewed_report, 2_500),
        ("10,000 patterns tried for slowness", lambda: [pattern_warning("expected_pattern", p) for p in PATTERNS], 50),
        ("diff of 100,000 lines, 10,000 changed", lambda: diff_texts(TEXT, TEXT.replace(b"5 of", b"5 OF")), 2_500),
        ("changed words of 1,000 pairs of lines", lambda: [changed_words(BEFORE, AFTER) for _ in range(1_000)], 150),
        ("an event of 1 MB in 1,024 pieces", _decode_pieces, 50),
    ]
    return [
        Figure("10,000 results of promptfoo", "CPU ms", rows, None, 8_000),
        *(Figure(name, "CPU ms", _cpu_ms(act), None, reach) for name, act, reach in acts),
    ]


LONG_ANSWERS = {
    "5,000,000 wide characters": "漢字仮名交じり文。" * 555_555,
    "2,000,000 mixed characters": "日本語 and words, 漢字 " * 111_111,
    "500,000 characters of fences": "```md\n" * 83_333,
    "1,000,000 characters with accents": "e\u0301a " * 250_000,
}


def _lay_out(text: str) -> tuple[float, float]:
    """Return the CPU milliseconds of the slowest part and of all parts, including another width."""
    page = Page(60)
    parts: list[float] = []
    for act in (partial(page.append, text), page.finish, partial(page.set_width, 70)):
        parts.append(_cpu_ms(act))
        while page.is_behind:
            parts.append(_cpu_ms(page.lay_out_more))
    return max(parts), sum(parts)


@benchmark("long-answers")
def measure_long_answers() -> list[Figure]:
    """Answers that arrive whole: what the event loop does at one go, and in total for two widths."""
    figures: list[Figure] = []
    for name, text in LONG_ANSWERS.items():
        longest, total = _lay_out(text)
        figures.append(Figure(f"{name}: the longest part", "CPU ms", longest, None, 50))
        figures.append(Figure(f"{name}: laid out twice", "CPU ms", total))
    return figures


def _decode_pieces() -> None:
    decoder = SseDecoder(2**21)
    for _ in range(1_024):
        decoder.feed(b"x" * 1_000)
    decoder.feed(b"\n\n")
