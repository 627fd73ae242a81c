"""The rule that turns severity and extent into a band of risk."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

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
