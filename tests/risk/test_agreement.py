"""Agreement of the reviewers of a run."""

import random

import pytest

from tests.risk.scored import act, items_of, one_case
from tui.model.risk import Agreement, Interval, NaDisagreement, na_words, reliability
from tui.model.scores import Act, Scoreboard
from tui.risk.figures import agreement
from tui.statistics.agreement import ordinal_alpha, weighted_kappa

KEYS = [f"{item.key.case}/{item.key.model}/{item.key.criterion}" for item in items_of()]


def agreed(*acts: Act, seed: int | None = None) -> Agreement:
    return agreement(items_of(seed=seed), Scoreboard(acts))


def rated(reviewer: str, extents: str) -> list[Act]:
    """Scores of all items in order: a digit, `-` for n/a, a point for none."""
    return [
        act(key, "n/a" if extent == "-" else int(extent), reviewer)
        for key, extent in zip(KEYS, extents, strict=True)
        if extent != "."
    ]


def test_a_unit_is_answer_and_criterion_and_not_applicable_is_missing() -> None:
    found = agreed(*rated("anna", "0123-41203"), *rated("bert", "02231.1-03"), *rated("carl", "-12.14.303"))
    units = [[0, 0], [1, 2, 1], [2, 2, 2], [3, 3], [1, 1], [4, 4], [1, 1], [2, 3], [0, 0, 0], [3, 3, 3]]
    cases = ["keys"] * 4 + ["logs"] * 4 + ["chat"] * 2
    assert [item.key.case for item in items_of()] == cases
    alpha = ordinal_alpha(units, cases)
    assert found.overall == Interval(alpha.value, alpha.low, alpha.high)
    assert (found.units, found.cases) == (10, 3)
    assert alpha.value is not None


def test_disagreement_on_not_applicable_is_counted_apart() -> None:
    # All ten items have two ratings; in three some said n/a and others did not, in one all said n/a.
    found = agreed(*rated("anna", "0123-4--03"), *rated("bert", "02231.1-03"), *rated("carl", "-12.14.-.3"))
    assert found.on_na == NaDisagreement(3, 10)
    assert sum(each.split for each in found.on_na_by_criterion.values()) == 3
    assert sum(each.units for each in found.on_na_by_criterion.values()) == 10
    assert na_words(found.on_na) == "n/a disputed in 3 of 10 units (30%)"


@pytest.mark.parametrize(
    ("alpha", "words"),
    [
        (None, ""),
        (-0.2, "not reliable"),
        (0.6669, "not reliable"),
        (0.667, "tentative"),
        (0.7999, "tentative"),
        (0.8, "good"),
        (1.0, "good"),
    ],
)
def test_what_alpha_is_good_for(alpha: float | None, words: str) -> None:
    assert reliability(alpha) == words


def test_by_criterion_its_own_units_count() -> None:
    found = agreed(*rated("anna", "0123141203"), *rated("bert", "0223104003"))
    criteria = [key.split("/")[2] for key in KEYS]
    assert [*found.by_criterion] == ["Errors", "Secrets", "Tone"]
    for name, interval in found.by_criterion.items():
        units = [
            [int(ours), int(theirs)]
            for criterion, ours, theirs in zip(criteria, "0123141203", "0223104003", strict=True)
            if criterion == name
        ]
        assert interval.value == ordinal_alpha(units).value


def test_every_pair_of_reviewers_is_compared_by_what_both_gave() -> None:
    found = agreed(*rated("bert", "02231.1-03"), *rated("anna", "0123-41203"), *rated("dora", "........--"))
    assert [(pair.a, pair.b, pair.items) for pair in found.pairs] == [
        ("anna", "bert", 7),
        ("anna", "dora", 0),
        ("bert", "dora", 0),
    ]
    both = [(0, 0), (1, 2), (2, 2), (3, 3), (1, 1), (0, 0), (3, 3)]
    assert found.pairs[0].kappa == weighted_kappa(both)
    assert found.pairs[1].kappa is None


def test_one_reviewer_alone_agrees_with_nobody() -> None:
    found = agreed(*rated("anna", "0123412340"))
    assert (found.overall, found.units, found.pairs) == (Interval(), 0, ())
    assert set(found.by_criterion.values()) == {Interval()}
    assert agreement([], Scoreboard()) == Agreement()


def test_a_decision_does_not_enter() -> None:
    scores = [*rated("anna", "0123412340"), *rated("bert", "0123412344")]
    decided = act(KEYS[9], 2, "carl", kind="adjudicate", minute=9)
    assert agreed(*scores, decided) == agreed(*scores)


def test_the_score_that_counts_now_enters() -> None:
    before = [*rated("anna", "0123412340"), *rated("bert", "0123412344")]
    changed = act(KEYS[9], 4, "anna", minute=3)
    assert agreed(*before, changed).overall.value == 1.0
    back = act(KEYS[9], None, "bert", kind="invalidate", minute=4)
    assert agreed(*before, back).units == 9


def test_the_order_of_the_queue_does_not_matter() -> None:
    acts = [*rated("anna", "0123-41203"), *rated("bert", "02231.1-03"), *rated("carl", "-12.14.303")]
    assert agreed(*acts) == agreed(*reversed(acts), seed=5)


def test_two_who_see_the_same_with_an_error() -> None:
    suite = one_case("high", 200)
    chance, acts = random.Random(2), []
    for at in range(200):
        truth = chance.choice([0, 0, 1, 2, 3, 4])
        for reviewer in ("anna", "bert"):
            seen = min(4, max(0, truth + chance.choice([-1, 0, 0, 0, 1])))
            acts.append(act(f"case-{at}/a/Harm", seen, reviewer))
    found = agreement(items_of("a", suite=suite), Scoreboard(acts))
    assert found.overall.value == pytest.approx(0.85, abs=0.08)
    assert found.overall.low is not None
    assert found.overall.high is not None
    assert 0.05 < found.overall.high - found.overall.low < 0.2
    assert found.by_criterion == {"Harm": found.overall}
