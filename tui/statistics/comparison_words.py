"""The wording of a comparison of two models, the same on every screen and in every report."""

from collections.abc import Mapping, Sequence

from tui.statistics.comparison import Comparison
from tui.statistics.pairs import cases_needed

_POWER = "80% power"


def conclusion_words(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the conclusion in a few words; `names` are other names to show for the models."""
    if comparison.interim:
        return "no conclusion, run not finished"
    match comparison.conclusion:
        case "a_better" | "b_better":
            better = comparison.a if comparison.conclusion == "a_better" else comparison.b
            return f"{names[better] if names else better} does better"
        case "equivalent":
            return f"equivalent within ±{margin_points(comparison.margin or 0.0)} points"
        case "not_enough_data":
            return "not enough data" if comparison.common else "no common checked case"
        case "no_difference_shown":
            return "no difference shown"


def conclusion_detail(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the detail that explains the conclusion, or an empty string."""
    if comparison.interim:
        return ""
    if comparison.conclusion == "no_difference_shown":
        return detectable_words(comparison)
    if comparison.conclusion == "not_enough_data":
        if not comparison.common:
            return ""
        have = f"{unit_count(comparison.units, comparison)} in common"
        return f"{have}, at least {cases_needed(comparison.pairs)} needed"
    better = comparison.better
    if better and (comparison.difference or 0.0) * (comparison.wins - comparison.losses) <= 0:
        other = comparison.b if better == comparison.a else comparison.a
        return f"by pass rate, although {names[other] if names else other} does better in as many cases or more"
    return ""


def _detectable_range(detectable: Sequence[float]) -> str:
    ends = dict.fromkeys(points(end).lstrip("+") for end in (min(detectable), max(detectable)))
    return f"detectable difference with these cases: {' to '.join(ends)} points ({_POWER})"


def brief_conclusion(comparison: Comparison, names: Mapping[str, str] | None = None) -> str:
    """Return the conclusion for a list or a narrow screen, with the detectable difference in points."""
    if comparison.interim:
        return "run not finished"
    text = conclusion_words(comparison, names)
    if comparison.conclusion != "no_difference_shown" or comparison.detectable is None:
        return text
    return f"{text} (detectable: {points(comparison.detectable).lstrip('+')} points)"


def detectable_words(comparison: Comparison) -> str:
    """Return which difference the cases would have shown."""
    if comparison.detectable is None:
        return f"no difference is detectable with these cases at {_POWER}"
    difference = points(comparison.detectable).lstrip("+")
    return f"detectable difference with these cases: {difference} points ({_POWER})"


def difference_words(comparison: Comparison) -> str:
    """Return the difference with its interval: `+12 points (+3 to +21)`.

    There is no interval while the run is not finished; `–` if there is no difference.
    """
    if comparison.difference is None:
        return "–"
    interval = interval_words(comparison)
    return f"{points(comparison.difference)} points" + (f" ({interval})" if interval else "")


def interval_words(comparison: Comparison) -> str:
    """Return the simultaneous interval in points: `+3 to +21`; `above 0 to +21` where it ends beside 0.

    With a margin the ends have a decimal, so that they can be compared with it.
    """
    if comparison.difference_95 is None:
        return ""
    low, high = comparison.difference_95
    decimals = 0 if comparison.margin is None else 1
    lower = "above 0" if 0 < low < 0.005 else points(low, decimals)
    upper = "below 0" if -0.005 < high < 0 else points(high, decimals)
    return f"{lower} to {upper}"


def p_value_words(comparison: Comparison, *, short: bool = False) -> str:
    """Return the p-value that counts and its test: `p = 0.03 (exact McNemar, Holm over 3 pairs)`."""
    if comparison.p_value is None or comparison.p_holm is None:
        return ""
    if comparison.pairs == 1:
        return f"{p_words(comparison.p_value)} ({method_words(comparison)})"
    holm = f"{p_words(comparison.p_holm)} ({method_words(comparison)}, Holm over {comparison.pairs} pairs)"
    return holm if short else f"{holm}, {p_words(comparison.p_value)} alone"


def method_words(comparison: Comparison) -> str:
    """Return the name of the test."""
    if comparison.method == "mcnemar-exact":
        return "exact McNemar"
    clustered = comparison.units < comparison.common
    return f"sign-flip over {'clusters' if clustered else 'cases'}"


def probability(value: float) -> str:
    """Return a p-value as text: `0.63`, `0.031`, `< 0.001`. A value of at most 0.05 is never rounded up beyond it."""
    if value < 0.001:
        return "< 0.001"
    text = f"{value:.3f}" if value < 0.1 else f"{value:.2f}"
    if value > 0.05 and text == "0.050":
        return f"{value:.4f}" if value >= 0.05005 else "> 0.05"
    return text


def p_words(value: float) -> str:
    """Return `p = 0.63`, `p < 0.001`."""
    number = probability(value)
    return f"p {number}" if number[0] in "<>" else f"p = {number}"


def margin_points(margin: float) -> str:
    """Return a margin of shares (0 to 1) in points, as exact as it was given: `2.5`."""
    return f"{100 * margin:g}"


def points(share: float, decimals: int = 0) -> str:
    """Return a difference of shares (-1 to 1) in points, with its sign: `+12`, `−3`, `0`; near 0 and 100 `+0.3`."""
    share = round(share, 5)
    for places in range(decimals, 4):
        text = f"{100 * abs(share):.{places}f}"
        if float(text) not in (0, 100) or abs(share) == 1:
            return f"{'−' if share < 0 else '+'}{text}"
    return "0"


def unit_count(number: int, comparison: Comparison) -> str:
    """Return `12 cases`, or `4 clusters` where cases come in clusters."""
    what = "cluster" if comparison.units < comparison.common else "case"
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def overview(comparisons: Sequence[Comparison]) -> str:
    """Return one sentence on the pairs without a shown difference; empty if there are no pairs."""
    silent = [each for each in comparisons if each.better is None]
    if not silent:
        return ""
    if silent[0].interim:
        return "Run not finished: models are not compared yet."
    parts = []
    for conclusion, words in (
        ("equivalent", "equivalent within the margin"),
        ("no_difference_shown", "no difference shown"),
        ("not_enough_data", "too few common checked cases to show any difference"),
    ):
        these = [each for each in silent if each.conclusion == conclusion]
        if these:
            part = f"{words} for {len(these)} pair{'' if len(these) == 1 else 's'}"
            detectable = [each.detectable for each in these if each.detectable is not None]
            if conclusion == "no_difference_shown" and detectable:
                part += f"; {_detectable_range(detectable)}"
            parts.append(part)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]} (5% level, Holm over {silent[0].pairs} pair{'s' * (silent[0].pairs != 1)})."
