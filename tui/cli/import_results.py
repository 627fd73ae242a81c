"""`assay import`: results of promptfoo, to compare and score here."""

import os
from pathlib import Path

import click

from tui.cli.streams import say


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--as-suite", metavar="NAME", help="What to call the suite; else as the evaluation is described.")
def import_results(files: tuple[Path, ...], as_suite: str | None) -> int:
    """Keep evaluations that `promptfoo eval -o FILE.json` wrote as runs, for reports, comparing and scoring.

    Nothing is kept unless all files can be read; a file that was imported before adds nothing.
    """
    from tui.model.errors import SuiteError
    from tui.session.open_history import open_history
    from tui.session.result_import import read_results, store_results

    runs, fix = [], ""
    for file in files:
        try:
            runs.append(read_results(file, as_suite, os.environ))
        except SuiteError as error:
            fix = error.fix or "Mend what is said above."
            for problem in error.problems:
                say(str(problem))
    if fix:
        say(f"Nothing was imported. {fix}")
        return 2
    with open_history(os.environ) as store:
        for imported in runs:
            is_new = store_results(imported, store)
            plan = imported.plan
            say(f"run {plan.run_id}")
            for problem in imported.warnings:
                say(str(problem))
            known = "" if is_new else " (imported before; nothing was added)"
            say(
                f"{plan.suite.name}: {len(imported.results)} results of {len(plan.subjects)} models"
                f" in {len(plan.suite.cases)} cases{known}"
            )
    return 0
