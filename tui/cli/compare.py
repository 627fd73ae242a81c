"""`assay compare` and `assay trend`: what changed since an earlier run, and over all runs of a suite."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from tui.cli.run_options import prepare_output, split_names
from tui.cli.streams import note, say
from tui.model.errors import ConfigError, StoreError, SuiteError
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.session.run_comparison import ComparedRuns
    from tui.statistics.run_change import RunChange

FailOn = Literal["broke", "worse", "unproven"]
Format = Literal["markdown", "json"]
_FORMAT = click.option("-f", "--format", "format_", type=click.Choice(("markdown", "json")), help="Report format.")
_OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Report file, which is replaced (default: stdout).",
)


@click.command()
@click.argument("run")
@click.argument("base")
@click.option(
    "--margin", type=float, metavar="M", help="Pass rates that differ by less than this (0 to 1) count as equivalent."
)
@click.option(
    "--fail-on",
    type=click.Choice(("broke", "worse", "unproven")),
    multiple=True,
    help="Exit with 1 if a case broke, if the run is worse (p ≤ 0.05), or unless it is shown not to be worse by more"
    " than --margin. May be given several times.",
)
@_FORMAT
@_OUTPUT
def compare(
    run: str,
    base: str,
    margin: float | None,
    fail_on: tuple[FailOn, ...],
    format_: Format | None,
    output: Path | None,
) -> int:
    """Compare a run with an earlier one of the same models, case by case.

    RUN and BASE are run ids, prefixes of ids, `last`, or JSON reports (paths that end in .json). BASE may be
    `baseline`: the run of the suite that is marked so in the app.

    A case broke if it passed in every repeat of BASE and passes in none of RUN. Exit code: 0, or 1 by --fail-on; 2
    for invalid input, also for a gate on a run that is not finished.
    """
    from tui.reports.run_change import run_change_json, run_change_markdown

    if margin is not None and not 0 < margin <= 1:
        what = f"--margin is {margin:g}, which is out of range"
        raise ConfigError(what, fix="Pass a difference of pass rates above 0, up to 1.")
    format_ = format_ or _format_of(output)
    found = _compared(run, base, margin)
    unfinished = [each.run_id for each in (found.run, found.base) if not each.finished]
    if fail_on and unfinished:
        raise ConfigError(
            "Run is not finished, so --fail-on cannot decide",
            where=unfinished[0],
            fix=f"Complete it with `assay run --resume {unfinished[0]}`.",
        )
    if format_ == "json":
        text = run_change_json(found.run, found.base, found.models, found.changed_cases, found.changed_models)
    else:
        text = run_change_markdown(found.run, found.base, found.models, found.changed_cases, found.changed_models)
    _write(text, output, format_)
    reasons = list(_failures(found.models, fail_on))
    for reason in reasons:
        say(reason)
    return 1 if reasons else 0


def _compared(run: str, base: str, margin: float | None) -> "ComparedRuns":
    """Return the comparison; print the problems of a report that cannot be read."""
    from tui.config.folders import find_folders
    from tui.session.open_history import open_history
    from tui.session.run_comparison import compare_stored

    try:
        with open_history(os.environ, note) as store:
            return compare_stored(store, find_folders(os.environ).data, run, base, margin)
    except SuiteError as error:
        for problem in error.problems:
            say(str(problem))
        raise


@click.command()
@click.argument("suite", type=click.Path(path_type=Path))
@click.option("-m", "--models", multiple=True, metavar="A,B", help="Only these models.")
@_FORMAT
@_OUTPUT
def trend(suite: Path, models: tuple[str, ...], format_: Format | None, output: Path | None) -> None:
    """Show the pass rate of each model over all saved runs of a suite.

    Lists each run with its pass rate and 95% interval, oldest at the top, and the cases that passed once and fail in
    the latest runs, with the first run in which they broke.
    """
    from tui.reports.trend import trend_json, trend_markdown
    from tui.session.open_history import open_history
    from tui.session.run_comparison import read_trend

    names = split_names(models, "--models")
    with open_history(os.environ, note) as store:
        found = read_trend(store, suite, names)
    format_ = format_ or _format_of(output)
    text = trend_json(found) if format_ == "json" else trend_markdown(found)
    _write(text, output, format_)


def _format_of(output: Path | None) -> Format:
    return "json" if output is not None and output.suffix.lower() == ".json" else "markdown"


def _write(text: str, output: Path | None, format_: Format) -> None:
    from tui.session.files import write_out

    if output is None:
        click.echo(text.rstrip("\n"))
        return
    file = prepare_output(output, ".json" if format_ == "json" else ".md")
    try:
        write_out(file, text if text.endswith("\n") else text + "\n")
    except OSError as error:
        raise StoreError(f"Cannot write the report ({error.strerror})", where=str(file)) from error
    say(f"Report: {file}")


def _failures(changes: Sequence["RunChange"], fail_on: Sequence[FailOn]) -> list[str]:
    """Return a sentence for each model and each gate that it does not pass."""
    from tui.statistics.comparison_words import margin_points, p_value_words

    found = list[str]()
    for change in changes:
        model = sanitize_line(change.model, 60)
        if "broke" in fail_on and (broke := change.cases["broke"]):
            named = ", ".join(sanitize_line(case, 60) for case in broke[:5])
            more = f" and {len(broke) - 5} more" if len(broke) > 5 else ""
            found.append(f"{model}: {len(broke)} case{'s' * (len(broke) > 1)} broke: {named}{more}")
        if "worse" in fail_on and change.conclusion == "worse":
            found.append(f"{model}: worse than the base ({p_value_words(change.comparison)})")
        if "unproven" in fail_on and not change.not_worse:
            margin = change.comparison.margin or 0.0
            found.append(f"{model}: not shown to be within {margin_points(margin)} points of the base or better")
    return found
