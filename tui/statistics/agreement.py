"""Agreement of several raters on an ordinal scale. numpy is imported on first use.

Krippendorff's alpha is implemented here: no library was found that offers it for ordinal scales under a permissive
licence without depending on pandas.
"""

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from tui.statistics.student import t_quantile

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Values = NDArray[numpy.float64]

_SAMPLES = 2_000
_SEED = 20_261_120
_MOST_AT_ONCE = 2_000_000
# Beyond this share of samples without variation the others do not show the uncertainty of alpha.
_MOST_UNDEFINED = 0.05


class Alpha(NamedTuple):
    """Krippendorff's alpha: 1 is perfect agreement, 0 agreement by chance, below 0 less than that.

    `units` is the number of units with at least two ratings, `cases` the number of cases that they come from. The value
    is None without enough data.
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    cases: int


def ordinal_alpha(units: Iterable[Sequence[float]], cases: Iterable[str] | None = None) -> Alpha:
    """Return Krippendorff's alpha for ordinal data (Krippendorff 2011) with a 95% interval.

    `units` are the ratings of each unit, in any order; a missing rating is omitted, and a unit with fewer than two is
    ignored. `cases` names the case of each unit; without it each unit is a case of its own.

    The value is None for fewer than two units, and if all ratings are equal. The interval is a bootstrap over cases:
    2,000 samples of whole cases with replacement, from a fixed seed. Its percentiles are moved outwards for Student's t
    and the lost degree of freedom (Hesterberg 2015, "expanded percentile interval"). Reviewers count as given, not as
    sampled. (Krippendorff's own algorithm draws single differences from a fixed expectation, and ignores the
    uncertainty of that expectation.)

    There is no interval for fewer than two cases, nor if more than one sample in twenty has no variation: then a few
    cases decide the result. If all ratings agree in every unit there is no variation to resample. The lower end is then
    1 minus the largest share of randomly rated cases that would stay unobserved with a probability of 2.5%.
    """
    names: Iterable[str] = map(str, itertools.count()) if cases is None else cases
    found: dict[str, Counter[tuple[float, ...]]] = {}
    for name, ratings in zip(names, units, strict=cases is not None):
        if len(ratings) > 1:
            found.setdefault(name, Counter())[tuple(sorted(ratings))] += 1
    # Sorted, so that the draws do not depend on the order of the units.
    kinds = sorted({kind for of_case in found.values() for kind in of_case})
    number = sum(sum(of_case.values()) for of_case in found.values())
    if number < 2 or len({rating for kind in kinds for rating in kind}) < 2:
        return Alpha(None, None, None, number, len(found))
    import numpy

    seen, of_cases = _cases_alike(found.values(), kinds)
    value = float(_alphas(seen, of_cases)[0])
    size = len(found)
    if size < 2:
        return Alpha(value, None, None, number, size)
    alphas = _resampled(seen[0] / size, size, of_cases)
    alphas = alphas[~numpy.isnan(alphas)]
    if len(alphas) < (1 - _MOST_UNDEFINED) * _SAMPLES:
        return Alpha(value, None, None, number, size)
    if all(kind[0] == kind[-1] for kind in kinds):
        return Alpha(1.0, 0.025 ** (1 / size), 1.0, number, size)
    tail = NormalDist().cdf(-t_quantile(0.975, size - 1) * math.sqrt(size / (size - 1)))
    low, high = numpy.quantile(alphas, (tail, 1 - tail))
    return Alpha(value, min(value, float(low)), max(value, float(high)), number, size)


def _cases_alike(
    cases: Iterable[Counter[tuple[float, ...]]], kinds: Sequence[tuple[float, ...]]
) -> "tuple[Values, Values]":
    """Return how often each kind of case was seen, in one row, and the coincidences of each: cases with the same units
    are of one kind. `kinds` are those of all units."""
    import numpy

    alike = Counter(tuple(sorted(of_case.items())) for of_case in cases)
    ordered = sorted(alike)
    coincidences = _coincidences(kinds)
    places = {kind: place for place, kind in enumerate(kinds)}
    of_cases = numpy.zeros((len(ordered), *coincidences.shape[1:]))
    for row, case in enumerate(ordered):
        for kind, times in case:
            of_cases[row] += times * coincidences[places[kind]]
    return numpy.array([[alike[case] for case in ordered]], dtype=float), of_cases


def weighted_kappa(pairs: Iterable[tuple[int, int]]) -> float | None:
    """Return Cohen's kappa of two raters with linear weights (Cohen 1968; Cicchetti & Allison 1971).

    A difference of two steps counts twice as much as one of a single step. Quadratic weights would make it a
    correlation, which is high with many steps even if the raters seldom agree (Graham & Jackson 1993).

    None for fewer than two pairs, and if both raters gave the same single rating throughout.
    """
    counts = Counter(pairs)
    number = sum(counts.values())
    ours, theirs = Counter[int](), Counter[int]()
    for (one, other), count in counts.items():
        ours[one] += count
        theirs[other] += count
    expected = sum(abs(one - other) * ours[one] * theirs[other] for one in ours for other in theirs)
    if number < 2 or not expected:
        return None
    return 1 - number * sum(abs(one - other) * count for (one, other), count in counts.items()) / expected


def _resampled(shares: "Values", size: int, of_cases: "Values") -> "Values":
    """Return alpha of each sample of whole cases, computed in parts to bound the memory."""
    import numpy

    random, found = numpy.random.default_rng(_SEED), []
    rows = max(1, _MOST_AT_ONCE // len(shares))
    for start in range(0, _SAMPLES, rows):
        drawn = random.multinomial(size, shares, min(rows, _SAMPLES - start))
        found.append(_alphas(drawn.astype(float), of_cases))
    return numpy.concatenate(found)


def _coincidences(kinds: Sequence[tuple[float, ...]]) -> "Values":
    """Return the coincidence matrix of each kind of unit, over the ratings in ascending order."""
    import numpy

    levels = {level: place for place, level in enumerate(sorted({rating for kind in kinds for rating in kind}))}
    counted = numpy.zeros((len(kinds), len(levels)))
    for row, kind in enumerate(kinds):
        for rating in kind:
            counted[row, levels[rating]] += 1
    pairs = numpy.einsum("kc,kd->kcd", counted, counted)
    diagonal = numpy.arange(len(levels))
    pairs[:, diagonal, diagonal] -= counted
    pairs /= counted.sum(axis=1)[:, None, None] - 1
    found: Values = pairs
    return found


def _alphas(samples: "Values", of_cases: "Values") -> "Values":
    """Return alpha of each sample (a row: the number of times that each case is in it), nan without variation.

    The ordinal metric is the squared difference of mid-ranks among the ratings of the sample itself.
    """
    import numpy

    coincidences = numpy.tensordot(samples, of_cases, axes=1)
    found = coincidences.sum(axis=2)
    ranks = found.cumsum(axis=1) - found / 2
    total = found.sum(axis=1)
    squares = (found * ranks**2).sum(axis=1)
    observed = squares - numpy.einsum("sc,scd,sd->s", ranks, coincidences, ranks)
    expected = total * squares - (found * ranks).sum(axis=1) ** 2
    with numpy.errstate(divide="ignore", invalid="ignore"):
        varies = (found > 1e-9).sum(axis=1) > 1
        return numpy.where(varies, 1 - (total - 1) * observed / expected, numpy.nan)
