"""The cases of a suite as they were in its saved runs: a result belongs to the case that was run."""

from collections.abc import Mapping
from typing import NamedTuple

from tui.model.context import sent_files
from tui.model.results import TrialKey, TrialResult
from tui.model.suite import Case, Suite
from tui.store.protocol import Store


class LatestResults(NamedTuple):
    """The newest results of a suite, the case of each as it was run, and the id of its run.

    `interim` says that a run that gave some of them is not finished. `sources` are those of the suite in each run.
    """

    results: tuple[TrialResult, ...] = ()
    cases: Mapping[TrialKey, Case] = {}
    runs: Mapping[TrialKey, str] = {}
    interim: bool = False
    sources: Mapping[str, tuple[object, ...]] = {}


class RecordedCases:
    """Read the cases of a suite as they were in its runs; of a run of the same file they are those of `suite`.

    `finished` are the ids of the finished runs of all suites. The methods block, and raise StoreError.
    """

    def __init__(self, store: Store, suite: Suite) -> None:
        self._store = store
        self._cases = {case.id: case for case in suite.cases}
        runs = store.list_runs()
        self.finished = {run.id for run in runs if run.state == "finished"}
        self._same = {run.id for run in runs if run.suite_sha256 == suite.sha256}
        self._sources = suite.sources
        self._of_runs: dict[str, tuple[tuple[object, ...], dict[str, Case]]] = {}

    def case(self, run: str, case_id: str) -> Case | None:
        """Return a case as it was in a run, or None if the run does not have it."""
        return self._suite(run)[1].get(case_id)

    def sources(self, run: str) -> tuple[object, ...]:
        """Return the sources of the suite as it was in a run; options of a run of the same file change nothing."""
        return self._suite(run)[0]

    def _suite(self, run: str) -> tuple[tuple[object, ...], dict[str, Case]]:
        if run in self._same:
            return self._sources, self._cases
        if run not in self._of_runs:
            suite = self._store.read_suite(run)
            self._of_runs[run] = suite.sources, {case.id: case for case in suite.cases}
        return self._of_runs[run]

    def is_unchanged(self, run: str, case_id: str) -> bool:
        """Return whether a case asks and checks in a run what it asks and checks in the suite."""
        now, then = self._cases.get(case_id), self.case(run, case_id)
        is_same = now is not None and then is not None and now.is_unchanged(then)
        return is_same and self.sources(run) == self._sources

    def asks_the_same(self, run: str, case_id: str) -> bool:
        """Return whether a case asks in a run what it asks in the suite, or is in only one of them."""
        now, then = self._cases.get(case_id), self.case(run, case_id)
        if now is None or then is None:
            return True
        return (now is then or now.question == then.question) and self.sources(run) == self._sources

    def sent_the_same(self, *places: tuple[str, TrialKey]) -> bool:
        """Return whether the results of two trials, each with its run, were sent with files of the same content.

        What was sent with a trial without a result is unknown, and counts as the same.
        """
        results = (self._store.read_trial(run, trial) for run, trial in places)
        sent = [sent_files(result) if result is not None else None for result in results]
        return None in sent or sent[0] == sent[1]
