"""The commands for runs, identical on every screen: start, rerun, cancel, pause and change the concurrency."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any

from textual.screen import Screen

from tui.app.context import AppContext
from tui.app.dialogs import ChoiceScreen, ConfirmScreen
from tui.app.keymap import with_keys
from tui.app.notifications import notify_error
from tui.app.open_suites import OpenSuite
from tui.app.presentation.figures import counted
from tui.app.presentation.pace import Pace, concurrency_words, pace_of
from tui.app.presentation.pieces import Line
from tui.app.run_requests import KnownCost, RunRequest, expected_costs, known_costs
from tui.app.session_protocol import Session
from tui.app.suite_loader import SuitesRead
from tui.app.workers import start_worker
from tui.model.context import estimate_line, wants_context
from tui.model.errors import AssayError, StoreError
from tui.model.prices import cost_text, spent_on
from tui.model.progress import TrialProgress
from tui.model.results import JUDGED, TrialKey
from tui.model.sanitize import sanitize_line
from tui.model.state import RunState
from tui.model.subjects import Subject
from tui.session.consent import data_consent
from tui.session.run_history import RunHistory

_RERUN_NOTE = "Statistics keep counting the original verdict of a failed trial; a rerun adds attempts."


class RunControls:
    """Carry out the commands of a user on the run queue; `screen` displays notifications and questions."""

    def __init__(self, context: AppContext, screen: Screen[Any]) -> None:
        self._context, self._runs, self._screen = context, context.runs, screen

    @property
    def can_pause(self) -> bool:
        """Return whether a run is in progress that can be paused or resumed."""
        return self._runs.running_state is not None

    def start(self, request: RunRequest | None, nothing: str = "") -> None:
        """Queue a run, or notify with the text `nothing` if there is nothing to run.

        Of a suite with data files outside its folder, ask whether it may read them, and read it again.
        """
        if (refused := self._refused_data(request)) is not None:
            start_worker(self._screen, partial(self._ask_for_data, refused), group="data", exclusive=True)
            return
        if request is None:
            self._screen.notify(nothing, severity="warning", markup=False)
            return
        if (broken := self._broken(request)) is not None:
            self._screen.notify(broken_words(broken), title="Not run", severity="warning", markup=False, timeout=8)
            return
        if self._may_ask(request):
            start_worker(self._screen, partial(self._ask_again, request), group="start", exclusive=True)
        else:
            self._add(request)

    def _add(self, request: RunRequest) -> None:
        if self._runs.busy:
            self._screen.notify("Queued: starts when the current run finishes.", markup=False, timeout=3)
        self._runs.add(request)

    def _may_ask(self, request: RunRequest) -> bool:
        """Return whether trials of a saved run passed, are unchecked, or have no result: they may not be part of it."""
        if not request.run or request.mode != "attempts":
            return False
        trials = self._context.open_suites.state(request.path).trials
        return self._judged(request) > 0 or any(key not in trials for key in request.trials)

    def _judged(self, request: RunRequest) -> int:
        """Return how many trials would be run again although they passed or are unchecked."""
        trials = self._context.open_suites.state(request.path).trials
        known = filter(None, map(trials.get, request.trials))
        return sum(trial.status in ("passed", "unchecked") for trial in known)

    async def _ask_again(self, request: RunRequest) -> None:
        """Start after a question if several cases, scores, or trials that the saved run does not have are concerned."""
        session, judged = self._context.session, self._judged(request)
        try:
            scores = await asyncio.to_thread(lambda: session.reviews.count_scores(request.run).scores)
            added = await asyncio.to_thread(session.history.not_planned, request.run, request.trials)
        except AssayError as error:
            notify_error(self._screen, error)
            return
        texts = [added_words(added)] if added else []
        if judged and (scores or len({trial.case for trial in request.trials}) > 1):
            texts.append(
                f"{counted(judged, 'trial')} of this run passed or {'is' if judged == 1 else 'are'} unchecked. Running "
                "again adds attempts to this saved run. Its statistics keep the original verdicts, but risk scores of "
                "the earlier answers no longer count."
            )
        if texts:
            title = "Add trials to this saved run?" if added else "Run again in this saved run?"
            dialog = ConfirmScreen(title, "\n\n".join(texts), yes="run", no="cancel")
            if not await self._screen.app.push_screen_wait(dialog):
                return
        self._add(request)

    def start_asked(self, requests: Sequence[RunRequest], nothing: str) -> None:
        """Queue runs of several cases, after a question with the number of trials and their expected cost."""
        runnable = [each for each in requests if self._broken(each) is None]
        if sum(len(each.trials) for each in runnable) > 1:
            start_worker(self._screen, partial(self._ask_and_start, runnable), group="start", exclusive=True)
        else:
            self.start(next(iter(runnable or requests), None), nothing)

    async def _ask_and_start(self, requests: Sequence[RunRequest]) -> None:
        costs = [known_costs(each, self._context.open_suites) for each in requests]
        later = partial(cost_words, self._context.session, list(zip(requests, costs, strict=True)))
        has_more = any(costs) or any(wants_context(each.suite) for each in requests)
        if await self._screen.app.push_screen_wait(
            ConfirmScreen("Run?", size_words(requests), yes="run", no="cancel", later=later if has_more else None)
        ):
            for request in requests:
                self.start(request, "")

    def _refused_data(self, request: RunRequest | None) -> OpenSuite | None:
        """Return the suite of a request, else the selected one, if it has data files that the user has not allowed."""
        context = self._context
        open_suite = context.open_suites.get(request.path) if request else context.selection.open_suite
        return open_suite if open_suite is not None and open_suite.outside else None

    async def _ask_for_data(self, open_suite: OpenSuite) -> None:
        consents = [data_consent(open_suite.path, file) for file in open_suite.outside]
        if await self._runs.ask(consents):
            await asyncio.to_thread(self._context.open_suites.read, open_suite.path)
            self._context.open_suites.display([open_suite.path])
            self._context.post(SuitesRead([open_suite.path], again=True))

    def _broken(self, request: RunRequest) -> OpenSuite | None:
        """Return the suite of a request if its file has errors."""
        open_suite = self._context.open_suites.get(request.path)
        return open_suite if open_suite is not None and open_suite.broken else None

    def notify_reloaded(self, paths: Sequence[Path]) -> None:
        """Notify of suite files that were read again; of each one with errors with its first error."""
        open_suites = filter(None, map(self._context.open_suites.get, paths))
        broken = [each for each in open_suites if each.broken]
        if not broken:
            names = ", ".join(sanitize_line(path.name, 60) for path in paths)
            self._screen.notify(f"Reloaded: {names}", markup=False, timeout=3)
        for each in broken:
            text = broken_words(each)
            self._screen.notify(text, title="File has errors", severity="error", markup=False, timeout=8)

    def rerun(self, request: RunRequest | None, nothing: str) -> None:
        """Rerun trials, after asking which; each trial becomes an attempt in the run that has its result.

        Notifies with the text `nothing` if there is nothing to run.
        """
        start_worker(self._screen, partial(self._rerun, request, nothing), group="rerun", exclusive=True)

    async def _rerun(self, request: RunRequest | None, nothing: str) -> None:
        request = self._without_queued(request)
        if request is None:
            self.start(None, nothing)
            return
        if not request.trials:
            self._screen.notify("These trials are queued already.", markup=False, timeout=4)
            return
        chosen = await self._choose_trials(request)
        if chosen is None:
            return
        try:
            current = self._of_current_run(chosen)
            requests = await asyncio.to_thread(requests_by_run, self._context.session.history, chosen, current)
        except StoreError as error:
            notify_error(self._screen, error)
            return
        again = {key for each in requests if each.run for key in each.trials}
        anew = {(key.case, key.model) for each in requests if not each.run for key in each.trials}
        passed = sum(key not in again and (key.case, key.model) not in anew for key in chosen.trials)
        if passed:
            what = f"{counted(passed, 'trial')} passed in another program since."
            self._screen.notify(f"Not run again: {what}", markup=False, timeout=6)
        if any(each.run for each in requests):
            self._screen.notify(_RERUN_NOTE, markup=False, timeout=6)
        if anew:
            is_merged = len(chosen.trials) > passed + len(again) + len(anew)
            run = "a new run with one repeat of each" if is_merged else "a new run"
            what = f"{counted(len(anew), 'trial')} of cases that were changed since: {run}, which counts anew."
            self._screen.notify(what, markup=False, timeout=6)
        for each in requests:
            self.start(each, nothing)

    def _of_current_run(self, request: RunRequest) -> Mapping[TrialKey, str]:
        """Return the run in progress for its trials, whose results may not be stored yet.

        The id is empty if the checks of the case were changed since; the results of a case that asks something else are
        not displayed.
        """
        state = self._context.open_suites.state(request.path)
        run = state.run_id if state.running else None
        return {
            key: "" if state.is_judged_by_earlier_checks(key.case, key.model) else run
            for key in request.trials
            if run and (trial := state.trials.get(key)) and trial.run == run
        }

    def _without_queued(self, request: RunRequest | None) -> RunRequest | None:
        """Return the request without the trials of queued requests of the same suite."""
        if request is None:
            return None
        queued = {key for each in self._runs.queued if each.path == request.path for key in each.trials}
        return replace(request, trials=tuple(key for key in request.trials if key not in queued))

    async def _choose_trials(self, request: RunRequest) -> RunRequest | None:
        """Return the request for the trials to rerun, or None after a cancel.

        Asks if some trials failed and others have no judged answer.
        """
        errors, failed = split_errors(request.trials, self._context.open_suites.state(request.path).trials)
        if not failed:
            return request
        if not errors:
            return request
        lines = rerun_lines(len(errors), len(failed))
        place = await self._screen.app.push_screen_wait(ChoiceScreen("Rerun", lines, 0, verb="start"))
        if place is None:
            return None
        return request if place else replace(request, trials=errors)

    def cancel(self, path: Path | None, trials: tuple[TrialKey, ...]) -> None:
        """Cancel trials of a suite, or notify that they are not running."""
        current = self._runs.current
        if trials and current is not None and current.path == path:
            self._runs.cancel(trials)
        else:
            more = with_keys(self._screen, " Press {cancel_all} to cancel the whole run.") if self._runs.busy else ""
            self._screen.notify(f"This case is not running.{more}", markup=False, timeout=4)

    def cancel_all(self) -> None:
        """Cancel the current run and all queued runs."""
        if self._runs.busy:
            self._runs.cancel_all()
        else:
            self._screen.notify("No run in progress.", markup=False, timeout=3)

    def toggle_pause(self) -> None:
        """Pause or resume the current run."""
        if self.can_pause:
            self._runs.toggle_pause()

    def change_concurrency(self, by: int, model: str = "") -> None:
        """Change the concurrency of a model by `by`; of all models if that one is not running."""
        numbers = self._runs.change_concurrency(by, model) or self._runs.change_concurrency(by)
        text = f"{concurrency_words(numbers)}." if numbers else "No run in progress."
        self._screen.notify(text, markup=False, timeout=3)


def added_words(added: Sequence[TrialKey]) -> str:
    """Return what it means for a saved run to get trials that it does not have."""
    is_one = len(added) == 1
    them = "it" if is_one else "them"
    return (
        f"{counted(len(added), 'trial')} {'is' if is_one else 'are'} not part of this saved run. Running {them} adds "
        f"{them} for good: its counts, statistics and conclusions include {them} from then on. To keep this run as it "
        "is, run the suite's file instead."
    )


def size_words(requests: Sequence[RunRequest]) -> str:
    """Return the size of some runs in words, for example `14 trials: 7 cases × 2 models.`"""
    trials = sum(len(each.trials) for each in requests)
    cases = sum(len({trial.case for trial in each.trials}) for each in requests)
    models = len({trial.model for each in requests for trial in each.trials})
    suites = f" in {counted(len(requests), 'suite')}" if len(requests) > 1 else ""
    return f"{counted(trials, 'trial')}: {counted(cases, 'case')}{suites} × {counted(models, 'model')}."


def cost_words(session: Session, asked: Sequence[tuple[RunRequest, Sequence[KnownCost]]]) -> str:
    """Return the expected cost of some runs by the known costs of their models, and which files they will contain.

    A model whose name stood for another one in the run of an earlier answer, or had another price, has no known cost.
    Blocks: call it in a thread.
    """
    expected = spent_on(
        usd for request, costs in asked for usd in expected_costs(request, _costs_of_same(session, request, costs))
    )
    cost = f"Expected cost: {cost_text(expected)}, by the earlier answers of these models."
    files = preview_words(session, [request for request, _ in asked])
    return "\n\n".join(text for text in (cost if expected.usd is not None else "", files) if text)


def _costs_of_same(session: Session, request: RunRequest, costs: Sequence[KnownCost]) -> Sequence[KnownCost]:
    if request.run or request.suite.agent or not costs:
        return costs
    same = session.history.find_same_models(_priced(session, request), {each.run for each in costs})
    return [each for each in costs if (each.run, each.model) in same]


def preview_words(session: Session, requests: Sequence[RunRequest]) -> str:
    """Return which files the prompts of some runs will contain, and what the requests cost; empty if none is named.

    Blocks: call it in a thread.
    """
    texts: list[str] = []
    for request in requests:
        planned_ids = {trial.case for trial in request.trials}
        cases = [case for case in request.suite.cases if case.id in planned_ids]
        planned = None if request.run else session.context_previews.plan(request.suite, cases)
        if planned is None:
            continue
        name = [f"{sanitize_line(request.suite.name, 80)}:"] if len(requests) > 1 else []
        estimate = estimate_line(planned, request.trials, _priced(session, request))
        texts.append("\n".join([*name, *planned.lines, *([estimate] if estimate else [])]))
    return "\n\n".join(texts)


def _priced(session: Session, request: RunRequest) -> Sequence[Subject]:
    """Return the models of a request with their prices; none for an agent, and if one of them cannot be run."""
    if request.suite.agent:
        return ()
    try:
        return session.price(session.resolve(request.models))
    except AssayError:
        return ()


def broken_words(open_suite: OpenSuite) -> str:
    """Return a message about a suite file with errors: its name, the line and text of the first error, and the fix."""
    name, error = sanitize_line(open_suite.path.name, 60), open_suite.first_error
    place = f", line {error.line}" if error and error.line else ""
    what = f": {sanitize_line(error.what, 200).rstrip('.')}" if error else ""
    kept = " Its last version without errors stays open; fix the file to run it." if open_suite.outdated else ""
    return f"{name}{place}{what}.{kept}"


def split_errors(
    trials: Collection[TrialKey], known: Mapping[TrialKey, TrialProgress]
) -> tuple[tuple[TrialKey, ...], tuple[TrialKey, ...]]:
    """Return the trials without a judged answer, and the others: the verdict of a first judged answer stays."""
    ended = {key: trial.ended for key in trials if (trial := known.get(key)) is not None}
    judged = {key for key, outcome in ended.items() if outcome is not None and outcome.first_verdict in JUDGED}
    return tuple(key for key in trials if key not in judged), tuple(key for key in trials if key in judged)


def rerun_lines(errors: int, failed: int) -> list[Line]:
    """Return the two choices of a rerun: only the trials without a judged answer, or the failed ones, too."""
    return [
        ((f" Errors only ({errors:,})", "strong"), ("  no judged answer: the rerun counts", "dim")),
        (
            (f" All not passed ({errors + failed:,})", "strong"),
            ("  original verdicts stay, except of changed cases", "dim"),
        ),
    ]


def requests_by_run(
    history: RunHistory, request: RunRequest, current: Mapping[TrialKey, str] = MappingProxyType({})
) -> list[RunRequest]:
    """Return one request for each run that has the newest results of the trials, so that they become attempts in it.

    `current` is the run in progress by the trials of which it has the newest results, empty for a changed case.

    Trials without a result, or with a result of an older version of their case, become a new run. Those that have
    passed in another program since they were selected are left out. Blocks. Raises StoreError.
    """
    if request.run:
        runs = dict.fromkeys(request.trials, request.run)
    else:
        runs = {**history.latest_runs(request.suite, request.trials), **current}
    requests = []
    for run in dict.fromkeys(runs.values()):
        trials = tuple(key for key in request.trials if runs[key] == run)
        # A new run begins with the first repeat: it would have none of the others.
        if trials := history.not_passed(run, trials) if run else _first_repeats(trials):
            requests.append(replace(request, run=run, trials=trials))
    return requests


def _first_repeats(trials: Iterable[TrialKey]) -> tuple[TrialKey, ...]:
    return tuple(dict.fromkeys(key._replace(repeat=1) for key in trials))


def current_pace(state: RunState) -> Pace:
    """Return the current concurrency of a run as text."""
    return pace_of(state.limits, monotonic())
