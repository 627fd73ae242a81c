"""The power of McNemar's exact test: the cases needed to show a difference, and the difference that cases can show."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

from tui.statistics.pairs import ALPHA
from tui.statistics.shares import Passes
from tui.statistics.student import t_quantile

POWER = 0.8
DISCORDANCE = 0.3
"""The default share of cases in which only one of two models passes."""
MOST_CASES = 100_000
_LARGEST_EXACT = 1_000
_NORMAL = NormalDist()
_DEVIATIONS = 9.0
_SMOOTH = 8.0


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """What a number of cases can show: a `difference` of two pass rates if `discordance` of the cases differ."""

    cases: int
    difference: float
    discordance: float
    power: float
    alpha: float = ALPHA


class PlanError(ValueError):
    """An impossible plan, with the reason and how to fix it."""


def discordance_of(ours: Mapping[str, Passes], theirs: Mapping[str, Passes]) -> float:
    """Return how often two models differ on a case that each runs once; 0 without cases.

    It is the mean, over the cases of which both have results, of the probability that exactly one of two results is a
    pass.
    """
    both = [(passes.share, theirs[case].share) for case, passes in ours.items() if case in theirs]
    return math.fsum(a * (1 - b) + b * (1 - a) for a, b in both) / len(both) if both else 0.0


def plan_cases(
    difference: float, discordance: float = DISCORDANCE, power: float = POWER, alpha: float = ALPHA
) -> SamplePlan:
    """Return the smallest number of cases from which on the power never falls below the required power.

    The exact power is a sawtooth over the number of cases, so that a smaller number may reach it by chance. Raises
    PlanError if a figure is out of range, and if more than 100,000 cases are needed.
    """
    _require(0 < difference <= 1, "the difference", difference, "above 0 and at most 1")
    discordance = _checked(discordance, difference, power)
    _require(0 < alpha < 1, "alpha", alpha, "between 0 and 1")
    reached = _first_that_reaches(difference, discordance, power, alpha)
    # Teeth are about two differing cases wide and vanish if the number of differing cases varies by more.
    spread = math.sqrt(reached * discordance * (1 - discordance))
    above = reached + math.ceil(16 / discordance) + (math.ceil(8 / difference) if spread < _SMOOTH else 0)
    cases = above + 1
    while cases > 1 and (margin := mcnemar_power(cases - 1, difference, discordance, alpha) - power) >= 0:
        # One case more differs with this probability, which is the most by which it can change the power.
        cases -= max(1, math.floor(margin / discordance))
    cases = max(1, cases)
    if cases > MOST_CASES:
        raise PlanError(_too_many(difference))
    return SamplePlan(cases, difference, discordance, power, alpha)


def plan_difference(
    cases: int, discordance: float = DISCORDANCE, power: float = POWER, alpha: float = ALPHA
) -> SamplePlan | None:
    """Return the difference that `cases` show with the required power, or None if there are too few.

    A difference larger than the discordance needs a larger discordance, which the plan then contains.
    """
    _require(1 <= cases <= MOST_CASES, "the number of cases", cases, f"between 1 and {MOST_CASES}")
    discordance = _checked(discordance, 0.0, power)
    found = detectable_difference(cases, discordance, power, alpha)
    return None if found is None else SamplePlan(cases, found, max(found, discordance), power, alpha)


def plan_power(cases: int, difference: float, discordance: float = DISCORDANCE, alpha: float = ALPHA) -> SamplePlan:
    """Return the power with which `cases` show a difference. Raises PlanError for figures that are out of range."""
    _require(1 <= cases <= MOST_CASES, "the number of cases", cases, f"between 1 and {MOST_CASES}")
    _require(0 < difference <= 1, "the difference", difference, "above 0 and at most 1")
    discordance = _checked(discordance, difference, POWER)
    return SamplePlan(cases, difference, discordance, mcnemar_power(cases, difference, discordance, alpha), alpha)


@lru_cache(maxsize=4_096)
def detectable_difference(cases: int, discordance: float, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """Return the smallest difference that the exact test shows with this power, or None if there is none.

    A share of `discordance` of the cases differs. Beyond 1,000 cases the normal approximation is used (Connor 1987),
    which is then within a tenth of a point.
    """
    if cases > _LARGEST_EXACT:
        return _approximate_difference(cases, discordance, power, alpha)
    if mcnemar_power(cases, 1.0, 1.0, alpha) < power:
        return None
    low, high = 0.0, 1.0
    for _ in range(24):
        middle = (low + high) / 2
        reached = mcnemar_power(cases, middle, max(middle, discordance), alpha) >= power
        low, high = (low, middle) if reached else (middle, high)
    return high


def detectable_mean(error: float, freedom: float, power: float = POWER, alpha: float = ALPHA) -> float:
    """Return the mean difference, at most 1, that a test at level `alpha` shows with this power.

    `freedom` are the degrees of freedom of the standard error of the mean.
    """
    return min(1.0, (t_quantile(1 - alpha / 2, freedom) + t_quantile(power, freedom)) * error)


def mcnemar_power(cases: int, difference: float, discordance: float, alpha: float = ALPHA) -> float:
    """Return the probability that McNemar's exact two-sided test is significant.

    Each case differs with probability `discordance`, and favours the better model more often than the other by
    `difference`. Exact: the sum over the binomial number of differing cases (Duffy 1984); numbers of differing cases
    with a probability below 1e-18 are ignored.
    """
    if cases < 1 or discordance <= 0:
        return 0.0
    limits = _limits(cases, alpha)
    better = min(1.0, (discordance + difference) / (2 * discordance))
    spread = _DEVIATIONS * math.sqrt(cases * discordance * (1 - discordance)) + 1
    first = max(0, math.floor(cases * discordance - spread))
    last = min(cases, math.ceil(cases * discordance + spread))
    chances = _chances(cases, discordance, first, last)
    shown = zip(*(_tails(limits, share, first, last) for share in (1 - better, better)), strict=True)
    return math.fsum(chance * (ours + theirs) for chance, (ours, theirs) in zip(chances, shown, strict=True))


def _limits(cases: int, alpha: float) -> tuple[int, ...]:
    """Return the largest count of the less frequent side with p ≤ alpha, for each number of differing cases; −1 if
    none."""
    return _limits_up_to(1 << max(6, cases.bit_length()), alpha)


@lru_cache(maxsize=32)
def _limits_up_to(cases: int, alpha: float) -> tuple[int, ...]:
    # For X of Bin(count, ½): `below` is P(X ≤ limit), `edge` is P(X = limit), 0 below 0, `after` is P(X = limit + 1).
    limits, limit, below, edge, after = [-1], -1, 0.0, 0.0, 1.0
    for count in range(1, cases + 1):
        below -= edge / 2
        edge, after = edge * count / (2 * (count - limit)), after * count / (2 * (count - limit - 1) or 1)
        if 2 * (below + after) <= alpha:
            limit, below, edge = limit + 1, below + after, after
            after *= (count - limit) / (limit + 1)
        limits.append(limit)
    return tuple(limits)


def _chance(count: int, share: float, successes: int) -> float:
    """Return P(X = successes) for X of Bin(count, share)."""
    if not 0 <= successes <= count:
        return 0.0
    if share <= 0 or share >= 1:
        return float(successes == count * share)
    log = math.lgamma(count + 1) - math.lgamma(successes + 1) - math.lgamma(count - successes + 1)
    return math.exp(log + successes * math.log(share) + (count - successes) * math.log1p(-share))


def _chances(count: int, share: float, first: int, last: int) -> list[float]:
    """Return P(X = x) for x from `first` to `last`, normalised to the sum 1."""
    if share >= 1:
        return [float(value == count) for value in range(first, last + 1)]
    peak = min(last, max(first, math.floor(count * share)))
    odds = share / (1 - share)
    above, below = [_chance(count, share, peak)], []
    for value in range(peak, last):
        above.append(above[-1] * odds * (count - value) / (value + 1))
    chance = above[0]
    for value in range(peak, first, -1):
        chance *= value / (odds * (count - value + 1))
        below.append(chance)
    chances = [*reversed(below), *above]
    total = math.fsum(chances)
    return [chance / total for chance in chances]


def _tails(limits: tuple[int, ...], share: float, first: int, last: int) -> Iterator[float]:
    """Return P(X ≤ limit) for X of Bin(count, share), for each count from `first` to `last`."""
    limit = limits[first]
    tail = math.fsum(_chance(first, share, value) for value in range(limit + 1))
    edge = _chance(first, share, limit)
    yield tail
    for count in range(first + 1, last + 1):
        tail -= share * edge
        edge *= count * (1 - share) / (count - limit)
        if limits[count] > limit:
            limit = limits[count]
            edge = _chance(count, share, limit)
            tail += edge
        yield min(1.0, max(0.0, tail))


def _first_that_reaches(difference: float, discordance: float, power: float, alpha: float) -> int:
    """Return an approximate number of cases from which on the power is reached."""
    low, high = 0, 8
    while mcnemar_power(high, difference, discordance, alpha) < power:
        low, high = high, high * 2
        if low >= MOST_CASES:
            raise PlanError(_too_many(difference))
    while high - low > 1:
        middle = (low + high) // 2
        reached = mcnemar_power(middle, difference, discordance, alpha) >= power
        low, high = (low, middle) if reached else (middle, high)
    return high


def _approximate_difference(cases: int, discordance: float, power: float, alpha: float) -> float:
    alpha_z, power_z = _NORMAL.inv_cdf(1 - alpha / 2), _NORMAL.inv_cdf(power)
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        share = max(middle, discordance)
        needed = alpha_z * math.sqrt(share) + power_z * math.sqrt(max(0.0, share - middle * middle))
        low, high = (low, middle) if middle * math.sqrt(cases) >= needed else (middle, high)
    return high


def _checked(discordance: float, difference: float, power: float) -> float:
    _require(0 <= discordance <= 1, "the discordance", discordance, "between 0 and 1")
    _require(0 < power < 1, "the power", power, "between 0 and 1")
    if difference > discordance:
        raise PlanError(
            f"the difference {difference:g} is larger than the discordance {discordance:g}, the share of cases with "
            "different results; raise --discordance or lower --difference"
        )
    return discordance


def _require(holds: bool, what: str, value: float, range_: str) -> None:
    if not holds:
        raise PlanError(f"{what} is {value:g}; expected a value {range_}")


def _too_many(difference: float) -> str:
    return f"a difference of {difference:g} needs more than {MOST_CASES:,} cases; plan for a larger difference"
