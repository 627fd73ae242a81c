"""What the app asks of the layers below it: a desk on which suites are opened and plans are run."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tui.model.errors import Problem
from tui.model.events import Event
from tui.model.results import TrialKey, TrialResult
from tui.model.run import Plan
from tui.model.subjects import Config, Subject
from tui.model.suite import Suite
from tui.runner.control import Control
from tui.session.consent import Consent
from tui.session.run_history import RunHistory

if TYPE_CHECKING:
    from tui.session.reviews import Reviews


class Loaded(Protocol):
    """A suite file that was read: `suite` is None where a problem is an error."""

    @property
    def suite(self) -> Suite | None:
        """The suite, unless something is wrong with it."""
        ...

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that was found, warnings too."""
        ...


class Session(Protocol):
    """The session as the app sees it. Everything that is not async may block and is called in a thread."""

    @property
    def config(self) -> Config:
        """The person's config."""
        ...

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know before anything else, as sentences."""
        ...

    @property
    def history(self) -> RunHistory:
        """The kept runs."""
        ...

    @property
    def reviews(self) -> "Reviews":
        """Their scoring by hand."""
        ...

    def find_suites(self, paths: Sequence[Path]) -> Sequence[Path]:
        """Suite files at or below the paths, in a stable order. Raises SuiteError for a path that is not there."""
        ...

    def open_suite(self, path: Path) -> Loaded:
        """Read one file; what is wrong with it is in `problems`, never raised."""
        ...

    def resolve(self, names: Sequence[str]) -> tuple[Subject, ...]:
        """Where the models' names lead. Raises ConfigError (ModelUnresolved) for the first that leads nowhere."""
        ...

    def subjects_of(self, suite: Suite) -> tuple[Subject, ...]:
        """Whom the suite itself names: its agent, else its models. Raises ConfigError."""
        ...

    def make_plan(
        self,
        suite: Suite,
        subjects: Sequence[Subject],
        *,
        trials: Sequence[TrialKey] | None = None,
        stream: bool | None = None,
    ) -> Plan:
        """A plan of exactly these trials, or of the whole suite. `stream` None means: as the suite says, else yes."""
        ...

    def run(self, plan: Plan, control: Control) -> AsyncGenerator[Event, None]:
        """Run the plan. A result is stored before its TrialFinished comes. Raises ConfigError, ConsentNeeded."""
        ...

    def latest_results(self, suite: Suite) -> tuple[TrialResult, ...]:
        """The newest kept result of each trial. Raises StoreError."""
        ...

    def missing_consents(self, suite: Suite) -> Sequence[Consent]:
        """What the suite would do that nobody has allowed yet."""
        ...

    def allow(self, consent: Consent) -> None:
        """The person has allowed it; it is remembered."""
        ...

    async def close(self) -> None:
        """Let go of processes, connections and files."""
        ...
