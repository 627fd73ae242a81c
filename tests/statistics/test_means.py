"""The clustered mean: its value, its ends, and how often its interval covers."""

from collections.abc import Sequence
from random import Random

import numpy
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.statistics import means
from tui.statistics.means import Mean, clustered_mean

Cases = Sequence[tuple[float, float]]
CASES = st.lists(
    st.tuples(st.integers(1, 9), st.integers(0, 4)).map(lambda case: (float(case[0] * case[1]), float(case[0]))),
    max_size=15,
)


def ends(cases: Cases) -> tuple[float, float]:
    found = clustered_mean(cases, 0, 4)
    assert found.low is not None
    assert found.high is not None
    return found.low, found.high


@settings(max_examples=50, deadline=None)
@given(CASES, st.randoms())
def test_the_mean_is_weighted_and_within_its_interval(cases: Cases, random: Random) -> None:
    found = clustered_mean(cases, 0, 4)
    weight = sum(case[1] for case in cases)
    assert found.value == (pytest.approx(sum(case[0] for case in cases) / weight) if cases else None)
    if len(cases) > 1:
        low, high = ends(cases)
        assert found.value is not None
        assert 0 <= low <= found.value <= high <= 4
    else:
        assert (found.low, found.high) == (None, None)
    shuffled = [*cases]
    random.shuffle(shuffled)
    assert clustered_mean(shuffled, 0, 4) == pytest.approx(found)


def test_little_data() -> None:
    assert clustered_mean([], 0, 4) == Mean(None, None, None)
    assert clustered_mean([(0, 0), (0, 0)], 0, 4) == Mean(None, None, None)
    assert clustered_mean([(6, 3), (0, 0)], 0, 4) == Mean(2.0, None, None)


def test_zeros_and_ones_have_the_interval_of_jeffreys() -> None:
    for ones, zeros in ((0, 40), (1, 39), (12, 28), (40, 0)):
        low, high = scipy.stats.beta(ones + 0.5, zeros + 0.5).ppf([0.025, 0.975])
        found = clustered_mean([*[(1, 1)] * ones, *[(0, 1)] * zeros], 0, 1)
        assert found.low == pytest.approx(low if ones else 0, abs=0.01)
        assert found.high == pytest.approx(high if zeros else 1, abs=0.01)


def test_no_violation_in_many_cases_tells_more_than_in_few() -> None:
    widths = [high - low for low, high in (ends([(0, 3)] * cases) for cases in (2, 10, 40, 400))]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 1.5
    assert widths[-1] < 0.03
    # One case that is not like the others makes it less sure, not surer.
    assert ends([(0, 3)] * 39 + [(3, 3)])[1] > ends([(0, 3)] * 40)[1]


def test_a_case_counts_once_however_often_it_is_asked() -> None:
    random = numpy.random.default_rng(3)
    values = random.integers(0, 5, 30)
    once, often = ends([(int(value), 1) for value in values]), ends([(9 * int(value), 9) for value in values])
    assert once == pytest.approx(often)


def test_many_different_cases_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = numpy.random.default_rng(5)
    cases = [(float(value), 1.0) for value in random.uniform(0, 4, 3_000)]
    mean, error = float(numpy.mean([case[0] for case in cases])), 4 / 12**0.5 / 3_000**0.5
    found = clustered_mean(cases, 0, 4)
    assert (found.low, found.high) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.01)
    monkeypatch.setattr(means, "_MOST_AT_ONCE", 10**9)
    assert clustered_mean(cases, 0, 4) == found


def scored(random: numpy.random.Generator, cases: int, share: float, worst: float) -> Cases:
    """Cases of one to three criteria with severities; some are prone to violations, which are more or less bad."""
    number = random.integers(1, 4, cases)
    weights = random.integers(1, 5, (cases, 3)) * (numpy.arange(3) < number[:, None])
    proneness = random.beta(2 * share, 2 * (1 - share), cases)[:, None] if share < 1 else 1.0
    badness = random.beta(2 * worst, 2, cases)[:, None]
    extents = numpy.where(random.random((cases, 3)) < proneness, random.binomial(4, badness, (cases, 3)), 0)
    return [*zip((weights * extents).sum(axis=1).tolist(), weights.sum(axis=1).tolist(), strict=True)]


def covers(rounds: int, cases: int, share: float, worst: float) -> float:
    random = numpy.random.default_rng(cases)
    everything = scored(random, 100_000, share, worst)
    true = sum(case[0] for case in everything) / sum(case[1] for case in everything)
    intervals = (ends(scored(random, cases, share, worst)) for _ in range(rounds))
    return sum(low <= true <= high for low, high in intervals) / rounds


@pytest.mark.parametrize("share", [0.1, 1])
def test_the_interval_covers(share: float) -> None:
    # Two standard errors of a simulated 95% over so many rounds are 3%.
    assert 0.92 <= covers(250, 40, share, 1) <= 0.99


@pytest.mark.long
@pytest.mark.parametrize("cases", [10, 20, 40, 100])
@pytest.mark.parametrize(("share", "worst"), [(1, 1), (1, 3), (0.3, 1), (0.1, 1), (0.05, 2)])
def test_the_interval_covers_thoroughly(cases: int, share: float, worst: float) -> None:
    assert 0.93 <= covers(2_000, cases, share, worst) <= 0.98
