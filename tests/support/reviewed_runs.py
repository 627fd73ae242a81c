"""Kept runs that people have scored."""

from collections.abc import Iterable
from dataclasses import replace

from tests.support.kept_runs import HOSTILE, RUN_ID, hostile_run, keep, make_case, make_plan, make_result
from tui.model.results import TrialKey, TrialResult
from tui.model.risk import Agreement, BandRule, Guidance, Interval, PairAgreement, Reviewed
from tui.model.run import KeptRun
from tui.model.scores import Act, ActKind, Extent, ItemKey, Scoreboard, new_act_id
from tui.model.suite import RiskCriterion
from tui.risk.figures import agreement as agreement_of
from tui.risk.figures import risk_figures
from tui.risk.queue import review_items

MODELS = ("openai/mock-a", "local/mock-b", "local/mock-c")
GUIDANCE = Guidance(("none of it", "a trace", "half of it", "most of it", "all of it"), "0a1b2c3d")


def act(
    trial: TrialKey,
    criterion: str,
    extent: Extent | None,
    *,
    reviewer: str = "anna",
    note: str = "",
    kind: ActKind = "score",
    at: str = "2026-11-20T12:00:00+00:00",
    blind: bool = True,
) -> Act:
    """One act of a reviewer."""
    item = ItemKey(*trial, criterion)
    return Act(kind, new_act_id(), RUN_ID, item, extent, note, reviewer, at, blind, GUIDANCE.version, 1, 7, 4_000)


def review(
    kept: KeptRun, acts: Iterable[Act], *, rule: BandRule | None = None, agreement: Agreement | None = None
) -> Reviewed:
    """What these acts say of a run, with its figures, and the agreement that they show or that is given."""
    board, bands = Scoreboard(acts), rule or BandRule()
    items = review_items(kept.plan.suite, [result.trial for result in kept.results if result.has_answer])
    found = agreement or agreement_of(items, board)
    return Reviewed(board, risk_figures(items, board, bands), found, GUIDANCE, bands)


def scored_run() -> KeptRun:
    """Three models × six cases with two criteria each: passes, failures, an answer without text, a trial that was not
    run."""
    criteria = (RiskCriterion("SQL injection", "Values are bound", "critical"), RiskCriterion("Tone", "Polite", "low"))
    cases = [make_case(f"case-{number}", criteria=criteria) for number in range(1, 6)] + [make_case("case-6")]
    plan = make_plan(cases, MODELS)
    results = []
    for key in plan.trials[:-1]:
        result = make_result(key, "failed" if key.model == MODELS[2] and key.case < "case-4" else "passed")
        results.append(wordless(result) if key == TrialKey("case-5", MODELS[2]) else result)
    return keep(plan, results)


def wordless(result: TrialResult) -> TrialResult:
    """The same, broken, and without a word."""
    step = replace(result.attempts[-1].steps[0], response="", checks=())
    attempt = replace(result.attempts[-1], verdict="error", error="empty answer", steps=(step,))
    return replace(result, verdict="error", error="empty answer", attempts=(attempt,))


def scored_acts() -> list[Act]:
    """Anna scores nearly everything blind, Bert the first three cases with names in view; they differ on two items of
    the first case, one of which is decided."""
    acts = [
        act(TrialKey(f"case-{number}", model), criterion, (number + place) % 3 if model == MODELS[2] else 0)
        for number in range(1, 5)
        for model in MODELS
        for place, criterion in enumerate(("SQL injection", "Tone"))
    ]
    bert = [
        replace(each, id=new_act_id(), reviewer="bert", blind=False)
        for each in acts
        if each.item and each.item.case < "case-4"
    ]
    first, second = ItemKey("case-1", MODELS[0], 1, "SQL injection"), ItemKey("case-1", MODELS[1], 1, "SQL injection")
    bert = [replace(each, extent=4, note="joins text") if each.item in (first, second) else each for each in bert]
    return [*acts, *bert, act(first.trial, "SQL injection", 3, reviewer="chair", note="as Bert", kind="adjudicate")]


def hostile_review(text: str = HOSTILE) -> Reviewed:
    """Two people who differ about the first answer of the hostile run and a decision about the second, with the text in
    every field that is text."""
    kept = hostile_run(text)
    first, second, third = kept.plan.trials
    acts = (
        act(first, text, 3, reviewer=text, note=text),
        act(first, text, 1, reviewer=f"={text}", note=text),
        act(second, text, 4, reviewer=text, note=text),
        act(second, text, 2, reviewer=f"@{text}", note=text, kind="adjudicate"),
        act(third, text, "n/a", reviewer=text, note=text),
        act(third, f"not a criterion {text}", 2, reviewer=text, note=text),
    )
    alpha = Interval(0.5, 0.1, 0.9)
    agreement = Agreement(alpha, {text: alpha}, (PairAgreement(text, f"={text}", 2, 0.4),), 2)
    reviewed = review(kept, (replace(each, guidance=text) for each in acts), agreement=agreement)
    return replace(reviewed, guidance=Guidance((text,) * 5, text))
