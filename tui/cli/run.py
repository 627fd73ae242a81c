"""`assay run`: suites without a screen."""

import math
import sys
from pathlib import Path

import click

from tui.cli.run_options import FORMATS, RepositoryWish, RunWish, report_wish, split_names
from tui.model.run import ReportFormat
from tui.runner.plan import Overrides

_COUNT = click.IntRange(min=1)
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
_MILLISECONDS = click.IntRange(min=0)


@click.command()
@click.argument("suites", nargs=-1, type=click.Path(path_type=Path))
@click.option("-m", "--models", multiple=True, metavar="A,B", help="Models to run, instead of the suite's.")
@click.option("-a", "--all-models", is_flag=True, help="Run every model that the configured providers list.")
@click.option("-i", "--interactive", is_flag=True, help="Choose the models from a list in the terminal.")
@click.option("--agent", metavar="FILE", help="An agent to ask: FILE.py, 'cmd:COMMAND ARG…' or http://…")
@click.option("--repeat", type=_COUNT, default=1, metavar="N", help="Ask each case so many times.")
@click.option("--parallel", is_flag=True, default=None, help="Ask the models at the same time.")
@click.option("--concurrency", type=_COUNT, metavar="N", help="Cases of one model at once.")
@click.option("--timeout", type=_COUNT, metavar="MS", help="For one attempt of one step.")
@click.option("--retries", type=_MILLISECONDS, metavar="N", help="Total attempts at a case.")
@click.option("--delay", type=_MILLISECONDS, metavar="MS", help="Between the starts of two cases of a model.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only cases with one of these tags.")
@click.option("--case", "cases", multiple=True, metavar="GLOB", help="Only cases whose id matches.")
@click.option(
    "--repo",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="PATH",
    help="Send files of this folder.",
)
@click.option("--languages", multiple=True, metavar="L,L", help="Send only files in these languages.")
@click.option("--clone", metavar="URL", help="Clone this repository for the run.")
@click.option("--branch", metavar="B", help="Of the repository.")
@click.option("--keep-temp", is_flag=True, help="Keep the clone, with a branch for each change.")
@click.option("--stream/--no-stream", default=None, help="Ask for answers piece by piece, or whole.")
@click.option("-f", "--format", "chosen_format", type=click.Choice(FORMATS), help="Of the report.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="The report's file.")
@click.option("-r", "--responses", is_flag=True, help="Whole answers in the report.")
@click.option("-t", "--timestamps", is_flag=True, help="Times in the report.")
@click.option("--risk-analysis", is_flag=True, help="Risk criteria and scores in the report.")
@click.option("--margin", type=float, metavar="M", help="Models are equivalent within this difference of pass rates.")
@click.option("--resume", metavar="RUN", help="Ask what a run has no result for.")
@click.option("--rerun-failed", metavar="RUN", help="Run again what did not pass in a run; the first verdict counts.")
@click.option("--rerun-errors", metavar="RUN", help="Run again only what ended without a judged answer.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with 1 if a pass rate is below this, from 0 to 1, else with 0.",
)
@click.option("--allow-local", is_flag=True, help="Allow clones over http, file or a local path.")
@click.option("--allow-outside", is_flag=True, help="Allow files from outside the suite's folder.")
@click.option("--allow-commands", is_flag=True, help="Allow the suite's commands and agents to run.")
def run(
    suites: tuple[Path, ...],
    models: tuple[str, ...],
    all_models: bool,
    interactive: bool,
    agent: str | None,
    repeat: int,
    parallel: bool | None,
    concurrency: int | None,
    timeout: int | None,
    retries: int | None,
    delay: int | None,
    tags: tuple[str, ...],
    cases: tuple[str, ...],
    repo: Path | None,
    languages: tuple[str, ...],
    clone: str | None,
    branch: str | None,
    keep_temp: bool,
    stream: bool | None,
    chosen_format: ReportFormat | None,
    output: Path | None,
    responses: bool,
    timestamps: bool,
    risk_analysis: bool,
    margin: float | None,
    resume: str | None,
    rerun_failed: str | None,
    rerun_errors: str | None,
    fail_under: float | None,
    allow_local: bool,
    allow_outside: bool,
    allow_commands: bool,
) -> int:
    """Run suites without a screen. The report goes to stdout or a file, everything else to stderr.

    Exit code: 0 all passed, 1 some did not, 2 bad input, 3 could not finish, 130 interrupted. Unchecked answers do not
    raise it. --fail-under and the minPassRate of a case decide it where they are given.
    """
    if sum(map(bool, (resume, rerun_failed, rerun_errors))) > 1:
        raise click.UsageError("--resume, --rerun-failed and --rerun-errors exclude each other.")
    if not (suites or resume or rerun_failed or rerun_errors):
        raise click.UsageError("Name a suite, or a run with --resume, --rerun-failed or --rerun-errors.")
    if fail_under is not None and math.isnan(fail_under):
        raise click.UsageError("--fail-under must be a number from 0 to 1.")
    if len([given for given in (models, all_models, interactive) if given]) > 1:
        raise click.UsageError("-m, -a and -i exclude each other: each says which models are run.")
    if interactive and not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("-i needs a terminal to show the list of models. Name them with -m, or run all with -a.")
    given = {"--allow-local": allow_local, "--allow-outside": allow_outside, "--allow-commands": allow_commands}
    wish = RunWish(
        suites=suites,
        models=split_names(models, "-m"),
        choice="all" if all_models else "ask" if interactive else None,
        agent=agent,
        overrides=Overrides(
            repeats=repeat,
            parallel_models=parallel,
            concurrency=concurrency,
            timeout_ms=timeout,
            attempts=retries,
            delay_ms=delay,
            streaming=stream,
            tags=split_names(tags, "--tag"),
            cases=split_names(cases, "--case"),
        ),
        repository=RepositoryWish(repo, split_names(languages, "--languages"), clone, branch, keep_temp),
        report=report_wish(chosen_format, output, responses, timestamps, risk_analysis, margin),
        resume=resume,
        rerun_failed=rerun_failed,
        rerun_errors=rerun_errors,
        fail_under=fail_under,
        allowed=frozenset(flag for flag, is_given in given.items() if is_given),
        command=" ".join(["assay", *sys.argv[1:]]),
    )
    from tui.cli.headless import run_headless

    return run_headless(wish)
