"""`assay runs` and `assay report`: the stored runs and their reports."""

import os
from pathlib import Path

import click

from tui.cli.run_options import REPORT_OPTIONS, ReportOptions, prepare_output
from tui.cli.streams import note, say
from tui.model.errors import StoreError
from tui.model.run import RunRecord, distinct_length
from tui.model.sanitize import sanitize_line


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def runs(context: click.Context, as_json: bool) -> None:
    """List saved runs, newest at the top, or export one."""
    if context.invoked_subcommand is not None:
        return
    from tui.reports.json_text import json_text
    from tui.session.open_history import open_history

    with open_history(os.environ, note) as store:
        records = store.list_runs()
    if as_json:
        click.echo(json_text([_as_json(record) for record in records], indent=2))
        return
    length = distinct_length(record.id for record in records)
    for record in records:
        click.echo(
            sanitize_line(
                f"{record.id[:length]}  {record.started_at[:16].replace('T', ' ')}  {record.state:<11}  "
                f"{record.passed:>4}/{record.checked:<4}  {record.suite_name}  {', '.join(record.models)}"
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


@runs.command("export")
@click.argument("run")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Output file, compressed if its name ends in .gz (default: stdout).",
)
@click.option("--scores", is_flag=True, help="Include the risk scores of the run.")
def export_run(run: str, output: Path | None, scores: bool) -> None:
    """Write a saved run as a file that `assay import` reads elsewhere. RUN is a run id, a prefix of one, or `last`.

    The file has the suite, the models with their settings, and all prompts and answers, but no key. Scores made
    elsewhere come back with `assay review export` and `assay review import`.
    """
    from tui.cli.headless import record_look
    from tui.session.files import write_out
    from tui.session.open_history import open_reviews
    from tui.session.outgoing_runs import scores_of_outgoing, without_known_keys
    from tui.session.run_files import import_fault, pack_lines, run_lines

    file = prepare_output(output, ".jsonl.gz") if output else None
    with open_reviews(os.environ, note) as (store, reviews):
        run_id = store.find_run(run)
        record_look(reviews, run_id, "assay runs export")
        kept = store.read_run(run_id)
        outgoing = without_known_keys(kept, reviews.secrets)
        lines = [*run_lines(outgoing, scores_of_outgoing(reviews.export(run_id) if scores else "", kept, outgoing))]
        data = pack_lines(lines, compressed=file is not None and file.suffix.lower() == ".gz")
    if fault := import_fault(outgoing, lines, data):
        note(f"The exported run {fault}.")
    if file is None:
        click.echo(data, nl=False)
        return
    try:
        write_out(file, data)
    except OSError as error:
        raise StoreError(f"Cannot write the run ({error.strerror})", where=str(file)) from error
    say(f"Run {run_id}: {file}")


@click.command()
@click.argument("run")
@REPORT_OPTIONS
def report(run: str, report: ReportOptions) -> None:
    """Write the report of a saved run. RUN is a run id, a prefix of one, or `last`."""
    from tui.cli.headless import write_report
    from tui.session.open_history import open_reviews

    request = report.resolve()
    with open_reviews(os.environ, note) as (store, reviews):
        kept = store.read_run(store.find_run(run))
        write_report([kept], request, reviews)
