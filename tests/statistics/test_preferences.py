"""Bradley–Terry and Davidson against published fits, and by how often their intervals cover."""

import itertools
import math

import numpy
import pytest

from tui.statistics.preferences import Choice, Preference, Ranking, rank_preferences
from tui.statistics.shares import Z95


def wins(models: list[str], table: list[list[int]]) -> list[Preference]:
    """Choices from a table: rows were preferred to columns so often."""
    return [
        Preference(winner, loser, "a")
        for winner, row in zip(models, table, strict=True)
        for loser, count in zip(models, row, strict=True)
        for _ in range(count if winner != loser else 0)
    ]


def differences(ranking: Ranking, models: list[str], other: str) -> tuple[list[float], list[float]]:
    """Estimates against one of the models, and their standard errors."""
    found = [ranking.difference(model, other) for model in models if model != other]
    estimates = [estimate for estimate in found if estimate]
    return [each.value for each in estimates], [(each.high - each.value) / Z95 for each in estimates]


def test_as_published_without_ties() -> None:
    # Agresti, Categorical Data Analysis (2002), table 10.10: American League 1987; the fit, against Baltimore, is also
    # in Turner & Firth (2012), Journal of Statistical Software 48(9).
    teams = ["Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore"]
    table = [
        [0, 7, 9, 7, 7, 9, 11],
        [6, 0, 7, 5, 11, 9, 9],
        [4, 6, 0, 7, 7, 8, 12],
        [6, 8, 6, 0, 6, 7, 10],
        [6, 2, 6, 7, 0, 7, 12],
        [4, 4, 5, 6, 6, 0, 6],
        [2, 4, 1, 3, 1, 7, 0],
    ]
    ranking = rank_preferences(wins(teams, table))
    values, errors = differences(ranking, teams, "Baltimore")
    assert values == pytest.approx([1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839], abs=5e-5)
    assert errors == pytest.approx([0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319], abs=5e-5)
    assert [strength.model for strength in ranking.strengths] == teams
    assert ranking.tie_odds == 0.0


def test_as_published_of_many_comparisons() -> None:
    # Stigler (1994), Statistical Science 9:94, citations between journals; the fit is in Turner & Firth (2012).
    journals = ["Biometrika", "Comm Statist", "JASA", "JRSS-B"]
    table = [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
    values, errors = differences(rank_preferences(wins(journals, table)), journals, "Biometrika")
    assert values == pytest.approx([-2.9491, -0.4796, 0.2690], abs=5e-5)
    assert errors == pytest.approx([0.10255, 0.06059, 0.07083], abs=5e-6)


PUDDINGS = (
    (1, 2, 19, 22, 16), (1, 3, 16, 19, 12), (2, 3, 19, 19, 10), (1, 4, 18, 23, 13), (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15), (1, 5, 13, 19, 18), (2, 5, 16, 20, 12), (3, 5, 16, 15, 17), (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12), (2, 6, 22, 20, 12), (3, 6, 13, 18, 10), (4, 6, 14, 19, 18), (5, 6, 11, 21, 12),
)  # fmt: skip


def puddings(none: Choice) -> list[Preference]:
    choices: tuple[Choice, ...] = ("a", "b", none)
    return [
        Preference(f"pudding {one}", f"pudding {other}", choice)
        for one, other, *counts in PUDDINGS
        for choice, count in zip(choices, counts, strict=True)
        for _ in range(count)
    ]


@pytest.mark.parametrize("none", ["tie", "both_bad"])
def test_as_published_with_ties(none: Choice) -> None:
    # Davidson (1970), Journal of the American Statistical Association 65:317: six brands of chocolate pudding.
    ranking = rank_preferences(puddings(none))
    odds = {each.model: math.exp(each.estimate.value) for each in ranking.strengths if each.estimate}
    shares = [odds[f"pudding {number}"] / sum(odds.values()) for number in range(1, 7)]
    assert shares == pytest.approx([0.1388, 0.1730, 0.1617, 0.1654, 0.1587, 0.2024], abs=5e-5)
    assert ranking.tie_odds == pytest.approx(0.7468, abs=5e-5)


def test_what_was_chosen_is_counted_for_both() -> None:
    given = [Preference("x", "y", choice) for choice in ("a", "a", "b", "tie", "both_bad")]
    given += [Preference("y", "x", "a"), Preference("y", "x", "both_bad")]
    ranking = rank_preferences(given)
    found = {each.model: (each.wins, each.losses, each.ties, each.both_bad) for each in ranking.strengths}
    assert found == {"x": (2, 2, 1, 2), "y": (2, 2, 1, 2)}
    estimate = ranking.difference("x", "y")
    assert estimate is not None
    assert estimate.value == pytest.approx(0.0, abs=1e-6)
    assert estimate.low < -1 < 1 < estimate.high


def test_two_models_without_ties_have_the_odds_of_their_wins() -> None:
    estimate = rank_preferences([Preference("x", "y", "a")] * 30 + [Preference("y", "x", "a")] * 10).difference(
        "x", "y"
    )
    assert estimate is not None
    assert estimate.value == pytest.approx(math.log(3), abs=1e-6)
    assert estimate.high - estimate.value == pytest.approx(Z95 * math.sqrt(1 / 30 + 1 / 10), abs=1e-5)


@pytest.mark.parametrize(
    ("given", "lacking"),
    [
        ([], "no preference between two models was given"),
        ([Preference("x", "y", "tie")] * 50, "x was never preferred to y, directly or through others"),
        ([Preference("x", "y", "a")] * 50, "y was never preferred to x, directly or through others"),
        (
            [
                Preference("x", "y", "a"),
                Preference("x", "y", "b"),
                Preference("v", "w", "a"),
                Preference("v", "w", "b"),
            ],
            "v was never preferred to x, directly or through others",
        ),
    ],
)
def test_not_enough_data(given: list[Preference], lacking: str) -> None:
    ranking = rank_preferences(given)
    assert ranking.lacking == lacking
    assert all(each.estimate is None for each in ranking.strengths)
    if ranking.strengths:
        assert ranking.difference("x", "y") is None


def test_who_was_always_preferred_still_stands_first() -> None:
    assert [each.model for each in rank_preferences([Preference("y", "x", "a")] * 3).strengths] == ["y", "x"]


def held(rounds: int, votes: int, seed: int) -> float:
    """How often the interval between two of four models holds the true difference; a quarter of the votes are ties."""
    random = numpy.random.default_rng(seed)
    true = numpy.array([0.6, 0.2, -0.3, -0.5])
    pairs = [*itertools.combinations(range(4), 2)]
    hits = total = 0
    for _ in range(rounds):
        given: list[Preference] = []
        for one, other in pairs:
            odds = numpy.array(
                [math.exp(true[one]), math.exp(true[other]), 0.6 * math.exp((true[one] + true[other]) / 2)]
            )
            counts = random.multinomial(votes, odds / odds.sum())
            for choice, count in zip(("a", "b", "tie"), counts, strict=True):
                given += [Preference(str(one), str(other), choice)] * int(count)  # type: ignore[arg-type]
        estimate = rank_preferences(given).difference("0", "2")
        if estimate:
            hits, total = hits + (estimate.low <= 0.9 <= estimate.high), total + 1
    assert total > 0.95 * rounds
    return hits / total


def test_intervals_cover() -> None:
    assert 0.93 <= held(600, 15, 4) <= 0.97


@pytest.mark.long
@pytest.mark.parametrize("votes", [10, 30, 100])
def test_intervals_cover_thoroughly(votes: int) -> None:
    assert 0.93 <= held(6_000, votes, votes) <= 0.97
