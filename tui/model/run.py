"""The plan of a run, its options, and the record of a stored run."""

import os
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.model.prices import Spent
from tui.model.results import ServedBy, TrialKey, TrialResult
from tui.model.subjects import Subject
from tui.model.suite import Case, Suite


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run: those of the suite, overridden by the command line.

    `concurrency` is the number of cases of one model that run at once; `stream` selects streamed answers; durations are
    milliseconds. Recorded answers are replayed at `replay_speed` times their original speed, at once if it is None.
    `accept_truncated` judges answers that the provider stopped early like complete ones.
    """

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
    """The plan of one run.

    `trials` are the trials to run, in order; `earlier` holds the stored results of trials that are rerun, whose
    attempts are continued. `continues` says that the plan was made from a stored run.
    """

    run_id: str
    suite: Suite
    subjects: tuple[Subject, ...]
    options: RunOptions
    trials: tuple[TrialKey, ...]
    command: str = ""
    earlier: dict[TrialKey, TrialResult] = field(default_factory=dict)
    continues: bool = field(default=False, compare=False)

    @property
    def planned_cases(self) -> tuple[Case, ...]:
        """The cases that have a planned trial, in the suite's order."""
        planned = {key.case for key in self.trials}
        return tuple(case for case in self.suite.cases if case.id in planned)

    def case(self, key: TrialKey) -> Case:
        """Return the case of a trial. Raises KeyError if the suite has no case of that id."""
        for case in self.suite.cases:
            if case.id == key.case:
                return case
        raise KeyError(key.case)


RunState = Literal["running", "finished", "interrupted", "cancelled"]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One entry of the list of runs.

    Times are ISO 8601 with a time zone; `finished_at` is None while the run is in progress. `suite_path` is as the user
    wrote it, relative to the folder of that time, `suite_place` absolute, without links. `passed` counts plain passes,
    `unchecked` the answers that no check judged and, of a run that has ended, the errors in cases without a check.
    """

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
    suite_place: str = field(default="", compare=False)

    @property
    def suite_file(self) -> str:
        """The file of the suite, whatever the current folder is."""
        return self.suite_place or self.suite_path

    @property
    def checked(self) -> int:
        """The number of trials in the denominator of the pass rate: all but the unchecked."""
        return self.trials - self.unchecked


COMMIT = "commit of the repository"
"""The name of the cloned commit among the versions of a run."""
VERSION_CHANGED = ", then "
"""What separates the versions of a run that was continued with another one."""


@dataclass(frozen=True, slots=True)
class RunSetup:
    """How a run was started: its models, options, command and version of Assay.

    `versions` are those of other programs involved, by name.
    """

    subjects: tuple[Subject, ...]
    options: RunOptions
    command: str
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def definitions(self) -> Mapping[str, str]:
        """What the name of each model stood for."""
        return {subject.name: subject.definition for subject in self.subjects}


@dataclass(frozen=True, slots=True)
class RunDetails:
    """The details of a run: its setup, and by model the costs and what the server reported with the latest answer."""

    setup: RunSetup
    costs: Mapping[str, Spent] = field(default_factory=dict)
    served: Mapping[str, ServedBy] = field(default_factory=dict)


def distinct_length(run_ids: Iterable[str]) -> int:
    """Return how many of the first characters of these ids distinguish them all, at least 13.

    The first 12 are the time of a run, which imported runs may share.
    """
    all_ids = set(run_ids)
    return next(
        length for length in range(13, 33) if length == 32 or len({one[:length] for one in all_ids}) == len(all_ids)
    )


_RUN_ID = re.compile("[0-9a-f]{32}")


def new_run_id(newest: str = "") -> str:
    """Return a new run id: 32 hex digits that sort by time (UUID version 7, RFC 9562), and after the id `newest`.

    The clock may have been set back since `newest` was made; its time is then the least that is later.
    """
    milliseconds = max(0, time.time_ns()) // 1_000_000
    if _RUN_ID.fullmatch(newest) and (later := int(newest[:12], 16) + 1) < 1 << 48:
        milliseconds = max(milliseconds, later)
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds << 80) | (0x7 << 76) | ((random >> 64) & 0xFFF) << 64
    value |= (0b10 << 62) | (random & (1 << 62) - 1)
    return f"{value:032x}"


ReportFormat = Literal["markdown", "html", "json", "csv", "junit"]


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The format of a report and what it includes; a JSON report is always complete."""

    format: ReportFormat
    responses: bool = False
    timestamps: bool = False
    risk_analysis: bool = False


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A stored run.

    `plan.trials` is every trial of the run, `results` those that have ended, in the plan's order. `assay` is the
    version that ran it, `versions` are those of other programs involved, by name.
    """

    record: RunRecord
    plan: Plan
    results: tuple[TrialResult, ...]
    assay: str
    versions: Mapping[str, str] = field(default_factory=dict)
