"""`assay import`: runs that Assay exported, and results of other tools, for comparison and scoring."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui.cli.review import confirm_own_lines, print_imported_scores
from tui.cli.streams import count_words, note, say

if TYPE_CHECKING:
    from tui.imports.imported import ImportedRun


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

    Files are runs of `assay runs export`, results of `promptfoo eval -o FILE.json` or `.jsonl`, logs of Inspect,
    reports of pydantic-evals, logs of OpenAI's evals, or plain answers: CSV or JSON lines with case, model and answer,
    and optionally repeat, prompt, category, input_tokens, output_tokens and duration_ms. With --suite, plain answers
    are judged by that suite's checks.

    Imported runs work like any other run: reports, comparison, review. If one file cannot be read, nothing is imported.
    Importing the same file twice has no effect.
    """
    from tui.model.errors import SuiteError
    from tui.session.open_history import open_reviews
    from tui.session.result_import import (
        ImportOptions,
        check_scores,
        read_results,
        store_results,
        with_stored_id,
    )

    runs, fix, is_faulty = [], "", False
    for file in files:
        try:
            runs.append(read_results(file, ImportOptions(as_suite, suite), os.environ))
        except SuiteError as error:
            fix, is_faulty = fix or error.fix, True
            for problem in error.problems:
                say(str(problem))
    if is_faulty:
        say(f"Nothing was imported. {fix or 'Fix the errors listed above.'}")
        return 2
    with open_reviews(os.environ, note) as (store, reviews):
        # All questions first: nothing is stored while one waits for its answer.
        checked = [check_scores(found, store, reviews, confirm_own_lines) for found in runs]
        for found, scores in zip(runs, checked, strict=True):
            imported = with_stored_id(found, store)
            stored = store_results(imported, store, scores)
            _print_run(imported, "" if stored.is_new else " (already imported)")
            if stored.scores is not None:
                print_imported_scores(stored.scores, "Lines of scores")
    return 0


def _print_run(imported: "ImportedRun", known: str) -> None:
    plan = imported.plan
    say(f"run {plan.run_id}")
    for problem in imported.warnings:
        say(str(problem))
    counts = len(imported.results), len(plan.subjects), len(plan.suite.cases)
    results, models, cases = (count_words(*each) for each in zip(counts, ("result", "model", "case"), strict=True))
    say(f"{plan.suite.name}: {results} of {models} in {cases}{known}")
