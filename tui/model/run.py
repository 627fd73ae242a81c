"""What will be run: a suite, the subjects, and which trials of them."""

from dataclasses import dataclass, field

from tui.model.results import TrialKey, TrialResult
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of the suite with the command line's laid over them. `concurrency` is how many cases of one model run at
    once; `stream` says whether answers are asked for piece by piece; durations are milliseconds. Recorded answers are
    played at `replay_speed` times their own speed, at once where it is None. `accept_truncated` judges answers that the
    provider stopped early as whole."""

    timeout_ms: int = 60_000
    stream: bool = False
    attempts: int = 1
    delay_ms: int = 500
    concurrency: int = 1
    parallel_models: bool = False
    repeats: int = 1
    replay_speed: float | None = None
    accept_truncated: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """One run. `trials` holds exactly what will be asked, in order; `earlier` the kept results of trials that a person
    asked for again, whose attempts are continued."""

    run_id: str
    suite: Suite
    subjects: tuple[Subject, ...]
    options: RunOptions
    trials: tuple[TrialKey, ...]
    command: str = ""
    earlier: dict[TrialKey, TrialResult] = field(default_factory=dict)

    @property
    def planned_cases(self) -> tuple[Case, ...]:
        """The cases that any trial is of, in the suite's order."""
        planned = {key.case for key in self.trials}
        return tuple(case for case in self.suite.cases if case.id in planned)

    def case(self, key: TrialKey) -> Case:
        """The case of a trial. Raises KeyError where the suite has none of that id."""
        for case in self.suite.cases:
            if case.id == key.case:
                return case
        raise KeyError(key.case)
