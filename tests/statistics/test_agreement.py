"""Krippendorff's alpha and weighted kappa: published examples, a slow definition, and how often intervals cover."""

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from random import Random

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.statistics.agreement import Alpha, ordinal_alpha, weighted_kappa

Ratings = list[list[int]]
Metric = Callable[[float, float, list[int]], float]


def ordinal(one: float, other: float, ratings: list[int]) -> float:
    low, high = sorted((one, other))
    between = sum(low <= rating <= high for rating in ratings)
    return (between - (ratings.count(int(one)) + ratings.count(int(other))) / 2) ** 2


METRICS: dict[str, Metric] = {
    "nominal": lambda one, other, _: float(one != other),
    "ordinal": ordinal,
    "interval": lambda one, other, _: (one - other) ** 2,
    "ratio": lambda one, other, _: ((one - other) / (one + other)) ** 2,
}


def slowly(units: Ratings, metric: Metric) -> float | None:
    """Alpha as Krippendorff defines it: the mean difference within units over that between all that can be paired."""
    units = [unit for unit in units if len(unit) > 1]
    ratings = [rating for unit in units for rating in unit]
    everyone = len(ratings)
    if len(units) < 2 or len(set(ratings)) < 2:
        return None
    within = math.fsum(
        metric(unit[a], unit[b], ratings) / (len(unit) - 1)
        for unit in units
        for a in range(len(unit))
        for b in range(len(unit))
        if a != b
    )
    between = math.fsum(metric(one, other, ratings) for one in ratings for other in ratings)
    return 1 - (everyone - 1) * within / between


def table(text: str) -> Ratings:
    """Units from a table with a row for each observer; a point is a missing rating."""
    rows = [row.split() for row in text.strip().splitlines()]
    return [[int(value) for value in unit if value != "."] for unit in zip(*rows, strict=True)]


# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: four observers, twelve units, some missing.
FOUR_OBSERVERS = table("""
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
""")
# Hayes & Krippendorff (2007), Communication Methods and Measures 1:77, table 1: five observers, 40 articles.
ARTICLES = table("""
    1 1 2 . 0 0 1 1 2 2 . 0 1 3 1 1 2 1 1 0 0 0 2 0 1 0 0 1 1 1 1 2 2 3 2 2 2 2 2 1
    1 1 3 0 0 0 0 . 2 1 1 0 2 3 1 1 1 2 1 0 0 0 3 0 2 1 0 2 1 1 1 1 2 2 2 2 2 2 2 1
    2 0 3 0 0 0 2 2 2 1 0 0 2 2 1 1 2 3 0 0 1 . 3 0 . 1 0 1 2 2 0 2 . 2 2 3 2 . 2 1
    . 1 3 . . . . 0 . 1 0 0 2 2 . . . 3 1 . 1 0 3 0 2 1 1 2 2 . . 1 2 2 . . . 1 2 .
    2 . . 0 0 0 1 . 2 . . . . 3 1 1 2 . . 0 . 0 . . 2 . 0 . . 2 0 . 2 . 2 2 2 2 . 1
""")


@pytest.mark.parametrize(
    ("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_slow_definition_is_as_published(metric: str, published: float) -> None:
    assert slowly(FOUR_OBSERVERS, METRICS[metric]) == pytest.approx(published, abs=5e-4)


def test_alpha_as_published() -> None:
    found = ordinal_alpha(FOUR_OBSERVERS)
    assert found.value == pytest.approx(0.815, abs=5e-4)
    assert found.units == 11
    found = ordinal_alpha(ARTICLES)
    assert found.value == pytest.approx(0.7598, abs=5e-5)
    assert found.units == 40
    # Their own bootstrap gives .7078 to .8078: it holds the expected difference fixed.
    assert found.low == pytest.approx(0.625, abs=0.02)
    assert found.high == pytest.approx(0.839, abs=0.02)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=12))
def test_alpha_is_the_slow_definition(units: Ratings) -> None:
    expected, found = slowly(units, ordinal), ordinal_alpha(units)
    assert (found.value is None) == (expected is None)
    if found.value is not None:
        assert found.value == pytest.approx(expected, abs=1e-9)
    if found.value is not None and found.low is not None and found.high is not None:
        assert found.low <= found.value <= found.high <= 1 + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 4), max_size=5), max_size=12), st.randoms())
def test_neither_order_nor_single_ratings_matter(units: Ratings, random: Random) -> None:
    shuffled = [[*reversed(unit)] for unit in units] + [[3], []]
    random.shuffle(shuffled)
    assert ordinal_alpha(shuffled) == ordinal_alpha(units)


