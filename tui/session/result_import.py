"""Import of runs into the history: those that Assay exported, and other tools' results."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tui.checks.assertions import Answer
from tui.checks.checker import Checker
from tui.config.folders import find_folders
from tui.config.load import load_config
from tui.documents.files import NotRead, read_bytes
from tui.imports.imported import HEAD_BYTES, FileKind, ImportedRun, kind_of_file
from tui.imports.inspect_log import read_inspect
from tui.imports.openai_evals import read_openai_evals
from tui.imports.promptfoo import read_promptfoo
from tui.imports.pydantic_evals import read_pydantic_evals
from tui.model.errors import ConfigError, Problem, SuiteError
from tui.model.results import CheckResult, StepResult, TrialResult
from tui.model.run import KeptRun
from tui.model.secrets import Secrets
from tui.model.suite import ASSERTION, RUN_KINDS, Check, Step
from tui.session.answer_import import read_answer_run
from tui.session.context import without_secrets
from tui.session.outgoing_runs import (
    changed_hashes,
    plan_without_known_keys,
    results_without_known_keys,
    without_known_keys,
)
from tui.session.records import find_record
from tui.session.reviews import Reviews
from tui.session.run_files import content_of, read_run_file
from tui.session.run_history import later_run_id
from tui.session.score_exchange import ArrivingRun, CheckedScores, Imported, OwnLines
from tui.store.protocol import Store

_AT_ONCE = 500
_TIME_DIGITS = 12  # of a run id


_READERS: Mapping[FileKind, Callable[[Path, str | None, Secrets], ImportedRun]] = {
    "inspect": read_inspect,
    "pydantic-evals": read_pydantic_evals,
    "openai-evals": read_openai_evals,
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How files of results are imported: the name of the suite for results that have none, and a suite's file."""

    suite_name: str | None = None
    suite: Path | None = None


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What an import has stored: whether the run is new or has new results, and its scores if there are any."""

    is_new: bool
    scores: Imported | None = None


def read_results(path: Path, options: ImportOptions, environ: Mapping[str, str]) -> ImportedRun:
    """Read a file of results as a run, with known keys removed. Its content decides the kind of the file.

    Raises SuiteError with all problems, and ConfigError.
    """
    secrets = Secrets(load_config(find_folders(environ).config, environ).secrets.values())
    imported = _read(path, options, secrets)
    imported = replace(imported, plan=without_secrets(imported.plan, secrets))
    if not secrets.values:
        return imported
    # The readers have removed what is in the texts of the file: some put numbers into texts, or texts together.
    results = results_without_known_keys(imported.results, secrets.hide)
    later = changed_hashes(imported.results, results)
    return replace(
        imported,
        plan=plan_without_known_keys(imported.plan, secrets.hide),
        results=results,
        changed_hashes={**later, **{old: later.get(new, new) for old, new in imported.changed_hashes.items()}},
    )


def _read(path: Path, options: ImportOptions, secrets: Secrets) -> ImportedRun:
    kind = kind_of_file(_head(path))
    if kind == "assay":
        return read_run_file(path, secrets, options.suite)
    if kind == "answers-csv" or kind == "answers-lines":
        lines = kind == "answers-lines"
        return asyncio.run(
            read_answer_run(path, secrets, lines=lines, name=options.suite_name, suite_file=options.suite)
        )
    if kind == "report":
        problem = Problem(str(path), None, None, "error", "file", "is a JSON report of Assay, not a run")
        fix = "To write a file that can be imported, run `assay runs export RUN`."
        raise SuiteError("The results cannot be imported", [problem], where=str(path), fix=fix)
    if reader := _READERS.get(kind):
        return reader(path, options.suite_name, secrets)
    return compare_verdicts(read_promptfoo(path, options.suite_name, secrets, lines=kind == "promptfoo-lines"))


def compare_verdicts(imported: ImportedRun) -> ImportedRun:
    """Return a run whose assertions have the places that they match, with a warning if some have another result here.

    What was recorded is kept: other versions and other settings of the tool decide some answers in another way.
    """
    different: Counter[str] = Counter()
    results = asyncio.run(_compared_results(imported, different))
    if not different:
        return replace(imported, results=results)
    what = (
        f"{different.total():,} recorded results differ from Assay's own, and stay as recorded: "
        f"{', '.join(f'{kind.removeprefix(ASSERTION)} {number:,}' for kind, number in different.most_common())}"
    )
    warning = Problem(imported.plan.suite.path, None, None, "warning", "assertions", what)
    return replace(imported, results=results, warnings=(*imported.warnings, warning))


async def _compared_results(imported: ImportedRun, different: Counter[str]) -> tuple[TrialResult, ...]:
    steps = {case.id: case.steps for case in imported.plan.suite.cases}
    checker = Checker()
    try:
        return tuple(
            [await _compared(result, steps[result.trial.case], different, checker) for result in imported.results]
        )
    finally:
        await checker.close()


async def _compared(
    result: TrialResult, steps: Sequence[Step], different: Counter[str], checker: Checker
) -> TrialResult:
    attempt = result.attempts[0]
    if len(attempt.steps) != len(steps):
        return result
    pairs = zip(attempt.steps, steps, strict=True)
    compared = tuple([await _compared_step(*pair, different, checker) for pair in pairs])
    return replace(result, attempts=(replace(attempt, steps=compared),))


async def _compared_step(found: StepResult, step: Step, different: Counter[str], checker: Checker) -> StepResult:
    if not any(check.kind.startswith(ASSERTION) for check in found.checks) or len(found.checks) != len(step.checks):
        return found
    usage = found.usage
    answer = Answer(
        found.response,
        duration_ms=found.timing.duration_ms or None,
        cost_usd=found.cost_usd,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        finish_reason=found.finish_reason,
    )
    pairs = tuple(zip(found.checks, step.checks, strict=True))
    is_same = [_is_same_assertion(*pair) for pair in pairs]
    # All at once: the time for the checks of an answer is limited.
    decided = iter(
        await checker.decide([check for check, same in zip(step.checks, is_same, strict=True) if same], answer)
    )
    checks = []
    for (recorded, check), same in zip(pairs, is_same, strict=True):
        spans = recorded.spans
        if same:
            own = next(decided)
            if own.state == recorded.state:
                spans = own.spans
            elif own.state != "timed_out":
                different[check.kind] += 1
        checks.append(replace(recorded, spans=spans))
    return replace(found, checks=tuple(checks))


def _is_same_assertion(recorded: CheckResult, check: Check) -> bool:
    is_decided = check.kind.startswith(ASSERTION) and check.kind not in RUN_KINDS
    return is_decided and (recorded.kind, recorded.target) == (check.kind, check.target)


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


def check_scores(
    imported: ImportedRun, store: Store, reviews: Reviews, confirm: OwnLines | None = None
) -> CheckedScores | None:
    """Check the scores of an exported run before it is stored; None if it has none.

    `confirm` is asked before scores in the user's own name are accepted. Nothing is stored, so that an answer may take
    any time: other programs may use the run meanwhile. Raises ConfigError if another run has the same id or a score
    cannot be imported, and StoreError.
    """
    if not imported.is_exported:
        return None
    run_id = imported.plan.run_id
    results = {result.trial: result for result in imported.results}
    if find_record(store, run_id) is not None:
        kept = store.read_run(run_id)
        _is_continued(imported, kept, reviews.secrets)
        results |= {result.trial: result for result in kept.results}
    if imported.scores is None:
        return None
    arriving = ArrivingRun(imported.plan, results, imported.scores, imported.changed_hashes)
    return reviews.check_files((), confirm=confirm, arriving=arriving)


def store_results(
    imported: ImportedRun, store: Store, scores: CheckedScores | None = None, secrets: Secrets | None = None
) -> StoredRun:
    """Store an imported run with its checked scores.

    A run that is already stored stays as it is, unless it is a part of the imported one: an import that was
    interrupted, or a run that was resumed elsewhere. A result that is already stored is never replaced. A stored run
    that left Assay without the known `secrets` is the same. Raises ConfigError if another run has the same id, and
    StoreError.
    """
    run_id = imported.plan.run_id
    is_new = find_record(store, run_id) is None or _is_continued(imported, store.read_run(run_id), secrets or Secrets())
    if is_new:
        store.begin_run(imported.plan, imported.started_at, imported.versions)
        # Only now no other program can add to the run.
        known = {outcome.trial for outcome in store.read_outcomes(run_id)}
        missing = [result for result in imported.results if result.trial not in known]
        for start in range(0, len(missing), _AT_ONCE):
            store.save_trials(run_id, missing[start : start + _AT_ONCE])
        is_joined = not known <= {result.trial for result in imported.results}
        state = "finished" if is_joined and store.is_complete(run_id) else imported.state
        store.finish_run(run_id, state, imported.finished_at)
    return StoredRun(is_new, None if scores is None else scores.merge())


def _is_continued(imported: ImportedRun, kept: KeptRun, secrets: Secrets) -> bool:
    """Return whether the imported run has results that are not stored, or was finished elsewhere.

    Raises ConfigError if the others differ.
    """
    is_open = kept.record.state != "finished"
    if not imported.is_exported:
        # The same content; an earlier version of Assay may have made other checks of it.
        return is_open and (len(kept.results) < len(imported.results) or imported.state == "finished")
    known, given = ({result.trial for result in run.results} for run in (kept, imported))
    shared = [result for result in imported.results if result.trial in known]
    content = content_of(imported.plan, shared)

    def is_same(run: KeptRun) -> bool:
        return content_of(run.plan, [result for result in run.results if result.trial in given]) == content

    if not is_same(kept) and not (secrets.values and is_same(without_known_keys(kept, secrets))):
        raise ConfigError(
            "Another run with this id is saved already, with other content",
            where=kept.record.id,
            fix="Delete it in the app (Runs, key D) to import this one.",
        )
    return is_open and (len(shared) < len(imported.results) or imported.state == "finished")
