"""What a person is looking at: a suite, a case, and the models beside each other. Without textual."""

from collections.abc import Sequence
from pathlib import Path

from tui.app.open_suites import OpenSuites
from tui.app.presentation.marks import differs_by_rerun, status_of, status_of_all
from tui.app.presentation.outline import CaseMarks, OpenSuite, Row
from tui.model.filter import Filter, StatusWord
from tui.model.results import TrialKey
from tui.model.state import RunState, TrialProgress
from tui.model.suite import Case, Suite

MOST_PANES = 4


class Selection:
    """The choice, and what follows from it. `streams` None means: as the suite says."""

    def __init__(self, open_suites: OpenSuites) -> None:
        self.open_suites = open_suites
        self.path: Path | None = None
        self.case_id: str | None = None
        self.filter = Filter()
        self.streams: bool | None = None
        self._models: dict[Path, tuple[str, ...]] = {}
        self._indexed: Suite | None = None
        self._by_id: dict[str, Case] = {}

    @property
    def open_suite(self) -> OpenSuite | None:
        """The suite file that is looked at."""
        return self.open_suites.open_suite(self.path) if self.path else None

    @property
    def suite(self) -> Suite | None:
        """Its suite, where it can be used."""
        return self.open_suite.suite if self.open_suite else None

    @property
    def state(self) -> RunState:
        """What is known of its trials."""
        return self.open_suites.state(self.path) if self.path else RunState()

    @property
    def case(self) -> Case | None:
        """The case that is looked at."""
        suite = self.suite
        if suite is None or self.case_id is None:
            return None
        if suite is not self._indexed:
            self._indexed, self._by_id = suite, {case.id: case for case in suite.cases}
        return self._by_id.get(self.case_id)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that are the panes."""
        return self.models_of(self.path) if self.path else ()

    def models_of(self, path: Path) -> tuple[str, ...]:
        """The models of a suite that are looked at: those chosen, else its own, four at most; an agent stands alone."""
        if path in self._models:
            return self._models[path]
        open_suite = self.open_suites.open_suite(path)
        if open_suite is None or open_suite.suite is None:
            return ()
        suite = open_suite.suite
        names = (suite.agent,) if suite.agent else suite.models
        return tuple(dict.fromkeys(names))[:MOST_PANES]

    def choose_models(self, models: Sequence[str]) -> None:
        """Look at these models from now on."""
        if self.path:
            self.show_models(self.path, models)

    def show_models(self, path: Path, models: Sequence[str]) -> None:
        """The same for a suite that may not be looked at."""
        self._models[path] = tuple(models)[:MOST_PANES]

    def trial(self, model: str) -> TrialProgress | None:
        """What is known of a model's trial of the case."""
        return self.state.trial(self.case_id, model) if self.case_id else None

    def trials(self) -> tuple[TrialProgress | None, ...]:
        """The same for each pane."""
        return tuple(self.trial(model) for model in self.models)

    def repeats(self) -> tuple[TrialProgress, ...]:
        """What is known of the case: of each model all repeats."""
        state, case = self.state, self.case_id
        return tuple(each for model in self.models for each in state.repeats(case, model)) if case else ()

    def statuses(self, path: Path, case: Case) -> Sequence[StatusWord]:
        """A word for each model of a case."""
        return self.marks(path, case).statuses

    def marks(self, path: Path, case: Case) -> CaseMarks:
        """What the tree shows of a case: one status for all repeats of a model."""
        state = self.open_suites.state(path)
        if not state.has_repeats:  # a suite of ten thousand cases is marked with one look at each
            trials = [state.trial(case.id, model) for model in self.models_of(path)]
            return CaseMarks([status_of(trial) for trial in trials], sum(map(differs_by_rerun, trials)))
        repeats = [state.repeats(case.id, model) for model in self.models_of(path)]
        statuses = [status_of_all([status_of(trial) for trial in trials] or ["unasked"]) for trials in repeats]
        return CaseMarks(statuses, sum(differs_by_rerun(trial) for trials in repeats for trial in trials))

    def wanted(self, path: Path, case: Case) -> bool:
        """Whether the filter wants a case."""
        if not self.filter.needs_statuses:
            return self.filter.matches(case, {})
        models = self.models_of(path)
        statuses = dict(zip(models, self.statuses(path, case), strict=True))
        return self.filter.matches(case, statuses, self._shares(path, case) if self.filter.needs_shares else None)

    def _shares(self, path: Path, case: Case) -> dict[str, float]:
        """What the matrix says of each model's repeats."""
        from tui.app.matrix.cells import fold

        state = self.open_suites.state(path)
        return {model: fold(state.repeats(case.id, model)).share for model in self.models_of(path)}

    def unanswered(self) -> tuple[TrialKey, ...]:
        """What did not pass, of the models looked at: to be asked again."""
        if self.suite is None or self.path is None:
            return ()
        state = self.state
        known = ((case.id, model) for case in self.suite.cases for model in self.models)
        trials = (trial for case, model in known for trial in state.repeats(case, model))
        return tuple(trial.key for trial in trials if not trial.is_open and trial.status not in ("passed", "unchecked"))

    def take_row(self, row: Row) -> bool:
        """Look at what a row stands for; True when that is another case or suite than before."""
        before = self.path, self.case_id
        if row.open_suite is not None:
            if row.open_suite.path != self.path:
                self.path, self.case_id = row.open_suite.path, None
            if row.case is not None:
                self.case_id = row.case.id
        return (self.path, self.case_id) != before