def test_only_the_order_of_the_ratings_matters() -> None:
    stretched = [[10 * rating**2 for rating in unit] for unit in ARTICLES]
    assert ordinal_alpha(stretched) == ordinal_alpha(ARTICLES)


@pytest.mark.parametrize("units", [[], [[1]], [[1, 2]], [[1], [2], [3, 4]], [[2, 2], [2, 2, 2]], [[0, 0]] * 500])
def test_not_enough_data(units: Ratings) -> None:
    number = sum(len(unit) > 1 for unit in units)
    assert ordinal_alpha(units) == Alpha(None, None, None, number, number)


def test_all_agree() -> None:
    few, more, many = (ordinal_alpha([[level, level] for level in range(5)] * times) for times in (1, 4, 40))
    assert (few.value, more.value, many.value) == (1.0, 1.0, 1.0)
    assert (few.high, more.high, many.high) == (1.0, 1.0, 1.0)
    assert [few.low, more.low, many.low] == pytest.approx([0.478, 0.832, 0.982], abs=5e-4)


def test_no_interval_where_a_few_units_decide_it_all() -> None:
    assert ordinal_alpha([[0, 0], [4, 4]]) == Alpha(1.0, None, None, 2, 2)
    assert ordinal_alpha([[0, 0]] * 49 + [[0, 1]]) == Alpha(0.0, None, None, 50, 50)
    assert ordinal_alpha([[0, 0]] * 49 + [[3, 3]]) == Alpha(1.0, None, None, 50, 50)
    assert ordinal_alpha([[0, 0]] * 45 + [[3, 3]] * 5).low is not None


def test_chance_is_none_and_opposites_are_less() -> None:
    random = numpy.random.default_rng(4)
    assert ordinal_alpha(random.integers(0, 5, (4_000, 3)).tolist()).value == pytest.approx(0, abs=0.02)
    assert (ordinal_alpha([[0, 4], [1, 3], [3, 1], [4, 0]]).value or 0) < -0.5


def people(random: numpy.random.Generator, units: int, reviewers: int, noise: float) -> Ratings:
    """Ratings of things of any badness by people who see it with an error; a fifth of them is missing."""
    badness = random.normal(1.3, 1.5, units)[:, None] + random.normal(0, noise, (units, reviewers))
    rated = numpy.clip(numpy.round(badness), 0, 4).astype(int)
    given = random.random(rated.shape) > 0.2
    given[given.sum(axis=1) < 2] = True
    return [row[there].tolist() for row, there in zip(rated, given, strict=True)]


def test_thousands_of_units_give_a_narrow_interval() -> None:
    units = people(numpy.random.default_rng(1), 2_000, 5, 0.7)
    found = ordinal_alpha(units)
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low < 0.05


def asked_again(
    random: numpy.random.Generator, cases: int, repeats: int, reviewers: int, noise: float
) -> tuple[Ratings, list[str]]:
    """Answers to the same cases: how bad they are hangs on the case, and so does how far people disagree there."""
    badness = random.normal(1.3, 1.2, (cases, 1, 1)) + random.normal(0, 0.7, (cases, repeats, 1))
    error = random.normal(0, noise, (cases, 1, reviewers)) + random.normal(0, noise, (cases, repeats, reviewers))
    hard = numpy.exp(random.normal(0, 0.4, (cases, 1, 1)))
    rated = numpy.clip(numpy.round(badness + hard * error), 0, 4).astype(int)
    given = random.random(rated.shape) > 0.15
    units = [
        row[there].tolist()
        for row, there in zip(rated.reshape(-1, reviewers), given.reshape(-1, reviewers), strict=True)
    ]
    return units, [str(case) for case in range(cases) for _ in range(repeats)]


