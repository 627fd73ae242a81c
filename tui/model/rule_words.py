"""The rule of bands as a person reads it: a table, a sentence."""

from tui.model.bands import EXTENTS, BandRule

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
