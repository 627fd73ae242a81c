"""The power of McNemar's exact test against counting every outcome, and plans that hold what they promise."""

import itertools
import math

import pytest
import scipy.stats

from tui.statistics.pairs import mcnemar_exact
from tui.statistics.power import (
    PlanError,
    detectable_difference,
    discordance_of,
    mcnemar_power,
    plan_cases,
    plan_difference,
)
from tui.statistics.shares import Passes


def counted(cases: int, difference: float, discordance: float, alpha: float) -> float:
    better = (discordance + difference) / (2 * discordance)
    return math.fsum(
        scipy.stats.binom.pmf(differing, cases, discordance) * scipy.stats.binom.pmf(wins, differing, better)
        for differing in range(cases + 1)
        for wins in range(differing + 1)
        if mcnemar_exact(wins, differing - wins) <= alpha
    )


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_power_as_counted_one_by_one(alpha: float) -> None:
    for cases, (difference, discordance) in itertools.product(
        (1, 5, 6, 13, 40), ((0.0, 0.4), (0.3, 0.3), (0.2, 0.5), (1.0, 1.0), (0.05, 0.9))
    ):
        expected = counted(cases, difference, discordance, alpha)
        assert mcnemar_power(cases, difference, discordance, alpha) == pytest.approx(expected, abs=1e-12)


def test_power_of_a_test_as_published() -> None:
    # Connor (1987), Biometrics 43:207, asks for 0.8 with the normal approximation; the exact test takes a few more.
    assert 0.75 < mcnemar_power(200, 0.1, 0.2) < 0.88
    assert mcnemar_power(0, 0.1, 0.2) == mcnemar_power(50, 0.1, 0.0) == 0.0


@pytest.mark.parametrize(
    ("difference", "discordance", "power"),
    [
        (0.2, 0.3, 0.8),
        pytest.param(0.1, 0.3, 0.8, marks=pytest.mark.long),
        (0.5, 0.5, 0.9),
        (0.3, 1.0, 0.8),
        pytest.param(0.25, 0.98, 0.95, marks=pytest.mark.long),
        (0.15, 0.15, 0.5),
        (0.02, 0.03, 0.8),
    ],
)
def test_from_the_planned_cases_on_the_power_never_falls_below(
    difference: float, discordance: float, power: float
) -> None:
    plan = plan_cases(difference, discordance, power)
    powers = [mcnemar_power(cases, difference, discordance) for cases in range(1, 3 * plan.cases + 200)]
    last_below = max(place for place, each in enumerate(powers, 1) if each < power)
    assert plan.cases == last_below + 1


def test_a_small_difference_is_planned_without_the_power_of_each_number_of_cases(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = list[int]()

    def power_of(cases: int, difference: float, discordance: float, alpha: float) -> float:
        tried.append(cases)
        return mcnemar_power(cases, difference, discordance, alpha)

    monkeypatch.setattr("tui.statistics.power.mcnemar_power", power_of)
    assert plan_cases(0.0001, 0.0001).cases == 79_059
    assert len(tried) < 500


def test_the_first_number_of_cases_that_reaches_the_power_is_not_always_the_planned_one() -> None:
    plan = plan_cases(0.5, 1.0, 0.8)
    first = next(cases for cases in range(1, 100) if mcnemar_power(cases, 0.5, 1.0) >= 0.8)
    assert first < plan.cases, "the exact power is a sawtooth"


def test_what_some_cases_show() -> None:
    plan = plan_difference(40, 0.3)
    assert plan is not None
    assert mcnemar_power(40, plan.difference, 0.3) == pytest.approx(0.8, abs=1e-4)
    assert plan_difference(5, 0.3) is None, "five cases show no difference at all"
    # A difference beyond the discordance needs more of it.
    alone = plan_difference(20, 0.0)
    assert alone is not None
    assert alone.difference == alone.discordance
    # The approximation for many cases joins on.
    exact, near = detectable_difference(1_000, 0.3), detectable_difference(1_001, 0.3)
    assert exact is not None
    assert near == pytest.approx(exact, abs=0.002)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.3), "the difference is 0"),
        ((1.5, 1.0), "the difference is 1.5"),
        ((0.4, 0.3), "larger than the discordance"),
        ((0.1, 1.2), "the discordance is 1.2"),
        ((0.1, 0.3, 1.0), "the power is 1"),
        ((0.1, 0.3, 0.8, 0.0), "alpha is 0"),
        ((0.001, 0.5), "more than 100,000 cases"),
        ((float("nan"), 0.5), "the difference is nan"),
    ],
)
def test_an_impossible_plan_is_an_error(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        plan_cases(*arguments)


@pytest.mark.parametrize("cases", [0, -1, 100_001])
def test_numbers_of_cases_are_bounded(cases: int) -> None:
    with pytest.raises(PlanError, match="between 1 and 100000"):
        plan_difference(cases)


def test_discordance_is_of_single_results() -> None:
    once = {"win": Passes(1, 1), "tie": Passes(1, 1), "loss": Passes(0, 1), "alone": Passes(0, 1)}
    other = {"win": Passes(0, 1), "tie": Passes(1, 1), "loss": Passes(1, 1)}
    assert discordance_of(once, other) == pytest.approx(2 / 3)
    # Each case differs by its share of passes; two single results differ in five of nine cases.
    often = {"one": Passes(2, 3), "two": Passes(2, 3)}
    assert discordance_of(often, {"one": Passes(1, 3), "two": Passes(1, 3)}) == pytest.approx(5 / 9)
    assert discordance_of({}, other) == 0.0