def covers(rounds: int, cases: int, repeats: int, reviewers: int, noise: float) -> float:
    random = numpy.random.default_rng(cases)
    true = ordinal_alpha(asked_again(random, 40_000 // repeats, repeats, reviewers, noise)[0]).value
    hits = shown = 0
    for _ in range(rounds):
        found = ordinal_alpha(*asked_again(random, cases, repeats, reviewers, noise))
        if found.low is not None and found.high is not None and true is not None:
            shown += 1
            hits += found.low <= true <= found.high
    assert shown > 0.98 * rounds
    return hits / shown


def test_the_interval_resamples_cases() -> None:
    # With answers as the unit it covers 74% here.
    assert 0.92 <= covers(120, 40, 10, 2, 0.6) <= 0.98


@pytest.mark.long
@pytest.mark.parametrize("cases", [20, 40, 100])
@pytest.mark.parametrize("repeats", [1, 3, 10])
@pytest.mark.parametrize(("reviewers", "noise"), [(2, 0.3), (2, 0.6), (3, 0.6), (4, 0.6)])
def test_the_interval_covers_thoroughly(cases: int, repeats: int, reviewers: int, noise: float) -> None:
    assert 0.92 <= covers(1_000, cases, repeats, reviewers, noise) <= 0.985


def ends(found: Alpha) -> tuple[float, float]:
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


def test_answers_to_one_case_count_as_one() -> None:
    units = people(numpy.random.default_rng(3), 40, 2, 0.7)
    cases = [str(place) for place in range(40)]
    once, often = ordinal_alpha(units, cases), ordinal_alpha(units * 10, cases * 10)
    assert (once.units, once.cases, often.units, often.cases) == (40, 40, 400, 40)
    # Krippendorff's small-sample term makes alpha itself move a little.
    assert ends(often) == pytest.approx(ends(once), abs=0.02)
    alone = ends(ordinal_alpha(units * 10))
    assert alone[1] - alone[0] < 0.5 * (ends(often)[1] - ends(often)[0])


def test_one_case_has_a_value_and_no_interval() -> None:
    found = ordinal_alpha([[0, 0], [1, 2], [4, 4]], ["a", "a", "a"])
    assert found.value is not None
    assert found[1:] == (None, None, 3, 1)


def ratings(table: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """Pairs from a table of counts."""
    return [
        (row, column) for row, counts in enumerate(table) for column, count in enumerate(counts) for _ in range(count)
    ]


def test_kappa_as_published() -> None:
    # Boyd et al. (1982), two radiologists, 85 mammograms; Stata's manual of kap, wgt(w): 86.67%, 69.11%, 0.5684.
    radiologists = [[21, 12, 0, 0], [4, 17, 1, 0], [3, 9, 15, 2], [0, 0, 0, 1]]
    assert weighted_kappa(ratings(radiologists)) == pytest.approx(0.5684, abs=5e-5)
    # Hout, Duncan & Sobel (1987), husbands and wives; R's vcd, Kappa with equal-spacing weights: 0.2374.
    couples = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
    assert weighted_kappa(ratings(couples)) == pytest.approx(0.2374, abs=5e-5)
    # Cohen (1960): with two levels every weight is the same, (0.70 - 0.50) / (1 - 0.50).
    assert weighted_kappa(ratings([[20, 5], [10, 15]])) == pytest.approx(0.4)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=30))
def test_kappa_by_agreement_instead_of_difference(pairs: list[tuple[int, int]]) -> None:
    found = weighted_kappa(pairs)
    assert weighted_kappa([(b, a) for a, b in pairs]) == (found if found is None else pytest.approx(found))
    weight = [[1 - abs(a - b) / 4 for b in range(5)] for a in range(5)]
    if found is None:
        assert len(pairs) < 2 or len({rating for pair in pairs for rating in pair}) == 1
    else:
        seen = sum(weight[a][b] for a, b in pairs) / len(pairs)
        chance = sum(weight[a][b] for a, _ in pairs for _, b in pairs) / len(pairs) ** 2
        assert found == pytest.approx((seen - chance) / (1 - chance))


@pytest.mark.parametrize("pairs", [[], [(1, 3)], [(2, 2)] * 9])
def test_kappa_of_too_little(pairs: list[tuple[int, int]]) -> None:
    assert weighted_kappa(pairs) is None


def test_a_greater_difference_counts_more() -> None:
    base = [(level, level) for level in range(5)] * 3
    near, far = weighted_kappa([*base, (0, 1)]), weighted_kappa([*base, (0, 4)])
    assert near is not None
    assert far is not None
    assert weighted_kappa(base) == 1.0
    assert far < near < 1.0


def test_nothing_heavy_is_loaded_by_importing_it() -> None:
    code = (
        "import sys, tui.statistics.agreement, tui.statistics.means as means\n"
        "tui.statistics.agreement.weighted_kappa([(0, 1), (1, 1)])\n"
        "tui.statistics.agreement.ordinal_alpha([[0, 0], [0, 0], [1]])\n"
        "means.clustered_mean([(1, 2)], 0, 4)\n"
        "assert not {'numpy', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
