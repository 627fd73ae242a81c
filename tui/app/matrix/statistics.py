"""The statistics of the matrix, computed in a thread: figures of each model, comparisons of pairs, and changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tui.app.matrix.baseline import Baseline, change_of
from tui.app.matrix.cells import ModelTotals
from tui.app.presentation.cells import Cell
from tui.model.outcomes import unchecked_cases
from tui.model.suite import Case, clusters_of
from tui.statistics.run_figures import ModelFigures, figures_of

if TYPE_CHECKING:
    from tui.statistics.comparison import Comparison


class Since(NamedTuple):
    """The number of cases in which a model does better, and worse, than in the baseline, of those `compared`."""

    better: int = 0
    worse: int = 0
    compared: int = 0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of the results at one moment.

    `cases` are those of the suite; `interim` marks the results of an unfinished run.
    """

    totals: Mapping[str, ModelTotals]
    cells: Mapping[tuple[str, str], Cell]
    baseline: Baseline | None
    cases: Sequence[Case] = ()
    interim: bool = False


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of a snapshot; `since` is None without a baseline."""

    figures: Mapping[str, ModelFigures] = field(default_factory=dict)
    pairs: tuple["Comparison", ...] = ()
    since: Mapping[str, Since] | None = None

    def pair(self, chosen: tuple[str, str] | None) -> "Comparison | None":
        """Return the comparison of the chosen pair, else of the two models with the greatest pass rates."""
        if chosen is None:
            chosen = self._best()
        return next((pair for pair in self.pairs if {pair.a, pair.b} == set(chosen)), None) if chosen else None

    def _best(self) -> tuple[str, str] | None:
        """Return the two models with the greatest pass rates; ties are in the order of the columns."""
        rates = [(model, rate) for model, each in self.figures.items() if (rate := each.tally.pass_rate) is not None]
        best = sorted(rates, key=lambda named: -named[1])[:2]
        return (best[0][0], best[1][0]) if len(best) == 2 else None


def compute_statistics(snapshot: Snapshot) -> Statistics:
    """Return the statistics of a snapshot. This takes tenths of a second for tens of thousands of trials."""
    from tui.statistics.comparison import compare_models

    clusters = clusters_of(snapshot.cases)
    outcomes = (outcome for totals in snapshot.totals.values() for outcome in totals.outcomes.values())
    unchecked = unchecked_cases(snapshot.cases, outcomes)
    figures = {
        model: figures_of(totals.outcomes.values(), clusters, unchecked=unchecked)
        for model, totals in snapshot.totals.items()
    }
    # A model without results in this suite has a column, but takes no part in comparisons.
    passes = {model: each.rates.passes for model, each in figures.items() if each.tally.trials}
    return Statistics(figures, compare_models(passes, clusters, interim=snapshot.interim), _since(snapshot))


def _since(snapshot: Snapshot) -> dict[str, Since] | None:
    baseline = snapshot.baseline
    if baseline is None:
        return None
    since = {model: [0, 0, 0] for model in snapshot.totals}
    for place, before in baseline.cells.items():
        now = snapshot.cells.get(place)
        change = change_of(now, before) if now is not None else None
        if change is not None and place[1] in since:
            counts = since[place[1]]
            counts[2] += 1
            if change:
                counts[change < 0] += 1
    return {model: Since(*each) for model, each in since.items()}
