"""What will be run: a suite, the subjects, and which trials of them."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.model.prices import Spent
from tui.model.results import ServedBy, TrialKey, TrialResult
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


RunState = Literal["running", "finished", "interrupted", "cancelled"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One line of the list of runs. Times are ISO 8601 with zone; `finished_at` is None while it runs. `passed` counts
    plain passes, `unchecked` the answers that no check judged."""

    id: str
    state: RunState
    suite_name: str
    suite_path: str
    suite_sha256: str
    models: tuple[str, ...]
    started_at: str
    finished_at: str | None
    trials: int
    passed: int
    unchecked: int = 0

    @property
    def checked(self) -> int:
        """The trials that a pass rate is over: all but those without a check."""
        return self.trials - self.unchecked


@dataclass(frozen=True, slots=True)
class RunSetup:
    """With what a run was begun: whom it asks, how, by which command, and which version of Assay ran it; `versions` are
    those of what else took part, by name."""

    subjects: tuple[Subject, ...]
    options: RunOptions
    command: str
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunDetails:
    """What is told of a run beside its line: with what it was begun, what its trials cost, and what each model's server
    said of itself with the newest answer. The latter are by model."""

    setup: RunSetup
    costs: Mapping[str, Spent] = field(default_factory=dict)
    served: Mapping[str, ServedBy] = field(default_factory=dict)


def new_run_id() -> str:
    """32 hex digits in the order of time (UUID version 7, RFC 9562)."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds << 80) | (0x7 << 76) | ((random >> 64) & 0xFFF) << 64
    value |= (0b10 << 62) | (random & (1 << 62) - 1)
    return f"{value:032x}"


ReportFormat = Literal["markdown", "html", "json", "csv", "junit"]


@dataclass(frozen=True, slots=True)
class KeptRun:
    """`plan.trials` is every trial of the run, `results` those that are over, in the plan's order; `assay` is the
    version that ran it, `versions` are those of what else took part, by name."""

    record: RunRecord
    plan: Plan
    results: tuple[TrialResult, ...]
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)
