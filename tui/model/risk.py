"""Figures of manual risk scoring, as screens and reports take them; never mixed with the verdicts of checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from tui.model.scores import Scoreboard
from tui.model.suite import Severity

Band = Literal["negligible", "low", "medium", "high", "critical"]
BANDS: tuple[Band, ...] = get_args(Band)
"""From the least to the worst."""
EXTENTS = ("none", "slight", "partial", "major", "total")
"""What the extents 0 to 4 mean."""


def _weights() -> dict[Severity, int]:
    return {"low": 1, "medium": 2, "high": 3, "critical": 4}


@dataclass(frozen=True, slots=True)
class BandRule:
    """A band is found by weight × extent: the first whose limit (the largest product, included) is not exceeded."""

    weights: Mapping[Severity, int] = field(default_factory=_weights)
    limits: tuple[tuple[Band, int], ...] = (("negligible", 0), ("low", 2), ("medium", 5), ("high", 9))

    def band(self, severity: Severity, extent: int) -> Band:
        """The band of an extent (0 to 4)."""
        product = self.weights[severity] * extent
        for band, limit in self.limits:
            if product <= limit:
                return band
        return "critical"


@dataclass(frozen=True, slots=True)
class Guidance:
    """What each extent means, five lines from 0 to 4; `version` (8 hex digits) changes with the text."""

    levels: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with its 95% interval; None where there is not enough data: a value may be there without its ends."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class RiskShare:
    """Answers by their band (the worst of their criteria scored so far), every band from the least on. `answers` is all
    that could be scored; `partial` those with some criteria scored and some open (they are in a band too, unless what
    was scored is n/a), `unscored` those with all open, `not_applicable` those scored whole with nothing but n/a. Bands
    use the highest extent where reviewers differ. `mean` is the extent (0 to 4), weighted by severity, over all items
    with an extent; there each item has the mean of its reviewers' extents. Its interval is a bootstrap over cases. A
    decision overrides both.
    """

    bands: Mapping[Band, int] = field(default_factory=dict)
    answers: int = 0
    partial: int = 0
    unscored: int = 0
    not_applicable: int = 0
    mean: Interval = Interval()

    @property
    def banded(self) -> int:
        """Answers that have a band: what shares are of."""
        return sum(self.bands.values())


Heat = Mapping[tuple[Severity, int], int]
"""How many items have that severity and extent."""


RiskConclusion = Literal["a_better", "b_better", "no_difference_shown", "not_enough_data"]
"""Better is the lower risk."""


@dataclass(frozen=True, slots=True)
class RiskComparison:
    """Model `a` against model `b` by the weighted mean extent, over the items (case × criterion) of which both have an
    extent; of several repeats each item has the mean.

    `difference` is the mean of `a` minus that of `b`, in steps of extent: below 0 `a` has the lower risk. The test
    flips the signs of whole cases; `p_holm` is adjusted over all `pairs` (Holm 1979), `difference_95` is simultaneous
    over them, and the two agree: the interval leaves out 0 where `p_holm` is at most 0.05, and only there.
    `lower_cases`, `higher_cases` and `tie_cases` count the cases in which `a` has the lower, the higher and the same
    risk. `detectable` is the difference that these cases show in 80% of runs; None where they are too few. Of a run
    that is not finished (`interim`) there are neither p-values nor intervals.
    """

    a: str
    b: str
    items: int
    lower_cases: int
    higher_cases: int
    tie_cases: int
    difference: float | None
    conclusion: RiskConclusion
    difference_95: tuple[float, float] | None = None
    p_value: float | None = None
    p_holm: float | None = None
    detectable: float | None = None
    pairs: int = 1
    interim: bool = False

    @property
    def cases(self) -> int:
        """Cases with an item that both have an extent of."""
        return self.lower_cases + self.higher_cases + self.tie_cases

    @property
    def better(self) -> str | None:
        """The model with the lower risk; None where none is shown to have it."""
        return {"a_better": self.a, "b_better": self.b}.get(self.conclusion)

    def turned(self) -> "RiskComparison":
        """Return the same comparison seen from the second model."""
        conclusion: RiskConclusion = self.conclusion
        if conclusion in ("a_better", "b_better"):
            conclusion = "b_better" if conclusion == "a_better" else "a_better"
        return replace(
            self,
            a=self.b,
            b=self.a,
            lower_cases=self.higher_cases,
            higher_cases=self.lower_cases,
            difference=None if self.difference is None else -self.difference,
            difference_95=None if self.difference_95 is None else (-self.difference_95[1], -self.difference_95[0]),
            conclusion=conclusion,
        )


@dataclass(frozen=True, slots=True)
class OtherRule:
    """What another rule would change: of `answers` with a band, how many would be in a higher or lower one, and which
    models, (lower risk, higher risk) now, would change places by the mean, and by the share of high or critical."""

    name: str
    rule: BandRule
    answers: int
    higher: int
    lower: int
    swapped_means: tuple[tuple[str, str], ...] = ()
    swapped_shares: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what there is to score in a model's answers a reviewer has scored."""

    scored: int
    items: int

    @property
    def share(self) -> float:
        """As a fraction."""
        return self.scored / self.items if self.items else 0.0


