"""`assay import`: results of promptfoo, for comparison and scoring."""

import os
from pathlib import Path

import click

from tui.cli.streams import note, say


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--as-suite", metavar="NAME", help="Suite name (default: the description of the evaluation).")
def import_results(files: tuple[Path, ...], as_suite: str | None) -> int:
    """Import results of `promptfoo eval -o FILE.json` as saved runs.

    Imported runs work like any other run: reports, comparison, review. If one file cannot be read, nothing is imported.
    Importing the same file twice has no effect.
    """
    from tui.model.errors import SuiteError
    from tui.session.open_history import open_history
    from tui.session.result_import import read_results, store_results

    runs, fix = [], ""
    for file in files:
        try:
            runs.append(read_results(file, as_suite, os.environ))
        except SuiteError as error:
            fix = error.fix or "Fix the errors listed above."
            for problem in error.problems:
                say(str(problem))
    if fix:
        say(f"Nothing was imported. {fix}")
        return 2
    with open_history(os.environ, note) as store:
        for imported in runs:
            is_new = store_results(imported, store)
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
