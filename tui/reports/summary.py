"""The figures of a stored run, computed by `tui.statistics.run_figures` and `tui.statistics.comparison`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tui.model.outcomes import Outcome, outcome_of, unchecked_cases
from tui.model.prices import Spent
from tui.model.results import JUDGED, TrialKey, TrialResult, Verdict, counted_asking, has_failed_since, has_passed_since
from tui.model.run import KeptRun
from tui.model.suite import Case, clusters_of
from tui.statistics.comparison import Comparison, compare_models
from tui.statistics.repeats import meets_share
from tui.statistics.run_figures import ModelFigures, ModelTotals, Rates, Repeats, figures_of, rates_of, tally_of
from tui.statistics.shares import Passes


@dataclass(frozen=True, slots=True)
class RequiredShare:
    """The pass share that a case requires of a model's repeats, and the actual share.

    Flaky passes, errors and timeouts are not passes; `met` is None while missing trials decide it. The verdicts of
    the single trials are not affected.
    """

    case: str
    model: str
    required: float
    passes: Passes
    planned: int

    @property
    def met(self) -> bool | None:
        """Whether the share is reached, whatever missing trials will give; None if they decide it."""
        return meets_share(self.passes, self.planned, self.required)


def required_shares(
    cases: Mapping[str, Case], planned: Iterable[TrialKey], passes: Mapping[str, Mapping[str, Passes]]
) -> Iterator[RequiredShare]:
    """Yield the required share of each checked case and each of its planned models; `passes` is by model and case."""
    repeats: dict[tuple[str, str], int] = {}
    for key in planned:
        case = cases.get(key.case)
        if case is not None and case.min_pass_rate is not None and case.is_checked:
            repeats[key.case, key.model] = repeats.get((key.case, key.model), 0) + 1
    for (case_id, model), count in repeats.items():
        share = cases[case_id].min_pass_rate
        if share is not None:
            yield RequiredShare(case_id, model, share, passes[model].get(case_id, Passes(0, 0)), count)


@dataclass(frozen=True, slots=True)
class Reruns:
    """The trials that a user reran after a failure, and how many of them have passed since.

    They still count as failed. `replaced` are the trials that had no judged answer at first and have one from a
    rerun; `failed_since` are those that count as passed although the last rerun failed.
    """

    trials: int = 0
    passed_since: int = 0
    replaced: int = 0
    failed_since: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """All figures of a run.

    `planned` is the number of trials, `total.trials` that of results; `errors` counts each model's errors by kind.
    `clusters` is the number of clusters of the cases with results, 0 if the suite names none. `by_group` is by
    category and model. An unfinished run is `interim`.
    """

    planned: int
    total: ModelTotals
    figures: Mapping[str, ModelFigures]
    by_category: Mapping[str, ModelTotals]
    by_group: Mapping[str, Mapping[str, Rates]]
    errors: Mapping[str, Mapping[Verdict, int]]
    comparisons: tuple[Comparison, ...]
    required: tuple[RequiredShare, ...] = ()
    reruns: Reruns = Reruns()
    clusters: int = 0
    interim: bool = False

    @property
    def by_model(self) -> dict[str, ModelTotals]:
        """The totals of each model's trials."""
        return {model: each.tally for model, each in self.figures.items()}

    @property
    def pass_rate_95(self) -> dict[str, tuple[float, float] | None]:
        """The interval of each model's pass rate; None if no trial is checked."""
        return {model: each.rates.pass_rate_95 for model, each in self.figures.items()}

    @property
    def repeats(self) -> dict[str, Repeats]:
        """The variation between the repeats of each model."""
        return {model: each.repeats for model, each in self.figures.items()}

    @property
    def spent(self) -> dict[str, Spent]:
        """The cost of each model's answers."""
        return {
            model: Spent(each.effort.cost_usd, each.effort.costs_known, each.tally.trials)
            for model, each in self.figures.items()
        }

    @property
    def not_run(self) -> int:
        """The number of trials without a result."""
        return self.planned - self.total.trials


