"""The dependencies of a trial, which the session creates and a run never changes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui.checks.checker import Checker
from tui.model.results import CheckResult, IncludedFile, LeftOutFile, TrialKey
from tui.model.secrets import Secrets
from tui.model.suite import Case, Check, CommandCheck
from tui.providers.protocol import Provider

if TYPE_CHECKING:
    from tui.workspace.answer.apply import Applied


@dataclass(frozen=True, slots=True)
class CaseContext:
    """The context that is sent with a case: a system message made from the repository, and the files as one text."""

    system: str | None = None
    text: str = ""
    included: tuple[IncludedFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()


class ContextSource(Protocol):
    """A source of the files that are sent with a case."""

    def context_of(self, case: Case) -> CaseContext:
        """Return the context of a case. Raises WorkspaceError, which becomes the trial's error."""
        ...


class WorkRepository(Protocol):
    """The repository that answers are applied to."""

    async def apply(self, case: Case, answer: str, trial: TrialKey) -> "Applied":
        """Apply an answer on a branch for the trial, and return the changes. Raises WorkspaceError."""
        ...

    async def run_command(self, applied: "Applied", command: CommandCheck) -> CheckResult:
        """Run the case's command over what was changed. Raises WorkspaceError."""
        ...


class AnswerCommands(Protocol):
    """The commands that judge answers: assertions of type `command`."""

    async def check_answer(self, check: Check, answer: str) -> CheckResult:
        """Run the command of an assertion with the answer on its standard input. Raises WorkspaceError."""
        ...


@dataclass(frozen=True, slots=True)
class TrialContext:
    """The dependencies of trials.

    `providers` maps a subject's name to its provider; `repository` is None if the suite has none; `commands` may be
    None if no case has an assertion of type `command`.
    """

    providers: Mapping[str, Provider]
    checker: Checker
    context_source: ContextSource
    secrets: Secrets
    repository: WorkRepository | None = None
    commands: AnswerCommands | None = None