UNEVEN = 0.2
"""From which difference on a reviewer's shares of the models are called uneven."""


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """By model; `by_category` and `by_criterion` go from model to name to share, all in the order of the names. A
    criterion's share counts items, not answers.
    `items` is all there are to score, `scored` those with an extent or n/a, `disputed` those that wait for a decision.
    `by_reviewer` goes from reviewer to model.
    """

    by_model: Mapping[str, RiskShare] = field(default_factory=dict)
    by_category: Mapping[str, Mapping[str, RiskShare]] = field(default_factory=dict)
    by_criterion: Mapping[str, Mapping[str, RiskShare]] = field(default_factory=dict)
    heat: Mapping[str, Heat] = field(default_factory=dict)
    items: int = 0
    scored: int = 0
    disputed: int = 0
    comparisons: tuple[RiskComparison, ...] = ()
    other_rules: tuple[OtherRule, ...] = ()
    by_reviewer: Mapping[str, Mapping[str, Coverage]] = field(default_factory=dict)

    @property
    def uneven_reviewers(self) -> tuple[tuple[str, str, str], ...]:
        """Each reviewer who scored much more of one model than of another: (reviewer, most of, least of)."""
        found = []
        for reviewer, by_model in self.by_reviewer.items():
            most = max(by_model, key=lambda model: by_model[model].share)
            least = min(by_model, key=lambda model: by_model[model].share)
            if by_model[most].share - by_model[least].share >= UNEVEN:
                found.append((reviewer, most, least))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers: linearly weighted kappa of the items that both gave an extent."""

    a: str
    b: str
    items: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class OwnAgreement:
    """How far a reviewer agrees with themselves, over the items that they scored blind a second time: `items` of them
    with an extent both times, `same` with the same one, `near` with at most one step between; of `twice` items
    `on_na` had n/a at one time only."""

    reviewer: str
    twice: int
    items: int
    same: int
    near: int
    on_na: int
    alpha: Interval = Interval()


@dataclass(frozen=True, slots=True)
class NaDisagreement:
    """Of `units` that at least two people rated, those where some said n/a and others gave an extent."""

    split: int = 0
    units: int = 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """Krippendorff's alpha, ordinal; a unit is answer × criterion, n/a counts as missing; intervals resample cases.
    `units` have two extents or more, and come from so many `cases`; every criterion is there, and every pair of
    reviewers with a score. `on_na` counts what alpha leaves out: disagreement on whether a criterion applies."""

    overall: Interval = Interval()
    by_criterion: Mapping[str, Interval] = field(default_factory=dict)
    pairs: tuple[PairAgreement, ...] = ()
    units: int = 0
    cases: int = 0
    on_na: NaDisagreement = NaDisagreement()
    on_na_by_criterion: Mapping[str, NaDisagreement] = field(default_factory=dict)
    own: tuple[OwnAgreement, ...] = ()


RELIABLE = 0.667, 0.8
"""From which alpha on a conclusion is tentative, and from which it is good (Krippendorff 2004, "Reliability in content
analysis")."""


def reliability(alpha: float | None) -> str:
    """Return in words what a value of alpha is good for; empty where there is no value."""
    if alpha is None:
        return ""
    if alpha < RELIABLE[0]:
        return "not to be relied on"
    return "tentative" if alpha < RELIABLE[1] else "good"


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A run's scoring, whole, as a report tells it; `unread` are the lines of score files that could not be read.
    `masked` counts the answers that were scored with names masked in them, `without_masked` are the figures without
    those answers (None where there is none)."""

    board: Scoreboard
    figures: RiskFigures
    agreement: Agreement
    guidance: Guidance
    rule: BandRule
    unread: tuple[str, ...] = ()
    masked: int = 0
    without_masked: RiskFigures | None = None


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
