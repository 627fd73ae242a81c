"""The pass rate of each model over the saved runs of a suite, and the run in which a case broke."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.statistics.run_change import ModelResults, RunResults
from tui.statistics.shares import Passes, rate_interval


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """One run of a model: its pass rate and 95% interval (fractions) over `cases` checked cases.

    `redefined` says that the model's name stood for another model than in the latest run.
    """

    run_id: str
    started_at: str
    rate: float
    rate_95: tuple[float, float]
    cases: int
    finished: bool
    redefined: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """A case that passed in every repeat of run `passed_in`, and in none of the latest `failed_runs` runs.

    Only runs since the last change of its prompt, its files, its checks or the model behind the name count.

    `broke_in` is the first of these; in runs between the two the case passed in some repeats, or was flaky.
    """

    case: str
    passed_in: str
    broke_in: str
    failed_runs: int


@dataclass(frozen=True, slots=True)
class Trend:
    """The runs of one model, oldest first, and the cases that are broken in its latest runs."""

    model: str
    points: tuple[TrendPoint, ...]
    breaks: tuple[Break, ...]


def trends(runs: Sequence[RunResults]) -> tuple[Trend, ...]:
    """Return the trend of each model with a checked result; `runs` are the oldest first."""
    by_model: dict[str, list[tuple[RunResults, ModelResults]]] = {}
    for run in runs:
        for model, results in run.models.items():
            if results.passes:
                by_model.setdefault(model, []).append((run, results))
    return tuple(
        Trend(
            model,
            tuple(_point(run, results, redefined=run.is_redefined(model, each[-1][0])) for run, results in each),
            tuple(_breaks(model, each)),
        )
        for model, each in by_model.items()
    )


def _point(run: RunResults, results: ModelResults, *, redefined: bool) -> TrendPoint:
    interval, cases = rate_interval(results.passes, run.clusters), len(results.passes)
    return TrendPoint(run.run_id, run.started_at, results.rate or 0.0, interval, cases, run.finished, redefined)


def _breaks(model: str, runs: Sequence[tuple[RunResults, ModelResults]]) -> list[Break]:
    history: dict[str, list[tuple[RunResults, Passes, bool]]] = {}
    for run, results in runs:
        for case, passes in results.passes.items():
            earlier = history.setdefault(case, [])
            if earlier and (run.is_changed(case, earlier[-1][0]) or run.is_redefined(model, earlier[-1][0])):
                earlier.clear()  # they are results of another test or of another model
            earlier.append((run, passes, case in results.flaky))
    cases = runs[-1][0].cases
    found = (
        _break(case, [(run.run_id, passes, flaky) for run, passes, flaky in results])
        for case, results in history.items()
        if cases is None or case in cases  # the others were removed
    )
    return [each for each in found if each]


def _break(case: str, results: Sequence[tuple[str, Passes, bool]]) -> Break | None:
    failed = 0
    for _, passes, flaky in reversed(results):
        if passes.passed or flaky:
            break
        failed += 1
    if not failed or failed == len(results):
        return None
    # A case that passed only in some repeats was no reliable pass.
    passed_in = next((run for run, passes, _ in reversed(results[:-failed]) if passes.share == 1.0), None)
    return Break(case, passed_in, results[-failed][0], failed) if passed_in else None
