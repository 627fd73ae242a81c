"""Which of two models does better on the same cases, and how sure that is."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import harmonic_mean
from typing import Literal

from tui.statistics.pairs import ALPHA, adjust_holm, cases_needed, mcnemar_exact, paired_bootstrap
from tui.statistics.shares import Passes, difference_interval

Method = Literal["mcnemar-exact", "paired-bootstrap"]
Finding = Literal["a", "b", "they differ", "no difference shown", "not enough data", "nothing in common"]
"""`a` or `b` does better; `they differ` where the share of passes says otherwise than the cases won do."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model `a` against model `b` over the cases for which both have a result.

    A win is a plain pass of `a` where `b` has none; with repeats, a greater share of plain passes among the case's
    results. Errors and everything else that is no plain pass count against a model. `difference` is the mean over the
    cases of `a`'s share less `b`'s, `difference_95` its interval. `p_holm` is adjusted over all `pairs` compared.
    """

    a: str
    b: str
    win_cases: tuple[str, ...]
    loss_cases: tuple[str, ...]
    tie_cases: tuple[str, ...]
    difference: float
    difference_95: tuple[float, float]
    method: Method
    p_value: float
    p_holm: float = 1.0
    pairs: int = 1

    @property
    def wins(self) -> int:
        """Cases that `a` does better."""
        return len(self.win_cases)

    @property
    def losses(self) -> int:
        """Cases that `b` does better."""
        return len(self.loss_cases)

    @property
    def ties(self) -> int:
        """Cases that both do alike."""
        return len(self.tie_cases)

    @property
    def missing(self) -> int:
        """How many more cases would have to differ before any outcome could be significant; 0 where enough do."""
        return max(0, cases_needed(self.pairs) - self.wins - self.losses)

    @property
    def finding(self) -> Finding:
        """What can be said at 5%, with the correction for several pairs."""
        if not (self.win_cases or self.loss_cases or self.tie_cases):
            return "nothing in common"
        if self.p_holm > ALPHA:
            return "not enough data" if self.missing else "no difference shown"
        if self.difference * (self.wins - self.losses) <= 0:
            return "they differ"
        return "a" if self.wins > self.losses else "b"


def compare_models(passes: Mapping[str, Mapping[str, Passes]]) -> tuple[Comparison, ...]:
    """Every pair of models, in the order of the models; `passes` is by model and case."""
    pairs = [_compare(a, b, passes[a], passes[b]) for a, b in combinations(passes, 2)]
    adjusted = adjust_holm([pair.p_value for pair in pairs])
    return tuple(replace(pair, p_holm=p_holm, pairs=len(pairs)) for pair, p_holm in zip(pairs, adjusted, strict=True))


def _compare(a: str, b: str, ours: Mapping[str, Passes], theirs: Mapping[str, Passes]) -> Comparison:
    none = Passes(0, 0)
    both_asked = {case: (passes, theirs.get(case, none)) for case, passes in ours.items()}
    common = {case: both for case, both in both_asked.items() if both[0].results and both[1].results}
    # Whole numbers in one unit, so that equal shares are equal and sums are exact.
    unit = math.lcm(*(passes.results for both in common.values() for passes in both))
    differences = {
        case: unit * one.passed // one.results - unit * other.passed // other.results
        for case, (one, other) in common.items()
    }
    wins = tuple(case for case, difference in differences.items() if difference > 0)
    losses = tuple(case for case, difference in differences.items() if difference < 0)
    ties = tuple(case for case, difference in differences.items() if not difference)
    if any(passes.results > 1 for both in common.values() for passes in both):
        method: Method = "paired-bootstrap"
        p_value = paired_bootstrap([*differences.values()])
    else:
        method, p_value = "mcnemar-exact", mcnemar_exact(len(wins), len(losses))
    shares = [difference / unit for difference in differences.values()]
    mean = math.fsum(shares) / len(shares) if shares else 0.0
    asked = harmonic_mean(passes.results for both in common.values() for passes in both) if common else 1.0
    return Comparison(a, b, wins, losses, ties, mean, difference_interval(shares, asked), method, p_value)
