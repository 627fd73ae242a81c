"""The interface of the session that the app uses, so that tests can run the app with a scripted session."""

from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tui.model.errors import ConfigError, Problem
from tui.model.events import Event
from tui.model.results import TrialKey
from tui.model.run import Plan
from tui.model.subjects import Config, Subject
from tui.model.suite import Case, Suite
from tui.runner.control import Control
from tui.session.consent import Consent
from tui.session.pane_sizes import PaneSizes
from tui.session.recorded_cases import LatestResults
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.session.check_edits import CheckEdits
    from tui.session.context_previews import ContextPreviews
    from tui.session.model_catalog import ModelCatalog
    from tui.session.reviews import Reviews
    from tui.session.saved_filters import SavedFilters
    from tui.session.settings import ConfigSettings


class Loaded(Protocol):
    """A suite file that was read. `suite` is None if one of the problems is an error."""

    @property
    def suite(self) -> Suite | None:
        """Return the suite, or None if the file has errors."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Return the errors and warnings of the file."""
        ...

    @property
    def data_files(self) -> tuple[str, ...]:
        """Return the data files of the suite, relative to its file."""
        ...

    @property
    def outside(self) -> tuple[Path, ...]:
        """Return the data files outside the suite's folder that the user has not allowed, with links resolved."""
        ...


class Session(Protocol):
    """The session of the app. Methods that are not async may block and are called in a thread."""

    @property
    def config(self) -> Config:
        """Return the configuration of the user."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """Return messages to notify of at the start."""
        ...

    @property
    def history(self) -> RunHistory:
        """Return the history of saved runs."""
        ...

    @property
    def reviews(self) -> "Reviews":
        """Return the scores that people have given to saved runs."""
        ...

    @property
    def check_edits(self) -> "CheckEdits":
        """Return the edits of checks and cases in suite files."""
        ...

    @property
    def context_previews(self) -> "ContextPreviews":
        """Return the reader of the files that prompts will contain, before a run."""
        ...

    def price(self, subjects: Sequence[Subject]) -> tuple[Subject, ...]:
        """Return the subjects with the prices of their tokens. Blocks."""
        ...

    @property
    def catalog(self) -> "ModelCatalog":
        """Return the providers with their models, and the models that were chosen for each suite."""
        ...

    @property
    def pane_sizes(self) -> PaneSizes:
        """Return the sizes of panes that the user has chosen."""
        ...

    @property
    def filters(self) -> "SavedFilters":
        """Return the filters that were saved under a name."""
        ...

    @property
    def settings(self) -> "ConfigSettings":
        """Return the settings of the config file."""
        ...

    def find_suites(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the suite files at or below the paths in a stable order. Raises SuiteError for a missing path."""
        ...

    def open_suite(self, path: Path) -> Loaded:
        """Read a suite file; errors are in `problems` and never raised."""
        ...

    def resolve(self, names: Sequence[str]) -> tuple[Subject, ...]:
        """Return the subject of each model. Raises ModelUnresolved (a ConfigError) for the first that has none."""
        ...

    def subjects_of(self, suite: Suite) -> tuple[Subject, ...]:
        """Return the subjects that the suite names: its agent, else its models. Raises ConfigError."""
        ...

    def tools_fault(self, subject: Subject, cases: Iterable[Case]) -> ConfigError | None:
        """Return why the subject cannot run these cases if some of them offer tools, or None."""
        ...

    def make_plan(
        self,
        suite: Suite,
        subjects: Sequence[Subject],
        *,
        trials: Sequence[TrialKey] | None = None,
        stream: bool | None = None,
    ) -> Plan:
        """Return a plan of the given trials, or of the whole suite. `stream` None means the setting of the suite, else
        yes."""
        ...

    def run(self, plan: Plan, control: Control) -> AsyncGenerator[Event, None]:
        """Run a plan and yield its events. A result is stored before its TrialFinished. Raises ConfigError,
        ConsentNeeded."""
        ...

    def latest_results(self, suite: Suite) -> LatestResults:
        """Return the newest saved results of the suite, with the cases as they were run. Raises StoreError."""
        ...

    def changed_suites(self, after: int) -> tuple[int, frozenset[str]]:
        """Return the number of the newest saved result, and the files (without links) of suites with greater numbers.

        Raises StoreError.
        """
        ...

    def missing_consents(
        self, suite: Suite, subjects: Sequence[Subject] = (), *, saved: bool = False
    ) -> Sequence[Consent]:
        """Return the consents that a run of the suite with these subjects needs and that were not given.

        `saved` says that the suite is that of a saved run.
        """
        ...

    def allow(self, consent: Consent) -> None:
        """Record that the user has given a consent."""
        ...

    async def close(self) -> None:
        """Close processes, connections and files."""
        ...
