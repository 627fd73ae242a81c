"""Which of two models does better on the same cases, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

from tui.model.trials import TrialResult
from tui.reports.bootstrap import paired_bootstrap
from tui.reports.statistics import adjust_holm, mcnemar_exact

Method = Literal["mcnemar-exact", "paired-bootstrap"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model `a` against model `b` over the cases for which both have a result.

    A win is a plain pass of `a` where `b` has none; with repeats, a greater share of plain passes among the case's
    results. Errors and everything else that is no plain pass count against a model.
    """

    a: str
    b: str
    win_cases: tuple[str, ...]
    loss_cases: tuple[str, ...]
    ties: int
    method: Method
    p_value: float
    p_holm: float

    @property
    def wins(self) -> int:
        """Cases that `a` does better."""
        return len(self.win_cases)

    @property
    def losses(self) -> int:
        """Cases that `b` does better."""
        return len(self.loss_cases)


def compare_models(results: Mapping[str, Sequence[TrialResult]]) -> tuple[Comparison, ...]:
    """Every pair of models, in the order of the models; `p_holm` is adjusted over all the pairs."""
    passes = {model: _passes(kept) for model, kept in results.items()}
    pairs = [_compare(a, b, passes[a], passes[b]) for a, b in combinations(results, 2)]
    adjusted = adjust_holm([pair.p_value for pair in pairs])
    return tuple(replace(pair, p_holm=p_holm) for pair, p_holm in zip(pairs, adjusted, strict=True))


Passes = dict[str, list[bool]]


def _passes(results: Sequence[TrialResult]) -> Passes:
    """For each case, whether each of its results is a plain pass."""
    passes: Passes = {}
    for result in results:
        passes.setdefault(result.trial.case, []).append(result.verdict == "passed" and not result.flaky)
    return passes


def _compare(a: str, b: str, ours: Passes, theirs: Passes) -> Comparison:
    differences = {
        case: sum(ours[case]) / len(ours[case]) - sum(theirs[case]) / len(theirs[case])
        for case in ours
        if case in theirs
    }
    wins = tuple(case for case, difference in differences.items() if difference > 0)
    losses = tuple(case for case, difference in differences.items() if difference < 0)
    ties = len(differences) - len(wins) - len(losses)
    if any(len(ours[case]) > 1 or len(theirs[case]) > 1 for case in differences):
        return Comparison(a, b, wins, losses, ties, "paired-bootstrap", paired_bootstrap([*differences.values()]), 1.0)
    return Comparison(a, b, wins, losses, ties, "mcnemar-exact", mcnemar_exact(len(wins), len(losses)), 1.0)
