"""The figures of a run, computed once for every screen and report: counts, pass rates, repeats, times, tokens, cost."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, Protocol

from tui.statistics.repeats import is_mixed, pass_curves
from tui.statistics.shares import Passes, is_sparse, rate_interval

CountedVerdict = Literal["passed", "flaky", "failed", "unchecked", "error"]
LEAST_FOR_P95 = 20
"""The least number of values for a 95th percentile: with fewer it would be the maximum."""


class CountedCase(Protocol):
    """A protocol of trials with the category in which figures count them."""

    @property
    def case(self) -> str: ...
    @property
    def counted(self) -> CountedVerdict: ...


class CountedTrial(CountedCase, Protocol):
    """The input of figures from one trial, each value None if unknown.

    `counted` is its category, times are the milliseconds of its last attempt, `speed` is tokens per second, tokens and
    cost (USD) sum all attempts, and `least_…` those whose value is known.
    """

    @property
    def duration_ms(self) -> float: ...
    @property
    def first_token_ms(self) -> float | None: ...
    @property
    def speed(self) -> float | None: ...
    @property
    def input_tokens(self) -> int | None: ...
    @property
    def output_tokens(self) -> int | None: ...
    @property
    def cost_usd(self) -> float | None: ...
    @property
    def least_input_tokens(self) -> int | None: ...
    @property
    def least_output_tokens(self) -> int | None: ...
    @property
    def least_cost_usd(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class ModelTotals:
    """The number of trials in each category.

    `errors` are all without a judged answer, among them the `unchecked_errors` in cases without a check; `passed`
    excludes flaky ones; rates are over the `checked` ones.
    """

    trials: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    flaky: int = 0
    unchecked: int = 0
    unchecked_errors: int = 0

    @property
    def checked(self) -> int:
        """The number of trials that have a check."""
        return self.trials - self.unchecked - self.unchecked_errors

    @property
    def pass_rate(self) -> float | None:
        """The share of plain passes among the checked trials, or None without checked trials."""
        return self.passed / self.checked if self.checked else None


@dataclass(frozen=True, slots=True)
class Rates:
    """Counts with the interval of the pass rate (None without checked trials).

    `passes` is by case, over the checked trials. `sparse` is true if the interval may cover the rate in less than 95%
    of runs: fewer than five units pass, or fewer than five fail.
    """

    tally: ModelTotals = ModelTotals()
    pass_rate_95: tuple[float, float] | None = None
    passes: Mapping[str, Passes] = field(default_factory=dict)
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class Repeats:
    """Figures of repeats.

    `n` is the number of planned repeats of each case; `pass_at_k` and `pass_hat_k` are means over the cases with at
    least k results; `flake_rate` is the share of mixed cases: a plain pass among their repeats and another result too,
    or a trial that passed only on a later attempt.
    """

    n: int
    pass_at_k: Mapping[int, float]
    pass_hat_k: Mapping[int, float]
    flake_rate: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of durations or other skewed values.

    A figure is None with too few values: the median needs one, the 95th percentile 20.
    """

    median: float | None = None
    p95: float | None = None


@dataclass(frozen=True, slots=True)
class Effort:
    """Times, tokens and cost of a model's answers.

    Times are milliseconds of a trial's last attempt, `speed` is tokens per second, tokens and cost (USD) sum all
    attempts. `p95_ms` is None under 20 trials; `input_tokens_known`, `output_tokens_known` and `costs_known` count
    the trials that the sums include with all attempts; of the others they include what is known.
    """

    median_ms: float | None = None
    p95_ms: float | None = None
    first_token_ms: float | None = None
    speed: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_known: int = 0
    output_tokens_known: int = 0
    cost_usd: float | None = None
    costs_known: int = 0


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """All figures of one model in a run."""

    rates: Rates = field(default_factory=Rates)
    repeats: Repeats = field(default_factory=lambda: Repeats(0, {}, {}, None))
    effort: Effort = field(default_factory=Effort)

    @property
    def tally(self) -> ModelTotals:
        """The number of the model's trials in each category."""
        return self.rates.tally


