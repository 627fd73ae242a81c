"""Which trials a key asks for: of a case, of a suite or part of it, of what did not pass. Without textual."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui.app.exploring import Exploring
from tui.app.presentation.outline import Row
from tui.model.results import TrialKey
from tui.model.suite import Case, Suite


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run. `stream` None means: as the suite says. With the id of a kept `run` they are asked in
    that run, as new `attempts` or only where it has no result (`missing`); or its answers are played again, at `speed`
    times their own, at once where it is None."""

    path: Path
    suite: Suite
    trials: tuple[TrialKey, ...]
    stream: bool | None = None
    run: str = ""
    again: Literal["attempts", "missing", "replay"] = "attempts"
    speed: float | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are asked, in order."""
        return tuple(dict.fromkeys(trial.model for trial in self.trials))


def request_of(looking: Exploring, cases: tuple[Case, ...]) -> RunRequest | None:
    """These cases on all models that are looked at, case by case; None where there is nothing to run."""
    if looking.suite is None or looking.path is None:
        return None
    trials = tuple(TrialKey(case.id, model) for case in cases for model in looking.models)
    return _request(looking, looking.path, looking.suite, trials) if trials else None


def request_of_row(looking: Exploring, row: Row | None) -> RunRequest | None:
    """What the cursor is on: a case, or all cases of a category or suite."""
    if row is not None and row.kind in ("category", "suite") and row.volume and row.volume.path == looking.path:
        return request_of(looking, row.cases)
    return request_of(looking, (looking.case,) if looking.case else ())


def request_of_suite(looking: Exploring) -> RunRequest | None:
    """The whole suite."""
    return request_of(looking, looking.suite.cases if looking.suite else ())


def request_of_failed(looking: Exploring) -> RunRequest | None:
    """What did not pass."""
    trials = looking.unanswered()
    if not trials or looking.suite is None or looking.path is None:
        return None
    return _request(looking, looking.path, looking.suite, trials)


def _request(looking: Exploring, path: Path, suite: Suite, trials: tuple[TrialKey, ...]) -> RunRequest:
    """In a kept run, what is asked becomes part of it."""
    run = looking.volume.run if looking.volume else ""
    return RunRequest(path, suite, trials, looking.streams, run)
