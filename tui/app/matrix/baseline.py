"""An earlier run to compare with: what changed since, and the list to choose it from."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.app.matrix.cells import Cell, fold_outcomes
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.runs.lines import SHORT_ID, day_and_time
from tui.model.outcomes import Outcome
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.state import OPEN
from tui.model.suite import Suite

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A kept run: its id, and its cells by case and model."""

    run_id: str
    cells: Mapping[Place, Cell]

    def before(self, case: str, model: str, now: Cell) -> Cell | None:
        """What the cell was, where it is decided now and was something else."""
        cell = self.cells.get((case, model))
        return cell if cell is not None and change_of(now, cell) else None


class Change(NamedTuple):
    """How many models do better at a case than they did, and how many worse; `fixed` and `broke` of those all the
    way, from no pass to nothing but passes or back."""

    better: int = 0
    worse: int = 0
    fixed: int = 0
    broke: int = 0


def baseline_of(run_id: str, outcomes: Iterable[Outcome]) -> Baseline:
    """A kept run as cells."""
    together: dict[Place, list[Outcome]] = {}
    for outcome in outcomes:
        together.setdefault((outcome.trial.case, outcome.trial.model), []).append(outcome)
    return Baseline(run_id, {place: fold_outcomes(each) for place, each in together.items()})


def change_of(now: Cell, before: Cell | None) -> int:
    """1 where the share of plain passes is greater than before, −1 where it is less; 0 where one is not known."""
    if before is None or now.share < 0 or before.share < 0 or now.status in OPEN:
        return 0
    return (now.share > before.share) - (now.share < before.share)


def changes(baseline: Baseline, case: str, models: Sequence[str], cells: Sequence[Cell]) -> Change:
    """What has changed at a case."""
    better = worse = fixed = broke = 0
    for model, now in zip(models, cells, strict=True):
        before = baseline.cells.get((case, model))
        if before is None:
            continue
        change = change_of(now, before)
        better, worse = better + (change > 0), worse + (change < 0)
        fixed += change > 0 and now.share == 1.0 and before.share == 0.0
        broke += change < 0 and now.share == 0.0 and before.share == 1.0 and now.status != "flaky"
    return Change(better, worse, fixed, broke)


def change_line(change: Change) -> Line:
    """`✓ fixed`, `✗ broke`, `◐ better`, `◐ worse`, with how many models where it is several; `+2 −1` for both."""
    if change.better and change.worse:
        return sum_line(change.better, change.worse)
    count = change.better or change.worse
    times = f"{count} " if count > 1 else ""
    if change.better:
        return ((f"✓ {times}fixed", "passed"),) if change.fixed == count else ((f"◐ {times}better", "flaky"),)
    if change.worse:
        return ((f"✗ {times}broke", "failed"),) if change.broke == count else ((f"◐ {times}worse", "flaky"),)
    return ()


def sum_line(better: int, worse: int) -> Line:
    """`+3 −1`"""
    return ((f"+{better}", "passed" if better else "dim"), (" ", "plain"), (f"−{worse}", "failed" if worse else "dim"))


def runs_of(runs: Iterable[RunRecord], suite: Suite) -> list[RunRecord]:
    """Those of a suite, in their order."""
    place = _place(suite.path)
    return [run for run in runs if _place(run.suite_path) == place]


def run_choice_line(run: RunRecord) -> Line:
    """When, which, how it went, whom it asked."""
    models = ", ".join(model_names(run.models))
    state = "" if run.state == "finished" else f" · {run.state}"
    return (
        (f" {day_and_time(run.started_at):>12}", "plain"),
        (f"  {sanitize_line(run.id[:SHORT_ID])}", "dim"),
        (f"  {run.passed:>5}/{run.trials} passed{state}", "plain"),
        (f"  {models}", "dim"),
    )


def _place(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # NUL, or what no file name can hold
        return path
