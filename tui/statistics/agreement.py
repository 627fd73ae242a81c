"""How far several people agree who rated the same things on an ordered scale. numpy is loaded when it is needed.

Krippendorff's alpha is written out here: no library was found that has it for ordered scales, under a permissive
licence, without bringing pandas along.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Values = NDArray[numpy.float64]

_SAMPLES = 2_000
_SEED = 20_261_120
# Beyond this share of samples without any variation the others no longer say how sure alpha is.
_MOST_UNDEFINED = 0.05


class Alpha(NamedTuple):
    """Krippendorff's alpha: 1 where all agree, 0 where they agree as often as chance would have it, below that where
    they disagree more. `units` is how many were rated at least twice. None: there is not enough data to say."""

    value: float | None
    low: float | None
    high: float | None
    units: int


def ordinal_alpha(units: Iterable[Sequence[float]]) -> Alpha:
    """Krippendorff's alpha for ordinal data (Krippendorff 2011) with a 95% interval. `units` are the ratings of each
    thing that was rated, in any order; a missing rating is left out, and what has fewer than two tells nothing.

    The value is None for fewer than two units, and where all ratings are the same. The interval is the percentile
    bootstrap: 2,000 samples of units with replacement, from a fixed seed; units count as independent. (Krippendorff's
    own algorithm draws single differences from a fixed expectation, and leaves out that this one is uncertain too.)
    It is None where more than one sample in twenty has no variation: then a few units decide it all. Where all agree
    in every unit there is nothing to draw. Then some units might still be rated at random: it goes down to 1 less the
    largest share of such units of which, at 97.5%, none would have been seen.
    """
    # In order, so that the same units give the same draws in whatever order they come.
    kinds = dict(sorted(Counter(tuple(sorted(ratings)) for ratings in units if len(ratings) > 1).items()))
    number = sum(kinds.values())
    if number < 2 or len({rating for kind in kinds for rating in kind}) < 2:
        return Alpha(None, None, None, number)
    import numpy

    counted = _counts([*kinds])
    seen = numpy.array([*kinds.values()], dtype=float)
    value = float(_alphas(seen[None, :], counted)[0])
    drawn = numpy.random.default_rng(_SEED).multinomial(number, seen / number, _SAMPLES)
    alphas = _alphas(drawn.astype(float), counted)
    alphas = alphas[~numpy.isnan(alphas)]
    if len(alphas) < (1 - _MOST_UNDEFINED) * _SAMPLES:
        return Alpha(value, None, None, number)
    if all(kind[0] == kind[-1] for kind in kinds):
        return Alpha(1.0, 0.025 ** (1 / number), 1.0, number)
    low, high = numpy.quantile(alphas, (0.025, 0.975))
    return Alpha(value, min(value, float(low)), max(value, float(high)), number)


def weighted_kappa(pairs: Iterable[tuple[int, int]]) -> float | None:
    """Cohen's kappa of two people's ratings of the same things, weighted linearly (Cohen 1968; Cicchetti & Allison
    1971): a difference of two steps counts twice as much as one of a single step. Quadratic weights would make it a
    correlation, which is high with many steps however seldom the two agree (Graham & Jackson 1993).

    None for fewer than two pairs, and where both always gave the same one rating.
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


def _counts(kinds: Sequence[tuple[float, ...]]) -> "Values":
    """How often each kind of unit (rows) has each rating (columns, ascending)."""
    import numpy

    levels = {level: place for place, level in enumerate(sorted({rating for kind in kinds for rating in kind}))}
    counted = numpy.zeros((len(kinds), len(levels)))
    for row, kind in enumerate(kinds):
        for rating in kind:
            counted[row, levels[rating]] += 1
    return counted


def _alphas(samples: "Values", counted: "Values") -> "Values":
    """Alpha of each sample (a row: how often each kind of unit is in it); nan where it has no variation.

    The ordinal metric is the squared difference of mid-ranks, among the ratings of the sample itself.
    """
    import numpy

    pairs = numpy.einsum("kc,kd->kcd", counted, counted)
    levels = numpy.arange(counted.shape[1])
    pairs[:, levels, levels] -= counted
    pairs /= counted.sum(axis=1)[:, None, None] - 1
    found = samples @ counted
    ranks = found.cumsum(axis=1) - found / 2
    total = found.sum(axis=1)
    squares = (found * ranks**2).sum(axis=1)
    coincidences = numpy.tensordot(samples, pairs, axes=1)
    observed = squares - numpy.einsum("sc,scd,sd->s", ranks, coincidences, ranks)
    expected = total * squares - (found * ranks).sum(axis=1) ** 2
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return numpy.where((found > 0).sum(axis=1) > 1, 1 - (total - 1) * observed / expected, numpy.nan)
