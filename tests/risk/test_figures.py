"""Figures of scored items: bands, what is open, means, heat."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.risk.scored import SUITE, act, items_of, one_case
from tests.support.work import is_linear
from tui.model.results import TrialKey
from tui.model.risk import BANDS, Band, BandRule, Interval, RiskFigures, RiskShare
from tui.model.scores import Act, Extent, ReviewItem, Scoreboard
from tui.risk.figures import risk_figures, scored_answers

RULE = BandRule()


def figures(*acts: Act, rule: BandRule = RULE, seed: int | None = None) -> RiskFigures:
    return risk_figures(items_of(seed=seed), Scoreboard(acts), rule)


def banded(share: RiskShare) -> dict[Band, int]:
    return {band: count for band, count in share.bands.items() if count}


def test_an_answer_has_the_band_of_its_worst_criterion() -> None:
    found = figures(act("keys/a/Secrets", 1), act("keys/a/Tone", 4), act("logs/a/Secrets", 1), act("logs/a/Errors", 3))
    share = found.by_model["a"]
    # 4 × 1 is medium, as is 1 × 4; 2 × 3 is high.
    assert banded(share) == {"medium": 1, "high": 1}
    assert tuple(share.bands) == BANDS
    assert (share.answers, share.banded, share.unscored, share.partial, share.not_applicable) == (3, 2, 1, 0, 0)
    assert (found.items, found.scored, found.disputed) == (10, 4, 0)


def test_what_is_partial_is_banded_by_what_is_scored() -> None:
    share = figures(act("keys/a/Tone", 2), act("logs/a/Secrets", "n/a")).by_model["a"]
    assert banded(share) == {"low": 1}
    assert (share.answers, share.partial, share.unscored, share.not_applicable) == (3, 2, 1, 0)


def test_nothing_but_not_applicable_is_no_band() -> None:
    share = figures(act("keys/a/Tone", "n/a"), act("keys/a/Secrets", "n/a"), act("logs/a/Errors", 0)).by_model["a"]
    assert banded(share) == {"negligible": 1}
    assert (share.not_applicable, share.partial, share.unscored) == (1, 1, 1)


def test_the_mean_is_the_extent_weighted_by_severity() -> None:
    found = figures(act("keys/a/Secrets", 3), act("keys/a/Tone", 1), act("logs/a/Errors", 0), act("chat/a/Tone", "n/a"))
    mean = found.by_model["a"].mean
    assert mean.value == pytest.approx((4 * 3 + 1 * 1 + 2 * 0) / (4 + 1 + 2))
    low, value, high = mean.low, mean.value, mean.high
    assert low is not None
    assert high is not None
    assert 0 <= low < (value or 0) < high <= 4


def test_a_single_case_has_a_mean_without_an_interval() -> None:
    mean = figures(act("keys/a/Secrets", 2), act("keys/a/Tone", 4)).by_model["a"].mean
    assert mean == Interval(12 / 5)


def test_no_answer_violates_anything() -> None:
    suite = one_case("high", 40)
    items = items_of("a", suite=suite)
    share = risk_figures(items, Scoreboard(act(f"case-{at}/a/Harm", 0) for at in range(40)), RULE).by_model["a"]
    assert banded(share) == {"negligible": 40}
    assert (share.mean.value, share.mean.low) == (0, 0)
    assert share.mean.high == pytest.approx(0.24, abs=0.03)


def test_by_category_answers_are_counted_and_by_criterion_items() -> None:
    found = figures(act("keys/a/Secrets", 4), act("keys/a/Tone", 0), act("chat/a/Tone", 2), act("logs/b/Errors", 1))
    security, talk = found.by_category["a"]["security"], found.by_category["a"]["talk"]
    assert (banded(security), security.answers, security.unscored) == ({"critical": 1}, 2, 1)
    assert (banded(talk), talk.answers) == ({"low": 1}, 1)
    tone, secrets = found.by_criterion["a"]["Tone"], found.by_criterion["a"]["Secrets"]
    assert (banded(tone), tone.answers, tone.mean.value) == ({"negligible": 1, "low": 1}, 2, 1.0)
    assert (banded(secrets), secrets.answers, secrets.unscored, secrets.partial) == ({"critical": 1}, 2, 1, 0)
    assert [*found.by_category["a"]] == ["security", "talk"]
    assert [*found.by_criterion["b"]] == ["Errors", "Secrets", "Tone"]


def test_the_heat_map_counts_items() -> None:
    found = figures(act("keys/a/Tone", 2), act("chat/a/Tone", 2), act("keys/a/Secrets", "n/a"), act("logs/b/Errors", 0))
    assert found.heat == {"a": {("low", 2): 2}, "b": {("medium", 0): 1}}


def test_where_people_differ_the_highest_counts_until_it_is_decided() -> None:
    differ = (act("chat/a/Tone", 1), act("chat/a/Tone", 4, "bert"))
    found = figures(*differ)
    assert (found.disputed, found.scored) == (1, 1)
    assert banded(found.by_model["a"]) == {"medium": 1}
    decided = figures(*differ, act("chat/a/Tone", 2, "carl", kind="adjudicate", minute=5))
    assert (decided.disputed, decided.scored) == (0, 1)
    assert banded(decided.by_model["a"]) == {"low": 1}


def test_what_is_taken_back_or_of_an_earlier_answer_does_not_count() -> None:
    board = Scoreboard(
        [
            replace(act("chat/a/Tone", 4), answer="1" * 64),
            replace(act("chat/a/Tone", None, kind="invalidate", minute=1), answer="1" * 64),
            replace(act("chat/b/Tone", 4), answer="1" * 64),
        ],
        {TrialKey("chat", "a", 1): "1" * 64, TrialKey("chat", "b", 1): "2" * 64},
    )
    found = risk_figures(items_of(), board, RULE)
    assert (found.scored, found.heat) == (0, {"a": {}, "b": {}})


def test_another_rule_gives_other_bands_and_weights() -> None:
    rule = BandRule({"low": 1, "medium": 1, "high": 1, "critical": 10}, (("negligible", 1), *RULE.limits[1:]))
    found = figures(act("chat/a/Tone", 1), act("keys/b/Secrets", 1), act("keys/b/Tone", 0), rule=rule)
    assert banded(found.by_model["a"]) == {"negligible": 1}
    assert banded(found.by_model["b"]) == {"critical": 1}
    assert found.by_model["b"].mean.value == pytest.approx(10 / 11)


def test_what_is_on_the_board_and_not_among_the_items_does_not_count() -> None:
    found = risk_figures(items_of("a"), Scoreboard([act("keys/b/Tone", 4), act("keys/a/Gone", 4)]), RULE)
    assert (found.items, found.scored, [*found.by_model]) == (5, 0, ["a"])


def test_nothing_to_score() -> None:
    assert risk_figures([], Scoreboard(), RULE) == RiskFigures()
    assert figures().by_model["a"] == RiskShare(dict.fromkeys(BANDS, 0), answers=3, unscored=3)


EXTENTS = st.sampled_from([None, "n/a", 0, 1, 2, 3, 4])


@settings(max_examples=60, deadline=None)
@given(st.lists(EXTENTS, min_size=10, max_size=10), st.integers(0, 9))
def test_every_answer_is_somewhere_in_whatever_order_they_come(extents: list[Extent | None], seed: int) -> None:
    acts = [
        act(f"{item.key.case}/{item.key.model}/{item.key.criterion}", extent)
        for item, extent in zip(items_of(), extents, strict=True)
        if extent is not None
    ]
    found = figures(*acts)
    shuffled = figures(*reversed(acts), seed=seed)
    assert found == shuffled
    for named in (shuffled.by_model, shuffled.heat, shuffled.by_category, shuffled.by_criterion["a"]):
        assert [*named] == sorted(named)
    for shares in (found.by_model, *found.by_category.values(), *found.by_criterion.values()):
        for share in shares.values():
            counted = share.banded + share.unscored + share.not_applicable
            assert counted <= share.answers <= counted + share.partial
            assert (share.mean.value is None) == (not share.banded)
    for model, share in found.by_model.items():
        for parts in (found.by_category[model], found.by_criterion[model]):
            assert sum(part.answers for part in parts.values()) in (share.answers, 5)
        assert sum(found.heat[model].values()) == sum(part.banded for part in found.by_criterion[model].values())


@given(st.lists(st.sampled_from([0, 1, 2, 3, 4, "n/a", None]), min_size=4, max_size=12))
@settings(max_examples=30)
def test_the_bands_of_single_answers_add_up_to_those_of_their_model(extents: list[Extent | None]) -> None:
    items = items_of()
    scored = [
        act(f"{item.key.case}/{item.key.model}/{item.key.criterion}", extent)
        for item, extent in zip(items, extents, strict=False)
        if extent is not None
    ]
    board = Scoreboard(scored)
    answers = scored_answers(items, board, RULE, {items[0].key.trial: 7})
    for model, share in risk_figures(items, board, RULE).by_model.items():
        of_model = [each for each in answers if each.trial.model == model]
        assert len(of_model) == share.answers
        assert {band: sum(each.band == band for each in of_model) for band in BANDS} == {
            band: share.bands.get(band, 0) for band in BANDS
        }
        assert sum(each.scored == 0 for each in of_model) == share.unscored
    assert [each.number for each in answers if each.trial == items[0].key.trial] == [7]
    assert all(each.reviewers == (each.scored > 0) for each in answers)


def test_the_cost_is_linear_in_the_number_of_items() -> None:
    assert is_linear(lambda cases: partial(risk_figures, *scored_items(cases), RULE), 25)


@pytest.mark.long
def test_tens_of_thousands_of_items() -> None:
    items, board = scored_items(5_000)
    assert risk_figures(items, board, RULE).scored == len(items) == 40_000


def scored_items(cases: int) -> tuple[Sequence[ReviewItem], Scoreboard]:
    suite = replace(SUITE, cases=tuple(replace(SUITE.cases[0], id=f"case-{at}") for at in range(cases)))
    items = items_of("abcd", suite=suite)
    chance = random.Random(1)
    board = Scoreboard(
        Act("score", f"{at}", "run", item.key, chance.choice([0, 0, 1, 3, 4]), "", "anna", "2026-11-20T12:00:00Z")
        for at, item in enumerate(items)
    )
    return items, board
