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
class Agreement:
    """Krippendorff's alpha, ordinal; a unit is answer × criterion, n/a counts as missing. `units` have two ratings or
    more; every criterion is there, and every pair of reviewers with a score."""

    overall: Interval = Interval()
    by_criterion: Mapping[str, Interval] = field(default_factory=dict)
    pairs: tuple[PairAgreement, ...] = ()
    units: int = 0


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A run's scoring, whole, as a report tells it; `unread` are the lines of score files that could not be read."""

    board: Scoreboard
    figures: RiskFigures
    agreement: Agreement
    guidance: Guidance
    rule: BandRule
    unread: tuple[str, ...] = ()
