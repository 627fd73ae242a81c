"""The rule of bands and figures of risk as a person reads them, the same on screens and in reports."""

from tui.model.bands import EXTENTS, BandRule
from tui.model.risk import NaDisagreement, OtherRule, OwnAgreement, RiskComparison, RiskFigures

_GREATEST = len(EXTENTS) - 1
RULE_REASON = (
    "The rule multiplies impact (the severity of the criterion) by extent (how far an answer violates it). Both are"
    " steps of an order, not measurements: a product ranks, it is no amount of harm. Likelihood is not in it; how often"
    " answers are in each band says how likely that was in these cases."
)
TWO_MEASURES = (
    "Where reviewers differ and nobody has decided, bands use the highest extent, so that no warning is lost, and means"
    " use the mean of the reviewers, so that one strict reviewer does not decide them. A decision overrides both."
)


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


def own_words(own: OwnAgreement) -> str:
    """Return how far a reviewer agrees with themselves: `12 items scored twice: 9 the same, 11 within one step`."""
    said = f"{own.items} items scored twice: {own.same} the same, {own.near} within one step"
    if own.alpha.value is not None:
        said += f", alpha {own.alpha.value:.2f}".replace("-", "−")
    return f"{said}; n/a at one time only in {own.on_na} of {own.twice}" if own.on_na else said


def comparison_words(each: RiskComparison) -> str:
    """Return what a comparison concludes, in words."""
    if each.interim:
        return "not tested: the run is not finished"
    if each.better is not None:
        return f"{each.better} has the lower risk"
    if not each.cases:
        return "nothing in common: no item of both models has an extent"
    if each.conclusion == "not_enough_data":
        differ = each.lower_cases + each.higher_cases
        return f"not enough data: {differ} of {each.cases} cases differ"
    if each.detectable is None:
        return "no difference shown"
    return f"no difference shown; these cases would show one of {each.detectable:.2f} steps (80% power)"


def difference_words(each: RiskComparison) -> str:
    """Return the difference of two means with its interval: `−0.42 (−0.70 to −0.14)`."""
    if each.difference is None:
        return "–"
    value = f"{each.difference:+.2f}"
    if each.difference_95 is not None:
        value += f" ({each.difference_95[0]:+.2f} to {each.difference_95[1]:+.2f})"
    return value.replace("-", "−")


def other_rule_words(each: OtherRule) -> str:
    """Return what another rule would change, in words."""
    moved = each.higher + each.lower
    bands = f"{moved} of {each.answers} answers would be in another band"
    if moved:
        bands += f" ({each.higher} higher, {each.lower} lower)"
    swaps = [
        f"{a} and {b} would change places {by}"
        for by, pairs in (
            ("by the mean", each.swapped_means),
            ("by the share of high or critical", each.swapped_shares),
        )
        for a, b in pairs
    ]
    return f"{bands}; {'; '.join(swaps) or 'the order of the models would stay'}"


def uneven_words(figures: RiskFigures) -> list[str]:
    """Return a sentence for each reviewer who scored much more of one model than of another."""
    return [
        f"{reviewer} scored {figures.by_reviewer[reviewer][most].share:.0%} of what there is of {most}, but"
        f" {figures.by_reviewer[reviewer][least].share:.0%} of {least}: a difference between these models may be one"
        " between reviewers."
        for reviewer, most, least in figures.uneven_reviewers
    ]
