"""Stored answers for side-by-side comparison: two models, two runs, two repeats or two attempts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tui.model.context import SentFiles, wants_context
from tui.model.outcomes import Outcome
from tui.model.results import JUDGED, Attempt, CheckResult, TrialKey, Verdict
from tui.model.run import RunRecord
from tui.model.scores import answer_hash
from tui.model.subjects import is_replay_name, newest_definitions
from tui.model.suite import Suite
from tui.session.preferences import AnswerPlace, PreferenceLog, Preferred
from tui.session.recorded_cases import RecordedCases, read_definitions
from tui.store.protocol import Store
from tui.store.writer import canonical_path

_MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Source:
    """Which answers to read: a model's in one run, or its newest ones if `run` is empty.

    `attempt` 0 is the last attempt.
    """

    suite: str
    run: str
    model: str
    repeat: int = 1
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with all its steps.

    `place` identifies it, `verdict` is that of the attempt, `duration_ms` the sum of its steps, None if unknown, and
    `attempts` how many attempts the trial has. `counts_as` is the verdict used in figures, set if this is the latest
    attempt and a rerun changed the verdict. `checks` are the results of the checks of all its steps, `inputs` what they
    were asked if that differs from the prompts of the case.
    """

    place: AnswerPlace
    text: str
    verdict: Verdict
    flaky: bool
    error: str | None
    duration_ms: float | None
    attempts: int
    counts_as: Verdict | None = None
    checks: tuple[CheckResult, ...] = ()
    inputs: tuple[str, ...] = ()


