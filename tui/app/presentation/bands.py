"""Risk bands, severities and extents as styled text: always with a word or a number, never by color alone."""

from tui.app.presentation.pieces import Line, Piece, Role
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
    """Return the color role of a band."""
    return _ROLES[band]


def band_mark(band: Band) -> Piece:
    """Return the mark of a band: the fuller the circle, the higher the risk."""
    return _MARKS[band], _ROLES[band]


def band_letter(band: Band) -> str:
    """Return the first letter of a band, which is distinct for each band."""
    return band[0].upper()


def band_legend(width: int) -> Line:
    """Return all bands with their marks in at most `width` cells; with their first letters if the names do not fit."""
    for names in (BANDS, [band_letter(band) for band in BANDS]):
        legend = ((f"{_MARKS[band]} {name}", _ROLES[band]) for band, name in zip(BANDS, names, strict=True))
        line: Line = ((" · risk", "dim"), *((f" {text}", role) for text, role in legend))
        if sum(map(len, (text for text, _ in line))) <= width:
            return line
    return ()


def worst_band(*bands: Band) -> Band:
    """Return the worst of one or more bands."""
    return max(bands, key=BANDS.index)


def band_piece(band: Band) -> Piece:
    """Return the name of a band in its color."""
    return band, _ROLES[band]


def band_block(band: Band) -> Piece:
    """Return the name of a band on a background of its color."""
    return f" {band} ", _BLOCKS[band]


def severity_weight(severity: Severity, rule: BandRule) -> Piece:
    """Return a severity with its weight: `critical ×4`."""
    return f"{severity} ×{rule.weights[severity]}", _SEVERITY_ROLES[severity]


def extent_words(extent: Extent) -> str:
    """Return an extent with its name: `3 major`, `n/a`."""
    return "n/a" if extent == "n/a" else f"{extent} {EXTENTS[extent]}"


def band_of(severity: Severity, extent: Extent, rule: BandRule) -> Band | None:
    """Return the risk band of a severity and an extent; None for an extent that is not applicable."""
    return None if extent == "n/a" else rule.band(severity, extent)
