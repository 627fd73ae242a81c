"""The options of `assay run` and `assay report`: how they are declared, and the plain values made of them."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, Literal

import click

from tui.model.current_folder import absolute_path, normal_path
from tui.model.errors import ConfigError
from tui.model.run import ReportFormat
from tui.model.subjects import Subject
from tui.model.suite import RepoClone, RepositoryContext, Suite
from tui.runner.plan import Overrides

FORMATS: tuple[ReportFormat, ...] = ("markdown", "html", "json", "csv", "junit")
ModelChoice = Literal["all", "ask"]
_SUFFIXES: dict[ReportFormat, str] = {
    "markdown": ".md",
    "html": ".html",
    "json": ".json",
    "csv": ".csv",
    "junit": ".xml",
}
_BY_SUFFIX: dict[str, ReportFormat] = {
    **{suffix: name for name, suffix in _SUFFIXES.items()},
    ".htm": "html",
}


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The report to write: its format, its file (None: stdout), and what it contains."""

    format: ReportFormat
    output: Path | None
    responses: bool
    timestamps: bool
    risk_analysis: bool
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The options of a report as they were given; None where one was not."""

    format: ReportFormat | None
    output: Path | None
    responses: bool
    timestamps: bool
    risk_analysis: bool
    margin: float | None

    def resolve(self) -> ReportRequest:
        """Return the report to write: its format is the given one, else that of the file's suffix, else Markdown.

        Raises ConfigError if the file cannot be written, before a run is started for it.
        """
        by_name = _BY_SUFFIX.get(self.output.suffix.lower()) if self.output else None
        format_ = self.format or by_name or "markdown"
        file = prepare_output(self.output, _SUFFIXES[format_]) if self.output else None
        if self.margin is not None and not 0 < self.margin <= 1:
            what = f"--margin is {self.margin:g}, which is out of range"
            raise ConfigError(what, fix="Pass a difference of pass rates above 0, up to 1.")
        return ReportRequest(format_, file, self.responses, self.timestamps, self.risk_analysis, self.margin)


@dataclass(frozen=True, slots=True)
class RepositoryOverride:
    """Settings that replace those of a suite's repository; None and empty keep those of the suite."""

    folder: Path | None = None
    languages: tuple[str, ...] = ()
    clone: str | None = None
    branch: str | None = None
    keep_temp: bool = False

    def apply_to(self, suite: Suite) -> Suite:
        """Return the suite with these settings. Raises ConfigError if one needs a clone, and the suite names none."""
        clone, context = suite.repo_clone, suite.repository_context
        if self.clone is not None:
            clone = RepoClone(self.clone)
        if clone is None and (self.branch is not None or self.keep_temp):
            raise ConfigError("No repository to clone", where=suite.path, fix="Pass its URL with --clone.")
        if clone is not None:
            keep = self.keep_temp or clone.keep_temp_dir
            branch = clone.branch if self.branch is None else self.branch
            clone = replace(clone, branch=branch, keep_temp_dir=keep)
        if self.folder is not None and clone is not None:
            what = "--repo conflicts with the clone of this run"
            raise ConfigError(what, where=suite.path, fix="Remove one of them: the files come from the clone.")
        if self.folder is not None:
            folder = str(absolute_path(self.folder))
            context = replace(context, path=folder) if context else RepositoryContext(folder)
        if self.languages:
            context = replace(context or RepositoryContext("."), languages=self.languages)
        return replace(suite, repo_clone=clone, repository_context=context)


@dataclass(frozen=True, slots=True)
class AgentOverride:
    """The agent that replaces a suite's own, and the interpreter of its file; None keeps those of the suite."""

    name: str | None = None
    python: str | None = None

    def subject(self) -> Subject | None:
        """Return the agent that was named, relative to the current folder. Raises ConfigError."""
        if not self.name:
            return None
        from tui.session.consent import current_folder
        from tui.session.session import agent_subject  # imports much that the help does not need

        return agent_subject(self.name, current_folder(), self.python)

    def apply_to(self, suite: Suite) -> Suite:
        """Return the suite with the interpreter for its own agent. Raises ConfigError if it has no agent."""
        if self.python is None or self.name:
            return suite
        if suite.agent is None:
            raise ConfigError(
                "--agent-python needs an agent", where=suite.path, fix="Pass its Python file with --agent."
            )
        return replace(suite, agent_python=normal_path(os.path.expanduser(self.python)))


