"""The paired bootstrap over cases, for models that were asked more than once. numpy is loaded when it is called."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Counts = NDArray[numpy.int64]
    Values = NDArray[numpy.float64]

_TINY = 1e-12


def paired_bootstrap(differences: Sequence[float], *, samples: int = 9_999, seed: int = 20_261_120) -> float:
    """Two-sided p-value for a mean difference of zero: `differences` holds one for each case.

    The cases are drawn again with replacement, the differences centred on zero, the means divided by their own
    standard error (Efron & Tibshirani 1993, ch. 16). It is never below 2 / 2ⁿ, which is as far as an exact
    sign test can tell with n differing cases: one case, however often it is repeated, shows nothing.
    """
    differing = sum(difference != 0 for difference in differences)
    if not differing:
        return 1.0
    import numpy

    # Only few values occur, so that drawing how often each of them comes is as good as drawing cases.
    values, counts = numpy.unique(numpy.asarray(differences, dtype=float).round(12), return_counts=True)
    size = int(counts.sum())
    drawn = numpy.random.default_rng(seed).multinomial(size, counts / size, size=samples)
    mean = float(counts @ values) / size
    spread = _spread(counts[None, :], values, size)[0]
    means = numpy.abs(drawn @ (values - mean)) / size
    spreads = _spread(drawn, values, size)
    # A sample of one value only has no spread of its own: the spread of the cases stands in for it.
    spreads[spreads < _TINY] = max(spread, _TINY)
    observed = abs(mean) / max(spread, _TINY)
    extreme = int((means / spreads >= observed - _TINY).sum())
    return min(1.0, max((extreme + 1) / (samples + 1), 2.0 ** (1 - differing)))


def _spread(counts: "Counts", values: "Values", size: int) -> "Values":
    """The standard deviation for each row of counts."""
    import numpy

    means = counts @ values / size
    spreads: Values = numpy.sqrt(numpy.maximum(counts @ (values * values) / size - means * means, 0.0))
    return spreads
