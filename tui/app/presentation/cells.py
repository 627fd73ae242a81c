"""The status of a case on a model: all its repeats as one cell."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tui.app.presentation.marks import (
    STATUS_RANKS,
    counted_status,
    differs_by_rerun,
    outcome_status,
    status_of,
    status_of_all,
)
from tui.model.filter import StatusWord
from tui.model.outcomes import Outcome
from tui.model.progress import OPEN, TrialProgress
from tui.model.results import TrialKey, has_passed_since
from tui.model.state import RunState


class Cell(NamedTuple):
    """The status of all repeats of a case on a model.

    `passed` counts the repeats that passed on the first attempt, of `results` that have ended, of `repeats` in all.
    `share` is the share of passed ones among the checked ones; −1 if none is checked or a result is missing. During a
    rerun, it and `counted`, the status that counts, are those of the results before it. `tries` is the number of the
    attempt that passed and the number of attempts, for one flaky trial. `passed_since` counts the failed trials that a
    rerun passed; `rerun` is the status of the rerun of one trial, if that differs. A cell is `earlier` if checks judged
    it that the case does not have now: it has no share, and counts nowhere.
    """

    status: StatusWord = "not_run"
    passed: int = 0
    results: int = 0
    repeats: int = 0
    share: float = -1.0
    tries: tuple[int, int] | None = None
    passed_since: int = 0
    rerun: StatusWord | None = None
    earlier: bool = False
    counted: StatusWord | None = None

    @property
    def rank(self) -> tuple[int, float]:
        """Return a sort key: the worst status first, a case that was not run last."""
        return STATUS_RANKS[self.status], self.share


NOT_RUN = Cell()


def cell_of(
    state: RunState, case: str, model: str, attempts: int = 1, saved: Mapping[TrialKey, Outcome] | None = None
) -> Cell:
    """Return the cell of a case on a model. The optional arguments are those of `fold`."""
    cell = fold(state.repeats(case, model), attempts, saved)
    if state.is_judged_by_earlier_checks(case, model):
        return cell._replace(share=-1.0, earlier=True)
    return cell


def fold(trials: Sequence[TrialProgress], attempts: int = 1, saved: Mapping[TrialKey, Outcome] | None = None) -> Cell:
    """Return the cell of these repeats.

    `attempts` is the number that the suite allows, `saved` has the outcomes of trials whose full results were not read.
    """
    if not trials:
        return NOT_RUN
    if len(trials) == 1:
        status = counted_status(trials[0])
        if status == "flaky":
            return Cell(status, 0, 1, 1, 0.0, _tries(trials[0], attempts, (saved or {}).get(trials[0].key)))
        rerun = status_of(trials[0]) if differs_by_rerun(trials[0]) else None
        if status == "passed":
            return _PASSED if rerun is None else _PASSED._replace(rerun=rerun)
        if status in OPEN:
            return _during_rerun(Cell(status, 0, 0, 1), trials)
        share = -1.0 if status == "unchecked" else 0.0
        return Cell(status, 0, 1, 1, share, passed_since=_passed_since(trials), rerun=rerun)
    cell = _fold_words([counted_status(trial) for trial in trials])._replace(passed_since=_passed_since(trials))
    return _during_rerun(cell, trials) if cell.results < cell.repeats else cell


def _during_rerun(cell: Cell, trials: Sequence[TrialProgress]) -> Cell:
    """Return the cell with what counts of trials that are rerun; without a change if one of them has no result."""
    found = [trial.counted for trial in trials]
    words = [outcome_status(each) for each in found if each is not None]
    if len(words) < len(found):
        return cell
    counted = _fold_words(words)
    return cell._replace(share=counted.share, counted=counted.status)


def _passed_since(trials: Sequence[TrialProgress]) -> int:
    return sum(trial.ended is not None and has_passed_since(trial.ended) for trial in trials)


def _tries(trial: TrialProgress, attempts: int, saved: Outcome | None) -> tuple[int, int] | None:
    """Return the number of the attempt that passed, and the number of attempts."""
    last = trial.attempt
    if last is not None:
        return last.number, max(attempts, last.of)
    return (saved.attempts, max(attempts, saved.attempts)) if saved is not None else None


_PASSED = Cell("passed", 1, 1, 1, 1.0)


def fold_outcomes(outcomes: Iterable[Outcome]) -> Cell:
    """Return the cell of the repeats of a saved run."""
    return _fold_words([outcome_status(outcome) for outcome in outcomes])


def _fold_words(words: Sequence[StatusWord]) -> Cell:
    passed, results = words.count("passed"), sum(word not in OPEN for word in words)
    checked = len(words) - words.count("unchecked")
    share = passed / checked if checked and results == len(words) else -1.0
    return Cell(status_of_all(words), passed, results, len(words), share)
