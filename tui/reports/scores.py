"""The scores of each answer of a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tui.model.results import TrialKey
from tui.model.risk import BANDS, Band, BandRule, Reviewed
from tui.model.scores import Act, CountedScore, Extent, ItemKey
from tui.model.suite import Case, RiskCriterion, Severity
from tui.model.values import JsonObject


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer by one criterion.

    `severity` is None if the suite has no (or no longer a) criterion of that name; then there is no band. `scores`
    are the current ones, by reviewer.
    """

    name: str
    severity: Severity | None
    scores: tuple[Act, ...] = ()
    decision: Act | None = None
    counted: CountedScore | None = None
    band: Band | None = None


class RunScores:
    """The scores of a run by trial; without `reviewed` it is empty, with the default rule."""

    def __init__(self, reviewed: Reviewed | None, cases: Mapping[str, Case]) -> None:
        self.reviewed = reviewed
        self.rule = reviewed.rule if reviewed else BandRule()
        self._cases = cases
        self._judged: dict[TrialKey, tuple[Judged, ...]] = {}
        self._of_case: dict[str, tuple[Judged, ...]] = {}
        self._strangers: dict[TrialKey, list[str]] = {}
        for item in reviewed.board.items if reviewed else ():
            case = cases.get(item.case)
            if case is None or item.criterion not in {criterion.name for criterion in case.risk_criteria}:
                self._strangers.setdefault(item.trial, []).append(item.criterion)

    def of_trial(self, trial: TrialKey) -> tuple[Judged, ...]:
        """Return each criterion of the case in the suite's order, scored or not, then other scored criteria."""
        if self.reviewed is None:  # the same for all answers of a case
            if trial.case not in self._of_case:
                self._of_case[trial.case] = self._judge_all(trial)
            return self._of_case[trial.case]
        found = self._judged.get(trial)
        if found is None:
            found = self._judged[trial] = self._judge_all(trial)
        return found

    def _judge_all(self, trial: TrialKey) -> tuple[Judged, ...]:
        case = self._cases.get(trial.case)
        known = [self._judge(trial, each.name, each) for each in (case.risk_criteria if case else ())]
        others = [self._judge(trial, name, None) for name in self._strangers.get(trial, ())]
        return (*known, *(each for each in others if each.scores or each.decision))

    def band(self, trial: TrialKey) -> Band | None:
        """Return the worst band of the criteria scored so far."""
        return worst(each.band for each in self.of_trial(trial))

    def band_of(self, severity: Severity | None, extent: Extent | None) -> Band | None:
        """Return the rule's band, or None for n/a."""
        return self.rule.band(severity, extent) if severity and isinstance(extent, int) else None

    def _judge(self, trial: TrialKey, name: str, criterion: RiskCriterion | None) -> Judged:
        severity = criterion.severity if criterion else None
        if self.reviewed is None:
            return Judged(name, severity)
        board, item = self.reviewed.board, item_of(trial, name)
        counted = board.counted(item)
        band = self.band_of(severity, counted.extent) if counted else None
        return Judged(name, severity, board.scores(item), board.decision(item), counted, band)


def item_of(trial: TrialKey, criterion: str) -> ItemKey:
    """Return the key under which a trial's answer is scored."""
    return ItemKey(*trial, criterion)


def worst(bands: Iterable[Band | None]) -> Band | None:
    """Return the worst of the bands, ignoring None."""
    found = [BANDS.index(band) for band in bands if band]
    return BANDS[max(found)] if found else None


def score_object(scores: RunScores, judged: Judged, act: Act) -> JsonObject:
    """Return a current score or a decision as in the JSON report; the band of n/a is null."""
    return {
        "criterion": judged.name,
        "severity": judged.severity,
        "extent": act.extent,
        "band": scores.band_of(judged.severity, act.extent),
        "note": act.note,
        "reviewer": act.reviewer,
        "scored_at": act.scored_at,
    }


def score_words(scores: RunScores, judged: Judged, act: Act) -> str:
    """Return a score on one line, with its note: `extent 2, band low (anna): a bit curt`."""
    band = scores.band_of(judged.severity, act.extent)
    text = f"extent {act.extent}" + (f", band {band}" if band else "") + f" ({act.reviewer})"
    return f"{text}: {act.note}" if act.note else text


def describe_scores(scores: RunScores, trial: TrialKey) -> list[str]:
    """Return every current score and every decision of an answer, a line each."""
    return [
        f"{judged.name}: {'decided, ' if act is judged.decision else ''}{score_words(scores, judged, act)}"
        for judged in scores.of_trial(trial)
        for act in (*judged.scores, *((judged.decision,) if judged.decision else ()))
    ]
