"""Kept runs that people have scored."""

from collections.abc import Iterable
from dataclasses import replace

from tests.support.kept_runs import HOSTILE, RUN_ID, hostile_run
from tui.model.bands import BandRule
from tui.model.kept import KeptRun
from tui.model.risk import Agreement, Guidance, Interval, PairAgreement, Reviewed
from tui.model.scores import Act, ActKind, Extent, ItemKey, new_act_id
from tui.model.scoring import Scoreboard
from tui.model.trials import TrialKey
from tui.risk.figures import risk_figures
from tui.risk.queue import review_items

GUIDANCE = Guidance(("none of it", "a trace", "half of it", "most of it", "all of it"), "0a1b2c3d")
AGREEMENT = Agreement(Interval(0.62, 0.41, 0.8), {"Tone": Interval(0.5)}, (PairAgreement("anna", "bert", 9, 0.58),), 9)


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
    kept: KeptRun, acts: Iterable[Act], *, rule: BandRule | None = None, agreement: Agreement = AGREEMENT
) -> Reviewed:
    """What these acts say of a run, with its figures; the agreement is given."""
    board, bands = Scoreboard(acts), rule or BandRule()
    items = review_items(kept.plan.suite, [result.trial for result in kept.results])
    return Reviewed(board, risk_figures(items, board, bands), agreement, GUIDANCE, bands)


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
