"""Figures of manual risk scoring, as screens and reports take them; never mixed with the verdicts of checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tui.model.bands import Band, BandRule
from tui.model.scoring import Scoreboard
from tui.model.suite import Severity


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
    was scored is n/a), `unscored` those with all open, `not_applicable` those scored whole with nothing but n/a. `mean`
    is the extent (0 to 4), weighted by severity, over all items with an extent; its interval is a bootstrap over cases.
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


@dataclass(frozen=True, slots=True)
class RiskFigures:
    """By model; `by_category` and `by_criterion` go from model to name to share, all in the order of the names. A
    criterion's share counts items, not answers.
    `items` is all there are to score, `scored` those with an extent or n/a, `disputed` those that wait for a decision.
    """

    by_model: Mapping[str, RiskShare] = field(default_factory=dict)
    by_category: Mapping[str, Mapping[str, RiskShare]] = field(default_factory=dict)
    by_criterion: Mapping[str, Mapping[str, RiskShare]] = field(default_factory=dict)
    heat: Mapping[str, Heat] = field(default_factory=dict)
    items: int = 0
    scored: int = 0
    disputed: int = 0


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two reviewers: linearly weighted kappa of the items that both gave an extent."""

    a: str
    b: str
    items: int
    kappa: float | None


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
    """A run's scoring, whole, as a report tells it; `unread` are the lines of score files that could not be read."""

    board: Scoreboard
    figures: RiskFigures
    agreement: Agreement
    guidance: Guidance
    rule: BandRule
    unread: tuple[str, ...] = ()
