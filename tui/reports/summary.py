"""The figures of a run: counts, intervals, repeats and the comparison of each pair of models."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median

from tui.model.kept import KeptRun
from tui.model.outcomes import add_known, outcome_of
from tui.model.prices import Spent, spent_on
from tui.model.suite import Case
from tui.model.trials import JUDGED, TrialResult, Verdict, counted_as, counted_asking, has_passed_since
from tui.reports.required import RequiredShare, required_shares
from tui.statistics.comparing import Comparison, compare_models
from tui.statistics.quantiles import spread_of
from tui.statistics.repeats import is_mixed, pass_curves
from tui.statistics.shares import Passes, clustered_interval, wilson_interval


@dataclass(frozen=True, slots=True)
class Tally:
    """What trials count as. `errors` holds all that have no judged answer; `passed` leaves flaky out; rates are over
    the `checked` ones."""

    trials: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    flaky: int = 0
    unchecked: int = 0

    @property
    def checked(self) -> int:
        """The trials that a check judged, or should have."""
        return self.trials - self.unchecked


@dataclass(frozen=True, slots=True)
class Repeats:
    """What asking again shows. `n` is how often each case was to be asked; `pass_at_k` and `pass_hat_k` are means over
    the cases with at least k results; `flake_rate` is the share of cases that came out mixed: a plain pass among their
    repeats and something else too, or a trial that passed only on a later attempt. `pass_rate_95` is the interval of
    the pass rate that reckons with the repeats of a case hanging together, where Wilson's takes them for independent.
    """

    n: int
    pass_at_k: Mapping[int, float]
    pass_hat_k: Mapping[int, float]
    flake_rate: float | None
    pass_rate_95: tuple[float, float] = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Effort:
    """What a model's answers took: median and 95th percentile of a trial's last attempt in milliseconds (the latter
    None under 20 trials), the tokens of all attempts, and what these cost."""

    median_ms: float | None
    first_token_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    p95_ms: float | None = None
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True, slots=True)
class Reruns:
    """The trials that a person asked again after they failed, and how many of them have passed since. They still count
    as failed. `replaced` are the trials without a judged answer at first that have one since, from a rerun."""

    trials: int = 0
    passed_since: int = 0
    replaced: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. `planned` is the number of trials, `total.trials` that of results; `errors` says for each
    model what a tally's errors were. `cases` are those of the plan, `checked_cases` those of them that have a check."""

    planned: int
    total: Tally
    by_model: Mapping[str, Tally]
    by_category: Mapping[str, Tally]
    errors: Mapping[str, Mapping[Verdict, int]]
    pass_rate_95: Mapping[str, tuple[float, float] | None]
    repeats: Mapping[str, Repeats]
    effort: Mapping[str, Effort]
    comparisons: tuple[Comparison, ...]
    required: tuple[RequiredShare, ...] = ()
    reruns: Reruns = Reruns()
    cases: int = 0
    checked_cases: int = 0

    @property
    def not_run(self) -> int:
        """Trials that have no result."""
        return self.planned - self.total.trials


def cases_of(kept: KeptRun) -> dict[str, Case]:
    """The cases of the suite by id."""
    return {case.id: case for case in kept.plan.suite.cases}


def models_of(kept: KeptRun) -> tuple[str, ...]:
    """Every model of the plan, in its order."""
    names = [subject.name for subject in kept.plan.subjects]
    names += [key.model for key in kept.plan.trials] + [result.trial.model for result in kept.results]
    return tuple(dict.fromkeys(names))


def tally(results: Iterable[TrialResult]) -> Tally:
    """The counts of some results."""
    words = Counter(counted_as(result) for result in results)
    return Tally(words.total(), words["passed"], words["failed"], words["error"], words["flaky"], words["unchecked"])


def summarize(kept: KeptRun) -> Summary:
    """The figures of a kept run."""
    cases = cases_of(kept)
    by_model: dict[str, list[TrialResult]] = {model: [] for model in models_of(kept)}
    planned = dict.fromkeys([*kept.plan.trials, *(result.trial for result in kept.results)])
    planned_cases = dict.fromkeys(key.case for key in planned)
    by_category: dict[str, list[TrialResult]] = {
        case.category: [] for case_id in planned_cases if (case := cases.get(case_id))
    }
    for result in kept.results:
        by_model[result.trial.model].append(result)
        case = cases.get(result.trial.case)
        by_category.setdefault(case.category if case else "", []).append(result)
    tallies = {model: tally(results) for model, results in by_model.items()}
    passes = {model: passes_of(results) for model, results in by_model.items()}
    asked: dict[str, int] = {}
    for key in planned:
        asked[key.model] = max(asked.get(key.model, 0), key.repeat)
    return Summary(
        planned=len(planned),
        total=tally(kept.results),
        by_model=tallies,
        by_category={category: tally(results) for category, results in by_category.items()},
        errors={model: _errors(results) for model, results in by_model.items()},
        pass_rate_95={
            model: wilson_interval(count.passed, count.checked) if count.checked else None
            for model, count in tallies.items()
        },
        repeats={model: _repeats(asked.get(model, 0), results, passes[model]) for model, results in by_model.items()},
        effort={model: _effort(results) for model, results in by_model.items()},
        comparisons=compare_models(passes),
        required=tuple(required_shares(cases, planned, passes)),
        reruns=count_reruns(kept.results),
        cases=len(planned_cases),
        checked_cases=sum((case := cases.get(each)) is not None and case.is_checked for each in planned_cases),
    )


def count_reruns(results: Iterable[TrialResult]) -> Reruns:
    """Return what asking again has come to."""
    again = [result for result in results if result.reruns]
    return Reruns(
        sum(result.first_verdict == "failed" for result in again),
        sum(has_passed_since(result) for result in again),
        sum(
            result.first_verdict in JUDGED and result.attempts[0].asking != counted_asking(result.attempts)[0].asking
            for result in again
        ),
    )


def passes_of(results: Iterable[TrialResult]) -> dict[str, Passes]:
    """For each case how many of its checked results count as plain passes; a case without any is left out."""
    passes: dict[str, Passes] = {}
    for result in results:
        counted = counted_as(result)
        if counted == "unchecked":
            continue
        passed, asked = passes.get(result.trial.case, (0, 0))
        passes[result.trial.case] = Passes(passed + (counted == "passed"), asked + 1)
    return passes


def _errors(results: Iterable[TrialResult]) -> dict[Verdict, int]:
    return dict(Counter(result.first_verdict for result in results if counted_as(result) == "error"))


def _repeats(n: int, results: Iterable[TrialResult], passes: Mapping[str, Passes]) -> Repeats:
    mixed = {case for case, count in passes.items() if is_mixed(count)}
    mixed.update(result.trial.case for result in results if counted_as(result) == "flaky")
    at, hat = pass_curves(passes)
    return Repeats(n, at, hat, len(mixed) / len(passes) if passes else None, clustered_interval([*passes.values()]))


def _effort(results: list[TrialResult]) -> Effort:
    outcomes = [outcome_of(result) for result in results]
    durations = [outcome.duration_ms for outcome in outcomes if outcome.duration_ms > 0]
    firsts = [outcome.first_token_ms for outcome in outcomes if outcome.first_token_ms is not None]
    usages = [step.usage for result in results for attempt in result.attempts for step in attempt.steps]
    spread = spread_of(durations)
    return Effort(
        spread.median,
        median(firsts) if firsts else None,
        add_known(usage.input_tokens for usage in usages),
        add_known(usage.output_tokens for usage in usages),
        spread.p95,
        spent_on(outcome.cost_usd for outcome in outcomes),
    )
