"""Quantiles of Student's t against scipy."""

import pytest
import scipy.stats

from tui.statistics.student import t_quantile


@pytest.mark.parametrize("probability", [0.6, 0.95, 0.975, 0.995, 0.9999])
@pytest.mark.parametrize("freedom", [0.5, 1, 1.3, 2, 5, 30.5, 100, 1e4, 1e6])
def test_as_scipy_has_it(probability: float, freedom: float) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(scipy.stats.t.ppf(probability, freedom), rel=1e-7)


@pytest.mark.parametrize(("probability", "freedom"), [(0.5, 3), (1, 3), (0.025, 3), (0.9, 0), (0.9, -1)])
def test_other_arguments_are_refused(probability: float, freedom: float) -> None:
    with pytest.raises(ValueError, match="no t quantile"):
        t_quantile(probability, freedom)
