"""The rule of bands and figures of agreement as a person reads them."""

from tui.model.bands import EXTENTS, BandRule
from tui.model.risk import NaDisagreement

_GREATEST = len(EXTENTS) - 1


def rule_rows(rule: BandRule) -> list[tuple[str, ...]]:
    """The rule as a table: a head with the extents, then for each severity its weight and what each extent gives."""
    head = ("Severity", "Weight", *(f"{extent} {word}" for extent, word in enumerate(EXTENTS)))
    rows = [
        (
            severity,
            str(weight),
            *(f"{weight * extent} {rule.band(severity, extent)}" for extent in range(len(EXTENTS))),
        )
        for severity, weight in rule.weights.items()
    ]
    return [head, *rows]


def rule_sentence(rule: BandRule) -> str:
    """The rule in words, up to the greatest product that there is; bands above it are not named."""
    greatest = max(rule.weights.values()) * _GREATEST
    ends = [*((band, min(limit, greatest)) for band, limit in rule.limits), ("critical", greatest)]
    parts, lowest = [], 0
    for band, end in ends:
        if lowest <= end:
            parts.append(f"{lowest}–{end} {band}" if lowest < end else f"{end} {band}")
        lowest = end + 1
    return f"Weight × extent gives the band: {', '.join(parts)}. An answer's band is its worst criterion's."


def na_words(on_na: NaDisagreement) -> str:
    """Return disagreement on n/a in words: `n/a disputed in 3 of 40 units (8%)`."""
    if not on_na.units:
        return "no unit was rated by two people"
    return f"n/a disputed in {on_na.split} of {on_na.units} units ({on_na.split / on_na.units:.0%})"
