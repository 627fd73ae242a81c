"""What repeats show, by counting all choices."""

import itertools
import math

import pytest

from tui.statistics.repeats import is_mixed, meets_share, pass_curves
from tui.statistics.shares import Passes


def pass_at(k: int, repeats: int, passes: int) -> float:
    return 1 - math.comb(repeats - passes, k) / math.comb(repeats, k)


def pass_hat(k: int, repeats: int, passes: int) -> float:
    return math.comb(passes, k) / math.comb(repeats, k)


def test_pass_at_k_is_what_counting_all_choices_gives() -> None:
    for repeats in range(1, 8):
        for passes in range(repeats + 1):
            outcomes = [index < passes for index in range(repeats)]
            at, hat = pass_curves({"case": Passes(passes, repeats)})
            for k in range(1, repeats + 1):
                choices = list(itertools.combinations(outcomes, k))
                assert at[k] == pytest.approx(sum(map(any, choices)) / len(choices))
                assert hat[k] == pytest.approx(sum(map(all, choices)) / len(choices))


def test_pass_at_k_as_published() -> None:
    # Chen et al. (2021), arXiv:2107.03374, figure 3: 1 − C(n−c, k) / C(n, k), by the product that they compute.
    for samples, correct, k in ((200, 13, 10), (100, 1, 100), (20, 20, 3), (10, 8, 5)):
        product = 1.0
        for number in range(samples - correct + 1, samples + 1):
            product *= 1 - k / number
        published = 1.0 if samples - correct < k else 1 - product
        at, _ = pass_curves({"case": Passes(correct, samples)})
        assert at[k] == pytest.approx(published)


def test_curves_are_means_over_the_same_cases_for_each_k() -> None:
    at, hat = pass_curves({"one": Passes(2, 3), "two": Passes(0, 2), "none": Passes(0, 0)})
    assert at == pytest.approx({1: 1 / 3, 2: 1 / 2})
    assert hat == pytest.approx({1: 1 / 3, 2: 1 / 6})
    assert pass_curves({"one": Passes(2, 2), "two": Passes(0, 1)}) == ({1: 0.5}, {1: 0.5}), "not 100% for k=2"
    assert pass_curves({}) == ({}, {})


def test_curves_of_many_repeats_are_those_of_the_definition() -> None:
    cases = {"one": Passes(3, 200), "two": Passes(199, 200), "three": Passes(60, 150), "four": Passes(60, 150)}
    at, hat = pass_curves(cases)
    assert len(at) == len(hat) == 150
    for k in (1, 2, 50, 149, 150):
        assert at[k] == pytest.approx(sum(pass_at(k, case.results, case.passed) for case in cases.values()) / 4)
        assert hat[k] == pytest.approx(sum(pass_hat(k, case.results, case.passed) for case in cases.values()) / 4)


def test_curves_of_very_many_repeats_take_no_time() -> None:
    at, hat = pass_curves({"one": Passes(10_000, 20_000)})  # minutes by the definition
    assert (at[1], hat[1], len(at), at[20_000], hat[20_000]) == (0.5, 0.5, 20_000, 1.0, 0.0)


def test_mixed() -> None:
    assert [is_mixed(Passes(passed, 3)) for passed in range(4)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("case", "planned", "required", "meets"),
    [
        (Passes(2, 3), 3, 2 / 3, True),
        (Passes(2, 3), 3, 0.67, False),
        (Passes(3, 5), 5, 0.6, True),
        (Passes(7, 10), 10, 0.7, True),
        (Passes(7, 100), 100, 0.07, True),
        (Passes(1, 1), 1, 1.0, True),
        (Passes(0, 1), 1, 0.01, False),
        (Passes(0, 1), 1, 1e-10, False),
        (Passes(1, 20), 20, 1e-10, True),
        (Passes(0, 1), 1, 0.0, True),
        (Passes(2, 2), 3, 0.6, True),
        (Passes(1, 2), 3, 0.6, None),
        (Passes(0, 2), 3, 0.6, False),
        (Passes(0, 0), 3, 0.6, None),
    ],
)
def test_a_share_of_repeats(case: Passes, planned: int, required: float, meets: bool | None) -> None:
    assert meets_share(case, planned, required) is meets
