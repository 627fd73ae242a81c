"""Figures of manual scoring: bands of answers, weighted means, comparisons of models, and counts by reviewer."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tui.model.results import TrialKey
from tui.model.risk import (
    BANDS,
    EXTENTS,
    Agreement,
    BandRule,
    Coverage,
    Interval,
    NaDisagreement,
    OwnAgreement,
    PairAgreement,
    RiskFigures,
    RiskShare,
    ScoredAnswer,
)
from tui.model.scores import Act, Extent, ItemKey, ReviewItem, Scoreboard
from tui.model.suite import Severity
from tui.risk.comparison import ScoredItem, compare_risk, try_other_rules
from tui.statistics.agreement import ordinal_alpha, weighted_kappa
from tui.statistics.means import clustered_mean


class _Scored(NamedTuple):
    """The value of an item: the index of its band by the highest extent, its weight and the mean extent.

    Without a band it is n/a, or still open.
    """

    item: ReviewItem
    band: int | None = None
    weight: int = 0
    mean: Fraction = Fraction()
    is_open: bool = False


@dataclass(slots=True)
class _Counts:
    """What is counted while the items are gone through once; `answers` has the items of each trial, `by_reviewer` how
    many items of each model a reviewer has scored, out of those in `of_models`."""

    answers: dict[TrialKey, list[_Scored]] = field(default_factory=dict)
    heat: dict[str, Counter[tuple[Severity, int]]] = field(default_factory=dict)
    compared: list[ScoredItem] = field(default_factory=list)
    of_models: Counter[str] = field(default_factory=Counter)
    by_reviewer: dict[str, Counter[str]] = field(default_factory=dict)
    scored: int = 0
    disputed: int = 0

    def add(self, item: ReviewItem, board: Scoreboard, rule: BandRule) -> None:
        """Count an item, by what counts for it on the board."""
        case, model, repeat, criterion, _ = item.key
        counted = board.counted(item.key)
        extent = counted.extent if counted else None
        scores = board.scores(item.key) if counted else ()
        mean = _mean_extent(extent, scores, differ=counted is not None and counted.how == "highest")
        self.answers.setdefault(item.key.trial, []).append(_counted(item, extent, mean, rule))
        heat = self.heat.setdefault(model, Counter())
        self.of_models[model] += 1
        for score in scores:
            self.by_reviewer.setdefault(score.reviewer, Counter())[model] += 1
        if counted is not None:
            self.scored += 1
            self.disputed += counted.how == "highest"
        if isinstance(extent, int):
            severity = item.criterion.severity
            heat[severity, extent] += 1
            self.compared.append(ScoredItem(item.unit, case, model, repeat, criterion, severity, extent, mean))


def risk_figures(
    items: Sequence[ReviewItem], board: Scoreboard, rule: BandRule, *, interim: bool = False
) -> RiskFigures:
    """Return the figures of these items from the scores that count on the board.

    A decision counts first; otherwise bands use the highest score and means the mean of the scores. The order of the
    items does not matter; models, categories and criteria are sorted by name. Models of an unfinished run (`interim`)
    are not tested against each other.
    """
    counts = _Counts()
    for item in items:
        counts.add(item, board, rule)
    firsts = [(answer[0].item, answer) for answer in counts.answers.values()]
    single = (each for answer in counts.answers.values() for each in answer)
    whole = _shares((item.key.model, "", answer) for item, answer in firsts)
    models = sorted(counts.heat)
    return RiskFigures(
        by_model={model: shares[""] for model, shares in whole.items()},
        by_category=_shares((item.key.model, item.case.category, answer) for item, answer in firsts),
        by_criterion=_shares((each.item.key.model, each.item.criterion.name, (each,)) for each in single),
        heat={model: dict(counts.heat[model]) for model in models},
        items=len(items),
        scored=counts.scored,
        disputed=counts.disputed,
        comparisons=compare_risk(counts.compared, models, rule, interim=interim),
        other_rules=try_other_rules(counts.compared, models, rule) if counts.compared else (),
        by_reviewer={
            reviewer: {model: Coverage(of_reviewer[model], counts.of_models[model]) for model in models}
            for reviewer, of_reviewer in sorted(counts.by_reviewer.items())
        },
    )


def _mean_extent(extent: Extent | None, scores: Iterable[Act], *, differ: bool) -> Fraction:
    """Return the mean of the reviewers' extents if they differ without a decision; n/a is left out."""
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
    """Return the share of each model and name; items of the same group count as one."""
    found: dict[str, dict[str, list[Sequence[_Scored]]]] = defaultdict(lambda: defaultdict(list))
    for model, name, together in named:
        found[model][name].append(together)
    return {model: {name: _share(found[model][name]) for name in sorted(found[model])} for model in sorted(found)}


def _share(counted: Sequence[Sequence[_Scored]]) -> RiskShare:
    bands = [0] * len(BANDS)
    cases: dict[str, list[Fraction]] = defaultdict(lambda: [Fraction(), Fraction()])
    partial = unscored = not_applicable = 0
    for together in counted:
        worst, still_open = _worst(together), sum(each.is_open for each in together)
        if still_open == len(together):
            unscored += 1
            continue
        partial += still_open > 0
        not_applicable += worst < 0 and not still_open
        if worst >= 0:
            bands[worst] += 1
            sums, (total, weights) = cases[together[0].item.unit], _weighted(together)
            sums[0] += total
            sums[1] += weights
    mean = clustered_mean(((float(sums[0]), float(sums[1])) for sums in cases.values()), 0, len(EXTENTS) - 1)
    shares = dict(zip(BANDS, bands, strict=True))
    return RiskShare(shares, len(counted), partial, unscored, not_applicable, Interval(*mean))


