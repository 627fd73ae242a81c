"""A report on its way out: to stdout or a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from tui.cli.narration import say, silence_stdout
from tui.cli.run_options import ReportWish
from tui.model.errors import StoreError
from tui.model.kept import KeptRun
from tui.model.risk import Reviewed
from tui.model.sanitize import show_line
from tui.session.files import write_out

if TYPE_CHECKING:
    from tui.session.reviews import Reviews


def write_report(kept: Sequence[KeptRun], wish: ReportWish, reviews: "Reviews") -> None:
    """Render and write, a file whole or not at all, with what people scored. Raises StoreError where it cannot be
    written; the run itself is kept."""
    from tui.reports.render import render_reports

    for run in kept:
        note_look(reviews, run.record.id, "assay report")
    text = render_reports(
        kept,
        wish.format,
        responses=wish.responses,
        timestamps=wish.timestamps,
        risk_analysis=wish.risk_analysis,
        margin=wish.margin,
        reviewed=_reviewed(kept, wish, reviews),
    )
    if wish.output is None:
        _print(text)
        return
    try:
        write_out(wish.output, text)
    except OSError as error:
        raise _unwritable(error, str(wish.output)) from error
    say(f"Report: {wish.output}")


def note_look(reviews: "Reviews", run_id: str, where: str) -> None:
    """Record that names are seen by whoever scores the run blind, and say so. Raises StoreError."""
    if name := reviews.note_look(run_id, where):
        say(f"Note: {show_line(name, 60)} scores this run blind and sees names now: recorded in the score file.")


def _reviewed(kept: Sequence[KeptRun], wish: ReportWish, reviews: "Reviews") -> dict[str, Reviewed]:
    """Scores that cannot be read are told of; the report is written all the same."""
    ids = [run.record.id for run in kept]
    try:
        found = reviews.reviewed_runs(ids, even_unscored=wish.risk_analysis)
    except StoreError as error:
        say(f"Note: the report is without scores. {error}")
        return {}
    for problem in (problem for reviewed in found.values() for problem in reviewed.unread):
        say(problem)
    return found


def _print(text: str) -> None:
    try:
        click.echo(text, nl=not text.endswith("\n"))
    except BrokenPipeError:
        silence_stdout()  # How the run ended is told all the same.
    except OSError as error:
        silence_stdout()
        raise _unwritable(error, "stdout") from error


def _unwritable(error: OSError, where: str) -> StoreError:
    fix = "The run is kept: write it again with 'assay report'."
    return StoreError(f"The report cannot be written ({error.strerror})", where=where, fix=fix)
