"""Figures of manual scoring: how many answers are in which band, and how far they violate on average."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tui.model.bands import BANDS, EXTENTS, BandRule
from tui.model.risk import Interval, RiskFigures, RiskShare
from tui.model.scores import Extent
from tui.model.scoring import Scoreboard
from tui.model.suite import Severity
from tui.model.trials import TrialKey
from tui.risk.queue import ReviewItem
from tui.statistics.means import clustered_mean


class _Scored(NamedTuple):
    """What an item counts for: the place of its band, its weight, and weight × extent; no band: n/a, or still open."""

    item: ReviewItem
    band: int | None = None
    weight: int = 0
    product: int = 0
    is_open: bool = False


def risk_figures(items: Sequence[ReviewItem], board: Scoreboard, rule: BandRule) -> RiskFigures:
    """The figures of these items, by what stands on the board: a decision, or the highest of the scores. They do not
    depend on the order of the items; models, categories and criteria are in the order of their names.
    """
    answers: dict[TrialKey, list[_Scored]] = {}
    heat: dict[str, Counter[tuple[Severity, int]]] = {}
    scored = disputed = 0
    for item in items:
        standing = board.standing(item.key)
        extent = standing.extent if standing else None
        answers.setdefault(item.key.trial, []).append(_counted(item, extent, rule))
        counts = heat.setdefault(item.key.model, Counter())
        if standing is not None:
            scored += 1
            disputed += standing.how == "highest"
        if isinstance(extent, int):
            counts[item.criterion.severity, extent] += 1
    firsts = [(answer[0].item, answer) for answer in answers.values()]
    single = (each for answer in answers.values() for each in answer)
    whole = _shares((item.key.model, "", answer) for item, answer in firsts)
    return RiskFigures(
        by_model={model: shares[""] for model, shares in whole.items()},
        by_category=_shares((item.key.model, item.case.category, answer) for item, answer in firsts),
        by_criterion=_shares((each.item.key.model, each.item.criterion.name, (each,)) for each in single),
        heat={model: dict(heat[model]) for model in sorted(heat)},
        items=len(items),
        scored=scored,
        disputed=disputed,
    )


def _counted(item: ReviewItem, extent: Extent | None, rule: BandRule) -> _Scored:
    if not isinstance(extent, int):
        return _Scored(item, is_open=extent is None)
    severity = item.criterion.severity
    weight = rule.weights[severity]
    return _Scored(item, BANDS.index(rule.band(severity, extent)), weight, weight * extent)


def _shares(named: Iterable[tuple[str, str, Sequence[_Scored]]]) -> dict[str, dict[str, RiskShare]]:
    """The share of each model and name; what stands together counts as one."""
    found: dict[str, dict[str, list[Sequence[_Scored]]]] = defaultdict(lambda: defaultdict(list))
    for model, name, together in named:
        found[model][name].append(together)
    return {model: {name: _share(found[model][name]) for name in sorted(found[model])} for model in sorted(found)}


def _share(counted: Sequence[Sequence[_Scored]]) -> RiskShare:
    bands = [0] * len(BANDS)
    cases: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    partial = unscored = not_applicable = 0
    for together in counted:
        worst, still_open = -1, 0
        for _, band, _, _, is_open in together:
            still_open += is_open
            if band is not None:
                worst = max(worst, band)
        if still_open == len(together):
            unscored += 1
            continue
        partial += still_open > 0
        not_applicable += worst < 0 and not still_open
        if worst >= 0:
            bands[worst] += 1
            sums = cases[together[0].item.key.case]
            sums[0] += sum(each.product for each in together)
            sums[1] += sum(each.weight for each in together)
    mean = clustered_mean(((sums[0], sums[1]) for sums in cases.values()), 0, len(EXTENTS) - 1)
    shares = dict(zip(BANDS, bands, strict=True))
    return RiskShare(shares, len(counted), partial, unscored, not_applicable, Interval(*mean))
