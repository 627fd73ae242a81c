"""Run again what did not pass: which trials of it, and in which runs."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from textual.app import App

from tui.app.presentation.pieces import Line
from tui.app.run_requests import RunRequest
from tui.app.screens.choice import ChoiceScreen
from tui.model.results import JUDGED, TrialKey
from tui.model.state import TrialProgress
from tui.session.run_history import RunHistory

_KEEPS_COUNTING = "The first verdict of a failed trial keeps counting in every figure; a rerun adds attempts."


def split_errors(
    trials: Collection[TrialKey], known: Mapping[TrialKey, TrialProgress]
) -> tuple[tuple[TrialKey, ...], tuple[TrialKey, ...]]:
    """The trials without a judged answer, and the failed ones."""
    judged = {key for key in trials if (trial := known.get(key)) is not None and trial.status in JUDGED}
    return tuple(key for key in trials if key not in judged), tuple(key for key in trials if key in judged)


def rerun_lines(errors: int, failed: int) -> list[Line]:
    """The two choices where some trials failed and others have no judged answer."""
    return [
        ((f" Errors only ({errors:,})", "strong"), ("  they have no judged answer: the rerun counts", "dim")),
        (
            (f" All that did not pass ({errors + failed:,})", "strong"),
            ("  failed trials keep their first verdict", "dim"),
        ),
    ]


async def choose_rerun(
    app: App[None], request: RunRequest, known: Mapping[TrialKey, TrialProgress]
) -> RunRequest | None:
    """Ask which trials to run again where some of them failed and others have no judged answer; None for none."""
    errors, failed = split_errors(request.trials, known)
    if not failed:
        return request
    if not errors:
        app.notify(_KEEPS_COUNTING, markup=False, timeout=6)
        return request
    lines = rerun_lines(len(errors), len(failed))
    place = await app.push_screen_wait(ChoiceScreen("Run again", lines, 0, takes="starts"))
    if place is None:
        return None
    return request if place else replace(request, trials=errors)


def requests_by_run(history: RunHistory, request: RunRequest) -> list[RunRequest]:
    """Return the request as one for each run that holds the newest results of its trials, which continues their
    attempts. What has none, or was run on another state of the suite's file, becomes a new run. It blocks; raises
    StoreError."""
    runs = history.runs_of(request.suite, request.trials)
    return [
        replace(request, run=run, trials=tuple(key for key in request.trials if runs[key] == run))
        for run in dict.fromkeys(runs.values())
    ]
