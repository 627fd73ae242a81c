"""Which trials a key asks for: of a case, of a suite or part of it, of what did not pass. Without textual."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui.app.exploring import Selection
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


def request_of(selection: Selection, cases: tuple[Case, ...]) -> RunRequest | None:
    """These cases on all models that are looked at, case by case; None where there is nothing to run."""
    if selection.suite is None or selection.path is None:
        return None
    trials = tuple(TrialKey(case.id, model) for case in cases for model in selection.models)
    return _request(selection, selection.path, selection.suite, trials) if trials else None


def request_of_row(selection: Selection, row: Row | None) -> RunRequest | None:
    """What the cursor is on: a case, or all cases of a category or suite."""
    if (
        row is not None
        and row.kind in ("category", "suite")
        and row.open_suite
        and row.open_suite.path == selection.path
    ):
        return request_of(selection, row.cases)
    return request_of(selection, (selection.case,) if selection.case else ())


def request_of_suite(selection: Selection) -> RunRequest | None:
    """The whole suite."""
    return request_of(selection, selection.suite.cases if selection.suite else ())


def request_of_failed(selection: Selection) -> RunRequest | None:
    """What did not pass."""
    trials = selection.unanswered()
    if not trials or selection.suite is None or selection.path is None:
        return None
    return _request(selection, selection.path, selection.suite, trials)


def _request(selection: Selection, path: Path, suite: Suite, trials: tuple[TrialKey, ...]) -> RunRequest:
    """In a kept run, what is asked becomes part of it."""
    run = selection.open_suite.run if selection.open_suite else ""
    return RunRequest(path, suite, trials, selection.streams, run)
