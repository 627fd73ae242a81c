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
@click.option("-m", "--models", multiple=True, metavar="A,B", help="Models to run instead of those in the suite.")
@click.option("-a", "--all-models", is_flag=True, help="Run every model that the configured providers list.")
@click.option("-i", "--interactive", is_flag=True, help="Choose the models from a list in the terminal.")
@click.option("--agent", metavar="FILE", help="Agent to run: FILE.py, 'cmd:COMMAND ARG…' or http://…")
@click.option("--repeat", type=_COUNT, default=1, metavar="N", help="Run each case N times.")
@click.option("--parallel", is_flag=True, default=None, help="Run the models in parallel.")
@click.option("--concurrency", type=_COUNT, metavar="N", help="Number of cases of one model to run concurrently.")
@click.option("--timeout", type=_COUNT, metavar="MS", help="Time limit for one attempt of one step.")
@click.option("--retries", type=_MILLISECONDS, metavar="N", help="Total attempts per case.")
@click.option("--delay", type=_MILLISECONDS, metavar="MS", help="Pause between the starts of two cases of a model.")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Run only cases with one of these tags.")
@click.option("--case", "cases", multiple=True, metavar="GLOB", help="Run only cases whose id matches.")
@click.option(
    "--repo",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="PATH",
    help="Include files of this folder in the prompt.",
)
@click.option("--languages", multiple=True, metavar="L,L", help="Include only files in these languages.")
@click.option("--clone", metavar="URL", help="Clone this repository for the run.")
@click.option("--branch", metavar="B", help="Branch to clone.")
@click.option("--keep-temp", is_flag=True, help="Keep the clone, with one branch per changed trial.")
@click.option("--stream/--no-stream", default=None, help="Stream answers, or request them whole.")
@click.option("-f", "--format", "chosen_format", type=click.Choice(FORMATS), help="Report format.")
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="PATH", help="Report file (default: stdout).")
@click.option("-r", "--responses", is_flag=True, help="Include full answers in the report.")
@click.option("-t", "--timestamps", is_flag=True, help="Include timestamps in the report.")
@click.option("--risk-analysis", is_flag=True, help="Include risk criteria and scores in the report.")
@click.option("--margin", type=float, metavar="M", help="Pass rates that differ by less than this count as equivalent.")
@click.option("--resume", metavar="RUN", help="Run the trials of a saved run that have no result.")
@click.option("--rerun-failed", metavar="RUN", help="Rerun the trials that did not pass; the original verdict counts.")
@click.option("--rerun-errors", metavar="RUN", help="Rerun only the trials that ended without a judged answer.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="RATE",
    help="Exit with 1 if a model's pass rate is below RATE (0 to 1), else with 0.",
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
    """Run suites without the app. The report goes to stdout or a file, everything else to stderr.

    Exit code: 0 all passed, 1 some did not pass, 2 invalid input, 3 could not finish, 130 interrupted. Unchecked
    answers do not change it. --fail-under and the minPassRate of a case, where given, decide between 0 and 1.
    """
    if sum(map(bool, (resume, rerun_failed, rerun_errors))) > 1:
        raise click.UsageError("--resume, --rerun-failed and --rerun-errors cannot be combined.")
    if not (suites or resume or rerun_failed or rerun_errors):
        raise click.UsageError("Pass a suite, or a run with --resume, --rerun-failed or --rerun-errors.")
    if fail_under is not None and math.isnan(fail_under):
        raise click.UsageError("--fail-under: expected a number from 0 to 1.")
    if len([given for given in (models, all_models, interactive) if given]) > 1:
        raise click.UsageError("-m, -a and -i cannot be combined: each selects the models to run.")
    if interactive and not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("-i needs a terminal. Pass models with -m, or run all of them with -a.")
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
