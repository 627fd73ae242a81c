"""Keeps cells and tallies in step with what is known of the trials: at the start in portions, then trial by trial."""

from collections.abc import Iterator, Mapping, Sequence
from time import monotonic

from tui.app.matrix.cells import Cell, fold
from tui.app.matrix.tallies import Tally
from tui.model.outcomes import Outcome, outcome_of
from tui.model.results import TrialKey
from tui.model.state import RunState, TrialProgress
from tui.model.suite import Case

_TRIALS_A_LOOK = 32


class Ledger:
    """Of one suite. `cell` is right at any time; `tallies` hold what was counted so far, all of it once `complete`.
    `kept` are outcomes of trials whose results were not read; `attempts` is how many the suite allows."""

    def __init__(
        self,
        state: RunState,
        cases: Sequence[Case],
        models: Sequence[str],
        attempts: int = 1,
        kept: Mapping[TrialKey, Outcome] | None = None,
    ) -> None:
        self._state, self._attempts, self._kept = state, attempts, kept or {}
        self._cases = cases
        self._cells: dict[tuple[str, str], Cell] = {}
        self._rest: Iterator[TrialKey] | None = None
        self._begun = False
        self.tallies = {model: Tally() for model in models}

    @property
    def complete(self) -> bool:
        """Whether everything was counted."""
        return self._begun and self._rest is None

    def cell(self, case: str, model: str) -> Cell:
        """A cell as it stands."""
        place = case, model
        cell = self._cells.get(place)
        if cell is None:
            cell = self._cells[place] = fold(self._state.repeats(case, model), self._attempts, self._kept)
        return cell

    def cells_so_far(self) -> dict[tuple[str, str], Cell]:
        """The cells by case and model, as far as anybody asked for them; all that have results once `complete`."""
        return dict(self._cells)

    def count(self, seconds: float) -> bool:
        """Go on counting for so long. True when that was the last of it."""
        until = monotonic() + seconds
        self._begin()
        while self._rest is not None:
            for _ in range(_TRIALS_A_LOOK):
                key = next(self._rest, None)
                if key is None:
                    self._rest = None
                    return True
                self._count(key)
                self.cell(key.case, key.model)
            if monotonic() > until:
                return False
        return False

    def _begin(self) -> None:
        """Not in the beginning, which is when a screen is waited for."""
        if not self._begun:
            self._begun = True
            self._known = frozenset(case.id for case in self._cases)
            self._rest = iter([*self._state.trials])

    def take(self, key: TrialKey) -> None:
        """A trial has another state."""
        self._cells.pop((key.case, key.model), None)
        self.cell(key.case, key.model)
        if self._begun:
            self._count(key)

    def _count(self, key: TrialKey) -> None:
        tally = self.tallies.get(key.model)
        if tally is None or key.case not in self._known:
            return
        trial = self._state.trials.get(key)
        outcome = self._outcome(trial) if trial is not None and not trial.is_open else None
        tally.put(key, outcome)

    def _outcome(self, trial: TrialProgress) -> Outcome | None:
        return outcome_of(trial.result) if trial.result is not None else self._kept.get(trial.key)