def tally_of(trials: Iterable[CountedCase], unchecked: Collection[str] = ()) -> ModelTotals:
    """Return the counts of what trials count as; `unchecked` are the cases without a check."""
    trials = [*trials]
    counts = Counter(trial.counted for trial in trials)
    errors = sum(trial.counted == "error" and trial.case in unchecked for trial in trials) if unchecked else 0
    return ModelTotals(
        counts.total(),
        counts["passed"],
        counts["failed"],
        counts["error"],
        counts["flaky"],
        counts["unchecked"],
        errors,
    )


def passes_of(trials: Iterable[CountedCase], unchecked: Collection[str] = ()) -> dict[str, Passes]:
    """Return for each case how many of its checked trials are plain passes; cases without any are left out.

    Errors in the `unchecked` cases, which have no check, are left out as their answers are.
    """
    passed, results = Counter[str](), Counter[str]()
    for trial in trials:
        if trial.counted != "unchecked" and not (trial.counted == "error" and trial.case in unchecked):
            results[trial.case] += 1
            passed[trial.case] += trial.counted == "passed"
    return {case: Passes(passed[case], number) for case, number in results.items()}


def rates_of(
    trials: Iterable[CountedTrial], clusters: Mapping[str, str] | None = None, unchecked: Collection[str] = ()
) -> Rates:
    """Return counts, pass rate and interval of some trials of one model; `clusters` is by case.

    `unchecked` are the cases without a check.
    """
    trials = [*trials]
    passes = passes_of(trials, unchecked)
    interval = rate_interval(passes, clusters) if passes else None
    return Rates(tally_of(trials, unchecked), interval, passes, is_sparse(passes, clusters))


def figures_of(
    trials: Iterable[CountedTrial],
    clusters: Mapping[str, str] | None = None,
    repeats: int = 0,
    unchecked: Collection[str] = (),
) -> ModelFigures:
    """Return all figures of one model; `clusters` is by case, `repeats` is how often each case was planned.

    `unchecked` are the cases without a check.

    Sorts every duration: with tens of thousands of trials that is work for a thread.
    """
    trials = [*trials]
    rates = rates_of(trials, clusters, unchecked)
    mixed = {case for case, passes in rates.passes.items() if is_mixed(passes)}
    mixed.update(trial.case for trial in trials if trial.counted == "flaky")
    at, hat = pass_curves(rates.passes)
    flake_rate = len(mixed) / len(rates.passes) if rates.passes else None
    return ModelFigures(rates, Repeats(repeats, at, hat, flake_rate), effort_of(trials))


def spread_of(values: Iterable[float]) -> Spread:
    """Return the spread of some values."""
    ordered = sorted(values)
    if not ordered:
        return Spread()
    # The nearest rank: a value that was observed.
    rank = math.ceil(0.95 * len(ordered) - 1e-9)
    p95 = ordered[rank - 1] if len(ordered) >= LEAST_FOR_P95 else None
    return Spread(median(ordered), p95)


def effort_of(trials: Iterable[CountedTrial]) -> Effort:
    """Return what some trials took."""
    trials = [*trials]
    spread = spread_of(trial.duration_ms for trial in trials if trial.duration_ms > 0)
    read = [trial.least_input_tokens for trial in trials if trial.least_input_tokens is not None]
    wrote = [trial.least_output_tokens for trial in trials if trial.least_output_tokens is not None]
    costs = [trial.least_cost_usd for trial in trials if trial.least_cost_usd is not None]
    return Effort(
        spread.median,
        spread.p95,
        spread_of(trial.first_token_ms for trial in trials if trial.first_token_ms is not None).median,
        spread_of(trial.speed for trial in trials if trial.speed is not None).median,
        sum(read) if read else None,
        sum(wrote) if wrote else None,
        sum(trial.input_tokens is not None for trial in trials),
        sum(trial.output_tokens is not None for trial in trials),
        round(sum(costs), 12) if costs else None,
        sum(trial.cost_usd is not None for trial in trials),
    )
