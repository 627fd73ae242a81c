"""`assay run`: suites without a screen."""

import contextlib
import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import click

from tui.cli.run_options import (
    REPORT_OPTIONS,
    AgentOverride,
    ReportOptions,
    RepositoryOverride,
    RunArguments,
    options_into,
    split_names,
)
from tui.model.errors import ConfigError
from tui.model.secrets import hide_service_keys
from tui.runner.plan import Overrides

_COUNT = click.IntRange(min=1)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_MILLISECONDS = click.IntRange(min=0)


_OVERRIDES = options_into(
    "overrides",
    Overrides,
    click.option("--repeat", "repeats", type=_COUNT, default=1, metavar="N", help="Run each case N times."),
    click.option("--parallel", "parallel_models", is_flag=True, default=None, help="Run the models in parallel."),
    click.option("--concurrency", type=_COUNT, metavar="N", help="Number of cases of one model to run concurrently."),
    click.option(
        "--timeout",
        "timeout_ms",
        type=_COUNT,
        metavar="MS",
        help="Time limit for one attempt of one step. The patterns of an answer get 5 s of processor time after that.",
    ),
    click.option("--retries", "attempts", type=_MILLISECONDS, metavar="N", help="Total attempts per case."),
    click.option(
        "--delay",
        "delay_ms",
        type=_MILLISECONDS,
        metavar="MS",
        help="Pause between the starts of two cases of a model.",
    ),
    click.option("--tag", "tags", multiple=True, metavar="T", help="Run only cases with one of these tags."),
    click.option("--case", "cases", multiple=True, metavar="GLOB", help="Run only cases whose id matches."),
)
_AGENT = options_into(
    "agent",
    AgentOverride,
    click.option("--agent", "name", metavar="FILE", help="Agent to run: FILE.py, 'cmd:COMMAND ARG…' or http://…"),
    click.option(
        "--agent-python",
        "python",
        metavar="PATH",
        help="Python that runs the agent's file, or the folder of its virtual environment (default: Assay's own).",
    ),
)
_REPOSITORY = options_into(
    "repository",
    RepositoryOverride,
    click.option("--repo", "folder", type=_FOLDER, metavar="PATH", help="Include files of this folder in the prompt."),
    click.option("--languages", multiple=True, metavar="L,L", help="Include only files in these languages."),
    click.option("--clone", metavar="URL", help="Clone this repository for the run."),
    click.option("--branch", metavar="B", help="Branch to clone."),
    click.option("--keep-temp", is_flag=True, help="Keep the clone, with one branch per changed trial."),
)


def _allowed(**given: bool) -> frozenset[str]:
    """Return the flags that were given, as they are written."""
    return frozenset(f"--{name.replace('_', '-')}" for name, is_given in given.items() if is_given)


_PERMISSIONS = options_into(
    "allowed",
    _allowed,
    click.option("--allow-local", is_flag=True, help="Allow clones over http, file or a local path."),
    click.option("--allow-outside", is_flag=True, help="Allow files from outside the suite's folder."),
    click.option("--allow-commands", is_flag=True, help="Allow the suite's commands and agents to run."),
)


@click.command()
@click.argument("suites", nargs=-1, type=click.Path(path_type=Path))
@click.option("-m", "--models", multiple=True, metavar="A,B", help="Models to run instead of those in the suite.")
@click.option("-a", "--all-models", is_flag=True, help="Run every model that the configured providers list.")
@click.option("-i", "--interactive", is_flag=True, help="Choose the models from a list in the terminal.")
@_AGENT
@_OVERRIDES
@_REPOSITORY
@click.option("--stream/--no-stream", default=None, help="Stream answers, or request them whole.")
@REPORT_OPTIONS
@click.option("--resume", metavar="RUN", help="Run the trials of a saved run that have no result.")
@click.option("--rerun-failed", metavar="RUN", help="Rerun the trials that did not pass; the original verdict counts.")
@click.option("--rerun-errors", metavar="RUN", help="Rerun only the trials that ended without a judged answer.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with 1 if a model's pass rate is below RATE (0 to 1), else with 0.",
)
@_PERMISSIONS
def run(
    suites: tuple[Path, ...],
    models: tuple[str, ...],
    all_models: bool,
    interactive: bool,
    agent: AgentOverride,
    overrides: Overrides,
    repository: RepositoryOverride,
    stream: bool | None,
    report: ReportOptions,
    resume: str | None,
    rerun_failed: str | None,
    rerun_errors: str | None,
    fail_under: float | None,
    allowed: frozenset[str],
) -> int:
    """Run suites without the app. The report goes to stdout or a file, everything else to stderr.

    Exit code: 0 all passed, 1 some did not pass, 2 invalid input, 3 could not finish, 130 interrupted. Unchecked
    answers do not change it. --fail-under and the minPassRate of a case, where given, decide between 0 and 1.
    """
    _check_usage(suites, (resume, rerun_failed, rerun_errors), fail_under)
    _check_models(bool(models), all_models, interactive)
    request = report.resolve()
    _check_output(suites, request.output)
    arguments = RunArguments(
        suites=suites,
        models=split_names(models, "-m"),
        choice="all" if all_models else "ask" if interactive else None,
        agent=agent,
        overrides=replace(
            overrides,
            streaming=stream,
            tags=split_names(overrides.tags, "--tag"),
            cases=split_names(overrides.cases, "--case"),
        ),
        repository=replace(repository, languages=split_names(repository.languages, "--languages")),
        report=request,
        resume=resume,
        rerun_failed=rerun_failed,
        rerun_errors=rerun_errors,
        fail_under=fail_under,
        allowed=allowed,
        command=hide_service_keys(shlex.join(["assay", *sys.argv[1:]])),
    )
    from tui.cli.headless import run_headless

    return run_headless(arguments)


def _check_usage(suites: tuple[Path, ...], kept: tuple[str | None, ...], fail_under: float | None) -> None:
    if sum(map(bool, kept)) > 1:
        raise click.UsageError("--resume, --rerun-failed and --rerun-errors cannot be combined.")
    if not (suites or any(kept)):
        raise click.UsageError("Pass a suite, or a run with --resume, --rerun-failed or --rerun-errors.")
    if fail_under is not None and math.isnan(fail_under):
        raise click.UsageError("--fail-under: expected a number from 0 to 1.")


def _check_output(suites: tuple[Path, ...], output: Path | None) -> None:
    """Raise ConfigError if the report would replace a suite that is run."""
    if output is None:
        return
    for suite in suites:
        with contextlib.suppress(OSError):
            if output.samefile(suite):
                what = "Is a suite of this run, which the report would replace"
                raise ConfigError(what, where=str(output), fix="Pass another file with -o.")


def _check_models(named: bool, all_models: bool, interactive: bool) -> None:
    if named + all_models + interactive > 1:
        raise click.UsageError("-m, -a and -i cannot be combined: each selects the models to run.")
    if interactive and not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("-i needs a terminal. Pass models with -m, or run all of them with -a.")
