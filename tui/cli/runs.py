"""`assay runs` and `assay report`: the stored runs and their reports."""

import os

import click

from tui.cli.run_options import REPORT_OPTIONS, ReportOptions
from tui.cli.streams import note
from tui.model.run import RunRecord
from tui.model.sanitize import sanitize_line


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def runs(as_json: bool) -> None:
    """List saved runs, newest at the top."""
    from tui.reports.json_text import json_text
    from tui.session.open_history import open_history

    with open_history(os.environ, note) as store:
        records = store.list_runs()
    if as_json:
        click.echo(json_text([_as_json(record) for record in records], indent=2))
        return
    for record in records:
        click.echo(
            sanitize_line(
                f"{record.id[:13]}  {record.started_at[:16].replace('T', ' ')}  {record.state:<11}  "
                f"{record.passed:>4}/{record.trials:<4}  {record.suite_name}  {', '.join(record.models)}"
            )
        )


def _as_json(record: RunRecord) -> dict[str, object]:
    return {
        "id": record.id,
        "state": record.state,
        "suite": record.suite_name,
        "models": list(record.models),
        "started_at": record.started_at,
        "finished_at": record.finished_at,
        "trials": record.trials,
        "passed": record.passed,
    }


@click.command()
@click.argument("run")
@REPORT_OPTIONS
def report(run: str, report: ReportOptions) -> None:
    """Write the report of a saved run. RUN is a run id, a prefix of one, or `last`."""
    from tui.cli.headless import write_report
    from tui.session.open_history import open_reviews

    wish = report.wish()
    with open_reviews(os.environ, note) as (store, reviews):
        kept = store.read_run(store.find_run(run))
        write_report([kept], wish, reviews)
