"""Comparison of models by risk, and how the result depends on the band rule. Pure functions of scored extents."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from tui.model.risk import BANDS, EXTENTS, BandRule, OtherRule, RiskComparison, RiskConclusion
from tui.model.suite import Severity
from tui.statistics.means import MeanDifference, mean_difference
from tui.statistics.pairs import ALPHA, adjust_holm, adjust_holm_each, sign_flip, too_many_to_compare

_OPEN_END = 1e-5  # an interval that excludes 0 but would touch it ends here
_POWER = 0.8
_SMALLEST_UNIT = 1_000_000  # as a denominator
_GREATEST = len(EXTENTS) - 1
_GRAVE = BANDS.index("high")


class ScoredItem(NamedTuple):
    """One answer by one criterion, with the highest extent and the reviewers' mean extent.

    `unit` is what is resampled: the case, or its cluster.
    """

    unit: str
    case: str
    model: str
    repeat: int
    criterion: str
    severity: Severity
    highest: int
    mean: Fraction


class _Pair(NamedTuple):
    """The differences of two models: by case, and with the sum of the weights by unit; all over one denominator."""

    a: str
    b: str
    items: int
    differences: Mapping[str, int]
    units: Mapping[str, tuple[int, int]]
    denominator: int
    p_value: float

    @property
    def least_p(self) -> float:
        """The p-value if all units differed in favour of one model."""
        return min(1.0, 2.0 ** (1 - len(self.units)))


class _Item(NamedTuple):
    """What all answers to one criterion of a case have in common."""

    case: str
    unit: str
    weight: int


def compare_risk(
    scored: Iterable[ScoredItem], models: Sequence[str], rule: BandRule, *, interim: bool = False
) -> tuple[RiskComparison, ...]:
    """Compare every pair of models by the weighted mean extent over the items that both have scored, in model order.

    An unfinished run (`interim`) is not tested: repeated looks at a test find differences that do not exist. There are
    no comparisons if the models are too many to compare.
    """
    extents: dict[str, dict[tuple[str, str], list[Fraction]]] = {model: {} for model in models}
    items: dict[tuple[str, str], _Item] = {}
    for item in scored:
        extents[item.model].setdefault((item.case, item.criterion), []).append(item.mean)
        items[item.case, item.criterion] = _Item(item.case, item.unit, rule.weights[item.severity])
    if too_many_to_compare(len(models), len(items)):
        return ()
    weighted = {
        model: {
            key: items[key].weight * sum(found, Fraction()) / len(found)
            for key, found in sorted(of_model.items())
            if items[key].weight
        }
        for model, of_model in extents.items()
    }
    # Integers over one denominator, so that equality and sums are exact.
    denominator = math.lcm(*{value.denominator for of_model in weighted.values() for value in of_model.values()})
    if too_many_to_compare(len(models), len(items), denominator * max(rule.weights.values()) * _GREATEST):
        return ()
    by_model = {
        model: {key: value.numerator * (denominator // value.denominator) for key, value in of_model.items()}
        for model, of_model in weighted.items()
    }
    pairs = [_pair(a, b, by_model, items, denominator, test=not interim) for a, b in combinations(models, 2)]
    p_values = [pair.p_value for pair in pairs]
    adjusted, least = adjust_holm(p_values), adjust_holm_each(p_values, [pair.least_p for pair in pairs])
    return tuple(
        _conclude(pair, p_holm, len(pairs), interim, possible=least_p <= ALPHA)
        for pair, p_holm, least_p in zip(pairs, adjusted, least, strict=True)
    )


def _pair(
    a: str,
    b: str,
    extents: Mapping[str, Mapping[tuple[str, str], int]],
    items: Mapping[tuple[str, str], _Item],
    denominator: int,
    *,
    test: bool,
) -> _Pair:
    """Compare two models by their weighted extents of each case and criterion."""
    ours, theirs = extents[a], extents[b]
    differences: dict[str, int] = {}
    units: dict[str, tuple[int, int]] = {}
    common = [key for key in ours if key in theirs]
    for key in common:
        case, unit, weight = items[key]
        difference = ours[key] - theirs[key]
        differences[case] = differences.get(case, 0) + difference
        total, heavy = units.get(unit, (0, 0))
        units[unit] = total + difference, heavy + weight
    p_value = sign_flip(_whole([total for total, _ in units.values()], denominator)) if test else 1.0
    return _Pair(a, b, len(common), differences, units, denominator, p_value)


def _whole(totals: Sequence[int], denominator: int) -> list[int]:
    """Return the values as multiples of the greatest unit that divides all, but at least of a millionth."""
    unit = denominator // math.gcd(denominator, *totals)
    if unit <= _SMALLEST_UNIT:
        return [total * unit // denominator for total in totals]
    return [round(Fraction(total * _SMALLEST_UNIT, denominator)) for total in totals]


def _conclude(pair: _Pair, p_holm: float, pairs: int, interim: bool, *, possible: bool) -> RiskComparison:
    values = pair.differences.values()
    counts = (sum(each < 0 for each in values), sum(each > 0 for each in values), sum(not each for each in values))
    weight = sum(heavy for _, heavy in pair.units.values())
    value = sum(total for total, _ in pair.units.values()) / (pair.denominator * weight) if weight else None
    found = mean_difference([(total / pair.denominator, float(heavy)) for total, heavy in pair.units.values()])
    if interim or value is None or found is None:
        return RiskComparison(
            pair.a, pair.b, pair.items, *counts, value, "not_enough_data", pairs=pairs, interim=interim
        )
    level = ALPHA / pairs
    conclusion, ends = _conclusion(found, p_holm, level)
    if conclusion == "no_difference_shown" and not possible:
        conclusion = "not_enough_data"
    return RiskComparison(
        pair.a,
        pair.b,
        pair.items,
        *counts,
        value,
        conclusion,
        ends,
        pair.p_value,
        p_holm,
        found.detectable(_POWER, level) if possible else None,
        pairs,
    )


def _conclusion(found: MeanDifference, p_holm: float, level: float) -> tuple[RiskConclusion, tuple[float, float]]:
    """Return what the test concludes, and the interval, clipped to the scale and to the side of 0 that it concludes."""
    low, high = (max(-_GREATEST, min(end, _GREATEST)) for end in found.interval(level))
    if p_holm > ALPHA:
        return "no_difference_shown", (min(low, 0.0), max(high, 0.0))
    if found.value < 0:
        return "a_better", (min(low, -_OPEN_END), min(high, -_OPEN_END))
    return "b_better", (max(low, _OPEN_END), max(high, _OPEN_END))


def try_other_rules(scored: Sequence[ScoredItem], models: Sequence[str], rule: BandRule) -> tuple[OtherRule, ...]:
    """Return how other weights and other limits would change the bands and the order of the models.

    There are none if the models are too many to compare.
    """
    if too_many_to_compare(len(models), 1):
        return ()
    profile = _profile(scored)
    return tuple(_try_rule(name, other, profile, models, rule) for name, other in other_rules(rule).items())


def other_rules(rule: BandRule) -> dict[str, BandRule]:
    """Return the alternative rules by name.

    If the weights change, the limits keep their share of the greatest product.
    """
    severities, greatest = list(rule.weights), max(rule.weights.values())
    weights = {
        "steps 1, 2, 3, 4": dict(zip(severities, range(1, len(severities) + 1), strict=True)),
        "doubling 1, 2, 4, 8": {severity: 2**place for place, severity in enumerate(severities)},
        "equal weights": dict.fromkeys(severities, greatest),
    }
    found = {
        name: BandRule(each, tuple((band, limit * max(each.values()) // greatest) for band, limit in rule.limits))
        for name, each in weights.items()
    }
    first, *others = rule.limits
    for name, by in (("limits − 1", -1), ("limits + 1", 1)):
        found[name] = BandRule(rule.weights, (first, *((band, max(first[1], limit + by)) for band, limit in others)))
    return {name: other for name, other in found.items() if other != rule}


class _Profile(NamedTuple):
    """The input of a rule.

    For each answer, as (model, case, repeat), the severities with their highest extents; for each model and severity
    the sum of the extents and their number.
    """

    answers: Mapping[tuple[str, str, int], frozenset[tuple[Severity, int]]]
    extents: Mapping[tuple[str, Severity], tuple[Fraction, int]]


def _profile(scored: Iterable[ScoredItem]) -> _Profile:
    answers: dict[tuple[str, str, int], set[tuple[Severity, int]]] = {}
    counts: Counter[tuple[str, Severity, Fraction]] = Counter()
    for item in scored:
        answers.setdefault((item.model, item.case, item.repeat), set()).add((item.severity, item.highest))
        counts[item.model, item.severity, item.mean] += 1
    extents: dict[tuple[str, Severity], tuple[Fraction, int]] = {}
    for (model, severity, extent), count in counts.items():
        total, number = extents.get((model, severity), (Fraction(), 0))
        extents[model, severity] = total + count * extent, number + count
    return _Profile({answer: frozenset(found) for answer, found in answers.items()}, extents)


def _try_rule(name: str, other: BandRule, profile: _Profile, models: Sequence[str], rule: BandRule) -> OtherRule:
    now, then = _worst(profile, rule), _worst(profile, other)
    moved = [then[answer] - band for answer, band in now.items()]
    return OtherRule(
        name,
        other,
        len(now),
        sum(each > 0 for each in moved),
        sum(each < 0 for each in moved),
        _reversed_pairs(_means(profile, rule), _means(profile, other), models),
        _reversed_pairs(_high_shares(now), _high_shares(then), models),
    )


def _worst(profile: _Profile, rule: BandRule) -> dict[tuple[str, str, int], int]:
    """Return the index of each answer's band."""
    pairs = {pair for found in profile.answers.values() for pair in found}
    places = {(severity, extent): BANDS.index(rule.band(severity, extent)) for severity, extent in pairs}
    return {answer: max(places[pair] for pair in found) for answer, found in profile.answers.items()}


