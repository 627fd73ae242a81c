"""The matrix as values: rows in order and in groups, figures, pairs, lines."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.app.matrix.samples import EARLIER, MODELS, ROWS, earlier_results, hostile, large, matrix_of, repeated, result
from tests.support.scripted_session import case_of, suite_of
from tui.app.matrix.baseline import baseline_of
from tui.app.matrix.columns import column_at, lay_out
from tui.app.matrix.comparison_lines import brief, judgement, pair_lines, pairs_table, sentence
from tui.app.matrix.header_lines import MatrixHeading, head_lines, matrix_header
from tui.app.matrix.matrix import Heading, Matrix, Order, all_fail
from tui.app.matrix.statistics import Since, Statistics, compute_statistics
from tui.app.presentation.pieces import text_of, width_of
from tui.model.events import RunFinished, RunStarted, TrialFinished, TrialStarted
from tui.model.filter import parse_filter
from tui.model.outcomes import outcome_of
from tui.model.prices import Spent, cost_text
from tui.model.results import CountedVerdict, TrialKey, Usage
from tui.model.sanitize import sanitize_text
from tui.model.state import Counts, RunState
from tui.model.suite import cases_by_id
from tui.statistics.run_figures import ModelTotals
from tui.statistics.shares import wilson_interval


def names(matrix: Matrix) -> list[str]:
    return [f"[{row.group}]" if isinstance(row, Heading) else row.name for row in matrix.rows]


def arranged(matrix: Matrix, **changes: object) -> list[str]:
    matrix.row_options = matrix.row_options._replace(**changes)  # type: ignore[arg-type]
    matrix.arrange()
    return names(matrix)


def computed(matrix: Matrix) -> Statistics:
    while not matrix.cell_counts.complete:
        matrix.cell_counts.count(0.001)
    matrix.statistics = compute_statistics(matrix.snapshot())
    return matrix.statistics


def test_rows_stand_in_their_categories_as_in_the_suite() -> None:
    rows = names(matrix_of())
    assert rows[:3] == ["[Security]", "SQL Query Generation", "Hash a password"]
    assert [row for row in rows if row.startswith("[")] == [
        "[Security]",
        "[Bug Fixing]",
        "[Refactoring]",
        "[Explanation]",
    ]


def test_a_case_is_below_each_of_its_tags() -> None:
    matrix = matrix_of()
    rows = arranged(matrix, grouping="tag")
    assert [row for row in rows if row.startswith("[")] == ["[web]", "[sql]", "[]", "[quick]"]
    assert rows.count("SQL Query Generation") == 2
    assert len(matrix.places_of("case-0")) == 2
    assert text_of(matrix.row_line(rows.index("[]"), lay_out(100, 3, 20))).startswith("others")
    assert matrix.case_count == len(ROWS)


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        (Order("name"), "Escape HTML", "What does this regex do"),
        (Order("name", reverse=True), "What does this regex do", "Escape HTML"),
        (Order("differ"), "SQL Query Generation", "Split a long function"),
        (Order("all fail"), "Leap years", "Split a long function"),
        (Order("model", MODELS[2]), "Leap years", "Split a long function"),
    ],
)
def test_rows_are_sorted(order: Order, first: str, last: str) -> None:
    rows = arranged(matrix_of(), grouping="none", order=order)
    assert (rows[0], rows[-1]) == (first, last)


def test_the_group_of_the_first_row_is_first() -> None:
    rows = arranged(matrix_of(), order=Order("all fail"))
    assert rows[:2] == ["[Bug Fixing]", "Leap years"]


def test_the_filter_is_that_of_the_tree_and_differing_is_apart_from_it() -> None:
    matrix = matrix_of()
    assert arranged(matrix, grouping="none", filter=parse_filter("status:timed")) == ["Replace a global"]
    assert arranged(matrix, filter=parse_filter("model:gpt* status:fail cat:bug")) == [
        "Race in the cache",
        "Leap years",
    ]
    assert "Leap years" not in arranged(matrix, filter=parse_filter(""), differing=True)
    assert matrix.title == "8 of 10 cases × 3 models"
    assert arranged(matrix, filter=parse_filter("nothing like it")) == []


@pytest.mark.parametrize("make", [matrix_of, repeated])
def test_the_filter_finds_what_the_order_by_disagreement_has_first(make: Callable[[], Matrix]) -> None:
    def found(text: str, *, differing: bool = False) -> list[str]:
        return arranged(matrix, grouping="none", order=Order("differ"), filter=parse_filter(text), differing=differing)

    matrix = make()
    order, differ = found(""), found("differs:yes")
    assert differ
    assert differ == order[: len(differ)]
    assert differ == found("", differing=True)
    assert differ == found("!differs:no")
    assert found("differs:no") == found("!differs:yes") == order[len(differ) :]


def test_figures_hold_what_was_counted() -> None:
    figures = computed(matrix_of()).figures
    gpt, claude, gemini = (figures[model] for model in MODELS)
    assert gpt.tally == ModelTotals(10, 6, 4, 0, 0)
    assert (claude.tally.trials, claude.tally.flaky) == (9, 1)
    assert gemini.tally.errors == 2
    assert gpt.rates.pass_rate_95 == wilson_interval(6, 10)
    assert gpt.effort.median_ms == 1500 + 40 * 4.5
    assert gpt.effort.p95_ms is None, "too few to tell"
    assert (gpt.effort.first_token_ms, gpt.effort.input_tokens, gpt.effort.output_tokens) == (300, 600, 1500)
    assert computed(large(200)).figures["provider/model-0"].effort.p95_ms is not None


def test_unknown_tokens_and_costs_are_reported_as_unknown() -> None:
    matrix = matrix_of((("A", "one", "✓✓"), ("A", "two", "✓✓")), ("a", "b"))
    key = TrialKey("case-0", "a")
    silent = replace(result(key, "✓").attempts[0].steps[0], usage=type(result(key, "✓").attempts[0].steps[0].usage)())
    del matrix.state.trials[key]
    matrix.state.take_results([result(key, "✓", silent)])
    matrix.show(matrix.suite, matrix.state, matrix.models)
    found = computed(matrix)
    lines = [text_of(line) for line in head_lines(lay_out(100, 2, 10), matrix.models, found.figures, None, whole=True)]
    assert next(line for line in lines if line.startswith("tokens")).split()[4:7] == ["≥60", "·", "≥150"]
    assert next(line for line in lines if line.startswith("cost")).split() == ["cost", "unknown", "unknown"]
    assert "0" not in next(line for line in lines if line.startswith("cost"))


def test_what_is_known_of_a_trial_is_part_of_the_sums() -> None:
    matrix = matrix_of((("A", "one", "◐✓"),), ("a", "b"))
    key = TrialKey("case-0", "a")
    trial = matrix.state.trials[key].result
    assert trial is not None
    first, last = trial.attempts
    paid = replace(first.steps[0], cost_usd=0.5)
    silent = replace(last.steps[0], usage=Usage(), cost_usd=None)
    attempts = (replace(first, steps=(paid,)), replace(last, steps=(silent,)))
    del matrix.state.trials[key]
    matrix.state.take_results([replace(trial, attempts=attempts)])
    matrix.show(matrix.suite, matrix.state, matrix.models)
    found = computed(matrix)
    lines = [text_of(line) for line in head_lines(lay_out(100, 2, 10), matrix.models, found.figures, None, whole=True)]
    assert next(line for line in lines if line.startswith("tokens")).split()[4:7] == ["≥60", "·", "≥150"]
    assert next(line for line in lines if line.startswith("cost")).split() == ["cost", "≥", "$0.50", "unknown"]


def test_costs_are_added_up_and_what_is_missing_is_reported() -> None:
    matrix = matrix_of((("A", "one", "✓✓✓"), ("A", "two", "✓✗◐")), ("a", "b", "c"))
    costs = {"a": (0.5, 0.25), "b": (0.5, None), "c": (0.001, 0.002)}
    for key in list(matrix.state.trials):
        paid = replace(result(key, "✓").attempts[0].steps[0], cost_usd=costs[key.model][key.case == "case-1"])
        sign = "◐" if key == ("case-1", "c", 1) else "✓"
        del matrix.state.trials[key]
        matrix.state.take_results([result(key, sign, paid)])
    matrix.show(matrix.suite, matrix.state, matrix.models)
    found = computed(matrix)
    layout = lay_out(120, 3, 10)
    lines = [text_of(line) for line in head_lines(layout, matrix.models, found.figures, None, whole=True)]
    # The flaky trial of c was paid for twice.
    assert next(line for line in lines if line.startswith("cost")).split() == ["cost", "$0.75", "≥", "$0.50", "$0.0050"]
    efforts = [each.effort for each in found.figures.values()]
    assert all(len(cost_text(Spent(each.cost_usd, each.costs_known, 2))) < layout.cell for each in efforts)


def test_a_trial_that_moves_moves_its_cell_and_its_figures_alone() -> None:
    matrix = matrix_of()
    computed(matrix)
    key = TrialKey("case-0", MODELS[0])
    matrix.state.take(RunStarted("run", (key,), ""))
    assert list(matrix.update_trial(key)) == [1]
    assert matrix.cell_counts.cell(*key[:2]).status == "waiting"
    assert [*matrix.words.values()] == [17, 2, 7, 0, 2]
    matrix.state.take(TrialStarted(key))
    matrix.update_trial(key)
    assert matrix.cell_counts.cell(*key[:2]).status == "running"
    matrix.state.take(TrialFinished(result(key, "✓")))
    matrix.update_trial(key)
    matrix.update_trial(key)
    assert [*matrix.words.values()] == [18, 2, 7, 0, 2]
    assert compute_statistics(matrix.snapshot()).figures[MODELS[0]].tally.passed == 7


def test_the_header_names_a_run_only_if_it_gave_all_results() -> None:
    matrix = matrix_of()
    keys = tuple(matrix.state.trials)
    assert "latest results" in text_of(matrix_header(matrix.heading, 150))
    for run, trials, named in (("1" * 32, keys[:1], False), ("2" * 32, keys, True), ("3" * 32, keys[:2], False)):
        matrix.state.take(RunStarted(run, trials, ""))
        for key in trials:
            matrix.state.take(TrialFinished(result(key, "✓")))
        matrix.state.take(RunFinished(run, "finished", ""))
        header = text_of(matrix_header(matrix.heading, 150))
        assert (f"run {run[:6]}" in header, "latest results" in header) == (named, not named)


def test_while_a_run_is_not_finished_pairs_have_counts_and_no_test() -> None:
    matrix = matrix_of()
    keys = tuple(TrialKey(f"case-{number}", model) for number in range(5) for model in MODELS)
    matrix.state.take(RunStarted("run", keys, ""))
    for key in keys[:6]:
        matrix.state.take(TrialFinished(result(key, "✓")))
    matrix.show(matrix.suite, matrix.state, matrix.models)
    pair = computed(matrix).pair(None)
    assert pair is not None
    assert (pair.interim, pair.p_value, pair.p_holm, pair.difference_95) == (True, None, None, None)
    lines = [
        sentence(pair, matrix.names, matrix.progress),
        brief(pair, matrix.names, matrix.progress),
        *pairs_table(computed(matrix).pairs, matrix.names).lines,
        *pair_lines(pair, matrix.names, {}, {}, matrix.progress),
    ]
    shown = "\n".join(map(text_of, lines))
    assert "So far 6 of 15; tests follow when the run is finished." in shown
    assert "p = " not in shown
    assert "95%" not in shown
    matrix.state.take(RunFinished("run", "cancelled", ""))
    assert matrix.interim, "a cancelled run is not finished"
    matrix.state.take(RunStarted("run", keys[6:], ""))
    for key in keys[6:-1]:
        matrix.state.take(TrialFinished(result(key, "✓")))
    matrix.state.take(RunFinished("run", "finished", ""))
    assert matrix.interim, "a trial that was cancelled before it began has no result"
    matrix.state.take(RunStarted("run", keys[-1:], ""))
    matrix.state.take(TrialFinished(result(keys[-1], "✓")))
    matrix.state.take(RunFinished("run", "finished", ""))
    matrix.show(matrix.suite, matrix.state, matrix.models)
    pair = computed(matrix).pair(None)
    assert pair is not None
    assert "p = " in text_of(sentence(pair, matrix.names, matrix.progress))


def test_a_kept_run_that_was_interrupted_has_counts_and_no_test() -> None:
    matrix = matrix_of()
    matrix.set_saved_run("kept", {}, 120)
    matrix.show(matrix.suite, matrix.state, matrix.models)
    assert (matrix.interim, matrix.progress) == (True, "0 of 120")
    assert all(pair.interim for pair in computed(matrix).pairs)


def test_what_a_cancelled_run_did_not_ask_has_its_result_again() -> None:
    matrix = matrix_of()
    key = TrialKey("case-0", MODELS[0])
    matrix.state.take(RunStarted("run", (key,), ""))
    matrix.update_trial(key)
    matrix.state.take(RunFinished("run", "cancelled", ""))
    matrix.show(matrix.suite, matrix.state, matrix.models)
    computed(matrix)
    assert matrix.cell_counts.cell(*key[:2]).status == "failed"
    assert [*matrix.words.values()] == [17, 2, 8, 0, 2]


def test_pairs_say_who_wins_where_and_how_sure_that_is() -> None:
    matrix = matrix_of()
    found = computed(matrix)
    pair = found.pair((MODELS[2], MODELS[0]))
    assert pair is not None
    assert (pair.win_cases, pair.loss_cases) == (("case-4", "case-8", "case-9"), ("case-0", "case-3", "case-5"))
    text = text_of(sentence(pair, matrix.names))
    assert text.startswith(
        "gpt-5.2 passes 3 cases that gemini-3-pro does not, and the reverse in 3 cases; 4 ties. p = 1.00"
    )
    assert "exact McNemar" in text
    assert "Holm over 3 pairs" in text
    assert "no difference shown; detectable difference with these cases: 76 points (80% power)." in text
    assert len(text_of(brief(pair, matrix.names))) < len(text)
    assert len(pairs_table(found.pairs, matrix.names).lines) == 3
    listed = [text_of(line) for line in pair_lines(pair, matrix.names, {case.id: case for case in matrix.suite.cases})]
    assert "  What does this regex do" in listed
    assert listed[1].startswith("Difference of pass rates: 0 points (95% interval, simultaneous over 3 pairs: −")
    by_category = listed.index("By category, gpt-5.2 : gemini-3-pro  (counted, not tested)")
    assert [line.split() for line in listed[by_category : by_category + 5]] == [
        ["By", "category,", "gpt-5.2", ":", "gemini-3-pro", "(counted,", "not", "tested)"],
        ["Security", "0", ":", "2", "2", "ties"],
        ["Explanation", "1", ":", "0", "0", "ties"],
        ["Refactoring", "1", ":", "0", "1", "tie"],
        ["Bug", "Fixing", "1", ":", "1", "1", "tie"],
    ]


def test_an_error_in_a_case_without_a_check_is_in_no_rate_of_the_matrix() -> None:
    matrix = matrix_of([("A", "one", "✓"), ("A", "free", "!")], ("good",))
    matrix.suite = replace(
        matrix.suite,
        cases=tuple(
            replace(case, steps=tuple(replace(step, checks=()) for step in case.steps)) if case.name == "free" else case
            for case in matrix.suite.cases
        ),
    )
    tally = computed(matrix).figures["good"].tally
    assert (tally.errors, tally.checked, tally.pass_rate) == (1, 1, 1.0)


def test_the_cases_of_a_pair_are_in_the_order_of_the_suite_and_errors_are_reported() -> None:
    matrix = matrix_of([("A", f"case {number}", "✓!" if number < 8 else "✓✗") for number in range(12)], ("good", "bad"))
    found = computed(matrix)
    pair = found.pair(None)
    assert pair is not None
    turned = replace(pair, win_cases=pair.win_cases[5:] + pair.win_cases[:5])
    lines = pair_lines(turned, matrix.names, {case.id: case for case in matrix.suite.cases}, found.figures)
    listed = [text_of(line) for line in lines]
    assert [line.strip() for line in listed if line.startswith("  case ")] == [f"case {number}" for number in range(12)]
    assert "bad: 8 of 12 trials ended in an error and count as not passed." in listed
    assert not any(line.startswith("good: ") for line in listed)


def test_names_too_long_for_a_narrow_matrix_keep_their_end() -> None:
    matrix = matrix_of([("A", f"A question about security with the number {number}", "✓✗✓") for number in range(3)])
    layout = lay_out(76, 3, 60)
    names = [text_of(matrix.row_line(place, layout))[: layout.name].strip() for place in range(1, 4)]
    assert [name.split()[-1] for name in names] == ["0", "1", "2"]
    assert all("…" in name for name in names)


def test_what_follows_from_a_pair_is_where_a_narrow_screen_shows_it() -> None:
    matrix = matrix_of()
    table = pairs_table(computed(matrix).pairs, matrix.names)
    for pair, line in zip(matrix.statistics.pairs, table.lines, strict=True):
        assert judgement(pair, matrix.names)[0].partition(";")[0] in text_of(line)[:70]


def test_a_list_of_pairs_omits_the_columns_that_do_not_fit_in_every_row() -> None:
    matrix = matrix_of()
    table = pairs_table(computed(matrix).pairs, matrix.names)
    for width in range(20, 200):
        pieces = table.pieces_in(width)
        fits = [all(width_of(text_of(line[:kept])) <= width for line in table.lines) for kept in range(1, 6)]
        assert pieces == max(2, sum(fits))
    assert table.pieces_in(200) == 5


def test_a_clear_winner_is_named_and_repeats_are_tested_by_sign_flips() -> None:
    matrix = matrix_of([("A", f"case {number}", "✓✗") for number in range(12)], ("good", "bad"))
    pair = computed(matrix).pair(None)
    assert pair is not None
    assert text_of(sentence(pair, matrix.names)).endswith("p < 0.001 (exact McNemar): good does better.")
    found = computed(repeated()).pair(None)
    assert found is not None
    assert "(sign-flip over cases, Holm over 3 pairs)" in text_of(sentence(found, repeated().names))


def test_one_model_has_nobody_to_be_compared_with() -> None:
    assert computed(matrix_of([("A", "one", "✓")], ("alone",))).pair(None) is None


def test_a_baseline_says_what_broke_and_what_was_fixed() -> None:
    matrix = matrix_of()
    matrix.baseline = baseline_of(EARLIER, map(outcome_of, earlier_results(matrix)))
    found = computed(matrix)
    assert found.since == {MODELS[0]: Since(1, 3, 10), MODELS[1]: Since(2, 2, 9), MODELS[2]: Since(2, 1, 10)}
    rows = arranged(matrix, grouping="none", order=Order("change"))
    assert rows[0] == "Leap years"
    layout = lay_out(150, 3, 25, baseline=True)
    assert text_of(matrix.row_line(0, layout)).split()[2:] == ["✗", "was", "✓"] * 3 + ["✗", "3", "broke"]
    heads = [text_of(line).split() for line in head_lines(layout, MODELS, found.figures, found.since, whole=False)]
    assert heads[-1] == ["since", "baseline", "+1", "−3", "+2", "−2", "+2", "−1", "+5", "−6"]


def test_a_rerun_changes_no_figure_until_it_ends() -> None:
    matrix = matrix_of()
    matrix.baseline = baseline_of(EARLIER, map(outcome_of, earlier_results(matrix)))
    before = computed(matrix)
    words = dict(matrix.words)
    failed = tuple(key for key, trial in matrix.state.trials.items() if trial.status == "failed")
    assert failed
    matrix.state.take(RunStarted("run", failed, "", continues=True))
    matrix.recount()
    during = computed(matrix)
    assert {model: each.tally for model, each in during.figures.items()} == {
        model: each.tally for model, each in before.figures.items()
    }
    assert {model: each.rates for model, each in during.figures.items()} == {
        model: each.rates for model, each in before.figures.items()
    }
    assert during.since == before.since
    assert dict(matrix.words) == words
    assert all(pair.interim for pair in during.pairs)
    row = text_of(matrix.row_line(0, lay_out(150, 3, 25, baseline=True)))
    assert "was" not in row or "●" not in row


def test_cases_that_have_changed_since_the_baseline_are_named() -> None:
    matrix = matrix_of()
    first, *_ = matrix.suite.cases
    outcomes = [outcome_of(each) for each in earlier_results(matrix) if each.trial.case != first.id]
    matrix.baseline = baseline_of(EARLIER, outcomes, frozenset({first.id}))
    computed(matrix)
    arranged(matrix, grouping="none")
    row = text_of(matrix.row_line(0, lay_out(150, 3, 25, baseline=True)))
    assert "was" not in row
    assert row.split()[-1] == "changed"
    header = text_of(matrix_header(matrix.heading, 200))
    assert f"against baseline {EARLIER[:12]}, 1 changed case not compared" in header
    matrix.show(matrix.suite, matrix.state, MODELS)
    assert matrix.heading.changed == 1
    matrix.show(replace(matrix.suite), matrix.state, MODELS)
    assert matrix.heading.changed == 0


def test_results_of_earlier_checks_are_shown_but_not_counted() -> None:
    cases = [case_of(f"case-{at}", expects=["a"]) for at in range(12)]
    changed = [case_of(each.id, expects=["b"]) for each in cases[:11]]
    suite, state, models = suite_of(Path("suite.yaml"), *changed, cases[11]), RunState(), ("before", "after")
    trials = [TrialKey(case.id, model) for case in cases for model in models]
    before = cases_by_id(suite_of(Path("suite.yaml"), *cases))
    judged = {key: before[key.case] for key in trials if key.model == "before"}
    state.display(suite)
    state.take_results([result(key, "✗" if key.model == "before" else "✓") for key in trials], judged)
    matrix = Matrix(suite, state, models)
    matrix.baseline = baseline_of(EARLIER, [outcome_of(result(key, "✓")) for key in trials[:22]])
    found = computed(matrix)
    assert [found.figures[model].tally.trials for model in models] == [1, 12]
    pair = found.pair(None)
    assert pair is not None
    assert (pair.common, pair.better) == (1, None), "11 cases were judged by different checks"
    layout = lay_out(150, 2, 25, baseline=True)
    assert text_of(matrix.row_line(1, layout)).split() == ["case-0", "✗", "earlier", "✓"]
    heads = [text_of(line).split() for line in head_lines(layout, models, found.figures, found.since, whole=False)]
    assert heads[-1] == ["since", "baseline", "–", "+0", "−0", "+0", "−0"]
    assert matrix.words["failed"] == 1
    assert "11 by earlier checks, not counted" in text_of(matrix_header(matrix.heading, 200))
    assert arranged(matrix, differing=True)[1:] == ["case-11"]
    assert matrix.heading.run == ""
    state.take_results([result(TrialKey("case-0", "only"), "✗")], {TrialKey("case-0", "only"): before["case-0"]})
    assert not all_fail(Matrix(suite, state, ["only"]).cells(cases[0]))
    state.display(suite_of(Path("suite.yaml"), *cases))  # the edit is taken back
    matrix.show(suite, state, models)
    assert computed(matrix).figures["before"].tally.failed == 12
    assert matrix.heading.earlier == 0


@pytest.mark.parametrize("width", [1, 8, 20, 40, 74, 100, 156, 240])
@pytest.mark.parametrize("models", [1, 2, 4, 9])
@pytest.mark.parametrize("baseline", [False, True])
def test_columns_fill_what_there_is_and_never_more(width: int, models: int, baseline: bool) -> None:
    layout = lay_out(width, models, 30, 99, baseline=baseline)
    assert layout.name >= 1
    assert 1 <= layout.shown <= models
    assert layout.visible[-1] == models - 1, "the last models are in sight"
    if width >= 60:
        assert layout.name + layout.shown * layout.cell + layout.change <= width
        assert column_at(layout, layout.name) == layout.first
        assert column_at(layout, 0) == -1


def test_narrow_windows_show_fewer_models_and_say_so() -> None:
    matrix = large(20, 6)
    layout = lay_out(74, 6, 20, 2)
    head = text_of(head_lines(layout, matrix.models, {}, None, whole=False)[0])
    assert layout.shown == 3
    assert "◂ 3–5 of 6 ▸" in head
    assert "model-2" in head
    assert "model-5" not in head


def test_the_header_leaves_out_what_matters_least() -> None:
    shown = MatrixHeading(
        "security",
        "0193f2a4c6d8700",
        "0193a7b4",
        {"passed": 3, "failed": 2, "flaky": 1, "error": 1},
        Counts(20, 7),
        "sorted by name",
    )
    lines = {width: text_of(matrix_header(shown, width)) for width in (200, 90, 60, 20)}
    assert "run 0193f2a4c6d8 against baseline 0193a7b4   ▶  0/20" in lines[200].replace(" 7/20", " 0/20")
    assert "sorted by name" in lines[200]
    assert "✓ 3" in lines[60]
    assert all(width_of(line) <= width for width, line in lines.items())


def test_hostile_text_is_shown_and_never_obeyed() -> None:
    matrix = hostile()
    found = computed(matrix)
    layout = lay_out(120, 2, 60)
    lines = [matrix.row_line(place, layout) for place in range(len(matrix.rows))]
    lines += head_lines(layout, matrix.models, found.figures, None, whole=True)
    lines.append(matrix_header(matrix.heading, 150))
    for pair in found.pairs:
        lines += [
            sentence(pair, matrix.names),
            *pair_lines(pair, matrix.names, {case.id: case for case in matrix.suite.cases}),
        ]
    for line in lines:
        assert sanitize_text(text_of(line)) == text_of(line)
        assert "\n" not in text_of(line)


def test_another_suite_keeps_what_was_chosen_as_far_as_it_can() -> None:
    matrix = matrix_of()
    arranged(matrix, order=Order("model", MODELS[0]), grouping="tag")
    matrix.pair = MODELS[0], MODELS[1]
    other = matrix_of((("A", "one", "✓✓"),), MODELS[1:], Path("other.yaml"))
    matrix.show(other.suite, other.state, other.models)
    assert matrix.row_options.order == Order()
    assert matrix.row_options.grouping == "tag"
    assert matrix.pair is None


@pytest.mark.parametrize(
    ("width", "end"), [(160, "↻ 1 passed, 2 failed on rerun   in order"), (80, "○ 2 unchecked  ↻ 3"), (50, "○ 2  ↻ 3")]
)
def test_the_header_counts_what_reruns_came_to_at_every_width(width: int, end: str) -> None:
    words: dict[CountedVerdict, int] = {"passed": 14, "failed": 3, "flaky": 0, "error": 1, "unchecked": 2}
    shown = MatrixHeading("Walk", "", "", words, None, "in order", passed_since=1, failed_since=2)
    assert text_of(matrix_header(shown, width)).endswith(end)
