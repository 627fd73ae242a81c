"""The walk through the cases: what is on it, what is hidden, what a choice means."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.kept_runs import hostile_run, make_case, make_result, make_suite
from tui.app.compare.lines import (
    check_lines,
    choice_line,
    entry_line,
    heads_line,
    source_line,
    source_names,
    title_line,
)
from tui.app.compare.pairs import AnswerPair, ComparisonSession, Pair, next_answer, sources_of_models, sources_of_run
from tui.app.presentation.pieces import text_of, width_of
from tui.checks.protocol import TOO_LONG
from tui.model.diffs import FileDiff
from tui.model.outcomes import Outcome, outcome_of
from tui.model.results import CheckResult, TrialKey
from tui.model.run import RunRecord
from tui.model.suite import Step
from tui.session.answers import Answer, Source
from tui.session.preferences import AnswerPlace, Choice, Preferred, swap_sides

SUITE = make_suite([make_case(f"c{number}") for number in range(40)])
A, B = Source(SUITE.path, "run1", "mock-a"), Source(SUITE.path, "run2", "mock-b")
RUN = RunRecord("run1", "finished", "s", SUITE.path, "", ("mock-a", "mock-b"), "2026-11-20T10:00:00+00:00", None, 9, 3)

KEYS = ["a", "b", "t", "x"]


def outcomes(model: str, cases: Sequence[str]) -> dict[str, list[Outcome]]:
    return {case: [outcome_of(make_result(TrialKey(case, model)))] for case in cases}


def comparison_of(seed: int | None = None, *, missing: str = "") -> ComparisonSession:
    cases = [case.id for case in SUITE.cases]
    there = [case for case in cases if case != missing]
    return ComparisonSession(SUITE, Pair(A, B, outcomes("mock-a", cases), outcomes("mock-b", there)), seed)


def answer(source: Source) -> Answer:
    return Answer(AnswerPlace(source.run, source.model, 1, 1), "text", "passed", False, None, 1200.0, 1)


def test_only_what_both_have_answered_is_on_the_way() -> None:
    comparison = comparison_of(missing="c1")
    assert [entry.case for entry in comparison.entries[:2]] == ["c0", "c2"]
    assert not comparison.step(-1)
    assert comparison.step(1)
    assert comparison.entry is not None
    assert comparison.entry.case == "c2"
    comparison.go_to_case("c1")
    assert comparison.entry.case == "c2"
    assert ComparisonSession(SUITE, Pair(A, B, {}, {})).entry is None


def test_the_seed_mixes_the_sides_and_can_be_repeated() -> None:
    sides = [comparison_of(7).swapped(case.id) for case in SUITE.cases]
    assert sides == [comparison_of(7).swapped(case.id) for case in SUITE.cases]
    assert 8 < sum(sides) < 32
    assert sides != [comparison_of(8).swapped(case.id) for case in SUITE.cases]
    assert not any(comparison_of().swapped(case.id) for case in SUITE.cases)


@pytest.mark.parametrize(("shown", "meant"), [("a", "b"), ("b", "a"), ("tie", "tie"), ("both_bad", "both_bad")])
def test_a_choice_means_the_answer_that_stood_there(shown: Choice, meant: Choice) -> None:
    comparison = comparison_of(7)
    swapped = next(entry.case for entry in comparison.entries if comparison.swapped(entry.case))
    comparison.go_to_case(swapped)
    preferred = comparison.preference(shown, answer(A), answer(B))
    assert (preferred.choice, preferred.swapped, preferred.blind, preferred.seed) == (meant, True, True, 7)
    assert (preferred.case, preferred.a.model, preferred.b.model) == (swapped, "mock-a", "mock-b")
    straight = comparison_of()
    assert straight.preference(shown, answer(A), answer(B)).choice == shown
    straight.record(straight.preference(shown, answer(A), answer(B)))
    assert straight.chosen == 1


def test_what_was_preferred_before_is_remembered_for_the_same_answers_alone() -> None:
    comparison = comparison_of()
    first = comparison.preference("a", answer(A), answer(B))
    places = {"c0": (first.a, first.b)}

    def remembered(*preferred: Preferred) -> Choice | None:
        again = comparison_of()
        again.load_preferences(preferred, places)
        assert {entry.choice for entry in again.entries[1:]} == {None}
        return again.entries[0].choice

    assert remembered(replace(first, choice="b"), first) == "a"
    assert remembered(replace(swap_sides(first), seed=3)) == "a"
    assert remembered(replace(first, case="c1")) is None
    for other in (
        replace(first.a, run="run9"),
        replace(first.a, repeat=2),
        replace(first.a, attempt=2),
        replace(first.a, answer="another hash"),
    ):
        places["c0"] = (replace(first.a, answer="hash"), first.b)
        assert remembered(replace(first, a=other)) is None
    assert remembered(first) == "a", "a line of an earlier version has no hash"


def test_a_choice_is_shown_for_the_answers_that_it_was_about() -> None:
    comparison, old, newer = comparison_of(), answer(A), answer(replace(A, run="run9"))
    comparison.record(comparison.preference("tie", old, answer(B)))
    entry, diff = comparison.entries[0], FileDiff("answer", "modified")
    assert AnswerPair(old, answer(B), diff).choice_of(entry) == "tie"
    assert AnswerPair(newer, answer(B), diff).choice_of(entry) is None
    assert AnswerPair(None, answer(B), diff).choice_of(entry) is None


def test_repeats_and_attempts_come_in_turn() -> None:
    flaky = outcome_of(make_result(TrialKey("c0", "mock-a"), flaky=True))
    second = replace(outcome_of(make_result(TrialKey("c0", "mock-a", 2))))
    seen = [A]
    for _ in range(3):
        seen.append(next_answer(seen[-1], [flaky, second]))
    assert [(each.repeat, each.attempt) for each in seen] == [(1, 0), (2, 0), (1, 1), (1, 0)]
    assert next_answer(A, []) == A


def test_whose_answers_stand_beside_each_other_at_first() -> None:
    runs = [replace(RUN, id="run2"), RUN]
    path = SUITE.path
    assert sources_of_models(path, "", ["x", "y", "z"], "z", runs) == (Source(path, "", "x"), Source(path, "", "z"))
    assert sources_of_models(path, "", ["x", "y"], "x", runs) == (Source(path, "", "x"), Source(path, "", "y"))
    assert sources_of_models(path, "", ["mock-a"], "", runs) == (
        Source(path, "run2", "mock-a"),
        Source(path, "run1", "mock-a"),
    )
    assert sources_of_models(path, "", ["new"], "", runs) == (Source(path, "", "new"), Source(path, "", "new", 2))
    assert sources_of_models(path, "", [], "", runs) is None
    assert sources_of_run(runs[0], "run1", runs) == (Source(path, "run1", "mock-a"), Source(path, "run2", "mock-a"))
    assert sources_of_run(RUN, "run1", runs) == (Source(path, "run1", "mock-a"), Source(path, "run1", "mock-b"))
    assert sources_of_run(RUN, None, [RUN]) == (Source(path, "run1", "mock-a"), Source(path, "run1", "mock-b"))


def test_nothing_is_reported_hidden_answers() -> None:
    comparison = comparison_of(7)
    names, answers = (("mock-a · newest",), ("mock-b · newest",)), (answer(A), answer(B))
    blind = text_of(heads_line(names, answers, True, 100)) + text_of(entry_line(comparison.entries[0], True, 40))
    assert "mock" not in blind
    assert "✓" not in blind
    assert "mock-a" in text_of(heads_line(names, answers, False, 100))
    assert "seed 7" in text_of(title_line(comparison, "", 100))


def test_long_names_keep_their_end_where_they_differ() -> None:
    comparison = comparison_of()
    comparison.record(comparison.preference("a", answer(A), answer(B)))
    entry = replace(comparison.entries[0], name="A question about security with the number 12")
    line = text_of(entry_line(entry, blind=False, width=30))
    assert "…" in line
    assert line.split("…")[1].split() == ["number", "12", "A"]


@pytest.mark.parametrize("width", [30, 60, 76, 120])
def test_lines_have_their_width(width: int) -> None:
    comparison = comparison_of(7)
    hostile = hostile_run().record
    source = Source(hostile.suite_path, hostile.id, hostile.models[0])
    name = source_names(source, [source], hostile)
    lines = [
        title_line(comparison, "", width),
        entry_line(comparison.entries[0], False, width),
        heads_line((name, name), (answer(A), None), False, width),
    ]
    assert [width_of(text_of(line)) for line in lines] == [width] * 3
    lines += [choice_line("a", True, "note", KEYS, width), source_line(source, hostile, width)]
    text = "".join(map(text_of, lines))
    assert not any(sign in text for sign in "\x1b\x00\n\r\x9b\u202e\ud800")


def test_a_source_has_the_passes_of_its_run_only_if_the_run_has_no_other_model() -> None:
    record = replace(RUN, models=("a", "b"))
    assert "passed" not in text_of(source_line(Source(RUN.suite_path, RUN.id, "a"), record, 80))
    assert "1 of 2 models" in text_of(source_line(Source(RUN.suite_path, RUN.id, "a"), record, 80))
    alone = text_of(source_line(Source(RUN.suite_path, RUN.id, "a"), replace(RUN, models=("a",)), 80))
    assert f"{RUN.passed}/{RUN.checked} passed" in alone


def test_two_variants_of_one_run_are_distinguished_however_narrow_it_is() -> None:
    path, run = RUN.suite_path, RUN.id
    pair = [Source(path, run, f"local/smollm2-135m?temperature={each}") for each in ("0", "0.8&seed=7")]
    a, b = (source_names(each, pair, RUN) for each in pair)
    assert a[0].startswith("smollm2-135m · temp 0 · run ")
    assert (a[1:], b[1:]) == (
        ("smollm2-135m · temp 0", "temp 0"),
        ("smollm2-135m · temp 0.8 · seed 7", "temp 0.8 · seed 7"),
    )
    heads = text_of(heads_line((a, b), (answer(A), answer(B)), False, 76))
    assert "A temp 0 " in heads, "both are called in the same way"
    assert "B temp 0.8 · seed 7 " in heads
    other = [pair[0], Source(path, "run1", pair[0].model, 2)]
    assert source_names(other[1], other, None)[-1].endswith(" · run run1 · repeat 2")


def test_the_choice_is_marked_where_it_is_shown_now() -> None:
    assert "▸a A is better" in text_of(choice_line("a", False, "", KEYS, 100))
    assert "▸b B is better" in text_of(choice_line("a", True, "", KEYS, 100))
    assert "▸t tie" in text_of(choice_line("tie", True, "", KEYS, 100))
    assert "b B is better" in text_of(choice_line("a", False, "", KEYS, 54))
    assert "Space B " in text_of(choice_line("a", False, "", ["a", "Space", "t", "x"], 54))


def test_a_check_that_could_not_be_evaluated_has_no_result() -> None:
    slow = CheckResult("expected_pattern", "a+", "timed_out", f"could not be evaluated: {TOO_LONG}")
    unknown = CheckResult("assert.cost", "at most 1 USD", "timed_out", "could not be evaluated: no price")
    lines = check_lines((replace(answer(A), checks=(slow, unknown)), None), 80)
    assert [text_of(line).split()[-4:] for line in lines[1:3]] == [
        ["!", "too", "long", "·"],
        ["!", "no", "result", "·"],
    ]


def test_a_rerun_says_which_verdict_counts() -> None:
    rerun = replace(answer(A), counts_as="failed")
    names = (("mock-a",), ("mock-b",))
    assert "✓ ↻ rerun, counts as failed" in text_of(heads_line(names, (rerun, answer(B)), False, 110))
    narrow = text_of(heads_line(names, (rerun, answer(B)), False, 76))
    assert "A mock-a" in narrow
    assert "✓ ↻ ✗" in narrow
    assert width_of(narrow) == 76
    assert "↻" not in text_of(heads_line(names, (rerun, answer(B)), True, 110))


def test_the_checks_of_two_versions_of_a_case_are_not_mixed() -> None:
    found, missing = (
        CheckResult("expected_pattern", "Paris", "passed"),
        CheckResult("expected_pattern", "zebra", "failed"),
    )
    lines = check_lines((replace(answer(A), checks=(missing, found)), replace(answer(B), checks=(found, found))), 80)
    assert [text_of(line).split() for line in lines[1:]] == [
        ["expected", "zebra", "✗", "failed", "·"],
        ["expected", "Paris", "✓", "passed", "✓", "passed"],
        ["expected", "Paris", "·", "✓", "passed"],
    ]


def test_a_pair_knows_whether_both_were_asked_the_same() -> None:
    first, other = make_case("one"), replace(make_case("one"), steps=(Step("Something else."),))
    diff = FileDiff("answer", "modified", added=1)
    same = AnswerPair(answer(A), answer(B), diff, (first, replace(first, name="renamed")))
    assert (same.case, same.note) == (first, "")
    apart = AnswerPair(answer(A), answer(B), diff, (first, other))
    assert (apart.case, apart.note) == (None, "different versions of this case")
    assert AnswerPair(answer(A), answer(B), diff).case is None
