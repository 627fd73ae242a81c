"""The cases of a suite as they were in its saved runs: a result belongs to the case that was run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from tui.model.context import sent_files
from tui.model.errors import StoreError
from tui.model.results import TrialKey, TrialResult
from tui.model.run import RunSetup
from tui.model.secrets import REMOVED
from tui.model.servers import clone_without_secrets
from tui.model.suite import Suite, SuiteCase, SuiteSources, cases_by_id
from tui.store.protocol import Store


class LatestResults(NamedTuple):
    """The newest results of a suite, the case of each as it was run, and the id of its run.

    `unfinished` are those of the runs that are not finished. `definitions` are what the names of their models stood for
    (`Subject.definition`), as far as it can be read.
    """

    results: tuple[TrialResult, ...] = ()
    cases: Mapping[TrialKey, SuiteCase] = {}
    runs: Mapping[TrialKey, str] = {}
    unfinished: frozenset[str] = frozenset()
    definitions: Mapping[TrialKey, str] = {}


class RecordedCases:
    """Read the cases of a suite as they were in its runs.

    Of a run of the same file they are those of `suite`, unless options of the run named other sources of files.
    `finished` are the ids of the finished runs of all suites. The methods block, and raise StoreError.
    """

    def __init__(self, store: Store, suite: Suite) -> None:
        self._store = store
        self._cases = cases_by_id(suite)
        runs = store.list_runs()
        self.finished = {run.id for run in runs if run.state == "finished"}
        sources = store.read_sources(suite.sha256)
        others = {run for run, then in sources.items() if _have_changed(suite, then)}
        self._same = {run.id for run in runs if run.suite_sha256 == suite.sha256} - others
        self._of_runs: dict[str, Mapping[str, SuiteCase]] = {}
        self._definitions: dict[str, Mapping[str, str]] = {}

    def case(self, run: str, case_id: str) -> SuiteCase | None:
        """Return a case as it was in a run, or None if the run does not have it."""
        if run in self._same:
            return self._cases.get(case_id)
        if run not in self._of_runs:
            self._of_runs[run] = cases_by_id(self._store.read_suite(run))
        return self._of_runs[run].get(case_id)

    def definition(self, run: str, model: str) -> str:
        """Return what the name of a model stood for in a run; empty if that cannot be read."""
        if run not in self._definitions:
            self._definitions[run] = read_definitions(self._store, run)
        return self._definitions[run].get(model, "")

    def is_unchanged(self, run: str, case_id: str) -> bool:
        """Return whether a case asks and checks in a run what it asks and checks in the suite."""
        now, then = self._cases.get(case_id), self.case(run, case_id)
        return now is not None and then is not None and now.is_unchanged(then)

    def asks_the_same(self, run: str, case_id: str) -> bool:
        """Return whether a case asks in a run what it asks in the suite, or is in only one of them."""
        now, then = self._cases.get(case_id), self.case(run, case_id)
        return now is None or then is None or now.asks_the_same(then)

    def sent_the_same(self, *places: tuple[str, TrialKey]) -> bool:
        """Return whether the results of two trials, each with its run, were sent with files of the same content.

        What was sent with a trial without a result is unknown, and counts as the same.
        """
        sent = [self.sent_files(run, trial) for run, trial in places]
        return None in sent or sent[0] == sent[1]

    def sent_files(self, run: str, trial: TrialKey) -> str | None:
        """Return the first question of a trial's result with the files in it; None if it has none."""
        result = self._store.read_trial(run, trial)
        return sent_files(result) if result is not None else None


def _have_changed(now: Suite, then: SuiteSources) -> bool:
    """Return whether a run of a suite file had files from elsewhere, because its options said so."""
    clone = now.repo_clone and clone_without_secrets(now.repo_clone)
    kept = replace(now, repo_clone=clone).sources
    recorded = replace(now, repository_context=then.repository_context, repo_clone=then.repo_clone).sources
    return kept != recorded and REMOVED not in str(recorded)  # what was removed cannot be compared


def read_setup(store: Store, run: str) -> RunSetup | None:
    """Return how a run was started; None if that is damaged: its results can be read as before."""
    try:
        return store.read_setup(run)
    except StoreError:
        return None


def read_definitions(store: Store, run: str) -> Mapping[str, str]:
    """Return what the name of each model of a run stood for; empty if that cannot be read."""
    setup = read_setup(store, run)
    return setup.definitions if setup is not None else {}
