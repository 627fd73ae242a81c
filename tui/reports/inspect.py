"""Export of scores to Inspect (inspect_ai): JSON lines for its scorer `precomputed_scores`.

Inspect's logs are of one model each, so a file is of one model too. Each line is one answer: `id` is the case,
`epoch` the repeat, `value` the number that determines the answer's band (the greatest weight × extent of its
criteria, 0 to 16 by the default weights; lower is better), `explanation` the scores in words, `metadata` everything
that the value was computed from.
"""

from typing import Any

from tui.model.results import TrialResult
from tui.model.risk import Reviewed
from tui.model.run import KeptRun
from tui.reports.json_text import json_text
from tui.reports.scores import Judged, RunScores, describe_scores, score_object, worst
from tui.reports.summary import cases_of


def render_inspect(kept: KeptRun, reviewed: Reviewed, model: str) -> str:
    """Return a line for each answer of the model that has a band.

    Answers without a score, or with n/a only, have no band and stay unscored in Inspect. It reads the lines from a
    file whose name ends in `.jsonl`.
    """
    scores = RunScores(reviewed, cases_of(kept))
    lines = (_line(result, scores, kept.record.id) for result in kept.results if result.trial.model == model)
    return "".join(f"{json_text(line)}\n" for line in lines if line is not None)


def _line(result: TrialResult, scores: RunScores, run: str) -> dict[str, Any] | None:
    trial, judged = result.trial, scores.of_trial(result.trial)
    products = [_product(scores, each) for each in judged]
    counted = [product for product in products if product is not None]
    if not counted or scores.reviewed is None:
        return None
    return {
        "id": trial.case,
        "epoch": trial.repeat,
        "value": max(counted),
        "explanation": "\n".join(describe_scores(scores, trial)),
        "metadata": {
            "run": run,
            "model": trial.model,
            "band": worst(each.band for each in judged),
            "criteria": [_criterion(scores, each) for each in judged],
            "open": [each.name for each in judged if each.counted is None],
            "guidance": scores.reviewed.guidance.version,
        },
    }


def _product(scores: RunScores, judged: Judged) -> int | None:
    if judged.severity is None or judged.counted is None or not isinstance(judged.counted.extent, int):
        return None
    return scores.rule.weights[judged.severity] * judged.counted.extent


def _criterion(scores: RunScores, judged: Judged) -> dict[str, Any]:
    return {
        "criterion": judged.name,
        "severity": judged.severity,
        "extent": judged.counted.extent if judged.counted else None,
        "band": judged.band,
        "how": judged.counted.how if judged.counted else None,
        "scores": [score_object(scores, judged, act) for act in judged.scores],
        "decision": score_object(scores, judged, judged.decision) if judged.decision else None,
    }
