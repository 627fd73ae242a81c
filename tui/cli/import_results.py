"""`assay import`: runs that Assay exported, and results of other tools, for comparison and scoring."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.review import confirm_own_lines, print_imported_scores
from tui.cli.streams import count_words, note, say
from tui.model.sanitize import sanitize_line

if TYPE_CHECKING:
    from tui.imports.imported import ImportedRun
    from tui.session.score_exchange import CheckedScores

MOST_MEMORY = 2 << 30
"""The most bytes of memory of the process while it reads files, whatever the limits of each kind of file allow."""


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

    runs: list[ImportedRun] = []
    fix, is_faulty = "", False
    for file in files:
        try:
            with _limited_memory(file, runs):
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
        checked: list[CheckedScores | None] = []
        for file, found in zip(files, runs, strict=True):
            with _limited_memory(file, checked):
                checked.append(check_scores(found, store, reviews, confirm_own_lines))
        for found, scores in zip(runs, checked, strict=True):
            imported = with_stored_id(found, store)
            stored = store_results(imported, store, scores, reviews.secrets)
            _print_run(imported, "" if stored.is_new else " (already imported)")
            if stored.scores is not None:
                print_imported_scores(stored.scores, "Lines of scores")
    return 0


@contextmanager
def _limited_memory(file: Path, held: list[Any]) -> Iterator[None]:
    """Free what is `held` and raise ConfigError for allocations beyond MOST_MEMORY, where the system can limit it."""
    from tui.model.errors import ConfigError

    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limits = [MOST_MEMORY, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_DATA, (min(limits), hard))
    try:
        yield
    except MemoryError:
        held.clear()
        what = f"reading it needs more than {MOST_MEMORY >> 20} MiB of memory"
        fix = "Nothing was imported. Import fewer files at a time, or smaller ones."
        raise ConfigError(what, where=str(file), fix=fix) from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _print_run(imported: "ImportedRun", known: str) -> None:
    plan = imported.plan
    say(f"run {plan.run_id}")
    for problem in imported.warnings:
        say(str(problem))
    answered = {result.trial.case for result in imported.results}
    counts = len(imported.results), len(plan.subjects), len(answered)
    results, models, cases = (count_words(*each) for each in zip(counts, ("result", "model", "case"), strict=True))
    say(f"{sanitize_line(plan.suite.name)}: {results} of {models} in {cases}{known}")
