"""The queue: answers with their criteria together, in the suite's order or shuffled alike each time."""

from itertools import pairwise

import pytest

from tests.support.kept_runs import make_case, make_suite
from tui.model.errors import ConfigError
from tui.model.results import TrialKey
from tui.model.suite import RiskCriterion
from tui.risk import queue
from tui.risk.queue import criteria_of, review_items

TONE, SAFETY = RiskCriterion("Tone", "polite", "low"), RiskCriterion("Safety", "harmless", "critical")
SUITE = make_suite([make_case("b", criteria=(TONE, SAFETY)), make_case("none"), make_case("a", criteria=(SAFETY,))])
ANSWERED = [TrialKey(case, model, repeat) for case in ("a", "none", "b") for model in "yx" for repeat in (2, 1)]


def test_the_suites_order_keeps_a_cases_answers_side_by_side() -> None:
    items = review_items(SUITE, ANSWERED)
    assert [(item.key.case, item.key.repeat, item.key.model, item.key.criterion) for item in items[:4]] == [
        ("b", 1, "x", "Tone"),
        ("b", 1, "x", "Safety"),
        ("b", 1, "y", "Tone"),
        ("b", 1, "y", "Safety"),
    ]
    assert [item.key.case for item in items] == ["b"] * 8 + ["a"] * 4
    assert [(item.answer, item.number, item.of) for item in items[:3]] == [(1, 1, 2), (1, 2, 2), (2, 1, 2)]
    assert (items[-1].answer, items[-1].number, items[-1].of) == (8, 1, 1)


def test_a_seed_shuffles_answers_alike_in_whatever_order_they_came() -> None:
    shuffled = review_items(SUITE, ANSWERED, 7)
    assert shuffled == review_items(SUITE, [*reversed(ANSWERED), ANSWERED[0]], 7)
    assert shuffled != review_items(SUITE, ANSWERED)
    assert shuffled != review_items(SUITE, ANSWERED, 8)
    assert {item.key for item in shuffled} == {item.key for item in review_items(SUITE, ANSWERED)}
    for before, after in pairwise(shuffled):
        assert (after.number == 1) == (after.key.trial != before.key.trial), "an answer's criteria stand together"


def test_a_share_of_the_answers_comes_again_later_whole_and_alike_each_time() -> None:
    suite = make_suite([make_case(f"c{number}", criteria=(TONE, SAFETY)) for number in range(30)])
    answered = [TrialKey(f"c{number}", "x") for number in range(30)]
    once, twice = review_items(suite, answered, 7), review_items(suite, answered, 7, 10)
    assert review_items(suite, answered, 7, 0) == once
    assert review_items(suite, [*reversed(answered)], 7, 10) == twice
    again = [item for item in twice if item.key.again]
    assert len(again) == 6, "three of thirty answers, each with both criteria"
    assert {item.key for item in twice} == {item.key for item in once} | {item.key for item in again}
    for item in again:
        first = next(each for each in twice if each.key == item.key.first)
        assert item.answer - first.answer > 8, "at least about a third of the queue lies between"
        assert (item.number, item.of, item.criterion) == (first.number, first.of, first.criterion)
    assert [item.answer for item in twice] == sorted(item.answer for item in twice)
    assert sum(item.key.again for item in review_items(suite, answered, 7, 20)) == 12
    more = {item.key for item in review_items(suite, answered, 7, 20) if item.key.again}
    assert {item.key for item in again} < more
    assert not any(item.key.again for item in review_items(suite, answered, None, 20)), "names are shown: nothing again"


def test_two_criteria_of_one_name_are_scored_once() -> None:
    case = make_case("a", criteria=(TONE, SAFETY, RiskCriterion("Tone", "another", "high")))
    assert criteria_of(case) == (TONE, SAFETY)
    items = review_items(make_suite([case]), [TrialKey("a", "x")])
    assert [(item.key.criterion, item.of) for item in items] == [("Tone", 2), ("Safety", 2)]


def test_a_run_has_a_limited_number_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MOST_ITEMS", 12)
    assert len(review_items(SUITE, ANSWERED, 7)) == 12
    more = [*ANSWERED, TrialKey("b", "x", 3)]
    with pytest.raises(ConfigError, match=r"The run has 14 items to score \(answers × criteria\); the limit is 12"):
        review_items(SUITE, more)
    with pytest.raises(ConfigError, match="The run has 15 items"):
        review_items(SUITE, ANSWERED, 1, 30)
