"""Shares as percentages, as all screens, reports and messages show them."""

_MOST_DECIMALS = 3
_ACCURACY = 9  # decimals of a share: the errors of floating point numbers are no failures


def percent(share: float, decimals: int = 0) -> str:
    """Return a share (0 to 1) in percent: `79%`. Only 0 is `0%` and only 1 is `100%`; others are `<1%` or `>99%`."""
    share = round(share, _ACCURACY)
    text = f"{share:.{decimals}%}"
    if share in (0, 1) or float(text[:-1]) not in (0, 100):
        return text
    least = 10**-decimals
    return f"<{least:.{decimals}f}%" if share < 0.5 else f">{100 - least:.{decimals}f}%"


def percent_range(low: float, high: float) -> str:
    """Return two shares in percent: `52–92%`, with decimals where both would be the same number."""
    for places in range(_MOST_DECIMALS + 1):
        first, last = f"{100 * low:.{places}f}", f"{100 * high:.{places}f}"
        if first != last:
            return f"{first}–{last}%"
    return f"{100 * low:.0f}–{100 * high:.0f}%"
