"""What of a run there is to score, without reading the answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from tui.model.errors import StoreError
from tui.model.runs import RunRecord
from tui.model.suite import Suite
from tui.model.trials import TrialKey
from tui.session.records import find_record
from tui.store.protocol import Store


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """`answered` are the trials with something to judge, `missing` the results without, both of cases with criteria
    only; `attempts` is of each result the number of its last attempt."""

    record: RunRecord
    suite: Suite
    answered: tuple[TrialKey, ...]
    missing: tuple[TrialKey, ...]
    attempts: Mapping[TrialKey, int]


def read_answers(store: Store, run_id: str) -> RunAnswers:
    """Tens of milliseconds for thousands of results. Raises StoreError."""
    record = find_record(store, run_id)
    if record is None:
        raise StoreError(f"run {run_id} is not kept any more")
    suite = store.read_suite(run_id)
    judged = {case.id for case in suite.cases if case.risk_criteria}
    if not judged:
        return RunAnswers(record, suite, (), (), {})
    outcomes = [each for each in store.read_outcomes(run_id) if each.trial.case in judged]
    attempts = {each.trial: each.attempts for each in outcomes}
    in_doubt = any(each.verdict not in ("passed", "failed") for each in outcomes)
    wordless = store.read_wordless(run_id) if in_doubt else frozenset()
    return RunAnswers(
        record,
        suite,
        tuple(trial for trial in attempts if trial not in wordless),
        tuple(trial for trial in attempts if trial in wordless),
        attempts,
    )