class SavedAnswers:
    """Read stored answers. All methods block: call them in a thread. They raise StoreError."""

    def __init__(self, store: Store, preferences: PreferenceLog) -> None:
        self._store = store
        self.preferences = preferences

    def prefer(self, preferred: Preferred) -> None:
        """Save a choice between two answers, whose runs must still be stored."""
        for place in (preferred.a, preferred.b):
            self._store.check_stored(place.run)
        self.preferences.append(replace(preferred, suite=canonical_path(preferred.suite)))

    def read_preferences(self, suite: str) -> tuple[Preferred, ...]:
        """Return the choices in the suite at this path, without those about an answer that a rerun has replaced.

        The runs of a choice say of which suite it is, and if they were deleted the path that was stored.
        """
        place = canonical_path(suite)
        suites = {run.id: run.suite_file for run in self._store.list_runs()}
        chosen = [(suites.get(each.a.run, each.suite), each) for each in self.preferences.read()]
        of_suite = {path for path in {path for path, _ in chosen} if canonical_path(path) == place}
        found = [each for path, each in chosen if path in of_suite]
        runs = {side.run for each in found for side in (each.a, each.b) if side.answer} & suites.keys()
        hashes = {run: self._store.read_answer_hashes(run) for run in runs}
        return tuple(
            each for each in found if all(self._is_stored(each.case, side, hashes) for side in (each.a, each.b))
        )

    def read_ranked(self, suite: str) -> tuple[Preferred, ...]:
        """Return the choices in the suite at this path that count in a ranking of its models.

        Those about a model whose name stood for another one than in its newest run of the suite are left out.
        """
        place = canonical_path(suite)
        runs = (run.id for run in self._store.list_runs() if canonical_path(run.suite_file) == place)
        definitions = {run: read_definitions(self._store, run) for run in runs}
        newest = newest_definitions((run, *each) for run, found in definitions.items() for each in found.items())

        def is_newest(side: AnswerPlace) -> bool:
            then = definitions.get(side.run, {}).get(side.model, "")
            return then in ("", newest.get(side.model, then))

        return tuple(each for each in self.read_preferences(suite) if is_newest(each.a) and is_newest(each.b))

    def _is_stored(self, case: str, place: AnswerPlace, hashes: Mapping[str, Mapping[TrialKey, str]]) -> bool:
        """Return whether an answer is the recorded one, and not an incomplete one with a later attempt.

        A run without `hashes` does not say.
        """
        trial = TrialKey(case, place.model, place.repeat)
        if not place.answer or place.run not in hashes or hashes[place.run].get(trial) == place.answer:
            return True
        result = self._store.read_trial(place.run, trial)
        attempts = result.attempts if result else ()
        kept = (each for each in attempts if each.verdict in JUDGED or each is attempts[-1])
        return any(each.number == place.attempt and answer_hash(each.steps) == place.answer for each in kept)

    def list_runs(self, suite: str) -> tuple[RunRecord, ...]:
        """Return the runs of the suite at this path, newest first, limited to the latest 200."""
        place = canonical_path(suite)
        runs = [run for run in self._store.list_runs() if run.models and canonical_path(run.suite_file) == place]
        return tuple(runs[:_MOST_RUNS])

    def list_sources(self, suite: str) -> tuple[tuple[Source, RunRecord | None], ...]:
        """Return the sources of answers for the suite at this path: each model's newest, then those of each run."""
        runs = self.list_runs(suite)
        models = dict.fromkeys(model for run in runs for model in run.models)
        newest = ((Source(suite, "", model), None) for model in models)
        return (*newest, *((Source(suite, run.id, model), run) for run in runs for model in run.models))

    def outcomes(self, source: Source, suite: Suite) -> dict[str, list[Outcome]]:
        """Return the model's outcomes by case, the repeats of a case in order.

        Of the newest ones, those of cases that ask something else in the `suite`, or were sent with other files in a
        newer run, and those of a name that stands for another model in a newer run, are left out.
        """
        found: dict[str, list[Outcome]] = {}
        outcomes: Iterable[Outcome] = (
            self._store.read_outcomes(source.run) if source.run else self._newest(source, suite)
        )
        for outcome in outcomes:
            if outcome.trial.model == source.model:
                found.setdefault(outcome.trial.case, []).append(outcome)
        for each in found.values():
            each.sort(key=lambda outcome: outcome.trial.repeat)
        return found

    def _newest(self, source: Source, suite: Suite) -> Iterator[Outcome]:
        recorded = self.recorded_cases(suite)
        latest = self._store.latest_outcomes(source.suite)
        found = [(run, outcome) for run, outcome in latest if recorded.asks_the_same(run, outcome.trial.case)]
        has_files = wants_context(suite) and not is_replay_name(source.model)
        trials = ((run, each.trial) for run, each in found if has_files and not is_replay_name(each.trial.model))
        files = SentFiles(trials, recorded.sent_files)
        own = [(run, outcome) for run, outcome in found if outcome.trial.model == source.model]
        runs = {run for run, outcome in latest if outcome.trial.model == source.model}
        definitions = {run: recorded.definition(run, source.model) for run in runs}
        newest = newest_definitions((run, source.model, definition) for run, definition in definitions.items())
        for run, outcome in own:
            if definitions[run] in ("", newest.get(source.model)) and not files.are_outdated(run, outcome.trial):
                yield outcome

    def recorded_cases(self, suite: Suite) -> RecordedCases:
        """Return a reader of the suite's cases as they were in its runs."""
        return RecordedCases(self._store, suite)

    def newest_result(self) -> int:
        """Return the number of the newest result of all suites, which is greater after any program has saved one."""
        return self._store.changed_suites(0)[0]

    def read(self, source: Source, case: str) -> Answer | None:
        """Return the answer to a case, or None if there is none."""
        trial = TrialKey(case, source.model, source.repeat)
        run = source.run or self._store.find_latest(source.suite, trial)
        result = self._store.read_trial(run, trial) if run else None
        if run is None or result is None or not result.attempts:
            return None
        number = source.attempt or result.attempts[-1].number
        attempt = next((each for each in result.attempts if each.number == number), None)
        if attempt is None:
            return None
        last = attempt is result.attempts[-1]
        duration = attempt.answer_ms
        place = AnswerPlace(run, source.model, source.repeat, number, answer_hash(attempt.steps))
        return Answer(
            place,
            _text(attempt),
            attempt.verdict,
            last and result.flaky,
            attempt.error,
            duration,
            len(result.attempts),
            result.first_verdict if last and result.first_verdict != result.verdict else None,
            tuple(check for step in attempt.steps for check in step.checks),
            tuple(step.input for step in attempt.steps) if attempt.has_another_prompt else (),
        )


def _text(attempt: Attempt) -> str:
    """Return the text of the answer; with several steps, each response below the first line of its input."""
    if len(attempt.steps) == 1:
        return attempt.steps[0].response
    steps = enumerate(attempt.steps, 1)
    return "\n\n".join(f"— step {number}: {_first_line(step.input)}\n\n{step.response}" for number, step in steps)


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:200]
