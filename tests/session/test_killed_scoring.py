"""`kill -9` while people score: every score that was told as given is there afterwards."""

import random
import subprocess
import sys
from pathlib import Path

from tests.support.kept_runs import STARTED, make_case, make_plan, make_result
from tui.model.subjects import Config
from tui.model.suite import RiskCriterion
from tui.session.reviews import Reviews
from tui.store.sqlite import SqliteStore

ROOT = Path(__file__).parents[2]
PLAN = make_plan([make_case(f"case-{n}", criteria=(RiskCriterion("Tone", "polite", "low"),)) for n in range(5)], ["m"])
KILLS = 4


def person(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.support.scoring_person", str(folder), PLAN.run_id, name]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_no_score_that_was_confirmed_is_lost(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    store.begin_run(PLAN, STARTED)
    store.save_trials(PLAN.run_id, [make_result(trial) for trial in PLAN.trials])
    chance = random.Random(5)
    printed: set[str] = set()
    for _ in range(KILLS // 2):
        # Two windows of one person, on one file, killed one after the other.
        people = [person(tmp_path, "Ada"), person(tmp_path, "Ada")]
        for each in people:
            assert each.stdout is not None
            printed.update(each.stdout.readline().strip() for _ in range(chance.randint(1, 60)))
            each.kill()
            printed.update(line.strip() for line in each.stdout if line.endswith("\n"))
            each.wait()
            each.stdout.close()
    reviews = Reviews(store, tmp_path, Config())
    review = reviews.open_review(PLAN.run_id, "Ada", blind=True)
    store.close()
    kept = review.board.acts
    assert len(printed) > KILLS
    assert printed <= {act.id for act in kept}
    assert review.problems == (), "what was cut off is no line that anybody has to mend"
    assert [act.order for act in kept] == sorted({act.order for act in kept})
