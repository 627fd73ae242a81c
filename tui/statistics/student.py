"""Quantiles of Student's t distribution, without scipy."""

import math
from functools import lru_cache


@lru_cache(maxsize=256)
def t_quantile(probability: float, freedom: float) -> float:
    """Return the value below which Student's t with `freedom` degrees (any number above 0) is with `probability`.

    `probability` is above 0.5 and below 1. The chance to be within ±t is the regularized incomplete beta function
    (DLMF 8.17), inverted by bisection. Raises ValueError for other arguments.
    """
    if not 0.5 < probability < 1 or not freedom > 0:
        raise ValueError(f"no t quantile at {probability} with {freedom} degrees of freedom")
    within, low, high = 2 * probability - 1, 0.0, 1.0
    while _within(high, freedom) < within:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        if _within(middle, freedom) < within:
            low = middle
        else:
            high = middle
    return high


def _within(t: float, freedom: float) -> float:
    square = t * t
    if square > freedom:
        return 1 - _incomplete_beta(freedom / (freedom + square), freedom / 2, 0.5)
    return _incomplete_beta(square / (freedom + square), 0.5, freedom / 2)


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Return the regularized function by its continued fraction (DLMF 8.17.22), evaluated by Lentz's method."""
    if x <= 0 or x >= 1:
        return min(max(x, 0.0), 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x) - math.log(a)
    )
    value = upper = 1.0
    lower = 0.0
    for step in range(10_000):
        half, odd = divmod(step, 2)
        if odd:
            term = (half + 1) * (b - half - 1) * x / ((a + 2 * half + 1) * (a + 2 * half + 2))
        else:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        lower, upper = 1 / (1 + term * lower), 1 + term / upper
        value *= lower * upper
        if abs(lower * upper - 1) < 1e-15:
            break
    return front / value
