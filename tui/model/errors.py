"""The tree of our exceptions: each says what happened, where, and what to do.

AssayError
├── ConfigError          the config file, a flag or an environment variable is wrong (exit 2)
│   ├── ModelUnresolved  a model's name leads to no provider
│   ├── UnknownRun       no kept run, or more than one, is meant
│   └── ConsentNeeded    a person has to allow it first; names the flag
├── SuiteError           a suite cannot be used; carries every problem found (exit 2)
├── ProviderError        a model or agent gave no usable answer; becomes the trial's error
├── WorkspaceError       a repository or file of it cannot be used; becomes the trial's error
└── StoreError           the history cannot be read or written (exit 3)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong and what to do. `line` and `column` count from 1; None where there is no place to point at."""

    file: str
    line: int | None
    column: int | None
    level: Level
    where: str
    what: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}:{self.column or 1}"
        subject = f"{self.where}: " if self.where else ""
        return f"{place}: {self.level}: {subject}{self.what}"


ProviderFault = Literal[
    "unreachable",  # refused, DNS, TLS
    "silent",  # no first byte in time
    "refused",  # 400 413 422 and other answers that a retry cannot mend
    "unauthorized",  # 401 403: the provider's whole queue stops
    "not_found",  # 404
    "overloaded",  # 408 409 429 5xx 529, tries used up
    "incomplete",  # broke off or stalled after text had arrived
    "timed_out",  # the deadline of the step passed
    "garbled",  # HTML, unreadable chunks, redirects, wrong encoding, over the limits
    "crashed",  # an agent or the local server died, raised or answered nonsense
    "empty",  # finished well, with no text at all
]


class AssayError(Exception):
    """Something went wrong; `what` happened, `where`, and what to do about it (`fix`)."""

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        sentence = f"{where}: {what}" if where else what
        super().__init__(f"{sentence.rstrip('.')}. {fix}" if fix else sentence)


class ConfigError(AssayError):
    """The config file, a flag or an environment variable cannot be used; `problems` holds what is wrong in a file."""

    def __init__(self, what: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.problems = tuple(problems)


class ModelUnresolved(ConfigError):
    """A model's name leads to no provider."""


class UnknownRun(ConfigError):
    """No kept run has such an id, or more than one begins so."""


class ConsentNeeded(ConfigError):
    """A person has to allow this first; the text names the flag that does."""


class SuiteError(AssayError):
    """A suite cannot be used; `problems` holds everything that was found."""

    def __init__(self, what: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.problems = tuple(problems)


class ProviderError(AssayError):
    """A model or an agent gave no usable answer; `fault` says of which kind."""

    def __init__(self, fault: ProviderFault, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.fault: ProviderFault = fault


class WorkspaceError(AssayError):
    """A repository, or a file that should come from one, cannot be used."""


class StoreError(AssayError):
    """The run history cannot be opened, read or written."""
