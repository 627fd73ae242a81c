"""The exceptions of Assay. Each has a message, a place and a fix.

AssayError
├── ConfigError          the config file, a flag or an environment variable is wrong (exit 2)
│   ├── ModelUnresolved  a model's name resolves to no provider
│   ├── FieldsRefused    texts of a form are invalid; has a message for each field
│   ├── UnknownRun       an id matches no stored run, or more than one
│   └── ConsentNeeded    the user has to allow it first; names the flag
├── SuiteError           a suite is invalid; lists every problem found (exit 2)
├── ProviderError        a model or agent gave no usable answer; becomes the trial's error
├── WorkspaceError       a repository, or a file in it, cannot be used; becomes the trial's error
├── StoreError           the history cannot be read or written (exit 3)
└── ReportError          a report cannot be rendered from a stored run (exit 3)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem and how to fix it. `line` and `column` count from 1 and are None if they are unknown."""

    file: str
    line: int | None
    column: int | None
    level: Level
    where: str
    what: str

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        subject = f"{self.where}: " if self.where else ""
        return f"{place}: {self.level}: {subject}{self.what}"


ProviderFault = Literal[
    "unreachable",  # refused, DNS, TLS
    "silent",  # no first byte in time
    "refused",  # 400 413 422 and other answers that a retry cannot fix
    "unauthorized",  # 401 403: the provider's whole queue stops
    "not_found",  # 404
    "overloaded",  # 408 409 429 5xx 529, tries used up
    "incomplete",  # broke off or stalled after text had arrived
    "timed_out",  # the deadline of the step passed
    "garbled",  # HTML, unreadable chunks, redirects, wrong encoding, limits exceeded
    "crashed",  # an agent or the local server died, raised, or sent an invalid answer
    "empty",  # finished without an error and without text
]


class AssayError(Exception):
    """The base of all errors: `what` happened, `where`, and how to fix it (`fix`)."""

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what, self.where, self.fix = what, where, fix
        sentence = f"{where}: {what}" if where else what
        super().__init__(f"{sentence.rstrip('.')}. {fix}" if fix else sentence)


class ConfigError(AssayError):
    """The config file, a flag or an environment variable is invalid; `problems` lists the problems of a file.

    `needs` names the environment variables that are missing.
    """

    def __init__(
        self, what: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "", needs: str = ""
    ) -> None:
        super().__init__(what, where=where, fix=fix)
        self.problems = tuple(problems)
        self.needs = needs


class ModelUnresolved(ConfigError):
    """A model's name could not be resolved to a provider."""


class FieldsRefused(ConfigError):
    """Texts of a form are invalid or cannot be saved: `faults` has a message by field, under "" that of no field."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{field}: {what}" if field else what for field, what in faults.items()))
        self.faults = faults


class UnknownRun(ConfigError):
    """No stored run has this id, or several ids begin with it."""


class ConsentNeeded(ConfigError):
    """The user has to allow an action first; the message names the flag."""


class SuiteError(AssayError):
    """A suite is invalid; `problems` lists every problem found."""

    def __init__(self, what: str, problems: Sequence[Problem] = (), *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.problems = tuple(problems)


class ProviderError(AssayError):
    """A model or an agent gave no usable answer; `fault` is the kind of failure."""

    def __init__(self, fault: ProviderFault, what: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.fault: ProviderFault = fault


class WorkspaceError(AssayError):
    """A repository, or a file in one, cannot be used."""


class StoreError(AssayError):
    """The run history cannot be opened, read or written."""


class ReportError(AssayError):
    """A report cannot be rendered: a fault of Assay, or content that no format represents. The run is stored."""
