"""`assay import`: runs that Assay exported, and results of other tools, for comparison and scoring."""

import os
from pathlib import Path

import click

from tui.cli.review import confirm_own_lines
from tui.cli.streams import note, say


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--suite",
    type=click.Path(path_type=Path),
    metavar="SUITE",
    help="File of the suite that the results belong to.",
)
@click.option("--as-suite", metavar="NAME", help="Suite name of other tools' results (default: as in the file).")
def import_results(files: tuple[Path, ...], suite: Path | None, as_suite: str | None) -> int:
    """Import results as saved runs; the content of each file decides how it is read.

    Files are runs of `assay runs export`, results of `promptfoo eval -o FILE.json` or `.jsonl`, logs of Inspect, or
    plain answers: CSV or JSON lines with case, model and answer, and optionally repeat, prompt, category,
    input_tokens, output_tokens and duration_ms. With --suite, plain answers are judged by that suite's checks.

    Imported runs work like any other run: reports, comparison, review. If one file cannot be read, nothing is imported.
    Importing the same file twice has no effect.
    """
    from tui.model.errors import SuiteError
    from tui.session.open_history import open_reviews
    from tui.session.result_import import ImportWish, read_results, store_results, with_stored_id

    runs, fix, is_faulty = [], "", False
    for file in files:
        try:
            runs.append(read_results(file, ImportWish(as_suite, suite), os.environ))
        except SuiteError as error:
            fix, is_faulty = fix or error.fix, True
            for problem in error.problems:
                say(str(problem))
    if is_faulty:
        say(f"Nothing was imported. {fix or 'Fix the errors listed above.'}")
        return 2
    with open_reviews(os.environ, note) as (store, reviews):
        for found in runs:
            imported = with_stored_id(found, store)
            is_new = store_results(imported, store, reviews, confirm_own_lines)
            plan = imported.plan
            say(f"run {plan.run_id}")
            for problem in imported.warnings:
                say(str(problem))
            known = "" if is_new else " (already imported)"
            say(
                f"{plan.suite.name}: {len(imported.results)} results of {len(plan.subjects)} models"
                f" in {len(plan.suite.cases)} cases{known}"
            )
    return 0
