"""The runs that `assay compare` and `assay trend` compare, from the history or from report files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui.imports.report_file import read_report_file
from tui.model.context import prompt_digest, sent_trials, wants_context
from tui.model.errors import ConfigError, StoreError
from tui.model.outcomes import Outcome, unchecked_cases
from tui.model.run import COMMIT, RunRecord
from tui.model.suite import SuiteCase, clusters_of, question_digest
from tui.session.recorded_cases import read_setup
from tui.session.records import find_record
from tui.session.run_history import Baselines
from tui.statistics.run_change import RunChange, RunResults, compare_runs, results_of
from tui.statistics.trend import Trend, trends
from tui.store.protocol import Store
from tui.store.writer import canonical_path

BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """A run, its base, and the change of each model that both have.

    `changed_cases` are those with another prompt, other files or other checks than in the base. Reports of earlier
    versions say nothing about that. The names in `changed_models` stand for other models than in the base.
    """

    run: RunResults
    base: RunResults
    models: tuple[RunChange, ...]
    changed_cases: tuple[str, ...] = ()
    changed_models: tuple[str, ...] = ()


def compare_stored(store: Store, data: Path, run: str, base: str, margin: float | None = None) -> ComparedRuns:
    """Compare a run with a base.

    Each is a run id, a prefix of one, `last`, or the path of a JSON report; the base may be `baseline`, the run that is
    marked so in the data folder. Raises ConfigError, StoreError and SuiteError.
    """
    now, record = _read(store, run)
    if base == BASELINE:
        base = _marked(store, data, record)
    before, _ = _read(store, base)
    clusters = before.clusters if now.clusters is None else now.clusters
    models = compare_runs(now, before, clusters, margin)
    if not models:
        raise ConfigError(
            f"The run and its base have no model in common ({_listed(now)}; base: {_listed(before)})",
            fix="Compare runs of the same models, or use `assay report` for models of one run.",
        )
    changed = tuple(case for case in now.questions if now.is_changed(case, before))
    redefined = tuple(each.model for each in models if now.is_redefined(each.model, before))
    return ComparedRuns(now, before, models, changed, redefined)


def read_trend(store: Store, suite_path: Path, models: Sequence[str] = ()) -> tuple[Trend, ...]:
    """Return the trends of the models, or of all, over the saved runs of the suite at this path.

    Raises ConfigError if there is none, and StoreError.
    """
    place = canonical_path(str(suite_path))
    records = [record for record in store.list_runs() if canonical_path(record.suite_file) == place]
    if not records:
        raise ConfigError("No saved run of this suite", where=str(suite_path), fix="`assay runs` lists saved runs.")
    found = trends([_results(store, record) for record in reversed(records)])
    if not found:
        what = "No run of this suite has a checked result"
        raise ConfigError(what, where=str(suite_path), fix="Run it again, with checks in its cases.")
    if unknown := [model for model in models if model not in {each.model for each in found}]:
        known = ", ".join(each.model for each in found)
        raise ConfigError(f"No checked result of {unknown[0]} in the runs of this suite", fix=f"Its models: {known}.")
    return tuple(each for each in found if not models or each.model in models)


def _read(store: Store, name: str) -> tuple[RunResults, RunRecord | None]:
    if name.endswith(".json") or "/" in name:
        return read_report_file(Path(name)), None
    run_id = store.find_run(name)
    record = find_record(store, run_id)
    if record is None:
        raise StoreError("The run was deleted", where=run_id)
    return _results(store, record), record


def _results(store: Store, record: RunRecord) -> RunResults:
    by_model: dict[str, list[Outcome]] = {model: [] for model in record.models}
    found = store.read_outcomes(record.id)
    for outcome in found:
        by_model.setdefault(outcome.trial.model, []).append(outcome)
    suite = store.read_suite(record.id)
    cases = suite.cases
    unchecked = unchecked_cases(cases, found)
    models = {model: results_of(outcomes, unchecked) for model, outcomes in by_model.items()}
    asked = {outcome.case for outcome in found}
    questions = {case.id: question_digest(SuiteCase(case, suite)) for case in cases if case.id in asked}
    finished, setup = record.state == "finished", read_setup(store, record.id)
    prompts = _digests_of_prompts(store, record.id, found) if wants_context(suite) else {}
    return RunResults(
        record.id,
        record.suite_name,
        record.started_at,
        finished,
        models,
        clusters_of(cases),
        questions,
        prompts,
        setup.definitions if setup is not None else {},
        setup.versions.get(COMMIT, "") if setup is not None else "",
        frozenset(case.id for case in cases),
    )


def _digests_of_prompts(store: Store, run_id: str, found: Sequence[Outcome]) -> dict[str, str]:
    """Return the digest of the first recorded prompt of each case with its files, whose content no suite contains."""
    trials = sent_trials(outcome.trial for outcome in found)
    results = {case: store.read_trial(run_id, trial) for case, trial in trials.items()}
    return {case: digest for case, result in results.items() if result and (digest := prompt_digest(result))}


def _marked(store: Store, data: Path, record: RunRecord | None) -> str:
    if record is None:
        raise ConfigError(f"Only a saved run has a {BASELINE}", fix="Pass the run's id instead of a report.")
    marked = Baselines(data / "baselines").of_suite(record.suite_file)
    if marked is None or find_record(store, marked) is None:
        what = f"No run of this suite is marked as {BASELINE}"
        raise ConfigError(what, where=record.suite_path, fix="Mark one in the app: Runs, key b. Or pass a run id.")
    return marked


def _listed(results: RunResults) -> str:
    names = list(results.models)
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "") if names else "none"
