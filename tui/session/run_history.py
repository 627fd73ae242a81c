"""The stored runs: list, open, resume, rerun, replay, export and delete."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from tui.documents.files import NotRead, read_bytes
from tui.documents.problems import MOST_JSON_BYTES
from tui.documents.tables import digest_on_disk
from tui.model.answer_search import AnswerHits, IndexProgress, parse_answer_query
from tui.model.collector import paused_collector
from tui.model.context import sent_trials, wants_context
from tui.model.errors import ConfigError, StoreError, UnknownRun
from tui.model.outcomes import Outcome
from tui.model.prices import price_terms
from tui.model.progress import TrialProgress
from tui.model.results import JUDGED, ServedBy, TrialKey, TrialResult
from tui.model.run import Plan, ReportContent, RunDetails, RunRecord, new_run_id
from tui.model.subjects import Subject, replay_name
from tui.model.suite import Suite
from tui.risk.score_files import ScoreCount as ScoreCount
from tui.session.answers import SavedAnswers
from tui.session.files import read_json, write_new, write_safely
from tui.session.preferences import PreferenceLog
from tui.session.recorded_cases import RecordedCases, read_definitions, read_setup
from tui.session.records import find_record
from tui.session.reviews import Reviews
from tui.store.protocol import Store
from tui.store.writer import canonical_path

_MOST_BASELINE_BYTES = 64 * 1024


class Baselines:
    """The baseline run of each suite.

    A file holds `{"suite": path, "run": id}` and is named after its suite, so that processes that mark runs of
    different suites do not conflict.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of_suite(self, suite_path: str) -> str | None:
        """Return the id of the baseline run of the suite at this path, or None."""
        kept = read_json(self._file(suite_path), _MOST_BASELINE_BYTES)
        run = kept.get("run") if isinstance(kept, dict) else None
        return run if isinstance(run, str) else None

    def mark(self, suite_path: str, run_id: str) -> None:
        """Make a run the baseline of the suite. Raises StoreError."""
        file = self._file(suite_path)
        text = json.dumps({"suite": canonical_path(suite_path), "run": run_id}) + "\n"
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_safely(file, text)
        except OSError as error:
            raise StoreError(f"Cannot save the baseline ({error.strerror})", where=str(file)) from error

    def clear(self, suite_path: str) -> None:
        """Remove the baseline of the suite. Raises StoreError."""
        file = self._file(suite_path)
        try:
            with contextlib.suppress(FileNotFoundError):
                file.unlink()
        except OSError as error:
            raise StoreError(f"Cannot remove the baseline ({error.strerror})", where=str(file)) from error

    def _file(self, suite_path: str) -> Path:
        name = hashlib.sha256(canonical_path(suite_path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return self._folder / f"{name}.json"


Resolve = Callable[[Sequence[str]], tuple[Subject, ...]]
_FEW = 40


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """A stored run as it is first shown.

    It has the run's record, the suite as it was run, the results of its first case, and a sentence if the suite's
    file has changed or is missing.
    """

    record: RunRecord
    suite: Suite
    first: tuple[TrialResult, ...] = ()
    changed: str = ""


class ComparableRun(NamedTuple):
    """What of a run can be compared with the displayed results of a suite: outcomes, without the `changed` cases."""

    outcomes: tuple[Outcome, ...]
    changed: frozenset[str] = frozenset()


def later_run_id(store: Store) -> str:
    """Return the id of a new run, which sorts after those of all stored runs. Blocks. Raises StoreError."""
    try:
        return new_run_id(store.find_run("last"))
    except UnknownRun:
        return new_run_id()


class RunHistory:
    """The stored runs. All methods block: call them in a thread.

    Raises StoreError, and UnknownRun for a run that was deleted.
    """

    def __init__(self, store: Store, folder: Path, resolve: Resolve, reviews: Reviews) -> None:
        self._store, self._resolve = store, resolve
        self._baselines = Baselines(folder / "baselines")
        self._reviews = reviews
        self.answers = SavedAnswers(store, PreferenceLog(folder / "preferences.jsonl"))

    def list_runs(self) -> tuple[RunRecord, ...]:
        """Return all runs, newest first."""
        return self._store.list_runs()

    def find_run(self, prefix: str) -> str:
        """Return the full id of the one run whose id starts with the prefix; `last` is the newest run."""
        return self._store.find_run(prefix)

    def open_run(self, run_id: str) -> OpenedRun:
        """Return what can be shown at once; the results are read with `read_outcomes` and `read_trial`."""
        record = find_record(self._store, run_id)
        if record is None:
            raise StoreError(f"run {run_id} no longer exists")
        suite = self._store.read_suite(run_id)
        first = [TrialKey(case.id, model) for case in suite.cases[:1] for model in record.models]
        return OpenedRun(record, suite, self.read_trials(run_id, first), _changed(record, suite))

    def read_details(self, run_id: str) -> RunDetails:
        """Return the setup of the run and what has been recorded since."""
        newest = self._store.read_newest(run_id)
        served = {model: by for model, result in newest.items() if (by := _last_server(result)) is not None}
        return RunDetails(self._store.read_setup(run_id), self._store.read_costs(run_id), served)

    def read_outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        """Return the outcomes of the run's trials."""
        return self._store.read_outcomes(run_id)

    def read_comparable(
        self,
        run_id: str,
        suite: Suite,
        displayed: Mapping[str, tuple[str, TrialKey]],
        definitions: Mapping[str, str] = MappingProxyType({}),
    ) -> ComparableRun:
        """Return the outcomes of the run's trials of cases that ask and check in it what they do in the suite.

        `displayed` has a trial of each case, with its run, with which they are compared: it was sent with the same
        files. `definitions` has what the names of the displayed models stand for, as far as it is known: the names
        stood for the same in the run.
        """
        recorded = RecordedCases(self._store, suite)
        then = read_definitions(self._store, run_id)
        others = {model for model, now in definitions.items() if then.get(model, now) != now}
        outcomes = self._store.read_outcomes(run_id)
        trials = sent_trials(each.trial for each in outcomes)
        changed = {case for case in trials if not recorded.is_unchanged(run_id, case)}
        if wants_context(suite):
            changed |= {
                case
                for case, trial in trials.items()
                if case not in changed
                and not recorded.sent_the_same((run_id, trial), displayed.get(case, (run_id, trial)))
            }
        found = (each for each in outcomes if each.trial.model not in others and each.trial.case not in changed)
        return ComparableRun(tuple(found), frozenset(changed & displayed.keys() & {case.id for case in suite.cases}))

    def find_same_models(self, subjects: Iterable[Subject], run_ids: Iterable[str]) -> frozenset[tuple[str, str]]:
        """Return the pairs of a run and a model's name that stood in the run for the same model at the same price."""
        now = {subject.name: (subject.definition, price_terms(subject.price)) for subject in subjects}
        setups = ((run, read_setup(self._store, run)) for run in run_ids)
        return frozenset(
            (run, then.name)
            for run, setup in setups
            for then in (setup.subjects if setup is not None else ())
            if now.get(then.name) == (then.definition, price_terms(then.price))
        )

    def read_progress(self, run_id: str) -> dict[TrialKey, TrialProgress]:
        """Return the progress of each trial of the run, for a screen."""
        outcomes = self._store.read_outcomes(run_id)
        with paused_collector():
            return {each.trial: TrialProgress(each.trial, each.verdict, kept=each) for each in outcomes}

    def read_trials(self, run_id: str, trials: Iterable[TrialKey]) -> tuple[TrialResult, ...]:
        """Return the complete results of these trials; trials without a result are left out."""
        found = (self._store.read_trial(run_id, trial) for trial in trials)
        return tuple(result for result in found if result is not None)

    def latest_runs(self, suite: Suite, trials: Iterable[TrialKey]) -> dict[TrialKey, str]:
        """Return the run that holds the newest result of each trial.

        The id is empty if there is no result, or if the run ran another version of the case.
        """
        runs, recorded = {run.id: run for run in self._store.list_runs()}, RecordedCases(self._store, suite)
        found = {trial: runs.get(self._store.find_latest(suite.path, trial) or "") for trial in trials}
        return {
            trial: run.id if run and recorded.is_unchanged(run.id, trial.case) else "" for trial, run in found.items()
        }

    def missing_trials(self, run_id: str) -> tuple[TrialKey, ...]:
        """Return the planned trials that have no result, in the plan's order."""
        done = {outcome.trial for outcome in self._store.read_outcomes(run_id)}
        return tuple(trial for trial in self._store.read_plan(run_id).trials if trial not in done)

    def lost_trials(self, run_id: str) -> int:
        """Return how many planned trials the run has lost with a damaged history, without their being known."""
        record = find_record(self._store, run_id)
        return max(0, record.trials - len(self._store.read_plan(run_id).trials)) if record else 0

    def failed_trials(self, run_id: str) -> tuple[TrialKey, ...]:
        """Return the trials that did not pass, including those that never ran.

        Unchecked answers are left out: a rerun would not check them either.
        """
        return self.not_passed(run_id, self._store.read_plan(run_id).trials)

    def not_passed(self, run_id: str, trials: Iterable[TrialKey]) -> tuple[TrialKey, ...]:
        """Return those of some trials that neither passed in the run nor are unchecked."""
        outcomes = self._store.read_outcomes(run_id)
        settled = {each.trial for each in outcomes if each.verdict in ("passed", "unchecked")}
        return tuple(trial for trial in trials if trial not in settled)

    def not_planned(self, run_id: str, trials: Iterable[TrialKey]) -> tuple[TrialKey, ...]:
        """Return those of some trials that are not part of the run: it would have one more model or case with them."""
        planned = set(self._store.read_plan(run_id).trials)
        return tuple(trial for trial in trials if trial not in planned)

    def error_trials(self, run_id: str) -> tuple[TrialKey, ...]:
        """Return the trials that count as errors (error, timeout, incomplete, cancelled), in the plan's order."""
        return tuple(each.trial for each in self._store.read_outcomes(run_id) if each.first_verdict not in JUDGED)

    def plan_missing(self, run_id: str) -> Plan:
        """Return a plan that runs all missing trials in the same run."""
        return self.plan_again(run_id, self.missing_trials(run_id), missing=True)

    def plan_failed(self, run_id: str) -> Plan:
        """Return a plan that runs all trials that did not pass in the same run, as new attempts where results exist."""
        return self.plan_again(run_id, self.failed_trials(run_id))

    def plan_errors(self, run_id: str) -> Plan:
        """Return a plan that runs all trials without a verdict in the same run, as new attempts where results exist."""
        return self.plan_again(run_id, self.error_trials(run_id))

    def plan_again(self, run_id: str, trials: Collection[TrialKey], *, missing: bool = False) -> Plan:
        """Return a plan for these trials in the same run; trials with a result get a new attempt.

        With `missing`, trials with a result are left out, so that resuming twice changes nothing. Raises ConfigError
        for a model that cannot be resolved.
        """
        plan = self._store.read_plan(run_id)
        selected = set(trials)
        if missing:
            selected -= {outcome.trial for outcome in self._store.read_outcomes(run_id)}
        order = dict.fromkeys((*(trial for trial in plan.trials if trial in selected), *trials))
        ordered = tuple(trial for trial in order if trial in selected)
        known = {subject.name for subject in plan.subjects}
        new = tuple(dict.fromkeys(trial.model for trial in ordered if trial.model not in known))
        subjects = (*plan.subjects, *self._resolve(new))
        earlier = {} if missing else self._earlier(run_id, ordered)
        return replace(plan, subjects=subjects, trials=ordered, earlier=earlier, continues=True)

    def plan_replay(self, run_id: str, speed: float | None = None) -> Plan:
        """Return a plan for a new run that replays the recorded answers of this run, under other model names.

        `speed` is a multiple of the original speed; None replays without delays.
        """
        suite, setup = self._store.read_suite(run_id), self._store.read_setup(run_id)
        answered = [outcome.trial for outcome in self._store.read_outcomes(run_id)]
        names = tuple(dict.fromkeys(trial.model for trial in answered))
        trials = tuple(trial._replace(model=replay_name(run_id, trial.model)) for trial in answered)
        subjects = self._resolve([replay_name(run_id, name) for name in names])
        options = replace(setup.options, delay_ms=0, replay_speed=speed)
        return Plan(later_run_id(self._store), suite, subjects, options, trials)

    def plan_rejudge(self, run_id: str, suite: Suite) -> Plan:
        """Return a plan for a new run that judges the recorded answers of this run with the checks of another suite.

        The models have the names of a replay. Cases that were not run with the same input are left out: their answers
        belong to another question.
        """
        replayed = self.plan_replay(run_id)
        asked = {case.id: case.question for case in replayed.suite.cases if suite.sources == replayed.suite.sources}
        same = {case.id for case in suite.cases if asked.get(case.id) == case.question}
        trials = tuple(trial for trial in replayed.trials if trial.case in same)
        options = replace(
            replayed.options,
            attempts=1,
            timeout_ms=suite.options.timeout_ms,
            accept_truncated=suite.options.accept_truncated,
        )
        return replace(replayed, suite=suite, options=options, trials=trials)

    def _earlier(self, run_id: str, trials: Sequence[TrialKey]) -> dict[TrialKey, TrialResult]:
        if len(trials) <= _FEW:
            return {result.trial: result for result in self.read_trials(run_id, trials)}
        selected = set(trials)
        return {result.trial: result for result in self._store.read_run(run_id).results if result.trial in selected}

    def begin_index(self) -> IndexProgress:
        """Compare the index of answers with the saved runs, before the first `update_index` of a search."""
        return self._store.begin_index()

    def update_index(self) -> IndexProgress:
        """Index the next few answers, the newest first. Call it until the progress is complete."""
        return self._store.update_index()

    def search_answers(self, text: str, limit: int, run_id: str = "") -> AnswerHits:
        """Return the newest indexed answers with all words and "phrases" of a text, of all runs or of one."""
        return self._store.search_answers(parse_answer_query(text), limit, run_id)

    def baseline_of(self, suite: Suite | RunRecord) -> str | None:
        """Return the id of the baseline run of this suite, or None."""
        return self._baselines.of_suite(_path_of(suite))

    def mark_baseline(self, run: RunRecord) -> None:
        """Make a run the baseline of its suite; if it is the baseline already, remove the mark."""
        if self.baseline_of(run) == run.id:
            self._baselines.clear(run.suite_file)
        else:
            self._baselines.mark(run.suite_file, run.id)

    def baselines(self, runs: Iterable[RunRecord]) -> frozenset[str]:
        """Return the ids of the baselines among these runs."""
        by_path = {run.suite_file: run for run in runs}
        return frozenset(marked for run in by_path.values() if (marked := self.baseline_of(run)))

    def export(self, run_id: str, content: ReportContent, file: Path, *, replaces: bool) -> None:
        """Write the report that `assay report` writes, atomically.

        Raises ConfigError if the file cannot be written, and FileExistsError if it exists and `replaces` is false.
        """
        from tui.reports.render import render_report
        from tui.session.outgoing_runs import without_known_keys

        def render() -> str:
            return render_report(
                without_known_keys(self._store.read_run(run_id), self._reviews.secrets),
                content.format,
                responses=content.responses,
                timestamps=content.timestamps,
                risk_analysis=content.risk_analysis,
                reviewed=self._reviews.reviewed_runs([run_id], even_unscored=content.risk_analysis).get(run_id),
            )

        write_new(file, render, replaces=replaces)

    def count_scores(self, run_id: str) -> ScoreCount:
        """Return how many scores of a run would be deleted with it."""
        return self._reviews.count_scores(run_id)

    def delete(self, run: RunRecord, scores: ScoreCount | None = None) -> None:
        """Delete a run with its scores and its baseline mark.

        Raises ConfigError if it has other results or scores by now than those that the user has agreed to lose.
        """

        def confirm(now: RunRecord) -> None:
            if now != run or not self._reviews.set_aside(run.id, scores):
                what = "The run was not deleted: it has changed since the question was displayed"
                raise ConfigError(what, where=run.id, fix="Delete it again if you want to lose that too.")

        self._reviews.settle_deletions()
        try:
            self._store.delete_run(run.id, confirm)
        finally:
            self._reviews.settle_deletions()
        self._reviews.remove_packets(run.id)
        if self.baseline_of(run) == run.id:
            with contextlib.suppress(StoreError):
                self._baselines.clear(run.suite_file)


def _last_server(result: TrialResult) -> ServedBy | None:
    every = [step.served_by for attempt in result.attempts for step in attempt.steps if step.served_by is not None]
    return every[-1] if every else None


def _path_of(suite: Suite | RunRecord) -> str:
    return suite.file if isinstance(suite, Suite) else suite.suite_file


def _changed(record: RunRecord, suite: Suite) -> str:
    """Return a sentence if the suite's file or a data file differs from what was run, else an empty string."""
    path = Path(record.suite_file)
    try:
        digest = digest_on_disk(read_bytes(path, MOST_JSON_BYTES), path.parent, suite.data_files)
    except NotRead:
        return "The suite file no longer exists; showing the suite as saved with the run."
    return (
        ""
        if digest == record.suite_sha256
        else "The suite file has changed since this run; showing the suite as saved with the run."
    )
