"""Which trials a run asks for: those of a case, of a suite or part of it, or those that did not pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui.app.open_suites import OpenSuite, Selection
from tui.model.results import TrialKey
from tui.model.suite import Case, Suite

WaitReason = Literal["", "queued", "preparing", "paused"]
"""Why a requested trial has not started: runs before its own, its own run is being prepared, or it is paused."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The trials of a suite to run; `streaming` None means: as the suite says.

    With the id of a saved `run` they are run in that run: as new `attempts`, only where a result is `missing`, or as a
    `replay` of its recorded answers at `speed` times their own speed, without pauses where that is None.
    """

    path: Path
    suite: Suite
    trials: tuple[TrialKey, ...]
    streaming: bool | None = None
    run: str = ""
    mode: Literal["attempts", "missing", "replay"] = "attempts"
    speed: float | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models to run, in order."""
        return tuple(dict.fromkeys(trial.model for trial in self.trials))


def request_cases(selection: Selection, cases: Sequence[Case]) -> RunRequest | None:
    """Return a request for these cases of the selected suite on all displayed models; None where that is nothing."""
    trials = [TrialKey(case.id, model) for case in cases for model in selection.models]
    return _request(selection, selection.open_suite, trials)


def request_suite(selection: Selection) -> RunRequest | None:
    """Return a request for the whole selected suite on all displayed models."""
    return request_cases(selection, selection.suite.cases if selection.suite else ())


def request_failed(selection: Selection) -> RunRequest | None:
    """Return a request for what did not pass in the selected suite, on the displayed models."""
    return request_failed_of(selection, selection.open_suite, selection.models)


def request_failed_of(selection: Selection, open_suite: OpenSuite | None, models: Sequence[str]) -> RunRequest | None:
    """Return a request for what did not pass in a suite, on these models."""
    if open_suite is None or open_suite.suite is None:
        return None
    state = selection.open_suites.state(open_suite.path)
    pairs = ((case.id, model) for case in open_suite.suite.cases for model in models)
    trials = (trial for case, model in pairs for trial in state.repeats(case, model))
    failed = [trial.key for trial in trials if not trial.is_open and trial.status not in ("passed", "unchecked")]
    return _request(selection, open_suite, failed)


def request_all_models(selection: Selection, open_suite: OpenSuite) -> RunRequest | None:
    """Return a request for every case of a suite on every model that runs it, each as often as it was run before."""
    state = selection.open_suites.state(open_suite.path)
    trials: list[TrialKey] = []
    for case in open_suite.suite.cases if open_suite.suite else ():
        for model in models_to_run(selection, open_suite):
            known = state.repeats(case.id, model)
            trials += [trial.key for trial in known] or [TrialKey(case.id, model)]
    return _request(selection, open_suite, trials)


def models_to_run(selection: Selection, open_suite: OpenSuite) -> tuple[str, ...]:
    """Return the models that a run of a whole suite uses: those that were chosen, else all that the suite names."""
    suite = open_suite.suite
    if suite is None:
        return ()
    displayed = selection.models_of(open_suite.path)
    named = tuple(dict.fromkeys((suite.agent,) if suite.agent else suite.models))
    return named if named[: len(displayed)] == displayed else displayed


def models_with_results(selection: Selection, open_suite: OpenSuite) -> tuple[str, ...]:
    """Return the models that a run of the suite uses, then all others that have results of it."""
    state = selection.open_suites.state(open_suite.path)
    return tuple(dict.fromkeys((*models_to_run(selection, open_suite), *(key.model for key in state.trials))))


def _request(selection: Selection, open_suite: OpenSuite | None, trials: Sequence[TrialKey]) -> RunRequest | None:
    """Return a request; of a saved run it becomes part of that run."""
    if open_suite is None or open_suite.suite is None or not trials:
        return None
    return RunRequest(open_suite.path, open_suite.suite, tuple(trials), selection.streaming, open_suite.run)
