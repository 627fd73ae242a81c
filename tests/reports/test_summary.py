"""Counts, repeats and comparisons of a run."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import pytest

from tests.support.kept_runs import keep, make_case, make_plan, make_result, small_run
from tui.model.prices import Spent
from tui.model.results import TrialKey, TrialResult, Verdict
from tui.model.run import KeptRun, ReportFormat
from tui.model.suite import Case
from tui.reports import summary as summary_module
from tui.reports.phrases import reruns_sentence
from tui.reports.render import render_report
from tui.reports.summary import Reruns, count_reruns, summarize
from tui.statistics.pairs import MOST_MODELS, mcnemar_exact
from tui.statistics.run_figures import Effort, ModelTotals
from tui.statistics.shares import wilson_interval

A, B, C = "openai/mock-a", "local/mock-b", "third"


def run_of(outcomes: dict[str, dict[str, str]], repeats: int = 1) -> KeptRun:
    """Cases → model → one letter for each repeat: p passed, ~ flaky, f failed, e error, t, i, c; a space is not run."""
    words: dict[str, Verdict] = {"p": "passed", "~": "passed", "f": "failed", "e": "error"}
    words |= {"t": "timed_out", "i": "incomplete", "c": "cancelled"}
    models = list(next(iter(outcomes.values())))
    plan = make_plan([make_case(case) for case in outcomes], models, repeats=repeats)
    results = (
        make_result(key, words[letter], flaky=letter == "~")
        for key in plan.trials
        if (letter := outcomes[key.case][key.model][key.repeat - 1]) != " "
    )
    return keep(plan, results)


def test_counts() -> None:
    summary = summarize(small_run())
    assert summary.total == ModelTotals(trials=7, passed=2, failed=1, errors=3, flaky=1)
    assert summary.by_model == {A: ModelTotals(4, 2, 0, 1, 1), B: ModelTotals(3, 0, 1, 2, 0)}
    assert summary.by_category == {"Security": ModelTotals(4, 1, 1, 1, 1), "Bug Fixing": ModelTotals(3, 1, 0, 2, 0)}
    assert (summary.planned, summary.not_run) == (8, 1)
    assert summary.pass_rate_95[A] == wilson_interval(2, 4)
    assert summary.errors == {A: {"incomplete": 1}, B: {"error": 1, "timed_out": 1}}
    effort = summary.figures[A].effort
    assert effort == Effort(1200.0, None, 150.0, effort.speed, 100, 200, input_tokens_known=4, output_tokens_known=4)
    assert summary.spent[A] == Spent(None, 0, 4)


def test_reruns_count_what_was_asked_again_after_it_failed() -> None:
    def asked(*verdicts: Verdict) -> TrialResult:
        attempts = [
            replace(make_result(key, verdict).attempts[0], number=number + 1, asking=number)
            for number, verdict in enumerate(verdicts)
        ]
        return replace(make_result(key, verdicts[-1]), attempts=tuple(attempts))

    key = TrialKey("one", A)
    assert count_reruns([asked("failed")]) == Reruns()
    assert count_reruns([asked("error", "failed")]) == Reruns(replaced=1)
    assert count_reruns([asked("error", "passed")]) == Reruns(replaced=1)
    assert count_reruns([asked("passed", "failed")]) == Reruns(failed_since=1)
    assert reruns_sentence(Reruns(failed_since=1)) == (
        "1 trial failed when run again, and counts as passed by the original verdict."
    )
    assert count_reruns([asked("failed", "error")]) == Reruns(trials=1)
    assert count_reruns([asked("failed", "cancelled")]) == Reruns()
    assert count_reruns([asked("failed", "failed", "cancelled")]) == Reruns(trials=1)
    assert count_reruns([asked("failed", "passed")]) == Reruns(trials=1, passed_since=1)
    assert count_reruns([asked("error", "failed", "passed")]) == Reruns(trials=1, passed_since=1, replaced=1)


@pytest.mark.parametrize("letter", "etic")
def test_whatever_is_neither_pass_nor_fail_is_an_error(letter: str) -> None:
    assert summarize(run_of({"one": {A: letter}})).total == ModelTotals(1, 0, 0, 1, 0)


def test_an_error_in_a_case_without_a_check_is_in_no_rate() -> None:
    free = replace(make_case("free"), steps=(replace(make_case("free").steps[0], checks=()),))
    plan = make_plan([make_case("one"), free], [A, B])
    verdicts: dict[TrialKey, Verdict] = {
        TrialKey("one", A): "passed",
        TrialKey("free", A): "error",
        TrialKey("one", B): "error",
        TrialKey("free", B): "unchecked",
    }
    kept = keep(plan, [make_result(key, verdict) for key, verdict in verdicts.items()])
    summary = summarize(kept)
    assert summary.by_model == {A: ModelTotals(2, 1, 0, 1, unchecked_errors=1), B: ModelTotals(2, 0, 0, 1, unchecked=1)}
    assert summary.by_model[A].pass_rate == 1.0
    assert summary.by_category == {"Security": summary.total}
    assert (summary.total.checked, summary.total.errors) == (2, 2)
    assert summary.pass_rate_95[A] == wilson_interval(1, 1)
    assert [summary.figures[model].rates.passes.keys() for model in (A, B)] == [{"one"}, {"one"}]
    assert summary.by_group["Security"][A].tally == summary.by_model[A]
    (comparison,) = summary.comparisons
    assert (comparison.wins, comparison.losses, comparison.ties) == (1, 0, 0)
    text = render_report(kept, "markdown")
    assert "1 error; local/mock-b: 1 error. 1 of them in cases without a check, which are in no rate." in text


def test_a_table_of_many_repeats_has_rows_for_some_of_them() -> None:
    text = render_report(run_of({"one": {A: "p" * 120}}, repeats=120), "markdown")
    rows = [line.split("|")[2].strip() for line in text.splitlines() if line.endswith("| 100% | 100% |  |")]
    assert rows == [*map(str, range(2, 21)), "50", "100", "120"]


def test_every_planned_model_and_category_is_there() -> None:
    cases = [make_case("one"), replace(make_case("two"), category="Empty")]
    plan = make_plan(cases, [A, B])
    summary = summarize(keep(plan, [make_result(TrialKey("one", A))], "interrupted"))
    assert summary.by_model == {A: ModelTotals(1, 1, 0, 0, 0), B: ModelTotals()}
    assert summary.by_category == {"Security": ModelTotals(1, 1, 0, 0, 0), "Empty": ModelTotals()}
    assert summary.pass_rate_95[B] is None
    assert summary.repeats[B].pass_at_k == {}
    (comparison,) = summary.comparisons
    assert (comparison.wins, comparison.losses, comparison.ties, comparison.interim) == (0, 0, 0, True)


def test_a_category_that_is_not_planned_is_not_there() -> None:
    plan = make_plan([make_case("one"), replace(make_case("two"), category="Other")], [A])
    assert set(summarize(keep(replace(plan, trials=plan.trials[:1]), [])).by_category) == {"Security"}


def test_repeats() -> None:
    summary = summarize(run_of({"one": {A: "ppp"}, "two": {A: "pff"}, "three": {A: "fff"}, "four": {A: "f~e"}}, 3))
    repeats = summary.repeats[A]
    assert repeats.n == 3
    assert repeats.pass_at_k == pytest.approx({1: (1 + 1 / 3) / 4, 2: (1 + 2 / 3) / 4, 3: 2 / 4})
    assert repeats.pass_hat_k == pytest.approx({1: (1 + 1 / 3) / 4, 2: 1 / 4, 3: 1 / 4})
    assert repeats.flake_rate == 2 / 4


def test_a_case_with_fewer_results_bounds_k() -> None:
    repeats = summarize(run_of({"one": {A: "pp "}, "two": {A: "f  "}}, 3)).repeats[A]
    assert repeats.n == 3
    assert repeats.pass_at_k == {1: 0.5}
    assert repeats.pass_hat_k == {1: 0.5}


def test_a_win_is_a_plain_pass_where_the_other_has_none() -> None:
    outcomes = {
        "win": {A: "p", B: "f"},
        "win-over-error": {A: "p", B: "e"},
        "win-over-flaky": {A: "p", B: "~"},
        "loss": {A: "t", B: "p"},
        "both": {A: "p", B: "p"},
        "neither": {A: "~", B: "f"},
        "one-not-run": {A: "p", B: " "},
    }
    (comparison,) = summarize(run_of(outcomes)).comparisons
    assert (comparison.a, comparison.b) == (A, B)
    assert comparison.win_cases == ("win", "win-over-error", "win-over-flaky")
    assert comparison.loss_cases == ("loss",)
    assert comparison.ties == 2
    assert comparison.method == "mcnemar-exact"
    assert comparison.p_value == comparison.p_holm == mcnemar_exact(3, 1)


def test_with_repeats_a_win_is_a_greater_share() -> None:
    outcomes = {f"win-{number}": {A: "ppp", B: "pff"} for number in range(8)}
    outcomes |= {"loss": {A: "fff", B: "ffp"}, "tie": {A: "pff", B: "ffp"}}
    (comparison,) = summarize(run_of(outcomes, 3)).comparisons
    assert (comparison.wins, comparison.losses, comparison.ties) == (8, 1, 1)
    assert comparison.method == "sign-flip"
    assert comparison.p_value is not None
    assert 0.0001 < comparison.p_value < 0.02


def test_every_pair_is_compared_and_adjusted() -> None:
    outcomes = {f"case-{number}": {A: "p", B: "f", C: "p" if number % 2 else "f"} for number in range(10)}
    pairs = summarize(run_of(outcomes)).comparisons
    assert [(pair.a, pair.b) for pair in pairs] == [(A, B), (A, C), (B, C)]
    assert [pair.p_value for pair in pairs] == [2 / 1024, 2 / 32, 2 / 32]
    assert [pair.p_holm for pair in pairs] == pytest.approx([6 / 1024, 4 / 32, 4 / 32])


def test_one_model_is_compared_with_nobody() -> None:
    assert summarize(run_of({"one": {A: "p"}})).comparisons == ()


def test_a_result_of_a_case_that_the_suite_has_not() -> None:
    kept = small_run()
    lost = replace(kept, plan=replace(kept.plan, suite=replace(kept.plan.suite, cases=tuple[Case, ...]())))
    assert summarize(lost).by_category == {"": ModelTotals(7, 2, 1, 3, 1)}


def models_apart(models: int) -> KeptRun:
    """Half of the models pass all of 16 cases, the others pass none."""
    return run_of({f"case-{at}": {f"m{n:03}": "p" if n % 2 else "f" for n in range(models)} for at in range(16)})


def test_a_summary_lists_a_limited_number_of_differences() -> None:
    text = render_report(models_apart(24), "markdown").partition("## Models")[0]
    assert text.count(" does better than ") == 100
    assert "44 more pairs of models with a difference not listed here; the JSON report contains all of them." in text
    assert "more pair" not in render_report(models_apart(20), "markdown").partition("## Models")[0]


def test_models_that_are_too_many_to_compare_are_a_limitation() -> None:
    cases = {"one": {f"m{number}": "p" for number in range(MOST_MODELS + 1)}}
    text = render_report(run_of(cases), "markdown")
    assert "The 301 models are not compared with each other: too many pairs (the limit is 300 models" in text
    assert "## Comparisons" not in text


class CountedTrials(tuple[Any, ...]):
    """Trials or results that count how often they are read from the beginning."""

    reads = 0

    def __iter__(self) -> Iterator[Any]:
        CountedTrials.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("report_format", get_args(ReportFormat))
def test_the_results_are_not_read_again_for_each_model(
    report_format: ReportFormat, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[Spent] = []

    def count(cost: float | None, known: int, trials: int) -> Spent:
        spent.append(Spent(cost, known, trials))
        return spent[-1]

    monkeypatch.setattr(summary_module, "Spent", count)

    def reads(models: int) -> int:
        kept = run_of({"one": {f"m{number:03}": "p" for number in range(models)}})
        CountedTrials.reads = 0
        plan = replace(kept.plan, trials=CountedTrials(kept.plan.trials))
        render_report(replace(kept, plan=plan, results=CountedTrials(kept.results)), report_format)
        return CountedTrials.reads

    assert reads(3) == reads(23) > 0
    assert len(spent) <= 2 * (3 + 23)
