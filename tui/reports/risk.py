"""What a report tells of manual risk scoring: the rule, and each criterion with its scores."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tui.model.suite import Case, RiskCriterion
from tui.model.trials import TrialResult
from tui.model.values import JsonObject
from tui.reports.wording import Reported

NOT_SCORED = "not scored yet"


@dataclass(frozen=True, slots=True)
class Judged:
    """A criterion of a case, and for each answer its scores in the order in which they were given."""

    case: Case
    criterion: RiskCriterion
    answers: tuple[tuple[TrialResult, tuple[JsonObject, ...]], ...]


def judged(run: Reported) -> Iterator[Judged]:
    """Every criterion of every case that has results, in the suite's order."""
    by_case: dict[str, list[TrialResult]] = {}
    for result in run.kept.results:
        by_case.setdefault(result.trial.case, []).append(result)
    for case_id, results in by_case.items():
        case = run.cases.get(case_id)
        for criterion in case.risk_criteria if case else ():
            answers = tuple((result, _scores(run, result, criterion)) for result in results)
            if case:
                yield Judged(case, criterion, answers)


def score_words(score: Mapping[str, object]) -> str:
    """A score on one line, with its note."""
    said = f"extent {score.get('extent')}, band {score.get('band')} ({score.get('reviewer')})"
    return f"{said}: {score['note']}" if score.get("note") else said


def _scores(run: Reported, result: TrialResult, criterion: RiskCriterion) -> tuple[JsonObject, ...]:
    return tuple(score for score in run.scores.get(result.trial, ()) if score.get("criterion") == criterion.name)
