"""Requests for the run queue: which trials of a suite to run, and in which run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from tui.app.open_suites import OpenSuite, OpenSuites, Selection
from tui.model.outcomes import outcome_of
from tui.model.progress import TrialProgress
from tui.model.results import TrialKey
from tui.model.servers import model_names
from tui.model.suite import Case, Suite

WaitReason = Literal["", "queued", "preparing", "paused", "starting", "changed"]
"""Why a requested trial has no request yet: other runs precede it, its run is being prepared, or it is paused, or the
local model is starting. A trial that was not requested has no displayed answer if its case was changed since."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The trials of a suite to run. `streaming` None means the setting of the suite.

    With the id of a saved `run` the trials become part of that run: as new `attempts`, only those whose result is
    `missing`. Its recorded answers become a run of their own as a `replay`, or to `rejudge` them with the checks of the
    suite. `speed` is the factor of a replay; None replays without pauses.
    """

    path: Path
    suite: Suite
    trials: tuple[TrialKey, ...]
    streaming: bool | None = None
    run: str = ""
    mode: Literal["attempts", "missing", "replay", "rejudge"] = "attempts"
    speed: float | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Return the models of the trials, in order."""
        return tuple(dict.fromkeys(trial.model for trial in self.trials))


def request_cases(
    selection: Selection, cases: Sequence[Case], open_suite: OpenSuite | None = None
) -> RunRequest | None:
    """Return a request for cases of a suite, by default the selected one, on all models that are displayed for it.

    None if there are no trials.
    """
    open_suite = open_suite or selection.open_suite
    models = selection.models_of(open_suite.path) if open_suite else ()
    return _request(selection, open_suite, [TrialKey(case.id, model) for case in cases for model in models])


def request_folder(selection: Selection, folder: str) -> tuple[RunRequest, ...]:
    """Return a request for each suite file of a folder, with the cases that the filter selects."""
    suites = [each for each in selection.open_suites.all if each.folder == folder and not each.run]
    found = (
        request_cases(selection, [case for case in each.suite.cases if selection.matches_filter(each.path, case)], each)
        for each in suites
        if each.suite is not None
    )
    return tuple(request for request in found if request is not None)


def request_suite(selection: Selection) -> RunRequest | None:
    """Return a request for the whole selected suite on all displayed models."""
    return request_cases(selection, selection.suite.cases if selection.suite else ())


def request_failed(selection: Selection) -> RunRequest | None:
    """Return a request for the trials that did not pass in the selected suite, on the displayed models."""
    return request_failed_of(selection, selection.open_suite, selection.models)


def request_failed_of(selection: Selection, open_suite: OpenSuite | None, models: Sequence[str]) -> RunRequest | None:
    """Return a request for the trials that did not pass in a suite, on the given models."""
    if open_suite is None or open_suite.suite is None:
        return None
    state = selection.open_suites.state(open_suite.path)
    pairs = ((case.id, model) for case in open_suite.suite.cases for model in models)
    trials = (trial for case, model in pairs for trial in state.repeats(case, model))
    failed = [trial.key for trial in trials if not trial.is_open and trial.status not in ("passed", "unchecked")]
    return _request(selection, open_suite, failed)


def request_all_models(selection: Selection, open_suite: OpenSuite) -> RunRequest | None:
    """Return a request for every case of a suite on every model, with as many repeats as it has now."""
    state = selection.open_suites.state(open_suite.path)
    trials: list[TrialKey] = []
    for case in open_suite.suite.cases if open_suite.suite else ():
        for model in models_to_run(selection, open_suite):
            known = state.repeats(case.id, model)
            trials += [trial.key for trial in known] or [TrialKey(case.id, model)]
    return _request(selection, open_suite, trials)


def models_to_run(selection: Selection, open_suite: OpenSuite) -> tuple[str, ...]:
    """Return the models that a run of the whole suite uses: the chosen ones, else all models of the suite."""
    suite = open_suite.suite
    if suite is None:
        return ()
    displayed = selection.models_of(open_suite.path)
    named = model_names(suite)
    return named if named[: len(displayed)] == displayed else displayed


def models_with_results(selection: Selection, open_suite: OpenSuite) -> tuple[str, ...]:
    """Return the models that a run of the suite uses, then all others that have results in it."""
    state = selection.open_suites.state(open_suite.path)
    return tuple(dict.fromkeys((*models_to_run(selection, open_suite), *(key.model for key in state.trials))))


class KnownCost(NamedTuple):
    """The cost of a trial, with the id of its run and the name of its model."""

    run: str
    model: str
    usd: float


def known_costs(request: RunRequest, open_suites: OpenSuites) -> tuple[KnownCost, ...]:
    """Return the costs of the displayed trials of a request's models in its suite, as far as they are known."""
    models = frozenset(request.models)
    trials = open_suites.state(request.path).trials.items()
    costs = ((trial.run, key.model, _cost_of(trial)) for key, trial in trials if key.model in models)
    return tuple(KnownCost(run, model, usd) for run, model, usd in costs if usd is not None)


def expected_costs(request: RunRequest, costs: Iterable[KnownCost]) -> list[float | None]:
    """Return the expected cost of each trial of a request: the mean of the known costs of its model."""
    by_model: dict[str, list[float]] = {}
    for _, model, usd in costs:
        by_model.setdefault(model, []).append(usd)
    means = {model: sum(known) / len(known) for model, known in by_model.items()}
    return [means.get(trial.model) for trial in request.trials]


def _cost_of(trial: TrialProgress) -> float | None:
    if trial.result is not None:
        return outcome_of(trial.result).cost_usd
    return trial.kept.cost_usd if trial.kept is not None else None


def _request(selection: Selection, open_suite: OpenSuite | None, trials: Sequence[TrialKey]) -> RunRequest | None:
    """Return a request, or None if it would be empty; for a saved run the trials become part of that run."""
    if open_suite is None or open_suite.suite is None or not trials:
        return None
    return RunRequest(open_suite.path, open_suite.suite, tuple(trials), selection.streaming, open_suite.run)
