"""Comparing the pass rates of two models on the same cases, with a test and an interval."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

from tui.statistics.pairs import ALPHA, adjust_holm, adjust_holm_each, mcnemar_exact, sign_flip, too_many_to_compare
from tui.statistics.power import detectable_difference, detectable_mean
from tui.statistics.shares import (
    Differences,
    Passes,
    difference_interval,
    shrunk,
    skewed_interval,
    units_of,
    within_units,
)

Method = Literal["mcnemar-exact", "sign-flip"]
Conclusion = Literal["a_better", "b_better", "equivalent", "no_difference_shown", "not_enough_data"]
OPEN_END = 1e-5
"""The end of an interval that ends at 0 but excludes it: a thousandth of a point beside 0."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of models `a` and `b` over the cases of which both have results.

    A win is a plain pass of `a` where `b` has none; with repeats, a greater share of plain passes among the case's
    results. `difference` is the mean over the cases of `a`'s share of passes minus `b`'s, which is the difference of
    their pass rates if each case was run equally often. The test and the interval count independent `units`: cases, or
    clusters of cases.

    `p_holm` is adjusted over all `pairs` of the report (Holm 1979), `difference_95` is simultaneous over them, and the
    two agree: the interval excludes 0 if and only if `p_holm` is at most 0.05. `detectable` is the difference that
    these cases show in 80% of runs at the level of the first step of Holm's procedure, None if there are too few. While
    a run is not finished (`interim`) p-values and the interval are None and there is not enough data, because repeated
    testing would find differences that do not exist. Without a common checked case `difference` is None as well.
    """

    a: str
    b: str
    win_cases: tuple[str, ...]
    loss_cases: tuple[str, ...]
    tie_cases: tuple[str, ...]
    units: int
    method: Method
    difference: float | None
    conclusion: Conclusion
    detectable: float | None = None
    difference_95: tuple[float, float] | None = None
    p_value: float | None = None
    p_holm: float | None = None
    pairs: int = 1
    margin: float | None = None
    interim: bool = False

    @property
    def wins(self) -> int:
        """The number of cases in which `a` is better."""
        return len(self.win_cases)

    @property
    def losses(self) -> int:
        """The number of cases in which `b` is better."""
        return len(self.loss_cases)

    @property
    def ties(self) -> int:
        """The number of cases in which both are equal."""
        return len(self.tie_cases)

    @property
    def common(self) -> int:
        """The number of cases of which both have results."""
        return self.wins + self.losses + self.ties

    @property
    def better(self) -> str | None:
        """The better model, or None if no difference is shown."""
        return {"a_better": self.a, "b_better": self.b}.get(self.conclusion)

    def turned(self) -> "Comparison":
        """Return the same comparison seen from the second model: differences change their sign."""
        conclusion: Conclusion = self.conclusion
        if conclusion in ("a_better", "b_better"):
            conclusion = "b_better" if conclusion == "a_better" else "a_better"
        return replace(
            self,
            a=self.b,
            b=self.a,
            win_cases=self.loss_cases,
            loss_cases=self.win_cases,
            difference=None if self.difference is None else -self.difference,
            difference_95=None if self.difference_95 is None else (-self.difference_95[1], -self.difference_95[0]),
            conclusion=conclusion,
        )


class _Pair(NamedTuple):
    a: str
    b: str
    win_cases: tuple[str, ...]
    loss_cases: tuple[str, ...]
    tie_cases: tuple[str, ...]
    method: Method
    differences: Differences
    p_value: float

    @property
    def least_p(self) -> float:
        """The p-value if all units differed in favour of one model."""
        return min(1.0, 2.0 ** (1 - len(self.differences.sums)))


def compare_models(
    passes: Mapping[str, Mapping[str, Passes]],
    clusters: Mapping[str, str] | None = None,
    *,
    margin: float | None = None,
    interim: bool = False,
) -> tuple[Comparison, ...]:
    """Return the comparison of every pair of models, in the order of the models.

    `passes` is by model and case; `clusters` maps cases to the cluster that they belong to; differences within `margin`
    (0 to 1) count as equivalent; `interim` is true for a run that is not finished. There are none if the models are
    too many to compare.
    """
    repeats = {each.results for cases in passes.values() for each in cases.values() if each.results}
    if too_many_to_compare(len(passes), max(map(len, passes.values()), default=0), math.lcm(*repeats)):
        return ()
    clusters = clusters or {}
    sides = [_Side.of(model, cases, clusters) for model, cases in passes.items()]
    pairs = [_pair(a, b, clusters, test=not interim) for a, b in combinations(sides, 2)]
    p_values = [pair.p_value for pair in pairs]
    adjusted, least = adjust_holm(p_values), adjust_holm_each(p_values, [pair.least_p for pair in pairs])
    mixed = any(p_holm <= ALPHA for p_holm in adjusted) and not all(p_holm <= ALPHA for p_holm in adjusted)
    compared = (
        _conclude(pair, p_holm, len(pairs), least_p <= ALPHA, margin, mixed)
        for pair, p_holm, least_p in zip(pairs, adjusted, least, strict=True)
    )
    return tuple(_interim(each) if interim else each for each in compared)


def is_shown_not_worse(
    ours: Mapping[str, Passes],
    theirs: Mapping[str, Passes],
    clusters: Mapping[str, str] | None = None,
    *,
    margin: float,
) -> bool:
    """Return whether `ours` is shown not to be worse than `theirs` by `margin` (0 to 1) or more.

    The 95% interval of the difference, and the one that allows for few differing units, lie above `-margin`. Without a
    margin `ours` has to be shown better.
    """
    clusters = clusters or {}
    pair = _pair(_Side.of("ours", ours, clusters), _Side.of("theirs", theirs, clusters), clusters, test=True)
    if not pair.differences.sums:
        return False
    shown = _conclude(pair, pair.p_value, 1, True, None, False)
    if shown.conclusion == "a_better" or shown.difference_95 is None:
        return shown.conclusion == "a_better"
    return -margin < min(shown.difference_95[0], skewed_interval(pair.differences, ALPHA)[0])


class _Side(NamedTuple):
    """The cases of one model that have results, and what every pair with this model needs of them.

    `numbers` are the different numbers of results of a case.
    """

    model: str
    cases: Mapping[str, Passes]
    numbers: frozenset[int]
    within: float

    @classmethod
    def of(cls, model: str, passes: Mapping[str, Passes], clusters: Mapping[str, str]) -> "_Side":
        cases = {case: each for case, each in passes.items() if each.results}
        numbers = frozenset(each.results for each in cases.values())
        return cls(model, cases, numbers, within_units(units_of(cases, clusters)))

    def shared(self, common: Sequence[str], clusters: Mapping[str, str]) -> "_Side":
        """Return the part of some of the cases."""
        if len(common) == len(self.cases):
            return self
        return self.of(self.model, {case: self.cases[case] for case in common}, clusters)


def _pair(a: _Side, b: _Side, clusters: Mapping[str, str], *, test: bool) -> _Pair:
    common = [case for case in a.cases if case in b.cases]
    a, b = a.shared(common, clusters), b.shared(common, clusters)
    # Integers over one denominator, so that equal shares are equal and sums are exact.
    measure = math.lcm(*a.numbers, *b.numbers)
    wins, losses, ties = list[str](), list[str](), list[str]()
    sums, sizes = dict[tuple[bool, str], int](), dict[tuple[bool, str], int]()
    for case in common:
        ours, theirs = a.cases[case], b.cases[case]
        difference = measure * ours.passed // ours.results - measure * theirs.passed // theirs.results
        (wins if difference > 0 else losses if difference else ties).append(case)
        unit = (True, clusters[case]) if case in clusters else (False, case)
        sums[unit] = sums.get(unit, 0) + difference
        sizes[unit] = sizes.get(unit, 0) + 1
    once = measure == 1 and len(sums) == len(common)
    p_value = 1.0
    if test:
        p_value = mcnemar_exact(len(wins), len(losses)) if once else sign_flip([*sums.values()])
    shares = Differences(
        [total / measure for total in sums.values()], [*sizes.values()], 1.0 if once else max(a.within, b.within)
    )
    method: Method = "mcnemar-exact" if once else "sign-flip"
    return _Pair(a.model, b.model, tuple(wins), tuple(losses), tuple(ties), method, shares, p_value)


def _conclude(pair: _Pair, p_holm: float, pairs: int, possible: bool, margin: float | None, mixed: bool) -> Comparison:
    difference, level = pair.differences.mean, ALPHA / pairs
    if not pair.differences.sums:
        return Comparison(
            pair.a, pair.b, (), (), (), 0, pair.method, None, "not_enough_data", pairs=pairs, margin=margin
        )
    # Holm's procedure spends all of the 5% on the pairs that are not shown to differ, where there are some: the
    # intervals of the others get half of their part, so that all together still hold in about 95% of runs.
    low, high = difference_interval(pair.differences, level / 2 if mixed and p_holm <= ALPHA else level)
    conclusion: Conclusion = "no_difference_shown"
    if p_holm <= ALPHA:
        conclusion = "a_better" if difference > 0 else "b_better"
        low, high = (
            (max(low, OPEN_END), max(high, OPEN_END)) if difference > 0 else (min(low, -OPEN_END), min(high, -OPEN_END))
        )
    else:
        low, high = min(low, 0.0), max(high, 0.0)
        if not possible:
            conclusion = "not_enough_data"
        elif margin is not None and _is_within(pair.differences, low, high, margin, level):
            # Two one-sided tests (Schuirmann 1987), each at half the level, so that they agree with the interval shown.
            conclusion = "equivalent"
    return Comparison(
        pair.a,
        pair.b,
        pair.win_cases,
        pair.loss_cases,
        pair.tie_cases,
        len(pair.differences.sums),
        pair.method,
        difference,
        conclusion,
        _detectable(pair, level) if possible else None,
        (low, high),
        pair.p_value,
        p_holm,
        pairs,
        margin,
    )


def _is_within(differences: Differences, low: float, high: float, margin: float, level: float) -> bool:
    """Return whether the shown interval, and the one that allows for few differing units, lie within the margin."""
    skewed = skewed_interval(differences, level)
    return -margin < min(low, skewed[0]) and max(high, skewed[1]) < margin


def _detectable(pair: _Pair, level: float) -> float | None:
    differing, cases = len(pair.win_cases) + len(pair.loss_cases), len(pair.differences.sums)
    if pair.method == "mcnemar-exact":
        return detectable_difference(cases, differing / cases, alpha=level)
    # What was seen says too little of the variance where few units differ. A larger difference needs units that do, and
    # is shown no sooner than in single results of which none contradicts: as many as the units say by `within`.
    results = math.floor(cases / pair.differences.within)
    least = detectable_difference(results, 0.0, alpha=level)
    _, error, freedom = shrunk(pair.differences)
    return None if least is None else max(least, detectable_mean(error, freedom, alpha=level))


def _interim(comparison: Comparison) -> Comparison:
    """Return the comparison without a test and an interval."""
    return replace(
        comparison, conclusion="not_enough_data", difference_95=None, p_value=None, p_holm=None, interim=True
    )
