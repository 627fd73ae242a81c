"""What scoring by hand costs: a hundred thousand acts read and folded, one given, a large run opened."""

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.benchmarks.registry import Figure, benchmark
from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tests.support.scoring import make_act
from tui.model.results import TrialKey
from tui.model.scores import Act, ItemKey, Scoreboard, answer_hash, new_act_id
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.risk.score_files import ScoreFiles
from tui.risk.score_lines import write_line
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

ACTS, GIVEN, ROUNDS = 100_000, 50, 3
CASES, MODELS = 10_000, tuple(f"provider/model-{number}" for number in range(4))
ANSWER = answer_hash(make_result(TrialKey("case-0", MODELS[0])).attempts[-1].steps)
CRITERIA = (RiskCriterion("Tone", "Stays polite", "low"), RiskCriterion("Safety", "Harms nobody", "critical"))


def _acts() -> list[Act]:
    """Two reviewers over the answers of a large run, each with a note."""
    note = "It leaves the door open, though not wide. "
    return [
        make_act(
            number,
            number % 5,
            of=ItemKey(f"case-{number // 16}", MODELS[number // 4 % 4], 1, CRITERIA[number // 2 % 2].name),
            reviewer=f"Reviewer {number % 2}",
            note=note,
            answer=ANSWER,
        )
        for number in range(ACTS)
    ]


def _cpu(act: Callable[[], object]) -> float:
    """CPU milliseconds."""
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time()
        act()
        taken.append((time.process_time() - before) * 1000)
    return median(taken)


def _measure_files(folder: Path) -> list[Figure]:
    files, acts = ScoreFiles(folder), _acts()
    run = acts[0].run
    files.merge(acts)
    lines = [write_line(act).encode() for act in acts]
    bare = _cpu(lambda: [json.loads(line) for line in lines])
    read = _cpu(lambda: files.read(run))
    fold = _cpu(lambda: Scoreboard(acts))
    given = []
    for _ in range(GIVEN):
        began = time.perf_counter()
        files.append(make_act(int(new_act_id(), 16), seconds=0))
        given.append((time.perf_counter() - began) * 1000)
    return [
        Figure("100,000 acts read (bare: json.loads of each line)", "CPU ms", read, bare, 2000),
        Figure("100,000 acts folded", "CPU ms", fold),
        Figure("a score given, on the disk", "ms", median(given)),
    ]


def _measure_opening(folder: Path) -> list[Figure]:
    plan = make_plan([make_case(f"case-{number}", criteria=CRITERIA) for number in range(CASES)], MODELS)
    store = SqliteStore(folder / "runs.sqlite")
    store.begin_run(plan, STARTED)
    for at in range(0, len(plan.trials), 2_000):
        store.save_trials(plan.run_id, [make_result(key) for key in plan.trials[at : at + 2_000]])
    reviews = Reviews(store, folder, Config())
    opened = _cpu(lambda: reviews.open_review(plan.run_id, "Reviewer 0", blind=True))
    ScoreFiles(folder / "scores").merge(_acts())
    scored = _cpu(lambda: reviews.open_review(plan.run_id, "Reviewer 0", blind=True))
    store.close()
    return [
        Figure("review of 40,000 answers × 2 criteria opened", "CPU ms", opened),
        Figure("the same with 100,000 acts, each bound to its answer", "CPU ms", scored),
    ]


@benchmark("scoring")
def measure_scoring() -> list[Figure]:
    """Score files and the review of a large run."""
    with tempfile.TemporaryDirectory() as name:
        return [*_measure_opening(Path(name)), *_measure_files(Path(name) / "files")]
