"""The change from an earlier run to a later one, by model: cases that broke, and the difference of pass rates."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tui.statistics.comparison import Comparison, compare_models, is_shown_not_worse
from tui.statistics.run_figures import CountedCase, passes_of
from tui.statistics.shares import Passes

CaseChange = Literal["fixed", "better", "same", "worse", "broke"]
Conclusion = Literal["better", "worse", "equivalent", "no_difference_shown", "not_enough_data"]
_NOW, _BEFORE = "now", "before"


@dataclass(frozen=True, slots=True)
class ModelResults:
    """The checked results of one model in a run, by case; `flaky` are the cases with a pass after a retry."""

    passes: Mapping[str, Passes]
    flaky: frozenset[str] = frozenset()

    @property
    def rate(self) -> float | None:
        """The pass rate over all checked results; None without any."""
        results = sum(each.results for each in self.passes.values())
        return sum(each.passed for each in self.passes.values()) / results if results else None


@dataclass(frozen=True, slots=True)
class RunResults:
    """The results of a run as a comparison of runs needs them, from the history or from a report file.

    `started_at` is an ISO 8601 time. `clusters` are those of the suite by case, None if they are unknown. `questions`
    has the digest of what each case asks, and `prompts` that of its first prompt with the files of a suite that names
    files, as far as they are known; `definitions` has what the name of each model stood for, and `commit` that of the
    repository, empty if it is unknown. `cases` are all cases of the suite, also those that were not run, None if they
    are unknown.
    """

    run_id: str
    suite: str
    started_at: str
    finished: bool
    models: Mapping[str, ModelResults]
    clusters: Mapping[str, str] | None = None
    questions: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    cases: Collection[str] | None = None

    def has_another_commit(self, before: "RunResults") -> bool:
        """Return whether the repository was cloned at another commit than in `before`, as far as both say."""
        return bool(self.commit and before.commit) and self.commit != before.commit

    def is_changed(self, case: str, before: "RunResults") -> bool:
        """Return whether a case has another prompt, other files or other checks than `before`, as far as both say."""
        digests = ((self.questions, before.questions), (self.prompts, before.prompts))
        return any(case in now and case in known and now[case] != known[case] for now, known in digests)

    def is_redefined(self, model: str, before: "RunResults") -> bool:
        """Return whether the name of a model stands for another model than in `before`, as far as both say."""
        now, then = self.definitions.get(model, ""), before.definitions.get(model, "")
        return bool(now and then) and now != then


@dataclass(frozen=True, slots=True)
class RunChange:
    """How one model's results changed from the base to the run.

    A case broke if it passed in every repeat of the base and passes in none now, not even after a retry, and is fixed
    if it is the other way round; otherwise it is better or worse. `missing` cases have results only in the base,
    `added` ones only in the run. The comparison is of the run (`a`) with the base (`b`). `not_worse` says whether the
    run is shown not to be worse by more than the margin.
    """

    model: str
    now: ModelResults
    before: ModelResults
    cases: Mapping[CaseChange, tuple[str, ...]]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    comparison: Comparison
    not_worse: bool

    @property
    def conclusion(self) -> Conclusion:
        """The conclusion about the run: better or worse than the base, equivalent within the margin, or neither."""
        match self.comparison.conclusion:
            case "a_better":
                return "better"
            case "b_better":
                return "worse"
            case other:
                return other


def results_of(trials: Iterable[CountedCase], unchecked: Collection[str] = ()) -> ModelResults:
    """Return the checked results of one model's trials; `unchecked` are the cases without a check."""
    trials = [*trials]
    return ModelResults(
        passes_of(trials, unchecked), frozenset(trial.case for trial in trials if trial.counted == "flaky")
    )


def case_change(now: float, before: float, *, flaky: bool, was_flaky: bool) -> CaseChange:
    """Return how the share of passed repeats of a case changed.

    A case that is `flaky`, so that it passes after a retry, did not break, and one that was flaky is not fixed.
    """
    if now == before:
        return "same"
    if now > before:
        return "fixed" if now == 1.0 and before == 0.0 and not was_flaky else "better"
    return "broke" if now == 0.0 and before == 1.0 and not flaky else "worse"


def compare_runs(
    run: RunResults, base: RunResults, clusters: Mapping[str, str] | None = None, margin: float | None = None
) -> tuple[RunChange, ...]:
    """Return the change of each model that both runs have, in the order of the run.

    `clusters` is by case. Within `margin` (0 to 1) the two are equivalent. P-values and intervals are for each model
    alone; there are none if one of the runs is not finished.
    """
    interim = not (run.finished and base.finished)
    return tuple(
        _change(model, run.models[model], base.models[model], clusters, margin, interim=interim)
        for model in run.models
        if model in base.models
    )


def _change(
    model: str,
    now: ModelResults,
    before: ModelResults,
    clusters: Mapping[str, str] | None,
    margin: float | None,
    *,
    interim: bool,
) -> RunChange:
    (comparison,) = compare_models({_NOW: now.passes, _BEFORE: before.passes}, clusters, margin=margin, interim=interim)
    cases: dict[CaseChange, list[str]] = {"broke": [], "worse": [], "same": [], "better": [], "fixed": []}
    for case, passes in now.passes.items():
        if case in before.passes:
            share = before.passes[case].share
            change = case_change(passes.share, share, flaky=case in now.flaky, was_flaky=case in before.flaky)
            cases[change].append(case)
    return RunChange(
        model,
        now,
        before,
        {change: tuple(each) for change, each in cases.items()},
        tuple(case for case in before.passes if case not in now.passes),
        tuple(case for case in now.passes if case not in before.passes),
        comparison,
        not interim and is_shown_not_worse(now.passes, before.passes, clusters, margin=margin or 0.0),
    )
