"""Bradley–Terry and Davidson against published fits, and by how often their intervals cover."""

import itertools
import math
from collections.abc import Sequence

import numpy
import pytest
import scipy.optimize

from tui.statistics.preferences import Choice, Preference, Ranking, rank_preferences
from tui.statistics.shares import Z95


def choices(a: str, b: str, *given: tuple[Choice, int], case: str = "") -> list[Preference]:
    """So many choices of each kind, each about a case of its own unless there is one case for all."""
    return [
        Preference(a, b, choice, case or f"{a} {b} {choice} {number}")
        for choice, count in given
        for number in range(count)
    ]


def wins(models: list[str], table: list[list[int]]) -> list[Preference]:
    """Choices from a table: rows were preferred to columns so often."""
    return [
        preference
        for winner, row in zip(models, table, strict=True)
        for loser, count in zip(models, row, strict=True)
        for preference in choices(winner, loser, ("a", count if winner != loser else 0))
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
    # Their errors are the information's; those of a bootstrap over as many cases as choices come near.
    assert errors == pytest.approx([0.3433, 0.3396, 0.3367, 0.3359, 0.3339, 0.3319], rel=0.12)
    assert [strength.model for strength in ranking.strengths] == teams
    assert ranking.tie_odds == 0.0


def test_as_published_of_many_comparisons() -> None:
    # Stigler (1994), Statistical Science 9:94, citations between journals; the fit is in Turner & Firth (2012).
    journals = ["Biometrika", "Comm Statist", "JASA", "JRSS-B"]
    table = [[714, 730, 498, 221], [33, 425, 68, 17], [320, 813, 1072, 142], [284, 276, 325, 188]]
    values, errors = differences(rank_preferences(wins(journals, table)), journals, "Biometrika")
    assert values == pytest.approx([-2.9491, -0.4796, 0.2690], abs=5e-5)
    assert errors == pytest.approx([0.10255, 0.06059, 0.07083], rel=0.12)


PUDDINGS = (
    (1, 2, 19, 22, 16), (1, 3, 16, 19, 12), (2, 3, 19, 19, 10), (1, 4, 18, 23, 13), (2, 4, 23, 19, 9),
    (3, 4, 19, 20, 15), (1, 5, 13, 19, 18), (2, 5, 16, 20, 12), (3, 5, 16, 15, 17), (4, 5, 17, 14, 16),
    (1, 6, 18, 21, 12), (2, 6, 22, 20, 12), (3, 6, 13, 18, 10), (4, 6, 14, 19, 18), (5, 6, 11, 21, 12),
)  # fmt: skip


def puddings(none: Choice) -> list[Preference]:
    return [
        preference
        for one, other, *counts in PUDDINGS
        for preference in choices(
            f"pudding {one}",
            f"pudding {other}",
            *zip(("a", "b", none), counts, strict=True),
        )
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
    given = choices("x", "y", ("a", 2), ("b", 1), ("tie", 1), ("both_bad", 1))
    given += choices("y", "x", ("a", 1), ("both_bad", 1))
    ranking = rank_preferences(given)
    found = {each.model: (each.wins, each.losses, each.ties, each.both_bad) for each in ranking.strengths}
    assert found == {"x": (2, 2, 1, 2), "y": (2, 2, 1, 2)}
    estimate = ranking.difference("x", "y")
    assert estimate is not None
    assert estimate.value == pytest.approx(0.0, abs=1e-6)
    assert estimate.low < -1 < 1 < estimate.high


def test_two_models_without_ties_have_the_odds_of_their_wins() -> None:
    estimate = rank_preferences(choices("x", "y", ("a", 300), ("b", 100))).difference("x", "y")
    assert estimate is not None
    assert estimate.value == pytest.approx(math.log(3), abs=1e-6)
    assert estimate.high - estimate.value == pytest.approx(Z95 * math.sqrt(1 / 300 + 1 / 100), rel=0.1)


@pytest.mark.parametrize(
    ("given", "lacking"),
    [
        ([], "no preference between two models recorded"),
        (choices("x", "y", ("tie", 50)), "x was not preferred to y, directly or through others"),
        (choices("x", "y", ("a", 50)), "y was not preferred to x, directly or through others"),
        (
            choices("x", "y", ("a", 1), ("b", 1)) + choices("v", "w", ("a", 1), ("b", 1)),
            "v was not preferred to x, directly or through others",
        ),
        (choices("x", "y", ("a", 9), ("b", 5), case="one"), "all preferences are for one case"),
    ],
)
def test_not_enough_data(given: list[Preference], lacking: str) -> None:
    ranking = rank_preferences(given)
    assert ranking.lacking == lacking
    assert all(each.estimate is None for each in ranking.strengths)
    if ranking.strengths:
        assert ranking.difference("x", "y") is None


def test_a_model_that_was_always_preferred_is_first() -> None:
    assert [each.model for each in rank_preferences(choices("y", "x", ("a", 3))).strengths] == ["y", "x"]


def fitted_by_scipy(given: list[Preference]) -> dict[str, float]:
    """The most likely strengths by another way: scipy's minimizer on the likelihood as Davidson writes it."""
    models = sorted({name for each in given for name in (each.a, each.b)})

    def surprise(point: Sequence[float]) -> float:
        odds, total = dict(zip(models, numpy.exp(point[:-1]), strict=True)), 0.0
        for each in given:
            even = math.exp(point[-1]) * math.sqrt(odds[each.a] * odds[each.b])
            parts = {"a": odds[each.a], "b": odds[each.b], "tie": even, "both_bad": even}
            total -= math.log(parts[each.choice] / (odds[each.a] + odds[each.b] + even))
        return total + sum(point[:-1]) ** 2

    found = scipy.optimize.minimize(surprise, [0.0] * (len(models) + 1), method="BFGS", options={"gtol": 1e-9}).x
    return dict(zip(models, (found[:-1] - found[:-1].mean()).tolist(), strict=True))


def test_newtons_method_finds_what_scipy_finds() -> None:
    random = numpy.random.default_rng(11)
    for size in (2, 3, 5):
        names = [f"m{number}" for number in range(size)]
        given = [
            preference
            for a, b in itertools.combinations(names, 2)
            for preference in choices(
                a,
                b,
                *zip(("a", "b", "tie"), (1 + random.poisson(4, 3)).tolist(), strict=True),  # type: ignore[arg-type]
            )
        ]
        found = {each.model: each.estimate.value for each in rank_preferences(given).strengths if each.estimate}
        assert found == pytest.approx(fitted_by_scipy(given), abs=1e-5)


def test_neither_the_order_nor_the_names_of_cases_matter() -> None:
    given = judged(numpy.random.default_rng(5), 12, 3, 1.0, 0.5)
    shuffled = [given[place] for place in numpy.random.default_rng(6).permutation(len(given))]
    assert rank_preferences(shuffled) == rank_preferences(given)


def test_three_people_who_agree_are_not_three_times_the_data() -> None:
    alone = judged(numpy.random.default_rng(3), 40, 1, 1.0, 0.0)
    agreed = [each._replace(reviewer=name) for each in alone for name in ("Ada", "Bo", "Cy")]
    one, three = (rank_preferences(given).difference("m0", "m2") for given in (alone, agreed))
    assert one is not None
    assert three is not None
    assert three.same_people == pytest.approx(one.same_people, rel=1e-6)
    assert three.high - three.low == pytest.approx(one.high - one.low, rel=1e-6)


def judged(
    random: numpy.random.Generator, cases: int, people: int, of_case: float, of_person: float, own: float = 0.0
) -> list[Preference]:
    """Everybody judges each pair of three models in each case. What is better hangs on the case, on the person's taste,
    and on what the person thinks of this case."""
    lean = numpy.array([0.6, 0.0, -0.6]) + random.normal(0, of_case, (cases, 1, 3))
    lean = lean + random.normal(0, of_person, (1, people, 3)) + random.normal(0, own, (cases, people, 3))
    found = []
    for one, other in itertools.combinations(range(3), 2):
        odds = numpy.exp(
            numpy.stack([lean[..., one], lean[..., other], (lean[..., one] + lean[..., other]) / 2 - 0.5], axis=-1)
        )
        until = (odds / odds.sum(axis=-1, keepdims=True)).cumsum(axis=-1)
        chosen = (random.random((cases, people, 1)) > until[..., :2]).sum(axis=-1)
        names: tuple[Choice, ...] = ("a", "b", "tie")
        found += [
            Preference(f"m{one}", f"m{other}", names[chosen[case, person]], f"case {case}", f"person {person}")
            for case in range(cases)
            for person in range(people)
        ]
    return found


def held(rounds: int, cases: int, people: int, of_case: float, of_person: float, own: float) -> tuple[float, float]:
    """How often the interval between the first and the last model holds the difference that very many cases and people
    would show: for other people, and for the same ones."""
    random = numpy.random.default_rng(cases)
    everybody = rank_preferences(judged(random, 10_000, 1, math.hypot(of_case, of_person, own), 0.0))
    for_all = everybody.difference("m0", "m2")
    assert for_all is not None
    wide = near = total = 0
    for _ in range(rounds):
        found = rank_preferences(judged(random, cases, people, of_case, of_person, own)).difference("m0", "m2")
        if found is None:
            continue
        total += 1
        wide += found.low <= for_all.value <= found.high
        near += found.same_people[0] <= for_all.value <= found.same_people[1]
    assert total > 0.95 * rounds
    return wide / total, near / total


def test_intervals_cover_where_three_people_agree() -> None:
    wide, near = held(30, 30, 3, 1.5, 0.0, 0.0)
    assert 0.9 <= near <= 1
    assert 0.9 <= wide <= 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("cases", "people", "of_case", "of_person", "own", "least"),
    [
        (20, 1, 1.0, 0.0, 0.0, 0.93),
        (20, 3, 1.0, 0.0, 0.0, 0.93),
        (40, 3, 2.0, 0.0, 0.0, 0.93),
        (100, 3, 2.0, 0.0, 0.0, 0.93),
        (40, 3, 1.0, 0.5, 0.0, 0.93),
        (40, 8, 1.0, 0.5, 0.5, 0.91),
        (100, 8, 1.0, 0.7, 0.0, 0.91),
    ],
)
def test_intervals_cover_thoroughly(
    cases: int, people: int, of_case: float, of_person: float, own: float, least: float
) -> None:
    wide, near = held(600, cases, people, of_case, of_person, own)
    assert least <= wide <= 1
    if not of_person:
        assert 0.93 <= near <= 0.98
