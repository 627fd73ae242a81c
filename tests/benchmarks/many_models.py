"""What a report costs whose run has hundreds of models: the number of pairs is the square of that."""

import random
import time
from collections.abc import Callable
from functools import partial
from typing import get_args

from tests.benchmarks.registry import Figure, benchmark
from tests.support.kept_runs import keep, make_case, make_plan, make_result
from tests.support.reviewed_runs import act, review
from tui.app.matrix.comparison_lines import pairs_table
from tui.model.run import KeptRun, ReportFormat
from tui.model.suite import RiskCriterion
from tui.reports.render import render_report
from tui.reports.summary import summarize

MODELS, CASES = 220, 20
# As many trials, of few models.
FEW = 4
MOST_SECONDS = 10


def _run(models: int, cases: int, repeats: int = 1) -> KeptRun:
    """Models of different skill."""
    names = [f"provider/model-{number:03}" for number in range(models)]
    tone = (RiskCriterion("Tone", "Stays polite", "low"),)
    plan = make_plan([make_case(f"case-{at}", criteria=tone) for at in range(cases)], names, repeats=repeats)
    chance = random.Random(4711)
    skill = {name: chance.uniform(0.2, 0.95) for name in names}
    return keep(
        plan,
        [make_result(key, "passed" if chance.random() < skill[key.model] else "failed") for key in plan.trials],
    )


def _cpu(measured: Callable[[], object]) -> float:
    """CPU seconds."""
    before = time.process_time()
    measured()
    return time.process_time() - before


@benchmark("many-models")
def measure_many_models() -> list[Figure]:
    """220 models × 20 cases: 24,090 pairs."""
    many, few, repeated = _run(MODELS, CASES), _run(FEW, MODELS * CASES // FEW), _run(MODELS, CASES, repeats=3)
    figures = [
        Figure(
            f"report of 220 models × 20 cases, {format} (4 × 1,100)",
            "CPU s",
            _cpu(partial(render_report, many, format)),
            _cpu(partial(render_report, few, format)),
            MOST_SECONDS,
        )
        for format in get_args(ReportFormat)
    ]
    chance = random.Random(4711)
    acts = [act(result.trial, "Tone", chance.choice((0, 0, 0, 1, 2, 4))) for result in many.results]
    summary = summarize(many)
    names = {name: name for name in summary.by_model}
    return [
        *figures,
        Figure(
            "report of 220 models × 20 cases × 3 repeats, json",
            "CPU s",
            _cpu(partial(render_report, repeated, "json")),
            None,
            MOST_SECONDS,
        ),
        Figure("risk figures of 220 models × 20 cases", "CPU s", _cpu(partial(review, many, acts)), None, MOST_SECONDS),
        Figure(
            "list of 24,090 pairs in the matrix",
            "CPU s",
            _cpu(partial(pairs_table, summary.comparisons, names)),
            None,
            2,
        ),
    ]