def _worst(together: Sequence[_Scored]) -> int:
    """Return the index of the worst band of these items, -1 without one."""
    return max((each.band for each in together if each.band is not None), default=-1)


def _weighted(together: Sequence[_Scored]) -> tuple[Fraction, int]:
    """Return the sum of the extents times their weights, and the sum of the weights."""
    return sum((each.weight * each.mean for each in together), Fraction()), sum(each.weight for each in together)


def scored_answers(
    items: Sequence[ReviewItem], board: Scoreboard, rule: BandRule, numbers: Mapping[TrialKey, int]
) -> tuple[ScoredAnswer, ...]:
    """Return each answer with its band and mean, as in the figures; `numbers` are their places in a queue."""
    counts = _Counts()
    for item in items:
        counts.add(item, board, rule)
    return tuple(_answer(trial, together, board, numbers) for trial, together in counts.answers.items())


def _answer(
    trial: TrialKey, together: Sequence[_Scored], board: Scoreboard, numbers: Mapping[TrialKey, int]
) -> ScoredAnswer:
    worst, (total, weights) = _worst(together), _weighted(together)
    case = together[0].item.case
    return ScoredAnswer(
        trial,
        case.title,
        numbers.get(trial),
        BANDS[worst] if worst >= 0 else None,
        float(total / weights) if weights else None,
        sum(not each.is_open for each in together),
        len(together),
        len({score.reviewer for each in together for score in board.scores(each.item.key)}),
    )


@dataclass(slots=True)
class _Units:
    """The ratings of one criterion: the case (or its cluster) and the extents of each unit, and the use of n/a."""

    cases: list[str] = field(default_factory=list)
    extents: list[list[int]] = field(default_factory=list)
    rated: int = 0
    split: int = 0

    @property
    def on_na(self) -> NaDisagreement:
        return NaDisagreement(self.split, self.rated)


def agreement(items: Sequence[ReviewItem], board: Scoreboard) -> Agreement:
    """Return the agreement over these items by the scores that count now, without decisions.

    n/a is a missing rating, and disagreement on n/a is counted separately. The order of the items does not matter;
    criteria and reviewers are sorted by name.
    """
    found: dict[str, _Units] = defaultdict(_Units)
    reviewers: set[str] = set()
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    cases: set[str] = set()
    for item in items:
        scores = [score for score in board.scores(item.key) if score.extent is not None]
        reviewers.update(score.reviewer for score in scores)
        given = [(score.reviewer, score.extent) for score in scores if isinstance(score.extent, int)]
        units = found[item.criterion.name]
        units.cases.append(item.unit)
        units.extents.append([extent for _, extent in given])
        units.rated += len(scores) > 1
        if len(given) > 1:
            cases.add(item.key.trial.case)
        units.split += 0 < len(given) < len(scores)
        for (a, ours), (b, theirs) in combinations(given, 2):
            pairs[a, b].append((ours, theirs))
    overall = _joined(found.values())
    alpha = ordinal_alpha(overall.extents, overall.cases)
    return Agreement(
        overall=Interval(*alpha[:3]),
        by_criterion={name: _interval(found[name]) for name in sorted(found)},
        pairs=tuple(
            PairAgreement(a, b, len(pairs[a, b]), weighted_kappa(pairs[a, b]))
            for a, b in combinations(sorted(reviewers), 2)
        ),
        units=alpha.units,
        cases=len(cases),
        clusters=alpha.cases if alpha.cases < len(cases) else 0,
        on_na=overall.on_na,
        on_na_by_criterion={name: found[name].on_na for name in sorted(found)},
        own=_own_agreement(board, {item.key: item.unit for item in items}),
    )


def _own_agreement(board: Scoreboard, units: Mapping[ItemKey, str]) -> tuple[OwnAgreement, ...]:
    """Return each reviewer's agreement with themselves; their second ratings are used nowhere else."""
    pairs: dict[str, list[tuple[str, Extent, Extent]]] = defaultdict(list)
    for key in board.scored_again:
        if key.first not in units:
            continue
        for again in board.scores(key):
            before = board.score_before(again)
            if board.is_blind(again) and again.extent is not None and before is not None and before.extent is not None:
                pairs[again.reviewer].append((units[key.first], before.extent, again.extent))
    return tuple(_own(reviewer, pairs[reviewer]) for reviewer in sorted(pairs))


def _own(reviewer: str, pairs: Sequence[tuple[str, Extent, Extent]]) -> OwnAgreement:
    rated = [(case, one, two) for case, one, two in pairs if isinstance(one, int) and isinstance(two, int)]
    return OwnAgreement(
        reviewer,
        len(pairs),
        len(rated),
        sum(one == two for _, one, two in rated),
        sum(abs(one - two) <= 1 for _, one, two in rated),
        sum(isinstance(one, int) != isinstance(two, int) for _, one, two in pairs),
        Interval(*ordinal_alpha([(one, two) for _, one, two in rated], [case for case, _, _ in rated])[:3]),
    )


def _interval(units: _Units) -> Interval:
    return Interval(*ordinal_alpha(units.extents, units.cases)[:3])


def _joined(found: Iterable[_Units]) -> _Units:
    whole = _Units()
    for units in found:
        whole.cases += units.cases
        whole.extents += units.extents
        whole.rated += units.rated
        whole.split += units.split
    return whole