def cases_of(kept: KeptRun) -> dict[str, Case]:
    """Return the cases of the suite by id."""
    return {case.id: case for case in kept.plan.suite.cases}


def models_of(kept: KeptRun) -> tuple[str, ...]:
    """Return every model of the plan, in its order."""
    names = [subject.name for subject in kept.plan.subjects]
    names += [key.model for key in kept.plan.trials] + [result.trial.model for result in kept.results]
    return tuple(dict.fromkeys(names))


def summarize(kept: KeptRun, margin: float | None = None) -> Summary:
    """Return the figures of a stored run; models count as equivalent within `margin` (0 to 1)."""
    cases = cases_of(kept)
    outcomes = [outcome_of(result) for result in kept.results]
    by_model: dict[str, list[Outcome]] = {model: [] for model in models_of(kept)}
    planned = dict.fromkeys([*kept.plan.trials, *(outcome.trial for outcome in outcomes)])
    planned_cases = dict.fromkeys(key.case for key in planned)
    by_category = _by_category(outcomes, cases, planned_cases)
    for outcome in outcomes:
        by_model[outcome.trial.model].append(outcome)
    repeats: dict[str, int] = {}
    for (_, model), number in Counter((key.case, key.model) for key in planned).items():
        repeats[model] = max(repeats.get(model, 0), number)
    clusters, unchecked = clusters_of(cases.values()), unchecked_cases(cases.values(), outcomes)
    figures = {model: figures_of(each, clusters, repeats.get(model, 0), unchecked) for model, each in by_model.items()}
    passes = {model: each.rates.passes for model, each in figures.items()}
    interim = kept.record.state != "finished"
    return Summary(
        planned=max(len(planned), kept.record.trials),  # more if trials were lost with a damaged history
        total=tally_of(outcomes, unchecked),
        figures=figures,
        by_category={
            category: tally_of((outcome for each in group.values() for outcome in each), unchecked)
            for category, group in by_category.items()
        },
        by_group={
            category: {model: rates_of(group.get(model, ()), clusters, unchecked) for model in by_model}
            for category, group in by_category.items()
        },
        errors={model: _errors(each) for model, each in by_model.items()},
        comparisons=compare_models(passes, clusters, margin=margin, interim=interim),
        required=tuple(required_shares(cases, planned, passes)),
        reruns=count_reruns(kept.results),
        clusters=len({clusters[case] for case in planned_cases if case in clusters}),
        interim=interim,
    )


def _by_category(
    outcomes: Iterable[Outcome], cases: Mapping[str, Case], planned: Iterable[str]
) -> dict[str, dict[str, list[Outcome]]]:
    """Return the outcomes by category and model; every category with a planned case is there, in their order."""
    found: dict[str, dict[str, list[Outcome]]] = {
        case.category: {} for case_id in planned if (case := cases.get(case_id))
    }
    for outcome in outcomes:
        case = cases.get(outcome.case)
        group = found.setdefault(case.category if case else "", {})
        group.setdefault(outcome.trial.model, []).append(outcome)
    return found


def count_reruns(results: Iterable[TrialResult]) -> Reruns:
    """Return the effect of reruns on the results."""
    # Each with the attempts that count: those of a rerun if it replaced a result without a judged answer.
    again = [(result, counted_asking(result.attempts)[0].asking) for result in results if result.reruns]
    return Reruns(
        sum(
            result.first_verdict == "failed"
            and any(each.asking > counts and each.verdict != "cancelled" for each in result.attempts)
            for result, counts in again
        ),
        sum(has_passed_since(result) for result, _ in again),
        sum(result.first_verdict in JUDGED and result.attempts[0].asking != counts for result, counts in again),
        sum(has_failed_since(result) for result, _ in again),
    )


def _errors(outcomes: Iterable[Outcome]) -> dict[Verdict, int]:
    return dict(Counter(outcome.first_verdict for outcome in outcomes if outcome.counted == "error"))
