"""The trials of a model as they come, counted trial by trial; what follows from them is in `tui.statistics`."""

from dataclasses import dataclass, field
from typing import get_args

from tui.model.outcomes import Outcome
from tui.model.results import Counted, TrialKey, has_passed_since


@dataclass(slots=True)
class Tally:
    """Of one model. `outcomes` are those of the trials that are over, `words` counts what they count as,
    `passed_since` the failed ones that a rerun passed."""

    outcomes: dict[TrialKey, Outcome] = field(default_factory=dict)
    words: dict[Counted, int] = field(default_factory=lambda: dict.fromkeys(get_args(Counted), 0))
    passed_since: int = 0

    @property
    def trials(self) -> int:
        """How many have a result."""
        return len(self.outcomes)

    def put(self, key: TrialKey, outcome: Outcome | None) -> None:
        """What a trial adds now, instead of what it added before."""
        before = self.outcomes.pop(key, None)
        if before is not None:
            self.words[before.counted] -= 1
            self.passed_since -= has_passed_since(before)
        if outcome is not None:
            self.outcomes[key] = outcome
            self.words[outcome.counted] += 1
            self.passed_since += has_passed_since(outcome)

    def copy(self) -> "Tally":
        """The same as it is now, for a thread."""
        return Tally(dict(self.outcomes), dict(self.words), self.passed_since)
