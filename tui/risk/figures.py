"""Figures of manual scoring: how many answers are in which band, and how far they violate on average."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from tui.model.bands import BANDS, EXTENTS, Band, BandRule
from tui.model.risk import Interval, RiskFigures, RiskShare
from tui.model.scores import Extent
from tui.model.scoring import Scoreboard
from tui.model.suite import Severity
from tui.model.trials import TrialKey
from tui.risk.queue import ReviewItem
from tui.statistics.means import clustered_mean

_Scored = tuple[ReviewItem, Extent | None]
"""An item with the extent that counts; None: not scored yet."""


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
        answers.setdefault(item.key.trial, []).append((item, extent))
        counts = heat.setdefault(item.key.model, Counter())
        if standing is not None:
            scored += 1
            disputed += standing.how == "highest"
        if isinstance(extent, int):
            counts[item.criterion.severity, extent] += 1
    firsts = [(answer[0][0], answer) for answer in answers.values()]
    each = [item for answer in answers.values() for item in answer]
    whole = _shares(((first.key.model, "", answer) for first, answer in firsts), rule)
    return RiskFigures(
        by_model={model: shares[""] for model, shares in whole.items()},
        by_category=_shares(((first.key.model, first.case.category, answer) for first, answer in firsts), rule),
        by_criterion=_shares(((item.key.model, item.criterion.name, [(item, extent)]) for item, extent in each), rule),
        heat={model: dict(heat[model]) for model in sorted(heat)},
        items=len(items),
        scored=scored,
        disputed=disputed,
    )


def _shares(named: Iterable[tuple[str, str, list[_Scored]]], rule: BandRule) -> dict[str, dict[str, RiskShare]]:
    """The share of each model and name; what is counted is what stands together in a list."""
    found: dict[str, dict[str, list[list[_Scored]]]] = defaultdict(lambda: defaultdict(list))
    for model, name, together in named:
        found[model][name].append(together)
    return {model: {name: _share(found[model][name], rule) for name in sorted(found[model])} for model in sorted(found)}


def _share(counted: Sequence[Sequence[_Scored]], rule: BandRule) -> RiskShare:
    bands: dict[Band, int] = dict.fromkeys(BANDS, 0)
    cases: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    partial = unscored = not_applicable = 0
    for together in counted:
        extents = [(item, extent) for item, extent in together if isinstance(extent, int)]
        still_open = sum(extent is None for _, extent in together)
        if still_open == len(together):
            unscored += 1
            continue
        partial += still_open > 0
        if extents:
            bands[max((rule.band(item.criterion.severity, extent) for item, extent in extents), key=BANDS.index)] += 1
        else:
            not_applicable += not still_open
        for item, extent in extents:
            weight, sums = rule.weights[item.criterion.severity], cases[item.key.case]
            sums[0] += weight * extent
            sums[1] += weight
    mean = clustered_mean(((sums[0], sums[1]) for sums in cases.values()), 0, len(EXTENTS) - 1)
    return RiskShare(bands, len(counted), partial, unscored, not_applicable, Interval(*mean))
