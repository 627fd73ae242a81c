"""A cell: all repeats of one case on one model, folded into one word and one share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tui.app.matrix.columns import fitted
from tui.app.presentation.bands import band_letter, band_mark
from tui.app.presentation.marks import (
    RERUN,
    STATUS_RANKS,
    counted_status,
    differs_by_rerun,
    mark_of,
    outcome_status,
    status_of,
    status_of_all,
    word_of,
)
from tui.app.presentation.pieces import Line, width_of
from tui.model.filter import StatusWord
from tui.model.outcomes import Outcome
from tui.model.results import TrialKey, has_passed_since
from tui.model.risk import BANDS, Band
from tui.model.state import OPEN, TrialProgress

FAILURES: frozenset[StatusWord] = frozenset({"failed", "error", "timed_out", "incomplete"})
PULSE = "∙•●•"
"""What the mark of a running cell goes through."""

_BEFORE_BAND = 13
"""Cells before a band: the longest word for a status, and a space."""
_LONGEST_BAND = 2 + max(map(len, BANDS))
_SAID = {"error", "timed_out", "incomplete", "cancelled", "delayed", "unchecked"}


class Cell(NamedTuple):
    """`passed` counts plain passes among the `results` of `repeats` trials; `share` is that of the checked ones, −1
    where there is none or a result is still to come. `tries` is the attempt that passed, of how many, where one trial
    is flaky. `passed_since` counts the trials that a rerun passed and that count as failed; `rerun` is what the rerun
    of one trial came to where that does not count."""

    status: StatusWord = "unasked"
    passed: int = 0
    results: int = 0
    repeats: int = 0
    share: float = -1.0
    tries: tuple[int, int] | None = None
    passed_since: int = 0
    rerun: StatusWord | None = None

    @property
    def rank(self) -> tuple[int, float]:
        """The worst first; what was never asked last."""
        return STATUS_RANKS[self.status], self.share


UNASKED = Cell()


def fold(trials: Sequence[TrialProgress], attempts: int = 1, kept: Mapping[TrialKey, Outcome] | None = None) -> Cell:
    """The cell of these repeats; `attempts` is how many the suite allows, `kept` has the outcomes of those that were
    not read whole."""
    if not trials:
        return UNASKED
    if len(trials) == 1:
        status = counted_status(trials[0])
        if status == "flaky":
            return Cell(status, 0, 1, 1, 0.0, _tries(trials[0], attempts, (kept or {}).get(trials[0].key)))
        if status == "passed":
            return _PASSED
        if status in OPEN:
            return Cell(status, 0, 0, 1)
        rerun = status_of(trials[0]) if differs_by_rerun(trials[0]) else None
        share = -1.0 if status == "unchecked" else 0.0
        return Cell(status, 0, 1, 1, share, passed_since=_passed_since(trials), rerun=rerun)
    return _fold_words([counted_status(trial) for trial in trials])._replace(passed_since=_passed_since(trials))


def _passed_since(trials: Sequence[TrialProgress]) -> int:
    return sum(trial.ended is not None and has_passed_since(trial.ended) for trial in trials)


def _tries(trial: TrialProgress, attempts: int, kept: Outcome | None) -> tuple[int, int] | None:
    """The attempt that passed, of how many."""
    last = trial.attempt
    if last is not None:
        return last.number, max(attempts, last.of)
    return (kept.attempts, max(attempts, kept.attempts)) if kept is not None else None


_PASSED = Cell("passed", 1, 1, 1, 1.0)


def fold_outcomes(outcomes: Iterable[Outcome]) -> Cell:
    """The cell of the repeats of a kept run."""
    return _fold_words([outcome_status(outcome) for outcome in outcomes])


def _fold_words(words: Sequence[StatusWord]) -> Cell:
    passed, results = words.count("passed"), sum(word not in OPEN for word in words)
    checked = len(words) - words.count("unchecked")
    share = passed / checked if checked and results == len(words) else -1.0
    return Cell(status_of_all(words), passed, results, len(words), share)


def cell_line(cell: Cell, beat: int = 0, before: Cell | None = None) -> Line:
    """The mark, then how many of how many where that says more, then what it was `before` where that was another."""
    mark, role = mark_of(cell.status)
    if cell.status == "running":
        mark = PULSE[beat % len(PULSE)]
    said = ""
    if cell.repeats > 1 and cell.status == "unchecked":
        said = f" {cell.repeats} unchecked"
    elif cell.repeats > 1:
        said = f" {cell.passed}/{cell.repeats}"
    elif cell.tries is not None:
        said = f" {cell.tries[0]}/{cell.tries[1]}"
    elif cell.status in _SAID:
        said = f" {word_of(cell.status)}"
    if cell.rerun is not None:
        said += f" {RERUN[0]}{mark_of(cell.rerun)[0]}"
    elif cell.passed_since:
        said += f" {RERUN[0]}{mark_of('passed')[0]}{cell.passed_since}"
    if before is None:
        return ((mark + said, role),)
    share = f" {before.passed}/{before.repeats}" if before.repeats > 1 else ""
    return ((mark + said, role), (f" was {mark_of(before.status)[0]}{share}", "dim"))


def with_band(line: Line, band: Band | None, width: int) -> Line:
    """The line of a cell of so many cells with its band, in the same place wherever there is room for that: its mark,
    and its word, in narrow and full cells the first letter of that."""
    if band is None:
        return line
    mark, role = band_mark(band)
    room, place = width - 1, max(_BEFORE_BAND, sum(width_of(text) for text, _ in line) + 1)
    wide = room >= _BEFORE_BAND + _LONGEST_BAND and room >= place + len(mark) + 1 + len(band)
    end = f"{mark} {band if wide else band_letter(band)}"
    return (*fitted(line, max(0, min(place, room - width_of(end)))), (end, role))