def _means(profile: _Profile, rule: BandRule) -> dict[str, Fraction]:
    sums: dict[str, tuple[Fraction, int]] = {}
    for (model, severity), (extent, number) in profile.extents.items():
        total, heavy = sums.get(model, (Fraction(), 0))
        weight = rule.weights[severity]
        sums[model] = total + weight * extent, heavy + weight * number
    return {model: total / heavy for model, (total, heavy) in sums.items() if heavy}


def _high_shares(worst: Mapping[tuple[str, str, int], int]) -> dict[str, Fraction]:
    """Return the share of answers in a band of high or critical, by model."""
    counts: dict[str, tuple[int, int]] = {}
    for (model, _, _), band in worst.items():
        grave, answers = counts.get(model, (0, 0))
        counts[model] = grave + (band >= _GRAVE), answers + 1
    return {model: Fraction(grave, answers) for model, (grave, answers) in counts.items()}


def _reversed_pairs(
    now: Mapping[str, Fraction], then: Mapping[str, Fraction], models: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of models whose order is reversed, as (the lower one now, the higher one now)."""
    ranks, ranks_then = _ranks(now), _ranks(then)
    there = [(model, ranks[now[model]], ranks_then[then[model]]) for model in models if model in now and model in then]
    return tuple(
        (a, b) if a_now < b_now else (b, a)
        for (a, a_now, a_then), (b, b_now, b_then) in combinations(there, 2)
        if (a_now - b_now) * (a_then - b_then) < 0
    )


def _ranks(values: Mapping[str, Fraction]) -> dict[Fraction, int]:
    """Return the places of the values in their order: comparing these takes a tenth of the time."""
    return {value: place for place, value in enumerate(sorted(set(values.values())))}
