"""The baseline of a matrix: an earlier run, what has changed since, and the lines of the list to choose it from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.app.presentation.cells import Cell, fold_outcomes
from tui.app.presentation.names import model_names
from tui.app.presentation.pieces import Line
from tui.app.runs.lines import SHORT_ID, day_and_time
from tui.model.current_folder import real_path
from tui.model.outcomes import Outcome
from tui.model.progress import OPEN
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line
from tui.model.suite import Suite
from tui.statistics.run_change import case_change

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A saved run to compare with: its id, and its cells by case and model, without the cases `changed` since."""

    run_id: str
    cells: Mapping[Place, Cell]
    changed: frozenset[str] = frozenset()

    def before(self, case: str, model: str, now: Cell) -> Cell | None:
        """Return the cell of the baseline, if it can be compared with the current cell and differs from it."""
        cell = self.cells.get((case, model)) if now.status not in OPEN else None
        return cell if cell is not None and change_of(now, cell) else None


class Change(NamedTuple):
    """The number of models that do better, and worse, at a case than in the baseline.

    `fixed` of the better ones passed no repeat before, not even after a retry, and pass all now; `broke` is the
    reverse.
    """

    better: int = 0
    worse: int = 0
    fixed: int = 0
    broke: int = 0


def baseline_of(run_id: str, outcomes: Iterable[Outcome], changed: frozenset[str] = frozenset()) -> Baseline:
    """Return the baseline of a saved run with these outcomes; the `changed` cases are not compared."""
    together: dict[Place, list[Outcome]] = {}
    for outcome in outcomes:
        together.setdefault((outcome.trial.case, outcome.trial.model), []).append(outcome)
    return Baseline(run_id, {place: fold_outcomes(each) for place, each in together.items()}, changed)


def change_of(now: Cell, before: Cell | None) -> int | None:
    """Return 1 if the share of passed repeats is greater than before, −1 if it is less, 0 if it is equal, None if it is
    unknown."""
    if before is None or now.share < 0 or before.share < 0:
        return None
    return (now.share > before.share) - (now.share < before.share)


def changes(baseline: Baseline, case: str, models: Sequence[str], cells: Sequence[Cell]) -> Change:
    """Return how a case has changed since the baseline."""
    better = worse = fixed = broke = 0
    for model, now in zip(models, cells, strict=True):
        before = baseline.cells.get((case, model))
        if before is None or not change_of(now, before):
            continue
        flaky, was_flaky = "flaky" in (now.status, now.counted), before.status == "flaky"
        change = case_change(now.share, before.share, flaky=flaky, was_flaky=was_flaky)
        better, worse = better + (now.share > before.share), worse + (now.share < before.share)
        fixed, broke = fixed + (change == "fixed"), broke + (change == "broke")
    return Change(better, worse, fixed, broke)


def change_line(change: Change) -> Line:
    """Return the text of a change: `✓ fixed`, `✗ broke`, `◐ better` or `◐ worse`, with the number of models if greater
    than 1.

    If some models are better and others worse it is `+2 −1`.
    """
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
    """Return the numbers of better and worse cases or models: `+3 −1`."""
    return ((f"+{better}", "passed" if better else "dim"), (" ", "plain"), (f"−{worse}", "failed" if worse else "dim"))


def runs_of_suite(runs: Iterable[RunRecord], suite: Suite) -> list[RunRecord]:
    """Return the runs of a suite, in their order."""
    place = _place(suite.file)
    return [run for run in runs if _place(run.suite_file) == place]


def run_choice_line(run: RunRecord) -> Line:
    """Return the line of a run in a list to choose from: its time, id, result and models."""
    models = ", ".join(model_names(run.models))
    state = "" if run.state == "finished" else f" · {run.state}"
    return (
        (f" {day_and_time(run.started_at):>12}", "plain"),
        (f"  {sanitize_line(run.id[:SHORT_ID])}", "dim"),
        (f"  {run.passed:>5}/{run.checked} passed{state}", "plain"),
        (f"  {models}", "dim"),
    )


def _place(path: str) -> str:
    try:
        return real_path(path)
    except ValueError:  # a stored path with a NUL character
        return path
