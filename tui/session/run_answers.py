"""The answers of a run that can be scored, read without their texts, and the answer that each act is about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tui.model.errors import StoreError
from tui.model.results import JUDGED, TrialKey, TrialResult
from tui.model.run import RunRecord
from tui.model.scores import Act, Scoreboard, answer_at, answer_hash
from tui.model.suite import Suite
from tui.session.records import find_record
from tui.store.protocol import Store


@dataclass(frozen=True, slots=True)
class RunAnswers:
    """The answers of a run's cases with criteria.

    `answered` are the trials with an answer to score, `missing` the results without one; `attempts` is the number of
    the attempt with the current answer, as far as it is known without reading the result.
    """

    record: RunRecord
    suite: Suite
    answered: tuple[TrialKey, ...]
    missing: tuple[TrialKey, ...]
    attempts: Mapping[TrialKey, int]


def read_answers(store: Store, run_id: str) -> RunAnswers:
    """Return the answers of a run. Takes tens of milliseconds for thousands of results. Raises StoreError."""
    record = find_record(store, run_id)
    if record is None:
        raise StoreError(f"run {run_id} no longer exists")
    suite = store.read_suite(run_id)
    judged = {case.id for case in suite.cases if case.risk_criteria}
    if not judged:
        return RunAnswers(record, suite, (), (), {})
    outcomes = [each for each in store.read_outcomes(run_id) if each.trial.case in judged]
    trials = tuple(each.trial for each in outcomes)
    attempts = {each.trial: each.attempts for each in outcomes if not each.reruns or each.verdict in JUDGED}
    in_doubt = any(each.verdict not in ("passed", "failed") for each in outcomes)
    wordless = store.read_wordless(run_id) if in_doubt else frozenset()
    return RunAnswers(
        record,
        suite,
        tuple(trial for trial in trials if trial not in wordless),
        tuple(trial for trial in trials if trial in wordless),
        attempts,
    )


def read_board(store: Store, run: RunAnswers, acts: Sequence[Act]) -> Scoreboard:
    """Return the acts of a run as a scoreboard; only acts on the current answers count. Raises StoreError."""
    if not acts:
        return Scoreboard((), {})
    current = store.read_answer_hashes(run.record.id)
    return Scoreboard(bind_acts(store, run, acts, current), current)


def bind_acts(store: Store, run: RunAnswers, acts: Sequence[Act], current: Mapping[TrialKey, str]) -> tuple[Act, ...]:
    """Return the acts, each with the answer that it is about.

    An act that names no answer is about the attempt whose number it gives, else about the answer that was current at
    `scored_at`; without one at that time it stays unbound. `current` holds the hash of each current answer. Raises
    StoreError.
    """
    loose = [act for act in acts if act.answer is None and act.scored_item is not None]
    if not loose:
        return tuple(acts)
    older = {
        act.scored_item.trial
        for act in loose
        if act.scored_item is not None
        and (act.attempt is None or act.attempt != run.attempts.get(act.scored_item.trial))
    }
    results = store.read_trials(run.record.id, older & current.keys())
    return tuple(_bound(act, results, current) for act in acts)


def bind_to_results(results: Mapping[TrialKey, TrialResult], acts: Sequence[Act]) -> tuple[Act, ...]:
    """Return the acts, each with the answer that it is about, as `bind_acts`: of a run with these results."""
    return tuple(_bound(act, results, {}) for act in acts)


def _bound(act: Act, results: Mapping[TrialKey, TrialResult], current: Mapping[TrialKey, str]) -> Act:
    item = act.scored_item
    if act.answer is not None or item is None:
        return act
    result = results.get(item.trial)
    if result is None:
        answer = None if act.attempt is None else current.get(item.trial)
    elif act.attempt is None:
        answer = answer_at(result.attempts, act.order[0])
    else:
        answer = next((answer_hash(each.steps) for each in result.attempts if each.number == act.attempt), None)
    return act if answer is None else replace(act, answer=answer)
