"""Import of runs into the history: those that Assay exported, and other tools' results."""

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tui.config.folders import find_folders
from tui.config.load import load_config
from tui.documents.files import NotRead, read_bytes
from tui.imports.imported import HEAD_BYTES, ImportedRun, kind_of_file
from tui.imports.inspect_log import read_inspect
from tui.imports.promptfoo import read_promptfoo
from tui.model.errors import ConfigError, Problem, SuiteError
from tui.model.run import KeptRun
from tui.model.secrets import Secrets
from tui.session.answer_import import read_answer_run
from tui.session.records import find_record
from tui.session.reviews import Reviews
from tui.session.run_files import content_of, read_run_file
from tui.session.run_history import later_run_id
from tui.store.protocol import Store

_AT_ONCE = 500
_TIME_DIGITS = 12  # of a run id


@dataclass(frozen=True, slots=True)
class ImportWish:
    """How files of results are imported: the name of the suite for results that have none, and a suite's file."""

    suite_name: str | None = None
    suite: Path | None = None


def read_results(path: Path, wish: ImportWish, environ: Mapping[str, str]) -> ImportedRun:
    """Read a file of results as a run, with known keys removed. Its content decides the kind of the file.

    Raises SuiteError with all problems, and ConfigError.
    """
    secrets = Secrets(load_config(find_folders(environ).config, environ).secrets.values())
    kind = kind_of_file(_head(path))
    if kind == "assay":
        return read_run_file(path, secrets, wish.suite)
    if kind == "answers-csv" or kind == "answers-lines":
        lines = kind == "answers-lines"
        return asyncio.run(read_answer_run(path, secrets, lines=lines, name=wish.suite_name, suite_file=wish.suite))
    if kind == "inspect":
        return read_inspect(path, wish.suite_name, secrets)
    return read_promptfoo(path, wish.suite_name, secrets, lines=kind == "promptfoo-lines")


def _head(path: Path) -> bytes:
    try:
        return read_bytes(path, HEAD_BYTES)[:HEAD_BYTES]
    except NotRead as error:
        problem = Problem(str(path), None, None, "error", "file", str(error))
        raise SuiteError("The results cannot be imported", [problem], where=str(path)) from error


def with_stored_id(imported: ImportedRun, store: Store) -> ImportedRun:
    """Return the run under the id that it is stored under, or under a new one. Raises StoreError."""
    if not imported.is_named_by_content:
        return imported
    end = imported.plan.run_id[_TIME_DIGITS:]
    known = (record.id for record in store.list_runs() if record.id.endswith(end))
    run_id = next(known, None) or later_run_id(store)[:_TIME_DIGITS] + end
    return replace(imported, plan=replace(imported.plan, run_id=run_id))


def store_results(
    imported: ImportedRun,
    store: Store,
    reviews: Reviews | None = None,
    confirm: Callable[[str, int], bool] | None = None,
) -> bool:
    """Store an imported run with its scores, and return whether the run is new.

    A run that is already stored stays as it is, unless it is a part of the imported one: an import that was
    interrupted, or a run that was resumed elsewhere. Its scores are added; `confirm` is asked before scores in the
    user's own name are. Raises ConfigError if another run has the same id, and StoreError.
    """
    run_id = imported.plan.run_id
    is_stored = find_record(store, run_id) is not None
    is_new = not is_stored or _is_continued(imported, store.read_run(run_id))
    if is_new:
        store.begin_run(imported.plan, imported.started_at, imported.versions)
        for start in range(0, len(imported.results), _AT_ONCE):
            store.save_trials(run_id, imported.results[start : start + _AT_ONCE])
        store.finish_run(run_id, imported.state, imported.finished_at)
    if imported.score_lines and reviews is not None:
        try:
            _add_scores(imported.score_lines, reviews, confirm)
        except ConfigError:
            if not is_stored:
                store.delete_run(run_id)
            raise
    return is_new


def _is_continued(imported: ImportedRun, kept: KeptRun) -> bool:
    """Return whether the imported run has results that are not stored. Raises ConfigError if the others differ."""
    if imported.is_named_by_content:
        return kept.record.state != "finished"
    known, given = ({result.trial for result in run.results} for run in (kept, imported))
    shared = [result for result in imported.results if result.trial in known]
    if content_of(kept.plan, [result for result in kept.results if result.trial in given]) != content_of(
        imported.plan, shared
    ):
        raise ConfigError(
            "Another run with this id is saved already, with other content",
            where=kept.record.id,
            fix="Delete it in the app (Runs, key D) to import this one.",
        )
    return len(shared) < len(imported.results) and kept.record.state != "finished"


def _add_scores(lines: str, reviews: Reviews, confirm: Callable[[str, int], bool] | None) -> None:
    with tempfile.TemporaryDirectory(prefix="assay-import-") as folder:
        file = Path(folder) / "scores.jsonl"
        file.write_text(lines, encoding="utf-8", newline="")
        reviews.import_files([file], confirm=confirm)
