"""What a trial works with; put together by the session, never changed during a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tui.checks.checker import Checker
from tui.model.results import CheckResult, IncludedFile, LeftOutFile, TrialKey
from tui.model.secrets import Secrets
from tui.model.suite import Case, CommandCheck
from tui.providers.protocol import Provider

if TYPE_CHECKING:
    from tui.workspace.answer.apply import Applied


@dataclass(frozen=True, slots=True)
class CaseContext:
    """What is sent along with a case: a system message made from the repository, and the files as one text."""

    system: str | None = None
    text: str = ""
    included: tuple[IncludedFile, ...] = ()
    left_out: tuple[LeftOutFile, ...] = ()


class ContextSource(Protocol):
    """Where the files of a case come from."""

    def context_of(self, case: Case) -> CaseContext:
        """The context of a case. Raises WorkspaceError, which becomes the trial's error."""
        ...


class WorkRepository(Protocol):
    """The repository that answers are applied to."""

    async def apply(self, case: Case, answer: str, trial: TrialKey) -> "Applied":
        """What the answer changes, on a branch of the trial's own. Raises WorkspaceError."""
        ...

    async def run_command(self, applied: "Applied", command: CommandCheck) -> CheckResult:
        """Run the case's command over what was changed. Raises WorkspaceError."""
        ...


@dataclass(frozen=True, slots=True)
class TrialContext:
    """`providers` maps a subject's name to what answers for it; `repository` is None where the suite has none."""

    providers: Mapping[str, Provider]
    checker: Checker
    context: ContextSource
    secrets: Secrets
    repository: WorkRepository | None = None
