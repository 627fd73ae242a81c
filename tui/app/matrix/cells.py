"""Cells of the matrix as lines, and the totals of each model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import get_args

from tui.app.matrix.columns import fitted
from tui.app.presentation.bands import band_letter, band_mark
from tui.app.presentation.cells import Cell, cell_of
from tui.app.presentation.marks import (
    RERUN,
    mark_of,
    word_of,
)
from tui.app.presentation.pieces import Line, width_of
from tui.model.filter import StatusWord
from tui.model.outcomes import Outcome, outcome_of
from tui.model.progress import TrialProgress
from tui.model.results import CountedVerdict, TrialKey, TrialResult, has_failed_since, has_passed_since
from tui.model.risk import BANDS, Band
from tui.model.state import RunState
from tui.model.suite import Case

FAILURES: frozenset[StatusWord] = frozenset({"failed", "error", "timed_out", "incomplete"})
PULSE = "∙•●•"
"""The animation frames of the mark of a running cell."""

_BEFORE_BAND = 13
"""The number of cells before a risk band: the longest word for a status, and a space."""
_LONGEST_BAND = 2 + max(map(len, BANDS))
_TEXTS = {"error", "timed_out", "incomplete", "cancelled", "delayed", "unchecked"}


def cell_line(cell: Cell, beat: int = 0, before: Cell | None = None) -> Line:
    """Return the text of a cell: its mark, counts or a word if they add information, and the mark of the baseline.

    `beat` counts animation frames, `before` is the cell of the baseline if it differs.
    """
    mark, role = mark_of(cell.status)
    if cell.status == "running":
        mark = PULSE[beat % len(PULSE)]
    text = ""
    if cell.repeats > 1 and cell.status == "unchecked":
        text = f" {cell.repeats} unchecked"
    elif cell.repeats > 1:
        text = f" {cell.passed}/{cell.repeats}"
    elif cell.tries is not None:
        text = f" {cell.tries[0]}/{cell.tries[1]}"
    elif cell.status in _TEXTS:
        text = f" {word_of(cell.status)}"
    if cell.rerun is not None:
        text += f" {RERUN[0]}{mark_of(cell.rerun)[0]}"
    elif cell.passed_since:
        text += f" {RERUN[0]}{mark_of('passed')[0]}{cell.passed_since}"
    if cell.earlier:
        return ((f"{mark}{text} earlier", "dim"),)
    if before is None:
        return ((mark + text, role),)
    share = f" {before.passed}/{before.repeats}" if before.repeats > 1 else ""
    return ((mark + text, role), (f" was {mark_of(before.status)[0]}{share}", "dim"))


def with_band(line: Line, band: Band | None, width: int) -> Line:
    """Return the text of a cell with its risk band in the last of `width` cells, if there is a band.

    Bands are aligned where there is room. A narrow or full cell has the first letter of the band instead of its name.
    """
    if band is None:
        return line
    mark, role = band_mark(band)
    room, place = width - 1, max(_BEFORE_BAND, sum(width_of(text) for text, _ in line) + 1)
    wide = room >= _BEFORE_BAND + _LONGEST_BAND and room >= place + len(mark) + 1 + len(band)
    end = f"{mark} {band if wide else band_letter(band)}"
    return (*fitted(line, max(0, min(place, room - width_of(end)))), (end, role))


@dataclass(slots=True)
class ModelTotals:
    """The totals of one model.

    `outcomes` has those of the trials that have ended, `words` the number of trials for each counted verdict,
    `passed_since` the number of failed trials that a rerun passed, and `failed_since` that of passed ones whose last
    rerun failed. `earlier` are the trials whose case has other checks now; their outcomes are left out.
    """

    outcomes: dict[TrialKey, Outcome] = field(default_factory=dict)
    words: dict[CountedVerdict, int] = field(default_factory=lambda: dict.fromkeys(get_args(CountedVerdict), 0))
    passed_since: int = 0
    failed_since: int = 0
    earlier: set[TrialKey] = field(default_factory=set)

    @property
    def trials(self) -> int:
        """Return the number of trials with a result."""
        return len(self.outcomes)

    def put(self, key: TrialKey, outcome: Outcome | None) -> None:
        """Replace the outcome of a trial; None removes it."""
        before = self.outcomes.pop(key, None)
        if before is not None:
            self.words[before.counted] -= 1
            self.passed_since -= has_passed_since(before)
            self.failed_since -= has_failed_since(before)
        if outcome is not None:
            self.outcomes[key] = outcome
            self.words[outcome.counted] += 1
            self.passed_since += has_passed_since(outcome)
            self.failed_since += has_failed_since(outcome)

    def copy(self) -> "ModelTotals":
        """Return a copy that another thread can read."""
        return ModelTotals(dict(self.outcomes), dict(self.words), self.passed_since, self.failed_since)


_TRIALS_PER_CLOCK_READ = 32


class CellCounts:
    """The cells and totals of one suite.

    `cell` is always current; `totals` contain what was counted so far, and everything once `complete`. `saved` has the
    outcomes of trials whose full results were not read; `attempts` is the number that the suite allows.
    """

    def __init__(
        self,
        state: RunState,
        cases: Sequence[Case],
        models: Sequence[str],
        attempts: int = 1,
        saved: Mapping[TrialKey, Outcome] | None = None,
    ) -> None:
        self._state, self._attempts, self._saved = state, attempts, saved or {}
        self._cases = cases
        self._cells: dict[tuple[str, str], Cell] = {}
        self._rest: Iterator[TrialKey] | None = None
        self._started = False
        self.totals = {model: ModelTotals() for model in models}

    @property
    def complete(self) -> bool:
        """Return whether all trials were counted."""
        return self._started and self._rest is None

    def cell(self, case: str, model: str) -> Cell:
        """Return the current cell of a case and a model."""
        place = case, model
        cell = self._cells.get(place)
        if cell is None:
            cell = self._cells[place] = cell_of(self._state, case, model, self._attempts, self._saved)
        return cell

    def cells_so_far(self) -> dict[tuple[str, str], Cell]:
        """Return the cells computed so far by case and model; all that have results once `complete`."""
        return dict(self._cells)

    def count(self, seconds: float) -> bool:
        """Count more trials for about `seconds`. Returns whether this call completed the count."""
        until = monotonic() + seconds
        self._start()
        while self._rest is not None:
            for _ in range(_TRIALS_PER_CLOCK_READ):
                key = next(self._rest, None)
                if key is None:
                    self._rest = None
                    return True
                self._count(key)
                self.cell(key.case, key.model)
            if monotonic() > until:
                return False
        return False

    def _start(self) -> None:
        """List the trials to count, on the first call: the constructor delays the first paint of the screen."""
        if not self._started:
            self._started = True
            self._known = frozenset(case.id for case in self._cases)
            self._rest = iter([*self._state.trials])

    def update(self, key: TrialKey) -> None:
        """Update the cell and the totals for a trial with a new state."""
        self._cells.pop((key.case, key.model), None)
        self.cell(key.case, key.model)
        if self._started:
            self._count(key)

    def _count(self, key: TrialKey) -> None:
        totals = self.totals.get(key.model)
        if totals is None or key.case not in self._known:
            return
        trial = self._state.trials.get(key)
        outcome = self._outcome(trial) if trial is not None else None
        if self.cell(key.case, key.model).earlier:
            totals.earlier.add(key)
            outcome = None
        else:
            totals.earlier.discard(key)
        totals.put(key, outcome)

    def _outcome(self, trial: TrialProgress) -> Outcome | None:
        counted = trial.counted
        if isinstance(counted, TrialResult):
            return outcome_of(counted)
        return counted if trial.is_open else self._saved.get(trial.key)
