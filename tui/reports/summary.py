"""The figures of a run: counts, intervals, repeats and the comparison of each pair of models."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median

from tui.model.kept import KeptRun
from tui.model.outcomes import add_known, outcome_of
from tui.model.suite import Case
from tui.model.trials import TrialResult
from tui.reports.comparing import Comparison, compare_models
from tui.reports.statistics import pass_at, pass_hat, wilson_interval


@dataclass(frozen=True, slots=True)
class Tally:
    """How trials ended. `errors` holds everything that is neither a pass nor a fail; `passed` leaves flaky out."""

    trials: int = 0
    passed: int = 0
    failed: int = 0
    errors: int = 0
    flaky: int = 0


@dataclass(frozen=True, slots=True)
class Repeats:
    """What asking again shows. `n` is how often each case was to be asked; `pass_at_k` and `pass_hat_k` are means over
    the cases with at least k results; `flake_rate` is the share of cases that came out mixed: a plain pass among their
    repeats and something else too, or a trial that passed only on a later attempt."""

    n: int
    pass_at_k: Mapping[int, float]
    pass_hat_k: Mapping[int, float]
    flake_rate: float


@dataclass(frozen=True, slots=True)
class Effort:
    """What a model's answers took: the median of a trial's last attempt in milliseconds, the tokens of all attempts."""

    median_ms: float | None
    first_token_ms: float | None
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run. `planned` is the number of trials, `total.trials` that of results."""

    planned: int
    total: Tally
    by_model: Mapping[str, Tally]
    by_category: Mapping[str, Tally]
    pass_rate_95: Mapping[str, tuple[float, float]]
    repeats: Mapping[str, Repeats]
    effort: Mapping[str, Effort]
    comparisons: tuple[Comparison, ...]

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
    passed = failed = errors = flaky = 0
    for result in results:
        if result.verdict == "passed":
            flaky, passed = flaky + result.flaky, passed + (not result.flaky)
        elif result.verdict == "failed":
            failed += 1
        else:
            errors += 1
    return Tally(passed + failed + errors + flaky, passed, failed, errors, flaky)


def summarize(kept: KeptRun) -> Summary:
    """The figures of a kept run."""
    cases = cases_of(kept)
    by_model: dict[str, list[TrialResult]] = {model: [] for model in models_of(kept)}
    planned = dict.fromkeys([*kept.plan.trials, *(result.trial for result in kept.results)])
    by_category: dict[str, list[TrialResult]] = {
        case.category: [] for case_id in dict.fromkeys(key.case for key in planned) if (case := cases.get(case_id))
    }
    for result in kept.results:
        by_model[result.trial.model].append(result)
        case = cases.get(result.trial.case)
        by_category.setdefault(case.category if case else "", []).append(result)
    tallies = {model: tally(results) for model, results in by_model.items()}
    asked: dict[str, int] = {}
    for key in planned:
        asked[key.model] = max(asked.get(key.model, 0), key.repeat)
    return Summary(
        planned=len(planned),
        total=tally(kept.results),
        by_model=tallies,
        by_category={category: tally(results) for category, results in by_category.items()},
        pass_rate_95={model: wilson_interval(count.passed, count.trials) for model, count in tallies.items()},
        repeats={model: _repeats(asked.get(model, 0), results) for model, results in by_model.items()},
        effort={model: _effort(results) for model, results in by_model.items()},
        comparisons=compare_models(by_model),
    )


def _repeats(n: int, results: Iterable[TrialResult]) -> Repeats:
    by_case: dict[str, list[bool]] = {}
    mixed: set[str] = set()
    for result in results:
        by_case.setdefault(result.trial.case, []).append(result.verdict == "passed" and not result.flaky)
        if result.flaky:
            mixed.add(result.trial.case)
    mixed.update(case for case, passes in by_case.items() if any(passes) and not all(passes))
    at: dict[int, float] = {}
    hat: dict[int, float] = {}
    for k in range(1, max(map(len, by_case.values()), default=0) + 1):
        counts = [(len(passes), sum(passes)) for passes in by_case.values() if len(passes) >= k]
        at[k] = fmean(pass_at(k, *count) for count in counts)
        hat[k] = fmean(pass_hat(k, *count) for count in counts)
    return Repeats(n, at, hat, len(mixed) / len(by_case) if by_case else 0.0)


def _effort(results: list[TrialResult]) -> Effort:
    outcomes = [outcome_of(result) for result in results]
    durations = [outcome.duration_ms for outcome in outcomes if outcome.duration_ms > 0]
    firsts = [outcome.first_token_ms for outcome in outcomes if outcome.first_token_ms is not None]
    usages = [step.usage for result in results for attempt in result.attempts for step in attempt.steps]
    return Effort(
        median(durations) if durations else None,
        median(firsts) if firsts else None,
        add_known(usage.input_tokens for usage in usages),
        add_known(usage.output_tokens for usage in usages),
    )