@dataclass(frozen=True, slots=True)
class RunArguments:
    """The arguments of `assay run`.

    Without `models`, `choice` says which ones are run: all that are listed, or those that the user picks from a list.
    """

    suites: tuple[Path, ...]
    models: tuple[str, ...]
    choice: ModelChoice | None
    agent: AgentOverride
    overrides: Overrides
    repository: RepositoryOverride
    report: ReportRequest
    resume: str | None
    rerun_failed: str | None
    rerun_errors: str | None
    fail_under: float | None
    allowed: frozenset[str]
    command: str

    @property
    def saved_run(self) -> str:
        """The saved run to resume or to rerun; empty for a new run."""
        return self.resume or self.rerun_failed or self.rerun_errors or ""


def prepare_output(path: Path, suffix: str) -> Path:
    """Return the file of `-o PATH`, with `suffix` if the path has none, and create its folder.

    Raises ConfigError if the folder cannot be created, and if the path is a folder or a file of Assay's own.
    """
    from tui.config.folders import find_folders

    if path.is_dir():
        raise ConfigError("Is a folder, not a file", where=str(path), fix="Pass a file with -o.")
    # A device or a pipe keeps its name.
    if not path.suffix and (path.is_file() or not path.exists()):
        path = path.with_name(path.name + suffix)
        if path.is_dir():
            raise ConfigError("Is a folder, not a file", where=str(path), fix="Pass another file with -o.")
    find_folders(os.environ).refuse_own(path, "Pass another file with -o.")
    try:
        absolute_path(path).parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        what = f"Cannot create the folder ({reason})"
        raise ConfigError(what, where=str(path.parent), fix="Pass a file in another folder with -o.") from error
    return path


def split_names(given: tuple[str, ...], flag: str) -> tuple[str, ...]:
    """Return the names in repeated options and comma-separated lists, each once, in order.

    Raises ConfigError for an option without a name: an empty variable of a script must not select everything.
    """
    names = (name.strip() for text in given for name in text.split(","))
    found = tuple(dict.fromkeys(name for name in names if name))
    if given and not found:
        raise ConfigError(f"{flag} has no value", fix="Pass a value, or remove the option.")
    return found


Command = Callable[..., Any]
Option = Callable[[Command], Command]


def options_into(argument: str, make: Callable[..., object], *options: Option) -> Option:
    """Return a decorator that declares options and passes them to the command as one argument: `make(**values)`."""

    def declare(command: Command) -> Command:
        @wraps(command)
        def run_command(**given: Any) -> Any:
            values = {name: given.pop(name) for name in names}
            return command(**given, **{argument: make(**values)})

        declared: Command = run_command
        # Where click keeps the options of a function until they become a command; each decorator adds to its end.
        before = len(getattr(command, "__click_params__", ()))
        for option in reversed(options):
            declared = option(declared)
        params: list[click.Parameter] = getattr(declared, "__click_params__", [])
        names = [param.name for param in params[before:] if param.name]
        return declared

    return declare


REPORT_OPTIONS = options_into(
    "report",
    ReportOptions,
    click.option("-f", "--format", type=click.Choice(FORMATS), help="Report format."),
    click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="PATH",
        help="Report file, which is replaced (default: stdout).",
    ),
    click.option("-r", "--responses", is_flag=True, help="Include full answers in the report."),
    click.option("-t", "--timestamps", is_flag=True, help="Include timestamps in the report."),
    click.option("--risk-analysis", is_flag=True, help="Include risk criteria and scores in the report."),
    click.option(
        "--margin", type=float, metavar="M", help="Pass rates that differ by less than this count as equivalent."
    ),
)
