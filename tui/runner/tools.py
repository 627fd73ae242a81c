"""What a trial works with; put together by the session, never changed during a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from tui.checks.checker import Checker
from tui.model.secrets import Secrets
from tui.model.suite import Case
from tui.model.trials import IncludedFile, LeftOutFile
from tui.providers.protocol import Provider


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


@dataclass(frozen=True, slots=True)
class Tools:
    """`providers` maps a subject's name to what answers for it."""

    providers: Mapping[str, Provider]
    checker: Checker
    context: ContextSource
    secrets: Secrets
