"""A theme as plain data: a name, dark or light, and one color for each use. This module imports neither textual nor
yaml."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tui.model.suggest import nearest

DARK_DEFAULT: dict[str, str] = {
    "background": "#12151b",
    "raised": "#171b23",
    "selected": "#232938",
    "quiet-border": "#2a303c",
    "focused-border": "#e3b457",
    "foreground": "#cdd3de",
    "dim": "#8590a3",
    "accent": "#e3b457",
    "passed": "#6bcf9f",
    "failed": "#f0877b",
    "error-mark": "#c99be8",
    "flaky": "#e3b457",
    "running": "#e3b457",
    "match-expected": "#8fe3ba",
    "match-expected-background": "#1f4a37",
    "match-forbidden": "#ffada3",
    "match-forbidden-background": "#5a2a2a",
    "match-current": "#12151b",
    "match-current-background": "#e3b457",
    "code-keyword": "#c99be8",
    "code-function": "#8fb8f0",
    "code-type": "#7fcfd8",
    "code-string": "#6bcf9f",
    "code-number": "#e8b27d",
    "code-comment": "#8590a3",
    "code-operator": "#a9b4c8",
}
COLOURS = tuple(DARK_DEFAULT)

_HEX = re.compile(r"#[0-9a-fA-F]{6}\Z")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}\Z")


@dataclass(frozen=True, slots=True)
class Palette:
    """A theme: `colours` has exactly the keys of COLOURS, each value `#rrggbb`."""

    name: str
    dark: bool
    colours: Mapping[str, str]


DEFAULT_PALETTE = Palette("assay-dark", True, DARK_DEFAULT)


def name_fault(name: object) -> str | None:
    """Return why a value cannot be the name of a theme, or None."""
    if isinstance(name, str) and _NAME.match(name):
        return None
    return "expected lower-case letters, digits and `-`, at most 40, for example `my-slate`"


def colour_fault(key: object, value: object) -> str | None:
    """Return what is wrong with an entry of `colours`, or None."""
    if not isinstance(key, str) or key not in DARK_DEFAULT:
        meant = nearest(str(key), COLOURS)
        return "unknown colour" + (f"; did you mean `{meant}`?" if meant else f"; available: {', '.join(COLOURS)}")
    if not isinstance(value, str) or not _HEX.match(value):
        return 'expected six hexadecimal digits in quotes, for example "#12151b"'
    return None


def luminance(colour: str) -> float:
    """Return the relative luminance of a color `#rrggbb` by WCAG 2: 0 (black) to 1 (white)."""

    def linear(channel: int) -> float:
        part = channel / 255
        return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(int(colour[at : at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors by WCAG 2: 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
