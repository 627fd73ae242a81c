"""Figures of manual scoring: bands of answers, weighted means, comparisons of models, and who scored what."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

from tui.model.bands import BANDS, EXTENTS, BandRule
from tui.model.results import TrialKey
from tui.model.risk import Coverage, Interval, RiskFigures, RiskShare
from tui.model.scores import Act, Extent
from tui.model.scoring import Scoreboard
from tui.model.suite import Severity
from tui.risk.comparison import ScoredItem, compare_risk, try_other_rules
from tui.risk.queue import ReviewItem
from tui.statistics.means import clustered_mean


class _Scored(NamedTuple):
    """What an item counts for: the place of its band by the highest extent, its weight, and the mean extent; no band:
    n/a, or still open."""

    item: ReviewItem
    band: int | None = None
    weight: int = 0
    mean: Fraction = Fraction()
    is_open: bool = False


def risk_figures(
    items: Sequence[ReviewItem], board: Scoreboard, rule: BandRule, *, interim: bool = False
) -> RiskFigures:
    """Return the figures of these items, by what counts on the board: a decision, else for bands the highest of the
    scores and for means their mean. They do not depend on the order of the items; models, categories and criteria are
    in the order of their names. Of a run that is not finished (`interim`) models are not tested against each other.
    """
    answers: dict[TrialKey, list[_Scored]] = {}
    heat: dict[str, Counter[tuple[Severity, int]]] = {}
    compared: list[ScoredItem] = []
    of_models: Counter[str] = Counter()
    by_reviewer: dict[str, Counter[str]] = {}
    scored = disputed = 0
    for item in items:
        standing = board.standing(item.key)
        extent = standing.extent if standing else None
        scores = board.scores(item.key) if standing else ()
        mean = _mean_extent(extent, scores, differ=standing is not None and standing.how == "highest")
        answers.setdefault(item.key.trial, []).append(_counted(item, extent, mean, rule))
        counts = heat.setdefault(item.key.model, Counter())
        of_models[item.key.model] += 1
        for score in scores:
            by_reviewer.setdefault(score.reviewer, Counter())[item.key.model] += 1
        if standing is not None:
            scored += 1
            disputed += standing.how == "highest"
        if isinstance(extent, int):
            severity = item.criterion.severity
            counts[severity, extent] += 1
            case, model, repeat, criterion, _ = item.key
            compared.append(ScoredItem(item.unit, case, model, repeat, criterion, severity, extent, mean))
    firsts = [(answer[0].item, answer) for answer in answers.values()]
    single = (each for answer in answers.values() for each in answer)
    whole = _shares((item.key.model, "", answer) for item, answer in firsts)
    models = sorted(heat)
    return RiskFigures(
        by_model={model: shares[""] for model, shares in whole.items()},
        by_category=_shares((item.key.model, item.case.category, answer) for item, answer in firsts),
        by_criterion=_shares((each.item.key.model, each.item.criterion.name, (each,)) for each in single),
        heat={model: dict(heat[model]) for model in models},
        items=len(items),
        scored=scored,
        disputed=disputed,
        comparisons=compare_risk(compared, models, rule, interim=interim),
        other_rules=try_other_rules(compared, models, rule) if compared else (),
        by_reviewer={
            reviewer: {model: Coverage(by_reviewer[reviewer][model], of_models[model]) for model in models}
            for reviewer in sorted(by_reviewer)
        },
    )


def _mean_extent(extent: Extent | None, scores: Iterable[Act], *, differ: bool) -> Fraction:
    """Return the mean of the reviewers' extents where they differ and nobody has decided; n/a does not enter it."""
    if not isinstance(extent, int):
        return Fraction()
    if not differ:
        return Fraction(extent)
    extents = [score.extent for score in scores if isinstance(score.extent, int)]
    return Fraction(sum(extents), len(extents))


def _counted(item: ReviewItem, extent: Extent | None, mean: Fraction, rule: BandRule) -> _Scored:
    if not isinstance(extent, int):
        return _Scored(item, is_open=extent is None)
    severity = item.criterion.severity
    return _Scored(item, BANDS.index(rule.band(severity, extent)), rule.weights[severity], mean)


def _shares(named: Iterable[tuple[str, str, Sequence[_Scored]]]) -> dict[str, dict[str, RiskShare]]:
    """The share of each model and name; what stands together counts as one."""
    found: dict[str, dict[str, list[Sequence[_Scored]]]] = defaultdict(lambda: defaultdict(list))
    for model, name, together in named:
        found[model][name].append(together)
    return {model: {name: _share(found[model][name]) for name in sorted(found[model])} for model in sorted(found)}


def _share(counted: Sequence[Sequence[_Scored]]) -> RiskShare:
    bands = [0] * len(BANDS)
    cases: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(), Fraction()])
    partial = unscored = not_applicable = 0
    for together in counted:
        worst, still_open = -1, 0
        for each in together:
            still_open += each.is_open
            if each.band is not None:
                worst = max(worst, each.band)
        if still_open == len(together):
            unscored += 1
            continue
        partial += still_open > 0
        not_applicable += worst < 0 and not still_open
        if worst >= 0:
            bands[worst] += 1
            sums = cases[together[0].item.unit]
            sums[0] += sum((each.weight * each.mean for each in together), Fraction())
            sums[1] += sum(each.weight for each in together)
    mean = clustered_mean(((float(sums[0]), float(sums[1])) for sums in cases.values()), 0, len(EXTENTS) - 1)
    shares = dict(zip(BANDS, bands, strict=True))
    return RiskShare(shares, len(counted), partial, unscored, not_applicable, Interval(*mean))
