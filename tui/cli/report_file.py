"""A report on its way out: to stdout or a file."""

from collections.abc import Sequence

import click

from tui.cli.narration import say, silence_stdout
from tui.cli.run_options import ReportWish
from tui.model.errors import StoreError
from tui.model.kept import KeptRun
from tui.session.writing import write_out


def write_report(kept: Sequence[KeptRun], wish: ReportWish) -> None:
    """Render and write, a file whole or not at all. Raises StoreError where it cannot be written; the run itself is
    kept."""
    from tui.reports.rendering import render_reports

    text = render_reports(
        kept,
        wish.format,
        responses=wish.responses,
        timestamps=wish.timestamps,
        risk_analysis=wish.risk_analysis,
    )
    if wish.output is None:
        _print(text)
        return
    try:
        write_out(wish.output, text)
    except OSError as error:
        raise _unwritable(error, str(wish.output)) from error
    say(f"Report: {wish.output}")


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
