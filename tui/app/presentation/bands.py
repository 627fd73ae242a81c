"""Bands of risk, severities and extents as pieces: always with their word or number, never by colour alone."""

from tui.app.presentation.pieces import Piece, Role
from tui.model.risk import BANDS, EXTENTS, Band, BandRule
from tui.model.scores import Extent
from tui.model.suite import Severity

_ROLES: dict[Band, Role] = {
    "negligible": "dim",
    "low": "passed",
    "medium": "flaky",
    "high": "failed",
    "critical": "failed",
}
_BLOCKS: dict[Band, Role] = {
    "negligible": "block-dim",
    "low": "block-passed",
    "medium": "block-flaky",
    "high": "block-failed",
    "critical": "block-failed",
}
_MARKS: dict[Band, str] = {"negligible": "○", "low": "◔", "medium": "◑", "high": "◕", "critical": "●"}
_SEVERITY_ROLES: dict[Severity, Role] = {"low": "dim", "medium": "plain", "high": "flaky", "critical": "failed"}


def band_role(band: Band) -> Role:
    """The colour of a band."""
    return _ROLES[band]


def band_mark(band: Band) -> Piece:
    """One sign for a band: the fuller, the worse."""
    return _MARKS[band], _ROLES[band]


def band_letter(band: Band) -> str:
    """The first letter of a band's word: no two begin alike."""
    return band[0].upper()


def worst_band(*bands: Band) -> Band:
    """The worst of one or more."""
    return max(bands, key=BANDS.index)


def band_piece(band: Band) -> Piece:
    """The band's word."""
    return band, _ROLES[band]


def band_block(band: Band) -> Piece:
    """The band's word on a ground of its colour."""
    return f" {band} ", _BLOCKS[band]


def severity_weight(severity: Severity, rule: BandRule) -> Piece:
    """`critical ×4`."""
    return f"{severity} ×{rule.weights[severity]}", _SEVERITY_ROLES[severity]


def extent_words(extent: Extent) -> str:
    """`3 major`, `n/a`."""
    return "n/a" if extent == "n/a" else f"{extent} {EXTENTS[extent]}"


def band_of(severity: Severity, extent: Extent, rule: BandRule) -> Band | None:
    """The band of an extent; None for what is not applicable."""
    return None if extent == "n/a" else rule.band(severity, extent)
