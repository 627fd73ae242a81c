"""The state of trials that screens show, computed from events and stored results without a clock or a terminal."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tui.model import run
from tui.model.context import SentFiles, sent_files
from tui.model.events import (
    AttemptStarted,
    ContextRead,
    Event,
    LimitMoved,
    RepositoryCloned,
    RepositoryCloning,
    RepositoryEvent,
    RunFinished,
    RunPaused,
    RunResumed,
    RunStarted,
    StoreRecovered,
    StoreStalled,
    TrialFinished,
    TrialStarted,
)
from tui.model.progress import TrialProgress
from tui.model.results import (
    TrialKey,
    TrialResult,
    counted_as,
    has_failed_since,
    has_passed_since,
)
from tui.model.subjects import is_replay_name, newest_definitions
from tui.model.suite import Suite, SuiteCase, cases_by_id

_NO_CASES: Mapping[TrialKey, SuiteCase] = MappingProxyType({})
_NO_RUNS: Mapping[TrialKey, str] = MappingProxyType({})
_NO_DEFINITIONS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Limit:
    """The number of concurrent requests to a provider, with the ceiling `most`.

    `reason` and `narrowed_at`, the monotonic seconds passed with the event, say why and when it was lowered below the
    ceiling.
    """

    limit: int
    most: int
    reason: str = ""
    narrowed_at: float = 0.0


@dataclass(slots=True)
class Counts:
    """The number of ended trials of the run, by the category in which they count.

    `errors` are those without a judged answer. `passed_since` are those that still count as failed although a rerun
    passed, `failed_since` those that count as passed although the last rerun failed.
    """

    trials: int = 0
    passed: int = 0
    failed: int = 0
    flaky: int = 0
    errors: int = 0
    unchecked: int = 0
    passed_since: int = 0
    failed_since: int = 0

    def take(self, result: TrialResult) -> None:
        """Count an ended trial by its category."""
        match counted_as(result):
            case "passed":
                self.passed += 1
            case "failed":
                self.failed += 1
            case "flaky":
                self.flaky += 1
            case "unchecked":
                self.unchecked += 1
            case "error":
                self.errors += 1
        self.passed_since += has_passed_since(result)
        self.failed_since += has_failed_since(result)

    @property
    def done(self) -> int:
        """The number of ended trials."""
        return self.passed + self.failed + self.flaky + self.errors + self.unchecked


class RunState:
    """The state of all trials of one suite: earlier results, and the current or last run.

    The repeats of a case on a model are of one run: a new run of them replaces all earlier ones. Results of a case that
    asks something else in the displayed suite, or was sent with other files in a newer run, are hidden (`is_outdated`),
    and so are those of a model whose name stands for another one in a newer run.
    `in_progress` are the trials that have started and not ended. `is_of_one_run` says that the displayed trials are
    known to be all those of the current or last run, and no others. `run_ids` are the runs of the trials, and of
    earlier ones. `limits` is by provider.
    """

    def __init__(self) -> None:
        self.trials: dict[TrialKey, TrialProgress] = {}
        self.counts = Counts()
        self.run_id: str | None = None
        self.ended: run.RunState | None = None
        self.stalled: str | None = None
        self.repository: RepositoryEvent | None = None
        self.in_progress: set[TrialKey] = set()
        self._is_paused = False
        self.limits: dict[str, Limit] = {}
        self._further: dict[tuple[str, str], list[int]] = {}  # repeats from 2 by case and model, in order
        self._tried: set[str] = set()  # cases with trials
        self._before: dict[TrialKey, TrialProgress] = {}
        self._continues = False
        self.is_of_one_run = False
        self._cases: Mapping[str, SuiteCase] = {}
        self._prepared: Mapping[str, SuiteCase] = {}
        self._definitions: Mapping[str, str] = {}
        self._unfinished: set[str] = set()
        self.run_ids: set[str] = set()
        self._hidden: dict[TrialKey, TrialProgress] = {}

    @property
    def running(self) -> bool:
        """Whether a run has started and not finished."""
        return self.run_id is not None and self.ended is None

    @property
    def is_blank(self) -> bool:
        """Whether there was neither a run nor a result."""
        return not (self.trials or self.run_ids or self._hidden)

    @property
    def is_interim(self) -> bool:
        """Whether a run is in progress, or displayed results of cases of the suite are of one that is not finished."""
        return self.running or any(
            trial.run in self._unfinished and (key.case in self._cases or not self._cases)
            for key, trial in (self.trials.items() if self._unfinished else ())
        )

    @property
    def paused(self) -> bool:
        """Whether no new request is sent: the user has paused the run, or results cannot be stored."""
        return self._is_paused or self.stalled is not None

    @property
    def answering(self) -> int:
        """The number of trials with a request in progress."""
        return sum(self.trials[key].is_answered for key in self.in_progress)

    @property
    def has_repeats(self) -> bool:
        """Whether any case was run more than once on a model."""
        return bool(self._further)

    def has_trials(self, case: str) -> bool:
        """Return whether a case was run on any model: most cases of a large data set were not."""
        return case in self._tried

    def trial(self, case: str, model: str, repeat: int = 1) -> TrialProgress | None:
        """Return the progress of a trial, or None if it was never run."""
        return self.trials.get(TrialKey(case, model, repeat))

    def repeats(self, case: str, model: str) -> tuple[TrialProgress, ...]:
        """Return the progress of all repeats of a trial, in order."""
        found = map(self.trials.get, self._repeats_of(TrialKey(case, model)))
        return tuple(trial for trial in found if trial is not None)

    def _repeats_of(self, key: TrialKey) -> Iterator[TrialKey]:
        """Yield the keys of all repeats of a trial that may be known."""
        for repeat in (1, *self._further.get((key.case, key.model), ())):
            yield TrialKey(key.case, key.model, repeat)

    def is_outdated(self, case: str, model: str) -> bool:
        """Return whether only earlier results are known of a case on a model, which are answers to something else."""
        hidden = any((key.case, key.model) == (case, model) for key in self._hidden)
        return hidden and not self.repeats(case, model)

    def is_judged_by_earlier_checks(self, case: str, model: str) -> bool:
        """Return whether the results of a case on a model are verdicts of checks that the case does not have now."""
        now, trial = self._cases.get(case), next(iter(self.repeats(case, model)), None)
        then = trial.asked if trial is not None else None
        return now is not None and then is not None and not now.judges_the_same(then)

    def display(self, suite: Suite) -> None:
        """Hide the results of cases that ask something else in this suite, and show those hidden before that do not.

        Trials in progress are shown until they end.
        """
        self._cases = cases_by_id(suite)
        self.is_of_one_run = self.is_of_one_run and self._cases.keys() >= self._tried
        self._hide_outdated()

    def prepare(self, suite: Suite, definitions: Mapping[str, str] = _NO_DEFINITIONS) -> None:
        """Take over the cases of the next run, as they are run, and what the names of its models stand for."""
        self._prepared, self._definitions = cases_by_id(suite), definitions

    def has_results_of(self, other: "RunState") -> bool:
        """Return whether another state has the same results, also the hidden ones: runs, answers and verdicts."""
        return self.is_interim == other.is_interim and all(
            _summary_of(ours) == _summary_of(theirs)
            for ours, theirs in ((self.trials, other.trials), (self._hidden, other._hidden))
        )

    def _hide_outdated(self) -> None:
        known = {**self._hidden, **self.trials}
        outdated = {key for key, trial in known.items() if self._asked_something_else(trial)}
        comparable = {key for key in known.keys() - outdated if not is_replay_name(key.model)}
        sent = {key: sent_files(result) for key in comparable if (result := known[key].result) is not None}
        if any(sent.values()):  # most suites send no files
            files = SentFiles(((known[key].run, key) for key in sent), lambda _, key: sent[key])
            outdated |= {key for key in sent if files.are_outdated(known[key].run, key)}
        outdated |= _of_other_models(known)
        for key, trial in known.items():
            if key in outdated and not trial.is_open:
                self._hidden[key] = trial
                self.trials.pop(key, None)
                self.is_of_one_run = False
            elif key in self._hidden:
                self.trials.setdefault(key, self._hidden.pop(key))

    def _asked_something_else(self, trial: TrialProgress) -> bool:
        """Return whether a trial has another question than its case in the displayed suite, and note if its statistics
        are others."""
        now, then = self._cases.get(trial.key.case), trial.asked
        if now is None or then is None:
            return False
        if now.case.cluster != then.case.cluster or not now.is_unchanged(then):
            self.is_of_one_run = False
        return not now.asks_the_same(then)

    def take_results(
        self,
        results: Iterable[TrialResult],
        cases: Mapping[TrialKey, SuiteCase] = _NO_CASES,
        runs: Mapping[TrialKey, str] = _NO_RUNS,
        unfinished: Collection[str] = (),
        definitions: Mapping[TrialKey, str] = _NO_RUNS,
    ) -> None:
        """Add stored results of earlier runs; trials that have a result already are not changed.

        `cases` are the cases as they were run, `runs` the ids of their runs, and `definitions` what the names of their
        models stood for; `unfinished` are those of the runs that are not finished.
        """
        self._unfinished.update(unfinished)
        self.run_ids.update(runs.values())
        for result in results:
            if result.trial not in self.trials:
                trial = TrialProgress.of(result, cases.get(result.trial), runs.get(result.trial, ""))
                trial.definition = definitions.get(result.trial, "")
                self.trials[result.trial] = trial
                self._note(result.trial)
        self._hide_outdated()

    def take_known(self, trials: Mapping[TrialKey, TrialProgress]) -> None:
        """Add stored trials of which only the outcome is loaded; trials that are known already are not changed."""
        for key in trials:
            self._note(key)
        self.trials = {**trials, **self.trials}

    def take_changed(self, trials: Mapping[TrialKey, TrialProgress]) -> bool:
        """Replace the trials of a saved run by stored ones that ended differently, and return whether there were any.

        Another program has continued the run, or has rerun some of its trials.
        """
        changed = {key: trial for key, trial in trials.items() if _has_ended_otherwise(self.trials.get(key), trial)}
        for key in changed:
            self._note(key)
        if changed:
            self.trials = {**self.trials, **changed}
        return bool(changed)

    def _note(self, key: TrialKey) -> None:
        """Remember a case and its repeats. Runs of other tools have any numbers, so that a range would be too long."""
        self._tried.add(key.case)
        if key.repeat > 1:
            known = self._further.setdefault((key.case, key.model), [])
            place = bisect_left(known, key.repeat)
            if known[place : place + 1] != [key.repeat]:
                known.insert(place, key.repeat)

    def take_unread(self, results: Iterable[TrialResult]) -> None:
        """Replace the outcomes of a saved run by the whole results after they were loaded."""
        for result in results:
            known = self.trials.get(result.trial)
            if known is None or known.is_unread:
                self.trials[result.trial] = TrialProgress.of(result)
                self._note(result.trial)

    def take(self, event: Event, at: float = 0.0) -> None:
        """Apply one event; `at` is its time in monotonic seconds."""
        match event:
            case RunStarted():
                self._begin(event)
            case RunFinished():
                self._end(event)
            case StoreStalled(reason):
                self.stalled = reason
            case StoreRecovered():
                self.stalled = None
            case RepositoryCloning() | RepositoryCloned():
                self.repository = event
            case ContextRead():
                pass  # each prompt names its files
            case RunPaused() | RunResumed():
                self._is_paused = isinstance(event, RunPaused)
            case LimitMoved():
                self._take_limit(event, at)
            case _:
                trial = self.trials.get(event.trial)
                if trial is None:
                    trial = self.trials[event.trial] = TrialProgress(event.trial, run=self.run_id or "")
                    self._note(event.trial)
                trial.version += 1
                if isinstance(event, TrialFinished):
                    self._finish(trial, event.result)
                else:
                    trial.take(event, at)
                    if isinstance(event, TrialStarted | AttemptStarted):
                        self.in_progress.add(event.trial)

    def _take_limit(self, event: LimitMoved, at: float) -> None:
        """Apply a new limit; the reason for lowering it is dropped once it is back at its ceiling."""
        known = self.limits.pop(event.provider, None)
        limit = Limit(event.limit, event.most)
        if event.reason:
            limit = Limit(event.limit, event.most, event.reason, at)
        elif known is not None and event.limit < event.most:
            limit = Limit(event.limit, event.most, known.reason, known.narrowed_at)
        self.limits[event.provider] = limit

    def _begin(self, event: RunStarted) -> None:
        self.run_id, self.ended, self._continues = event.run_id, None, event.continues
        self.run_ids.add(event.run_id)
        self._unfinished.add(event.run_id)
        self._is_paused, self.stalled, self.limits = False, None, {}
        self.counts = Counts(trials=len(event.trials))
        self.in_progress.clear()
        self._before = {}
        for key in event.trials:
            for each in (key,) if event.continues else self._repeats_of(key):
                before = self.trials.pop(each, None) or self._hidden.pop(each, None)
                if before is not None:
                    self._before[each] = before
            if not event.continues:
                self._further.pop((key.case, key.model), None)
        self.is_of_one_run = not self.trials
        for key in event.trials:
            definition = self._definitions.get(key.model, "")
            asked = self._prepared.get(key.case)
            trial = TrialProgress(key, asked=asked, run=event.run_id, definition=definition)
            if event.continues and key in self._before:
                trial.before = self._before[key].counted
            self.trials[key] = trial
            self._note(key)
        if _of_other_models(self.trials):
            self._hide_outdated()

    def _end(self, event: RunFinished) -> None:
        """End the run: trials without a result get the one that they had before, if any.

        So do all repeats of a case on a model if a new run has no result of them.
        """
        self.ended, self._is_paused, self.stalled = event.state, False, None
        is_complete = event.state == "finished" and self.counts.done >= self.counts.trials
        if event.saved_as == "finished" or (event.saved_as is None and is_complete):
            self._unfinished.discard(event.run_id)
        for key in [key for key, trial in self.trials.items() if trial.is_open]:
            del self.trials[key]
        hidden = (key for key, trial in self._hidden.items() if trial.run == self.run_id)
        replaced = set() if self._continues else {(key.case, key.model) for key in (*self.trials, *hidden)}
        for key, before in self._before.items():
            if key not in self.trials and key not in self._hidden and (key.case, key.model) not in replaced:
                self.trials[key] = before
                self.is_of_one_run = False
                self._note(key)
        self.in_progress.clear()
        self._before = {}
        self._hide_outdated()

    def _finish(self, trial: TrialProgress, result: TrialResult) -> None:
        self.in_progress.discard(trial.key)
        trial.finish(result)
        self.counts.take(result)
        if self._asked_something_else(trial):
            self._hidden[trial.key] = self.trials.pop(trial.key)


def _has_ended_otherwise(known: TrialProgress | None, stored: TrialProgress) -> bool:
    before, now = known.ended if known is not None else None, stored.ended
    if before is None or now is None:
        return now is not None
    return (before.verdict, before.first_verdict, before.reruns) != (now.verdict, now.first_verdict, now.reruns)


def _of_other_models(trials: Mapping[TrialKey, TrialProgress]) -> set[TrialKey]:
    """Return the trials of models whose names stand for others in a newer run."""
    newest = newest_definitions((trial.run, key.model, trial.definition) for key, trial in trials.items())
    return {key for key, trial in trials.items() if trial.definition and trial.definition != newest[key.model]}


def _summary_of(trials: Mapping[TrialKey, TrialProgress]) -> dict[TrialKey, tuple[object, ...]]:
    return {
        key: (
            each.run,
            each.status,
            len(each.attempts),
            [step.text for step in each.attempt.steps] if each.attempt else [],
        )
        for key, each in trials.items()
    }
