"""Which models stand in the matrix of a suite, and which trials its keys ask for. Without textual."""

from pathlib import Path
from typing import TYPE_CHECKING

from tui.app.exploring import Selection
from tui.app.presentation.outline import OpenSuite
from tui.app.run_requests import RunRequest
from tui.model.results import TrialKey
from tui.model.suite import Suite

if TYPE_CHECKING:
    from tui.app.matrix.matrix import Matrix


def asked_models(selection: Selection, path: Path, suite: Suite) -> tuple[str, ...]:
    """Whom a run of the whole suite asks: the models that a person chose, else all that the suite names."""
    shown = selection.models_of(path)
    named = tuple(dict.fromkeys((suite.agent,) if suite.agent else suite.models))
    return named if named[: len(shown)] == shown else shown


def matrix_models(selection: Selection, path: Path, suite: Suite) -> tuple[str, ...]:
    """The columns: whom a run asks, then whoever has answered before."""
    state = selection.open_suites.state(path)
    return tuple(dict.fromkeys((*asked_models(selection, path, suite), *(key.model for key in state.trials))))


def request_of_all(selection: Selection, open_suite: OpenSuite, suite: Suite) -> RunRequest | None:
    """Every case on every model that is asked, as often as each was asked before."""
    models, state = asked_models(selection, open_suite.path, suite), selection.open_suites.state(open_suite.path)
    trials: list[TrialKey] = []
    for case in suite.cases:
        for model in models:
            known = state.repeats(case.id, model)
            trials += [trial.key for trial in known] or [TrialKey(case.id, model)]
    return RunRequest(open_suite.path, suite, tuple(trials), selection.streams, open_suite.run) if trials else None


def request_of_unpassed(selection: Selection, open_suite: OpenSuite, matrix: "Matrix") -> RunRequest | None:
    """What did not pass, of everything that is in the matrix."""
    known = set(matrix.models)
    cases = {case.id for case in matrix.suite.cases}
    trials = tuple(
        key
        for key, trial in selection.open_suites.state(open_suite.path).trials.items()
        if not trial.is_open
        and trial.status not in ("passed", "unchecked")
        and key.model in known
        and key.case in cases
    )
    return RunRequest(open_suite.path, matrix.suite, trials, selection.streams, open_suite.run) if trials else None
